#include <algorithm>
#include <array>

#include "analyzers/source/source_tree.h"
#include "analyzers/source/without_macro.h"
#include "analyzers/sources/device_code.h"
#include "analyzers/sources/device_sides.h"

namespace opseal {
namespace {

constexpr std::string_view architecture = "__CUDA_ARCH__";

// Who asks for one of these too knows which compiler reads.
constexpr std::array<std::string_view, 9> compiler_words{
    "__CUDACC__", "__NVCC__",   "__CUDACC_RTC__",         "__CUDA__",           "__HIPCC__",
    "__HIP__",    "__CUDABE__", "__HIP_DEVICE_COMPILE__", "__CUDA_ARCH_LIST__",
};

bool is_of_compilers(const Token& token) {
  return std::find(compiler_words.begin(), compiler_words.end(), token.text) !=
         compiler_words.end();
}

bool names_compilers(std::string_view condition) {
  return condition.find(architecture) != condition.npos ||
         std::any_of(compiler_words.begin(), compiler_words.end(),
                     [&](std::string_view word) { return condition.find(word) != condition.npos; });
}

bool defines_architecture(const PlainSource& source) {
  return std::any_of(
      source.definitions.begin(), source.definitions.end(),
      [](const SourceDefinition& definition) { return definition.name == architecture; });
}

bool holds_anything(const SourceBranch& branch) { return branch.defines || !branch.tokens.empty(); }

// `!defined(__CUDA_ARCH__) || …` says what the host gets.
bool serves_host(Tokens condition) {
  for (std::size_t at = 0; at + 1 < condition.size(); ++at) {
    if (!condition[at].is('!') || !condition[at + 1].is("defined")) continue;
    const std::size_t name =
        at + 2 < condition.size() && condition[at + 2].is('(') ? at + 3 : at + 2;
    if (name < condition.size() && condition[name].is(architecture)) return true;
  }
  return false;
}

class ArchTestReader {
 public:
  ArchTestReader(const PlainSource& source, std::string_view path, DeviceCode& code)
      : source_(source), path_(path), code_(code) {}

  void run() {
    if (defines_architecture(source_)) return;
    for (const SourceBranch& branch : source_.branches) read(branch);
  }

 private:
  void read(const SourceBranch& branch) {
    const Tokens condition = source_.directive(branch.asks);
    const bool asks_if_defined = branch.word == "ifdef";
    if (condition.empty() || (branch.word != "if" && branch.word != "elif" && !asks_if_defined))
      return;
    const bool mentions = std::any_of(condition.begin(), condition.end(),
                                      [](const Token& token) { return token.is(architecture); });
    if (!mentions || std::any_of(condition.begin(), condition.end(), is_of_compilers)) return;
    WithoutMacro on_host = without_macro(condition, architecture);
    if (asks_if_defined) on_host = {false, false};
    // A branch of directives alone, `#error`, is a remark.
    if (!holds_anything(branch)) return;
    ArchTest test;
    test.side = side_of(branch, test.function);
    if (test.side.empty()) return;
    // Whether it is defined tells code of the host from that of devices, where both are compiled
    // from one text. Code in a function that no compiler for devices reads is dead all the same.
    if (!on_host.compares && (test.side != "host_compiler" || test.function.empty() ||
                              branch.tokens.empty() || on_host.truth.value_or(true))) {
      return;
    }
    if (test.side.starts_with("host")) {
      if (!on_host.truth || serves_host(condition)) return;
      const std::string outer = source_.unit.conditions[branch.outer].text();
      if (names_compilers(outer) || earlier_names_compilers(branch)) return;
      test.status = *on_host.truth ? "always" : "never";
    }
    test.condition = text_of(condition);
    const Token& last = condition.back();
    test.place = {source_.unit.file, condition.front().offset,
                  last.offset + last.length - condition.front().offset};
    test.when = source_.unit.conditions[branch.outer];
    code_.arch_tests.push_back(std::move(test));
  }

  // `#ifdef __CUDACC__ … #elif __CUDA_ARCH__ < 700`, and one test of a chain is enough. Branches of
  // other conditionals may stand between.
  bool earlier_names_compilers(const SourceBranch& branch) const {
    constexpr int most_branches = 64;
    auto wanted = static_cast<std::uint32_t>(&branch - source_.branches.data());
    int steps = 0;
    for (std::uint32_t at = wanted; at > 0 && steps < most_branches; ++steps) {
      const SourceBranch& before = source_.branches[--at];
      if (before.next != wanted) continue;
      const Tokens asks = source_.directive(before.asks);
      if (std::any_of(asks.begin(), asks.end(), [](const Token& token) {
            return is_of_compilers(token) || token.is(architecture);
          })) {
        return true;
      }
      wanted = at;
    }
    return false;
  }

  std::string_view side_of(const SourceBranch& branch, std::string& function) {
    const std::uint32_t at = branch.tokens.begin;
    const std::uint32_t around = function_around(source_, at);
    if (around != no_scope) function = source_.shape.scopes[around].name;
    if (!host_file_known_) {
      host_file_ = is_host_file(source_, path_);
      host_file_known_ = true;
    }
    // A macro in front of the function may make it one for devices, too, and the build may hand
    // such a file to their compiler.
    if (host_file_ && around != no_scope && side_at(source_, at) == CodeSide::unknown) return {};
    if (host_file_) return "host_compiler";
    // At the top of a file may stand code for both.
    if (around == no_scope) return {};
    switch (side_at(source_, at)) {
      case CodeSide::unknown:
        return {};
      case CodeSide::both:
        return "both";
      case CodeSide::device:
      case CodeSide::kernel:
        return "device";
      // In a header a macro or a pragma further up may say more.
      case CodeSide::host:
        break;
    }
    return is_header_path(path_) ? std::string_view() : "host";
  }

  const PlainSource& source_;
  std::string_view path_;
  DeviceCode& code_;
  bool host_file_known_ = false;
  bool host_file_ = false;
};

}  // namespace

void read_arch_tests(const PlainSource& source, std::string_view path, DeviceCode& code) {
  ArchTestReader(source, path, code).run();
}

}  // namespace opseal
