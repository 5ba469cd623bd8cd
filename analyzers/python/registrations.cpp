#include "analyzers/python/registrations.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analyzers/python/call_forms.h"
#include "analyzers/python/constants.h"
#include "analyzers/python/loop_rounds.h"
#include "analyzers/python/owners.h"
#include "analyzers/python/registration_builder.h"
#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"
#include "analyzers/source/needles.h"

namespace opseal {

namespace {

// Finds what registers, in the order of the text, and repeats it for the rounds of loops.
class Reader {
 public:
  explicit Reader(const ParsedPython& file)
      : syntax_(file.syntax),
        scopes_(file.scopes),
        constants_(syntax_, scopes_),
        rounds_(syntax_, constants_),
        builder_(syntax_, scopes_, constants_) {
    constants_.follows_calls = true;
  }

  PythonRegistrations run() {
    for (SyntaxIndex index = 0; index < syntax_.nodes.size(); ++index) {
      if (found_.registrations.size() >= max_registrations) {
        problem(index, "more than " + std::to_string(max_registrations) +
                           " registrations in one file, the rest of which isn't read");
        break;
      }
      switch (syntax_[index].kind) {
        case SyntaxKind::call:
          look_at_call(index);
          break;
        case SyntaxKind::decorator:
          look_at_decorator(index);
          break;
        case SyntaxKind::assignment:
          look_at_assignment(index);
          break;
        case SyntaxKind::attribute:
          look_at_attribute(index);
          break;
        default:
          break;
      }
    }
    if (const SyntaxIndex error = first_loss(); error != no_syntax) {
      problem(error,
              "this is not Python as far as it is understood here: what is "
              "registered from here on may be missed");
    }
    return std::move(found_);
  }

 private:
  static constexpr std::size_t max_registrations = 20000;
  // The line that a node begins on, without what it is indented by.
  std::string_view line_of(const SyntaxNode& node) const {
    const std::string_view all = syntax_.text;
    const std::size_t before = node.begin == 0 ? all.npos : all.rfind('\n', node.begin - 1);
    const std::size_t start = all.find_first_not_of(" \t", before == all.npos ? 0 : before + 1);
    const std::size_t end = all.find('\n', node.begin);
    if (start == all.npos || start > node.begin) return {};
    return all.substr(start, (end == all.npos ? all.size() : end) - start);
  }
  std::size_t end_of(std::string_view part) const {
    return static_cast<std::size_t>(part.data() - syntax_.text.data()) + part.size();
  }

  // The first stretch that the grammar doesn't know and that may register something. It doesn't
  // know all of Python: `return a, *((None,) * 3)` is fine and no loss.
  SyntaxIndex first_loss() const {
    for (SyntaxIndex index = syntax_.first_error; index < syntax_.nodes.size(); ++index) {
      const SyntaxNode& node = syntax_[index];
      if (node.kind != SyntaxKind::error) continue;
      const std::string_view text = line_of(node);
      const bool harmless =
          text.starts_with("return ") && node.end <= end_of(text) && !may_hold_registrations(text);
      if (!harmless) return index;
    }
    return no_syntax;
  }

  void problem(SyntaxIndex index, std::string message) {
    const SyntaxNode& node = syntax_[index];
    found_.problems.push_back(
        {{node.begin, std::min(node.end - node.begin, 80u)}, std::move(message)});
  }

  // Adds what `make` makes, once for each round of the loops whose names it asks for.
  template <typename Make>
  void add(const Make& make) {
    const auto in_round = [&] {
      PythonRegistration one = make();
      one.expanded = !constants_.rounds.empty();
      return one;
    };
    for (PythonRegistration& one : rounds_.all<PythonRegistration>(in_round)) {
      found_.registrations.push_back(std::move(one));
    }
  }

  SyntaxIndex decorated_by(SyntaxIndex index) const {
    const SyntaxIndex decorator = syntax_[index].parent;
    if (!syntax_.is(decorator, SyntaxKind::decorator)) return no_syntax;
    return syntax_.child(syntax_[decorator].parent, SyntaxField::definition);
  }

  void look_at_call(SyntaxIndex call) {
    const SyntaxIndex function = syntax_.child(call, SyntaxField::function);
    const SyntaxIndex arguments = syntax_.child(call, SyntaxField::arguments);
    if (function == no_syntax || !syntax_.is(arguments, SyntaxKind::argument_list)) return;
    const PythonCallee callee = python_callee(syntax_, scopes_, function, arguments);
    const SyntaxIndex definition = decorated_by(call);
    if (callee.form != nullptr) {
      add([&] { return builder_.from_call(callee, call, arguments, definition, 0); });
      return;
    }
    if (look_at_partial(call, function, arguments, definition)) return;
    if (look_at_getattr(call, function, arguments)) return;
    look_at_use(call, function);
  }

  // `@partial(custom_vjp, nondiff_argnums=(0,))`.
  bool look_at_partial(SyntaxIndex call, SyntaxIndex function, SyntaxIndex arguments,
                       SyntaxIndex definition) {
    if (definition == no_syntax) return false;
    const std::vector<std::string> names = scopes_.full_names(function);
    if (names.empty() || (names[0] != "functools.partial" && names[0] != "partial")) return false;
    const SyntaxIndex first = syntax_.first(arguments);
    if (first == no_syntax) return false;
    const PythonCallee callee = python_callee(syntax_, scopes_, first, arguments);
    if (callee.form == nullptr) return false;
    add([&] { return builder_.from_call(callee, call, arguments, definition, 1); });
    return true;
  }

  // `getattr(torch.ops.ns, "name")`, `hasattr` and `setattr` likewise.
  bool look_at_getattr(SyntaxIndex call, SyntaxIndex function, SyntaxIndex arguments) {
    if (!syntax_.is(function, SyntaxKind::identifier)) return false;
    const std::string_view name = syntax_.text_of(function);
    if (name != "getattr" && name != "hasattr" && name != "setattr") return false;
    const std::vector<SyntaxIndex> values = syntax_.children(arguments);
    if (values.size() < 2) return false;
    const std::vector<std::string> owners = scopes_.full_names(values[0]);
    if (owners.empty() || !owners[0].starts_with("torch.ops.")) return false;
    const bool test = name == "hasattr" || (name == "getattr" && values.size() > 2);
    const std::string_view how = name == "setattr" ? "assigned" : test ? "hasattr" : "getattr";
    add([&] {
      PythonRegistration made = builder_.from_lookup(call, owners[0]);
      const PythonConstant asked = constants_.of(values[1]);
      made.how = how;
      made.name.place = made.place;
      made.name.state = asked.is_text() ? PythonText::State::decided : PythonText::State::undecided;
      if (asked.is_text()) made.name.text = asked.text;
      return made;
    });
    return true;
  }

  // `add_p(x, y)`, `add_p.bind(x, y)`.
  void look_at_use(SyntaxIndex call, SyntaxIndex function) {
    SyntaxIndex primitive = syntax_.unwrapped(function);
    if (syntax_.is(primitive, SyntaxKind::attribute)) {
      const SyntaxIndex name = syntax_.child(primitive, SyntaxField::attribute);
      if (name == no_syntax || syntax_.text_of(name) != "bind") return;
      primitive = syntax_.unwrapped(syntax_.child(primitive, SyntaxField::object));
    }
    if (!syntax_.is(primitive, SyntaxKind::identifier)) return;
    if (!is_imported_primitive(syntax_, scopes_, primitive) &&
        python_makers_of(syntax_, scopes_, primitive, PythonKind::primitive).empty()) {
      return;
    }
    add([&] { return builder_.from_use(call, primitive); });
  }

  void look_at_decorator(SyntaxIndex decorator) {
    const SyntaxIndex name = syntax_.first(decorator);
    if (name == no_syntax ||
        (!syntax_.is(name, SyntaxKind::identifier) && !syntax_.is(name, SyntaxKind::attribute))) {
      return;
    }
    const PythonCallee callee = python_callee(syntax_, scopes_, name, no_syntax);
    if (callee.form == nullptr) return;
    // `@op.register_fake` too: what it is a method of has been looked at.
    const bool method = callee.form->home == PythonHome::torch_operator_object ||
                        callee.form->home == PythonHome::method;
    if (!callee.form->bare && !method) return;
    const SyntaxIndex definition = decorated_by(name);
    if (definition == no_syntax) return;
    add([&] { return builder_.from_call(callee, name, no_syntax, definition, 0); });
  }

  void look_at_assignment(SyntaxIndex assignment) {
    const SyntaxIndex target = syntax_.child(assignment, SyntaxField::left);
    if (!syntax_.is(target, SyntaxKind::subscript)) return;
    const SyntaxIndex table = syntax_.child(target, SyntaxField::value);
    const std::vector<std::string> names = scopes_.full_names(table);
    if (names.empty()) return;
    const std::string_view full = names.front();
    const PythonTableForm* form = table_form(full.substr(full.rfind('.') + 1));
    if (form == nullptr) return;
    add([&] { return builder_.from_table(*form, assignment); });
  }

  void look_at_attribute(SyntaxIndex attribute) {
    // The whole of `torch.ops.ns.name.overload` at once.
    if (syntax_.is(syntax_[attribute].parent, SyntaxKind::attribute)) return;
    for (const std::string& full : scopes_.full_names(attribute)) {
      if (!full.starts_with("torch.ops.")) continue;
      const std::string_view rest = std::string_view(full).substr(10);
      // A namespace alone, or a function of `torch.ops` itself.
      if (rest.find('.') == std::string_view::npos) return;
      add([&] {
        PythonRegistration made = builder_.from_lookup(attribute, full);
        if (is_assigned(attribute)) made.how = "assigned";
        made.at_import =
            made.conditions.empty() && scopes_.scope_of(attribute) == 0 && !is_tried(attribute);
        add_names(attribute, made);
        return made;
      });
      return;
    }
  }

  // Within a `try`, be it deep inside.
  bool is_tried(SyntaxIndex index) const {
    for (std::size_t depth = 0; depth < PythonScopes::max_depth; ++depth) {
      index = syntax_[index].parent;
      if (index == no_syntax) return false;
      if (syntax_.is(index, SyntaxKind::try_statement)) return true;
    }
    return true;
  }

  // The names of what a call of the operator hands over by position, as far as it is one.
  void add_names(SyntaxIndex attribute, PythonRegistration& made) const {
    constexpr std::size_t most_names = 128;
    const SyntaxIndex call = syntax_[attribute].parent;
    if (!syntax_.is(call, SyntaxKind::call)) return;
    if (syntax_.child(call, SyntaxField::function) != attribute) return;
    const SyntaxIndex arguments = syntax_.child(call, SyntaxField::arguments);
    if (!syntax_.is(arguments, SyntaxKind::argument_list)) return;
    for (const SyntaxIndex argument : syntax_.children(arguments)) {
      const SyntaxKind kind = syntax_[argument].kind;
      if (kind == SyntaxKind::keyword_argument || made.arguments.size() == most_names) break;
      // Behind it no place is known.
      if (kind == SyntaxKind::list_splat || syntax_.text_of(argument).starts_with('*')) break;
      PythonArgument& one = made.arguments.emplace_back();
      one.name = "*";
      SyntaxIndex name = no_syntax;
      if (kind == SyntaxKind::identifier) name = argument;
      if (kind == SyntaxKind::attribute) name = syntax_.child(argument, SyntaxField::attribute);
      if (name != no_syntax) one.value.text = syntax_.text_of(name).substr(0, 256);
    }
  }

  // `torch.ops.ns.name = f`: from there on the name is there.
  bool is_assigned(SyntaxIndex attribute) const {
    const SyntaxIndex parent = syntax_[attribute].parent;
    return syntax_.is(parent, SyntaxKind::assignment) &&
           syntax_.child(parent, SyntaxField::left) == attribute;
  }

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
  PythonConstants constants_;
  PythonLoopRounds rounds_;
  PythonRegistrationBuilder builder_;
  PythonRegistrations found_;
};

}  // namespace

bool may_hold_registrations(std::string_view text) {
  // Each name of a form contains one of these, or the module that it has to come from does.
  static const Needles words(
      {"torch.library", "torch import library", "torch.ops",  "register_custom", "register_ffi",
       "ffi_call",      "ffi_lowering",         "Primitive",  "primitive_",      "XLACustomKernel",
       "def_",          "custom_vjp",           "custom_jvp", "triton",          "numba",
       "tvm",           "register_etp",         "load_c",     "register_fake",   "register_kernel",
       "custom_op(",    "torch_compile_guard",  "onnx_op"});
  return words.occur_in(text);
}

PythonRegistrations find_python_registrations(const ParsedPython& file) {
  return Reader(file).run();
}

PythonRegistrations find_python_registrations(std::string_view text) {
  return find_python_registrations(ParsedPython(text));
}

std::string_view to_text(PythonKind kind) {
  switch (kind) {
    case PythonKind::torch_library:
      return "torch_library";
    case PythonKind::torch_define:
      return "torch_define";
    case PythonKind::torch_impl:
      return "torch_impl";
    case PythonKind::torch_custom_op:
      return "torch_custom_op";
    case PythonKind::torch_triton_op:
      return "torch_triton_op";
    case PythonKind::torch_fake:
      return "torch_fake";
    case PythonKind::torch_kernel:
      return "torch_kernel";
    case PythonKind::torch_autograd:
      return "torch_autograd";
    case PythonKind::torch_vmap:
      return "torch_vmap";
    case PythonKind::torch_direct:
      return "torch_direct";
    case PythonKind::torch_lookup:
      return "torch_lookup";
    case PythonKind::ffi_target:
      return "ffi_target";
    case PythonKind::ffi_lookup:
      return "ffi_lookup";
    case PythonKind::ffi_library:
      return "ffi_library";
    case PythonKind::primitive:
      return "primitive";
    case PythonKind::primitive_impl:
      return "primitive_impl";
    case PythonKind::primitive_abstract:
      return "primitive_abstract";
    case PythonKind::primitive_jvp:
      return "primitive_jvp";
    case PythonKind::primitive_transpose:
      return "primitive_transpose";
    case PythonKind::primitive_batching:
      return "primitive_batching";
    case PythonKind::primitive_lowering:
      return "primitive_lowering";
    case PythonKind::primitive_kernel:
      return "primitive_kernel";
    case PythonKind::primitive_remark:
      return "primitive_remark";
    case PythonKind::primitive_use:
      return "primitive_use";
    case PythonKind::etp_rules:
      return "etp_rules";
    case PythonKind::custom_derivative:
      return "custom_derivative";
    case PythonKind::derivative_rules:
      return "derivative_rules";
    case PythonKind::triton_kernel:
      return "triton_kernel";
    case PythonKind::numba_kernel:
      return "numba_kernel";
    case PythonKind::numba_extension:
      return "numba_extension";
    case PythonKind::tvm_function:
      return "tvm_function";
    case PythonKind::tvm_object:
      return "tvm_object";
    case PythonKind::tvm_lookup:
      return "tvm_lookup";
    case PythonKind::onnx_function:
      return "onnx_function";
  }
  return "";
}

}  // namespace opseal
