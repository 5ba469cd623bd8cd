// Who looks at the error that the launch of a kernel left, told by names.

#include "analyzers/sources/device_errors.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string>
#include <string_view>

namespace opseal {
namespace {

// Of the arguments of a call, so many tokens are looked at.
constexpr std::size_t most_tokens = 64;

class Sound {
 public:
  explicit Sound(std::string_view word) {
    for (const char byte : word) {
      if (byte != '_') {
        lower_ += static_cast<char>(std::tolower(static_cast<unsigned char>(byte)));
      }
    }
  }
  bool has(std::string_view part) const { return lower_.find(part) != lower_.npos; }
  bool has_any(std::initializer_list<std::string_view> parts) const {
    return std::any_of(parts.begin(), parts.end(),
                       [this](std::string_view part) { return has(part); });
  }

 private:
  std::string lower_;
};

// `cudaGetErrorString` only tells of an error that somebody has.
bool names_text_of_error(const Sound& word) {
  return word.has_any({"errorstring", "errorname", "errorcode"});
}

// A check of launches that is defined elsewhere: `C10_CUDA_KERNEL_LAUNCH_CHECK`,
// `getLastCudaError`, `OP_REQUIRES_CUDA_SUCCESS`, `gpuErrchk`.
bool names_check(const Sound& word) {
  if (word.has("last") && word.has("error")) return true;
  if (word.has("check") && word.has_any({"launch", "error"})) return true;
  if (word.has_any({"kernelcheck", "checkkernel"})) return true;
  return word.has_any({"cuda", "gpu", "hip"}) && word.has_any({"success", "errch", "checkerr"});
}

// `CHECK_CUDA(x)` asks where a tensor is, `CUDA_CHECK()` and `RAFT_CHECK_CUDA(stream)` for errors;
// `check_cuda(code, __FILE__, __LINE__)` looks at the status that it gets, and at nothing else.
bool names_check_by_arguments(const Sound& word, Tokens behind) {
  if (!word.has_any({"cuda", "gpu", "hip"}) || !word.has_any({"check", "err", "safe", "assert"})) {
    return false;
  }
  if (behind.size() < 2 || behind[1].is(')')) return true;
  for (std::size_t at = 1; at < std::min(behind.size(), most_tokens); ++at) {
    const Token& token = behind[at];
    if (token.is(')') || token.is(';')) return false;
    if (token.is_string() || (at == 1 && token.is("__FILE__"))) return true;
    if (token.is_identifier() && Sound(token.text).has_any({"stream", "status", "err"})) {
      return true;
    }
  }
  return false;
}

bool is_runtime(std::string_view word) {
  const std::string_view prefix = word.starts_with("cuda")  ? "cuda"
                                  : word.starts_with("hip") ? "hip"
                                  : word.starts_with("cu")  ? "cu"
                                                            : "";
  return !prefix.empty() && word.size() > prefix.size() && word[prefix.size()] >= 'A' &&
         word[prefix.size()] <= 'Z';
}

// Calls of the runtime that come behind launches and give what went wrong before them, too.
bool gives_earlier_errors(std::string_view word) {
  constexpr std::string_view parts[] = {
      "Synchronize", "Memcpy",    "Memset",      "EventRecord", "Query",         "EndCapture",
      "FreeAsync",   "WaitEvent", "ElapsedTime", "GraphLaunch", "LaunchHostFunc"};
  if (word == "cudaFree" || word == "hipFree") return true;
  return std::any_of(std::begin(parts), std::end(parts),
                     [word](std::string_view part) { return word.find(part) != word.npos; });
}

// `gemm.run(stream) != cutlass::Status::kSuccess`: what CUTLASS starts reads the error of whatever
// was started before it.
bool is_checked_cutlass(Tokens tokens, std::size_t at) {
  const bool member = at > 0 && (tokens[at - 1].is('.') || tokens[at - 1].is("->"));
  if (!member || !tokens[at].is("run")) return false;
  for (std::size_t next = at; next < std::min(tokens.size(), at + most_tokens); ++next) {
    if (tokens[next].is(';')) return false;
    if (tokens[next].is("kSuccess")) return true;
  }
  return false;
}

}  // namespace

bool is_used_call(Tokens tokens, std::size_t at) {
  while (at >= 1 && tokens[at - 1].is("::")) {
    --at;
    if (at >= 1 && tokens[at - 1].is_identifier()) --at;
  }
  if (at == 0) return false;
  const Token& before = tokens[at - 1];
  return !before.is(';') && !before.is('{') && !before.is('}') && !before.is(')') &&
         !before.is(':') && !before.is("else") && !before.is("do");
}

bool reads_launch_error(Tokens tokens, std::size_t at) {
  const Token& token = tokens[at];
  const bool calls = at + 1 < tokens.size() && tokens[at + 1].is('(');
  if (!calls || !token.is_identifier()) return false;
  const std::string_view word = token.text;
  if (word.ends_with("GetLastError") || word.ends_with("PeekAtLastError") ||
      (is_runtime(word) && gives_earlier_errors(word))) {
    return is_used_call(tokens, at);
  }
  if (word == "synchronize" || word == "device_synchronize") return true;
  if (is_checked_cutlass(tokens, at)) return true;
  if (word.size() < 7) return false;
  const Sound sound(word);
  if (names_text_of_error(sound)) return false;
  return names_check(sound) || names_check_by_arguments(sound, tokens.subspan(at + 1));
}

bool declares_check(Tokens tokens, std::size_t at) {
  if (at + 2 >= tokens.size() || !tokens[at].is_identifier() || tokens[at].text.size() < 7) {
    return false;
  }
  const bool declares =
      tokens[at + 1].is_identifier() &&
      (tokens[at + 2].is('(') || tokens[at + 2].is('{') || tokens[at + 2].is(';'));
  const Sound sound(declares ? tokens[at].text : std::string_view());
  return declares && !names_text_of_error(sound) && names_check(sound);
}

}  // namespace opseal
