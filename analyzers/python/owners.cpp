#include "analyzers/python/owners.h"

#include <algorithm>
#include <string_view>

namespace opseal {

namespace {

// The words by which torch names where a kernel goes; the second argument of an `impl` by others is
// hardly ever one.
bool is_dispatch_key(std::string_view word) {
  for (const std::string_view part :
       {"CPU", "CUDA", "Meta", "Composite", "Autograd", "PrivateUse", "XPU", "HPU", "NPU", "MPS",
        "Functionalize", "FuncTorch", "Autocast", "Sparse", "Quantized", "BackendSelect", "XLA"}) {
    if (word.starts_with(part)) return true;
  }
  return false;
}

// A text literal as it stands, for a first look.
std::string_view literal(const PythonSyntax& syntax, SyntaxIndex argument) {
  const SyntaxIndex index = syntax.unwrapped(argument);
  if (syntax.is(index, SyntaxKind::concatenated_string) && syntax.first(index) != no_syntax) {
    return literal(syntax, syntax.first(index));
  }
  if (!syntax.is(index, SyntaxKind::string)) return {};
  std::string_view text = syntax.text_of(index);
  const std::size_t quote = text.find_first_of("'\"");
  if (quote == std::string_view::npos) return {};
  text.remove_prefix(quote + 1);
  return text.substr(0, text.find(text.empty() ? '"' : syntax.text_of(index)[quote]));
}

// Whether the arguments alone show a method to be that of a torch library whose making isn't seen.
bool looks_like_library_call(const PythonSyntax& syntax, std::string_view name,
                             SyntaxIndex arguments) {
  if (!syntax.is(arguments, SyntaxKind::argument_list)) return false;
  SyntaxIndex key = no_syntax;
  std::size_t positional = 0;
  std::string_view first;
  for (const SyntaxIndex argument : syntax.children(arguments)) {
    if (syntax.is(argument, SyntaxKind::keyword_argument)) {
      const SyntaxIndex keyword = syntax.child(argument, SyntaxField::name);
      if (keyword != no_syntax && syntax.text_of(keyword) == "dispatch_key") return true;
      continue;
    }
    if (positional == 0) first = literal(syntax, argument);
    if (++positional == 3) key = argument;
  }
  if (name == "define") {
    return first.find('(') != std::string_view::npos &&
           syntax.text_of(arguments).find("->") != std::string_view::npos;
  }
  return key != no_syntax && is_dispatch_key(literal(syntax, key));
}

// `register_fake("ns::name")` of a module of the program's own, which hands on what torch has: the
// name alone shows that an operator is meant.
bool names_operator(const PythonSyntax& syntax, SyntaxIndex arguments) {
  if (!syntax.is(arguments, SyntaxKind::argument_list)) return false;
  const SyntaxIndex first = syntax.first(arguments);
  if (first == no_syntax || !syntax.is(syntax.unwrapped(first), SyntaxKind::string)) return false;
  const std::string_view text = literal(syntax, first);
  const std::size_t colons = text.find("::");
  return colons != 0 && colons != text.npos && text.find_first_of("( ") == text.npos;
}

// Whether a parameter is annotated as a torch library.
bool is_library_parameter(const PythonSyntax& syntax, const PythonScopes& scopes,
                          SyntaxIndex owner) {
  if (!syntax.is(owner, SyntaxKind::identifier)) return false;
  const PythonBinding* binding = scopes.only(syntax.text_of(owner), owner);
  if (binding == nullptr || binding->kind != PythonBinding::Kind::parameter) return false;
  const SyntaxIndex type = syntax.child(binding->value, SyntaxField::type);
  return type != no_syntax && syntax.text_of(type).find("Library") != std::string_view::npos;
}

bool is_imported(const PythonSyntax& syntax, const PythonScopes& scopes, SyntaxIndex name) {
  if (!syntax.is(name, SyntaxKind::identifier)) return false;
  const std::vector<PythonBinding>& bindings = scopes.find(syntax.text_of(name), name);
  return std::any_of(bindings.begin(), bindings.end(), [](const PythonBinding& binding) {
    return binding.kind == PythonBinding::Kind::import;
  });
}

// A function of the program's own around what torch has, told by what it is handed: no other
// function is given `mutates_args` behind the name of an operator.
const PythonCallForm* wrapped_form(const PythonSyntax& syntax, std::string_view name,
                                   SyntaxIndex arguments) {
  const bool fake = name.find("register_fake") != name.npos;
  if (!fake && name.find("custom_op") == name.npos) return nullptr;
  if (!names_operator(syntax, arguments)) return nullptr;
  if (!fake) {
    const std::vector<SyntaxIndex> given = syntax.children(arguments);
    const bool says = std::any_of(given.begin(), given.end(), [&](SyntaxIndex argument) {
      const SyntaxIndex keyword = syntax.is(argument, SyntaxKind::keyword_argument)
                                      ? syntax.child(argument, SyntaxField::name)
                                      : no_syntax;
      return keyword != no_syntax && syntax.text_of(keyword) == "mutates_args";
    });
    if (!says) return nullptr;
  }
  for (const PythonCallForm& form : call_forms(fake ? "register_fake" : "custom_op")) {
    if (form.home == PythonHome::torch_library) return &form;
  }
  return nullptr;
}

std::string_view before_last(std::string_view full_name) {
  full_name = full_name.substr(0, full_name.rfind('.'));
  return full_name.substr(full_name.rfind('.') + 1);
}

struct Callee {
  const PythonSyntax& syntax;
  const PythonScopes& scopes;
  SyntaxIndex owner;
  SyntaxIndex arguments;
};

bool fits(const Callee& callee, const PythonCallForm& form, std::string_view full) {
  const bool method = callee.owner != no_syntax;
  // A module of the program's own, as packages gather what they import from frameworks.
  const bool elsewhere = full.starts_with(".");
  switch (form.home) {
    case PythonHome::anywhere:
      return true;
    case PythonHome::method:
      return method;
    case PythonHome::torch_library:
      return full.starts_with("torch.library.") || full.starts_with("torch._library.") ||
             full.ends_with(".torch.library." + std::string(form.name)) ||
             (!method && full.find('.') != full.npos && form.name != "define" &&
              form.name != "impl" && names_operator(callee.syntax, callee.arguments));
    case PythonHome::torch_library_object:
      if (!method) return false;
      return !python_makers_of(callee.syntax, callee.scopes, callee.owner,
                               PythonKind::torch_library)
                  .empty() ||
             is_library_parameter(callee.syntax, callee.scopes, callee.owner) ||
             looks_like_library_call(callee.syntax, form.name, callee.arguments);
    case PythonHome::torch_operator_object:
      if (!method) return false;
      for (const PythonKind kind : {PythonKind::torch_custom_op, PythonKind::torch_triton_op}) {
        if (!python_makers_of(callee.syntax, callee.scopes, callee.owner, kind).empty()) {
          return true;
        }
      }
      // Of an operator that another file makes; `register_kernel` is other frameworks' word too.
      return form.kind != PythonKind::torch_kernel &&
             is_imported(callee.syntax, callee.scopes, callee.owner);
    case PythonHome::jax:
      return full.starts_with("jax.") || full.starts_with("jaxlib.") ||
             full.find(".jax.") != std::string_view::npos || (elsewhere && !method) ||
             before_last(full) == "ffi" || before_last(full) == "batching";
    case PythonHome::jax_ad:
      return before_last(full) == "ad" || !method;
    case PythonHome::jax_mlir:
      return before_last(full) == "mlir" || full.starts_with("jax.") ||
             (!method && before_last(full).find("compat") != std::string_view::npos);
    case PythonHome::jax_core:
      // Packages import it through a module of theirs that knows where each release keeps it.
      return before_last(full) == "core" || full.starts_with("jax.") ||
             (!method && before_last(full).find("compat") != std::string_view::npos);
    case PythonHome::triton:
      return full.starts_with("triton.") || full.ends_with(".triton.jit");
    case PythonHome::numba:
      return full.starts_with("numba.") || full.find(".numba.") != std::string_view::npos;
    case PythonHome::tvm:
      return full.starts_with("tvm") || full.find(".tvm") != std::string_view::npos || elsewhere;
  }
  return false;
}

}  // namespace

PythonCallee python_callee(const PythonSyntax& syntax, const PythonScopes& scopes,
                           SyntaxIndex function, SyntaxIndex arguments) {
  const SyntaxIndex index = syntax.unwrapped(function);
  SyntaxIndex owner = no_syntax;
  if (syntax.is(index, SyntaxKind::attribute)) {
    owner = syntax.unwrapped(syntax.child(index, SyntaxField::object));
    const SyntaxIndex name = syntax.child(index, SyntaxField::attribute);
    // By far most calls are no registration, and this is how to tell fastest.
    if (name == no_syntax || call_forms(syntax.text_of(name)).empty()) {
      const std::string_view text = name == no_syntax ? std::string_view() : syntax.text_of(name);
      if (const PythonCallForm* form = wrapped_form(syntax, text, arguments)) {
        return {form, std::string(syntax.text_of(index)), no_syntax};
      }
      return {};
    }
  } else if (!syntax.is(index, SyntaxKind::identifier)) {
    return {};
  }
  std::vector<std::string> names = scopes.full_names(index);
  if (names.empty() && owner != no_syntax) {
    // A method of something that has no name: `f(x).def_call(g)`.
    const SyntaxIndex name = syntax.child(index, SyntaxField::attribute);
    names.push_back("?." + std::string(syntax.text_of(name)));
  }
  for (const std::string& full : names) {
    const std::string_view last = std::string_view(full).substr(full.rfind('.') + 1);
    for (const PythonCallForm& form : call_forms(last)) {
      if (fits({syntax, scopes, owner, arguments}, form, full)) return {&form, full, owner};
    }
    if (const PythonCallForm* form = wrapped_form(syntax, last, arguments)) {
      return {form, full, no_syntax};
    }
  }
  return {};
}

std::vector<SyntaxIndex> python_makers(const PythonSyntax& syntax, const PythonScopes& scopes,
                                       SyntaxIndex expression) {
  std::vector<SyntaxIndex> makers;
  const auto add = [&](SyntaxIndex value) {
    const SyntaxIndex index = syntax.unwrapped(value);
    if (syntax.is(index, SyntaxKind::call) && makers.size() < PythonScopes::max_meanings) {
      makers.push_back(index);
    }
  };
  const SyntaxIndex index = syntax.unwrapped(expression);
  if (index == no_syntax) return makers;
  if (syntax.is(index, SyntaxKind::call)) add(index);
  if (syntax.is(index, SyntaxKind::attribute)) {
    const std::vector<SyntaxIndex>& values = scopes.assigned(syntax.text_of(index));
    if (values.size() > PythonScopes::max_bindings) return makers;
    for (const SyntaxIndex value : values) add(value);
  }
  if (!syntax.is(index, SyntaxKind::identifier)) return makers;
  const std::vector<PythonBinding>& bindings = scopes.find(syntax.text_of(index), index);
  if (bindings.size() > PythonScopes::max_bindings) return makers;
  for (const PythonBinding& binding : bindings) {
    if (binding.kind == PythonBinding::Kind::value ||
        binding.kind == PythonBinding::Kind::context) {
      add(binding.value);
    }
    if (binding.kind != PythonBinding::Kind::definition) continue;
    const SyntaxIndex decorated = syntax[binding.value].parent;
    if (!syntax.is(decorated, SyntaxKind::decorated_definition)) continue;
    for (const SyntaxIndex part : syntax.children(decorated)) {
      if (syntax.is(part, SyntaxKind::decorator) && syntax.first(part) != no_syntax) {
        add(syntax.first(part));
      }
    }
  }
  return makers;
}

std::vector<SyntaxIndex> python_makers_of(const PythonSyntax& syntax, const PythonScopes& scopes,
                                          SyntaxIndex expression, PythonKind kind) {
  std::vector<SyntaxIndex> found;
  for (const SyntaxIndex maker : python_makers(syntax, scopes, expression)) {
    const SyntaxIndex function = syntax.child(maker, SyntaxField::function);
    if (function == no_syntax) continue;
    // Methods are no makers of these kinds, and looking at their owners in turn might not end.
    for (const std::string& full : scopes.full_names(function)) {
      const std::string_view last = std::string_view(full).substr(full.rfind('.') + 1);
      for (const PythonCallForm& form : call_forms(last)) {
        if (form.kind != kind || form.home == PythonHome::method) continue;
        if (form.home == PythonHome::torch_library_object ||
            form.home == PythonHome::torch_operator_object) {
          continue;
        }
        if (!fits({syntax, scopes, no_syntax, no_syntax}, form, full)) continue;
        if (found.empty() || found.back() != maker) found.push_back(maker);
      }
    }
  }
  return found;
}

bool is_imported_primitive(const PythonSyntax& syntax, const PythonScopes& scopes,
                           SyntaxIndex name) {
  if (!syntax.is(name, SyntaxKind::identifier)) return false;
  return syntax.text_of(name).ends_with("_p") && is_imported(syntax, scopes, name);
}

}  // namespace opseal
