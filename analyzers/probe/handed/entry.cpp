// The library's one door. Everything behind it is the code of the program itself.

#include <dlfcn.h>

#include <cstddef>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>

#include "analyzers/probe/child.h"
#include "analyzers/probe/handed_out.h"

namespace {

// The file that the function lies in, or else `fallback`: one that was made at run time lies in
// none.
std::string library_of(void* function, const char* fallback) {
  Dl_info info{};
  const bool known = ::dladdr(function, &info) != 0 && info.dli_fname != nullptr;
  const std::string path = known ? info.dli_fname : fallback;
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         std::free);
  return real ? real.get() : path;
}

}  // namespace

// One handler that a module hands out, as probe_handed.py fills it in.
struct OpsealHanded {
  const char* name;
  const char* module_file;
  const char* stage;
  // Why it must not be called; empty: it can be.
  const char* lack;
  void* function;
};

// Answers questions about these handlers until there are no more. Returns the exit status.
extern "C" __attribute__((visibility("default"))) int opseal_serve_handlers(
    const OpsealHanded* handed, std::size_t count, const char* problem) {
  try {
    opseal::ffi::HandedOut& all = opseal::ffi::handed_out();
    all.problem = problem;
    for (std::size_t at = 0; at < count; ++at) {
      const OpsealHanded& one = handed[at];
      all.handlers.push_back(
          {one.name, library_of(one.function, one.module_file), one.stage, one.lack});
      all.functions.push_back(one.function);
    }
    return opseal::run_probe_child(opseal::ffi::answer_question);
  } catch (const std::exception&) {
    // Who asked sees that the process ended.
    return 1;
  }
}
