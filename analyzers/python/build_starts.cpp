#include "analyzers/python/build_starts.h"

#include <algorithm>
#include <string>

namespace opseal {
namespace {

// Builds that one function starts, by itself and through others.
constexpr std::size_t max_builds = 64;

}  // namespace

Build build_by(const std::set<std::string_view>& words) {
  Build found = Build::none;
  for (const std::string_view word : words) {
    if (word.find("-version") != word.npos || word == "-dumpversion") return Build::none;
    std::size_t begin = 0;
    while (begin <= word.size()) {
      const std::size_t end = std::min(word.find_first_of(" /\\\n", begin), word.size());
      const std::string_view name = word.substr(begin, end - begin);
      begin = end + 1;
      for (const std::string_view judge : {"ninja", "cmake", "make"}) {
        if (name == judge) return Build::judged;
      }
      for (const std::string_view compiler :
           {"nvcc", "hipcc", "g++", "gcc", "c++", "cc", "clang", "clang++", "icpx", "cl.exe"}) {
        if (name == compiler) found = Build::compiler;
      }
    }
    std::string name(word);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char byte) { return byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte; });
    const bool plain = name.find_first_of(" -/.") == name.npos;
    for (const std::string_view part : {"nvcc", "hipcc", "cxx", "compiler"}) {
      if (plain && name.find(part) != name.npos) found = Build::compiler;
    }
  }
  return found;
}

bool compiles_in_process(std::string_view name) {
  return name.find("nvrtc") != name.npos && name.find("compile") != name.npos;
}

SyntaxIndex build_folder_of(const PythonCode& code, SyntaxIndex call) {
  for (const SyntaxIndex given : code.flow.arguments(call)) {
    if (!code.syntax.is(given, SyntaxKind::keyword_argument)) continue;
    const SyntaxIndex name = code.syntax.child(given, SyntaxField::name);
    if (name != no_syntax && code.syntax.text_of(name) == "build_directory") {
      return code.syntax.child(given, SyntaxField::value);
    }
  }
  return no_syntax;
}

bool BuildStarts::starts(SyntaxIndex call) const {
  const SyntaxIndex function = code_.syntax.child(call, SyntaxField::function);
  const std::string_view name = code_.flow.called(call);
  if (name == "run" || name == "check_call" || name == "check_output" || name == "Popen" ||
      name == "call") {
    return code_.flow.is_named(function, "subprocess.");
  }
  if (compiles_in_process(name)) return true;
  if (name == "system") return code_.flow.is_named(function, "os.system");
  return loader(call) != Build::none;
}

Build BuildStarts::loader(SyntaxIndex call) const {
  const SyntaxIndex function = code_.syntax.child(call, SyntaxField::function);
  const std::string_view name = code_.flow.called(call);
  const bool loads = name == "load" || name == "load_inline";
  if (loads && code_.flow.is_named(function, "torch.utils.cpp_extension.")) return Build::judged;
  const bool builds = loads || name == "build" || name == "build_inline";
  if (builds && code_.flow.is_named(function, "tvm_ffi.cpp.")) return Build::folder;
  return Build::none;
}

// The builds that a function starts through so many others.
void BuildStarts::find_builds(SyntaxIndex function, const FlowFrame* frame, std::uint32_t depth,
                              std::vector<Started>& builds) {
  for (const SyntaxIndex call : code_.calls_in(function)) {
    if (builds.size() >= max_builds) return;
    if (depth == 0) {
      if (starts(call)) builds.push_back({call, frame});
      continue;
    }
    const SyntaxIndex helper = code_.flow.function_of(call);
    if (helper == no_syntax || !may_start(helper, depth - 1)) continue;
    const FlowFrame* inner = code_.flow.enter(helper, call, frame);
    if (inner != nullptr) find_builds(helper, inner, depth - 1, builds);
  }
}

// Asked before a frame is made for it: most helpers start nothing.
bool BuildStarts::may_start(SyntaxIndex function, std::uint32_t depth) {
  const auto known = starters_.find({function, depth});
  if (known != starters_.end()) return known->second;
  starters_[{function, depth}] = false;
  bool found = false;
  for (const SyntaxIndex call : code_.calls_in(function)) {
    if (depth == 0) {
      found = found || starts(call);
    } else if (const SyntaxIndex helper = code_.flow.function_of(call); helper != no_syntax) {
      found = found || may_start(helper, depth - 1);
    }
  }
  starters_[{function, depth}] = found;
  return found;
}

}  // namespace opseal
