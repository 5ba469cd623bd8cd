#include "analyzers/clang/compile_flags.h"

#include <algorithm>
#include <array>

#include "analyzers/words.h"

namespace opseal {
namespace {

constexpr std::size_t most_flags = 4096;

// Their operand follows at once or as the next word.
constexpr std::array<std::string_view, 5> with_operand{"-I", "-isystem", "-iquote", "-D", "-U"};
// It always is the next word.
constexpr std::array<std::string_view, 1> with_word{"-include"};

// `-f` also names plugins, and files to be written.
constexpr std::array<std::string_view, 18> alone{
    "-fexceptions",  "-fno-exceptions", "-frtti",          "-fno-rtti",       "-fopenmp",
    "-fPIC",         "-fpic",           "-fPIE",           "-fpie",           "-fchar8_t",
    "-fno-char8_t",  "-fsigned-char",   "-funsigned-char", "-fms-extensions", "-fcoroutines",
    "-faligned-new", "-fpermissive",    "-fshort-enums"};

// Words of nvcc and of compilers whose operand is the next word, and which say nothing of meaning.
constexpr std::array<std::string_view, 32> dropped_with_word{"-gencode",
                                                             "--generate-code",
                                                             "-arch",
                                                             "--gpu-architecture",
                                                             "-code",
                                                             "--gpu-code",
                                                             "-ccbin",
                                                             "--compiler-bindir",
                                                             "-Xcompiler",
                                                             "--compiler-options",
                                                             "-Xptxas",
                                                             "--ptxas-options",
                                                             "-Xlinker",
                                                             "--linker-options",
                                                             "-Xcudafe",
                                                             "-Xfatbin",
                                                             "-diag-suppress",
                                                             "--diag-suppress",
                                                             "-t",
                                                             "--threads",
                                                             "-rdc",
                                                             "--relocatable-device-code",
                                                             "--options-file",
                                                             "-optf",
                                                             "-MF",
                                                             "-MT",
                                                             "-MQ",
                                                             "-o",
                                                             "-Xclang",
                                                             "-x",
                                                             "-target",
                                                             "-arch-list"};

// Of these, the forms with `=` stand alone.
bool takes_next_word(std::string_view word) { return is_one_of(word, dropped_with_word); }

// Sent to every parse.
void add_common(std::vector<std::string>& flags) {
  // After twenty errors clang gives up, and its spelling advice takes time.
  for (const char* flag : {"-ferror-limit=0", "-w", "-fno-spell-checking"})
    flags.emplace_back(flag);
}

void add_language(std::string_view path, std::vector<std::string>& flags) {
  flags.emplace_back("-x");
  if (is_cuda_path(path)) {
    flags.insert(flags.end(), {"cuda", "--cuda-host-only"});
  } else {
    flags.emplace_back("c++");
  }
}

}  // namespace

bool is_cuda_path(std::string_view path) { return path.ends_with(".cu") || path.ends_with(".cuh"); }

std::vector<std::string> flags_without_headers(std::string_view path) {
  std::vector<std::string> flags;
  add_common(flags);
  add_language(path, flags);
  if (is_cuda_path(path)) flags.insert(flags.end(), {"-nocudainc", "-nocudalib"});
  for (const char* flag :
       {"-std=c++20", "-nostdinc", "-nostdinc++", "-nobuiltininc", "-ftemplate-depth=64",
        // A comparison with a number takes only one branch, so these have one.
        "-DCUDA_VERSION=13000", "-DCUDART_VERSION=13000", "-D__CUDACC_VER_MAJOR__=13",
        "-D__CUDACC_VER_MINOR__=0", "-DTORCH_VERSION_MAJOR=2", "-DTORCH_VERSION_MINOR=9"}) {
    flags.emplace_back(flag);
  }
  return flags;
}

std::vector<std::string> split_command(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool inside = false;
  char mark = '\0';
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char byte = line[at];
    if (mark == '\'' && byte != '\'') {
      word += byte;
    } else if (byte == '\\' && at + 1 < line.size()) {
      word += line[++at];
      inside = true;
    } else if (mark != '\0') {
      if (byte == mark) {
        mark = '\0';
      } else {
        word += byte;
      }
    } else if (byte == '"' || byte == '\'') {
      mark = byte;
      inside = true;
    } else if (byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r') {
      if (inside) words.push_back(std::move(word));
      word.clear();
      inside = false;
    } else {
      word += byte;
      inside = true;
    }
  }
  if (inside) words.push_back(std::move(word));
  return words;
}

std::vector<std::string> kept_flags(const std::vector<std::string>& command,
                                    const std::string& directory, std::string_view path) {
  if (command.size() < 2) return {};
  std::vector<std::string> flags;
  add_common(flags);
  add_language(path, flags);
  if (!directory.empty()) flags.push_back("-working-directory=" + directory);
  bool has_standard = false;
  for (std::size_t at = 1; at < command.size() && flags.size() < most_flags; ++at) {
    std::string word = command[at];
    // nvcc's long forms.
    for (const auto& [is, means] : {std::pair<std::string_view, std::string_view>{"--std", "-std"},
                                    {"--define-macro", "-D"},
                                    {"--include-path", "-I"},
                                    {"--system-include", "-isystem"}}) {
      if (word.starts_with(is)) word = std::string(means) + word.substr(is.size());
    }
    // And its `-isystem=DIR`, which clang takes for another directory.
    for (const std::string_view flag : {"-isystem", "-I", "-D"}) {
      if (word.starts_with(flag) && word.size() > flag.size() && word[flag.size()] == '=') {
        word.erase(flag.size(), 1);
      }
    }
    if (takes_next_word(word)) {
      ++at;
      continue;
    }
    if (is_one_of(word, with_operand) || is_one_of(word, with_word)) {
      if (++at == command.size()) break;
      flags.push_back(std::move(word));
      flags.push_back(command[at]);
      continue;
    }
    const bool has_operand =
        std::any_of(with_operand.begin(), with_operand.end(),
                    [&word](std::string_view flag) { return word.starts_with(flag); });
    if (word == "-std" && at + 1 < command.size()) word += "=" + command[++at];
    if (word.starts_with("-std=")) has_standard = true;
    if (has_operand || word.starts_with("-std=") || word.starts_with("--cuda-path=") ||
        is_one_of(word, alone)) {
      flags.push_back(std::move(word));
    }
  }
  if (!has_standard) flags.emplace_back("-std=c++20");
  return flags;
}

}  // namespace opseal
