#include "analyzers/python/triton_launches.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "analyzers/python/bound_call.h"
#include "analyzers/python/functions.h"
#include "analyzers/python/triton_kinds.h"
#include "analyzers/python/triton_tuners.h"

namespace opseal {
namespace {

// One file holds some tens.
constexpr std::size_t most_kernels = 2048;
constexpr std::size_t most_launches = 8192;

class Reader {
 public:
  explicit Reader(const ParsedPython& file)
      : syntax_(file.syntax), scopes_(file.scopes), kinds_(file), tuners_(file) {}

  PythonTriton run() {
    for (SyntaxIndex index = 0; index < syntax_.nodes.size(); ++index) {
      if (syntax_.is(index, SyntaxKind::decorated_definition)) look_at_definition(index);
    }
    for (SyntaxIndex index = 0; index < syntax_.nodes.size(); ++index) {
      if (syntax_.is(index, SyntaxKind::call)) look_at_call(index);
    }
    return std::move(found_);
  }

 private:
  void look_at_definition(SyntaxIndex decorated) {
    if (found_.kernels.size() == most_kernels) return;
    const SyntaxIndex definition = syntax_.child(decorated, SyntaxField::definition);
    if (!syntax_.is(definition, SyntaxKind::function_definition)) return;
    const TritonTuning tuning = tuners_.of(decorated);
    if (!tuning.compiled || !tuning.known) return;
    TritonKernel kernel;
    kernel.function = python_definition(syntax_, definition);
    if (!kernel.function.found) return;
    kernel.name = kernel.function.name;
    kernel.place = kernel.function.place;
    kernel.kinds = kinds_.of_parameters(kernel.function, definition);
    for (const PythonParameter& parameter : kernel.function.parameters) {
      if (parameter.standard.empty() && !tuning.may_give(parameter)) {
        kernel.required.push_back(parameter.name);
      }
    }
    kernel.tuned = tuning.tuned;
    // What `kernel = tune(kernel)` makes of it behind takes other arguments.
    const PythonBinding* binding = scopes_.only(kernel.name, decorated);
    if (binding == nullptr || binding->value != definition) return;
    kernel.nested = !syntax_.is(scopes_.scope_of(decorated), SyntaxKind::module);
    kernels_.emplace(definition, static_cast<std::uint32_t>(found_.kernels.size()));
    found_.kernels.push_back(std::move(kernel));
  }

  // `wrap_triton(kernel)[grid]` is one of `kernel`.
  SyntaxIndex wrapped(SyntaxIndex called) const {
    if (!syntax_.is(called, SyntaxKind::call)) return called;
    const SyntaxIndex wrapper = syntax_.child(called, SyntaxField::function);
    const SyntaxIndex arguments = syntax_.child(called, SyntaxField::arguments);
    if (wrapper == no_syntax || !syntax_.is(arguments, SyntaxKind::argument_list)) return called;
    const std::string_view text = syntax_.text_of(wrapper);
    if (!text.ends_with("wrap_triton") && !text.ends_with("capture_triton")) return called;
    const std::vector<SyntaxIndex> values = syntax_.children(arguments);
    return values.size() == 1 ? syntax_.unwrapped(values[0]) : called;
  }

  void look_at_call(SyntaxIndex call) {
    if (found_.launches.size() == most_launches) return;
    const SyntaxIndex function = syntax_.child(call, SyntaxField::function);
    const SyntaxIndex arguments = syntax_.child(call, SyntaxField::arguments);
    if (!syntax_.is(function, SyntaxKind::subscript)) return;
    if (!syntax_.is(arguments, SyntaxKind::argument_list)) return;
    const SyntaxIndex called = wrapped(syntax_.child(function, SyntaxField::value));
    TritonLaunch launch;
    if (!set_kernel(called, launch)) return;
    launch.place = syntax_.place_of(call);
    const BoundCall bound = bind_call(syntax_, arguments, "");
    launch.open_ended = bound.open_ended;
    std::vector<TritonKind> of_names;
    for (const BoundArgument& argument : bound.arguments) {
      if (syntax_.is(argument.value, SyntaxKind::error)) return;
      if (argument.keyword.empty()) {
        ++launch.positional;
        launch.kinds.push_back(kinds_.of_argument(argument.value));
      } else {
        launch.names.emplace_back(argument.keyword);
        of_names.push_back(kinds_.of_argument(argument.value));
      }
    }
    launch.kinds.insert(launch.kinds.end(), of_names.begin(), of_names.end());
    found_.launches.push_back(std::move(launch));
  }

  bool set_kernel(SyntaxIndex called, TritonLaunch& launch) const {
    if (syntax_.is(called, SyntaxKind::identifier)) {
      const PythonBinding* binding = scopes_.only(syntax_.text_of(called), called);
      if (binding == nullptr) return false;
      if (binding->kind == PythonBinding::Kind::definition) {
        const auto kernel = kernels_.find(binding->value);
        if (kernel == kernels_.end()) return false;
        launch.kernel = kernel->second;
        return true;
      }
      if (binding->kind != PythonBinding::Kind::import) return false;
      launch.path = binding->path;
      return true;
    }
    if (!syntax_.is(called, SyntaxKind::attribute)) return false;
    const std::vector<std::string> names = scopes_.full_names(called);
    if (names.size() != 1) return false;
    launch.path = names.front();
    return launch.path != syntax_.text_of(called) || launch.path.find('.') != std::string::npos;
  }

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
  TritonKinds kinds_;
  TritonTuners tuners_;
  std::map<SyntaxIndex, std::uint32_t> kernels_;
  PythonTriton found_;
};

}  // namespace

bool may_hold_triton(std::string_view text) {
  if (text.find("triton") != text.npos) {
    return text.find("](") != text.npos || text.find("jit") != text.npos;
  }
  // Kernels may come from other files, which alone name Triton.
  return text.find("import") != text.npos && text.find("kernel[") != text.npos;
}

PythonTriton find_python_triton(const ParsedPython& file) { return Reader(file).run(); }

}  // namespace opseal
