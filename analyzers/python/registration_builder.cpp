#include "analyzers/python/registration_builder.h"

#include <algorithm>
#include <utility>

#include "analyzers/python/batch_axes.h"
#include "analyzers/python/conditions.h"
#include "analyzers/python/ffi_attributes.h"
#include "analyzers/python/functions.h"
#include "analyzers/python/lowered_calls.h"
#include "analyzers/python/result_dtypes.h"
#include "analyzers/python/result_shapes.h"
#include "analyzers/python/returned_views.h"
#include "analyzers/python/saved_values.h"
#include "analyzers/python/tangents.h"
#include "analyzers/python/writes.h"
#include "analyzers/words.h"

namespace opseal {

namespace {

using State = PythonText::State;

// A decorator by which a function becomes an operator of its own name.
bool is_compile_guard(const PythonRegistration& made) {
  return made.how.ends_with("torch_compile_guard");
}

bool is_torch(PythonKind kind) {
  return kind >= PythonKind::torch_library && kind <= PythonKind::torch_lookup;
}

}  // namespace

PythonPlace PythonRegistrationBuilder::place_of(SyntaxIndex index) const {
  return syntax_.place_of(index);
}

std::string PythonRegistrationBuilder::excerpt(SyntaxIndex index) const {
  return std::string(syntax_.text_of(index).substr(0, 256));
}

PythonRegistration PythonRegistrationBuilder::start(PythonKind kind, SyntaxIndex index) const {
  PythonRegistration made;
  made.kind = kind;
  made.place = place_of(index);
  made.conditions = python_conditions(syntax_, index);
  made.within = python_within(syntax_, index);
  made.swallowed = swallows_exceptions(syntax_, index);
  return made;
}

PythonText PythonRegistrationBuilder::text_of(SyntaxIndex expression) {
  PythonText text;
  if (expression == no_syntax) return text;
  text.place = place_of(expression);
  const PythonConstant constant = constants_.of(expression);
  switch (constant.kind) {
    case PythonConstant::Kind::none:
      text.state = State::null;
      break;
    case PythonConstant::Kind::text:
      text.state = State::decided;
      text.text = constant.text;
      break;
    case PythonConstant::Kind::number:
    case PythonConstant::Kind::truth:
      text.state = State::decided;
      text.text = constant.text;
      break;
    case PythonConstant::Kind::undecided:
    case PythonConstant::Kind::list:
    case PythonConstant::Kind::dictionary:
    case PythonConstant::Kind::reference:
      text.state = State::undecided;
      text.text = excerpt(expression);
      break;
  }
  return text;
}

PythonText PythonRegistrationBuilder::joined_texts(SyntaxIndex expression) {
  const PythonConstant constant = constants_.of(expression);
  if (constant.kind != PythonConstant::Kind::list) return text_of(expression);
  PythonText text;
  text.place = place_of(expression);
  text.state = State::decided;
  for (const PythonConstant& item : constant.items) {
    if (!item.is_text()) {
      text.state = State::undecided;
      text.text = excerpt(expression);
      return text;
    }
    text.text += (text.text.empty() ? "" : ",") + item.text;
  }
  return text;
}

PythonArgument PythonRegistrationBuilder::argument_of(const BoundArgument& argument) {
  PythonArgument made;
  made.name = argument.keyword;
  made.value = text_of(argument.value);
  PythonConstant constant = constants_.of(argument.value);
  // Attributes and their types: the names count.
  if (constant.kind == PythonConstant::Kind::dictionary && made.name == "attrs") {
    constant.kind = PythonConstant::Kind::list;
    std::vector<PythonConstant> keys;
    for (std::size_t i = 0; i < constant.items.size(); i += 2) keys.push_back(constant.items[i]);
    constant.items = std::move(keys);
  }
  if (constant.kind != PythonConstant::Kind::list) return made;
  made.list = true;
  // Long lists are data, not what a registration says.
  constexpr std::size_t max_items = 64;
  made.value.state = State::decided;
  for (const PythonConstant& item : constant.items) {
    if (made.items.size() == max_items) {
      made.value.state = State::undecided;
      break;
    }
    PythonText text;
    text.state = item.is_text() || item.kind == PythonConstant::Kind::number ? State::decided
                                                                             : State::undecided;
    text.text = item.text.substr(0, 256);
    text.place = item.node == no_syntax ? made.value.place : place_of(item.node);
    if (!text.decided()) made.value.state = State::undecided;
    made.items.push_back(std::move(text));
  }
  return made;
}

void PythonRegistrationBuilder::set_name(PythonRegistration& made, PythonText name) const {
  if (name.state == State::absent) return;
  if (name.decided() && is_torch(made.kind)) {
    name.text = trimmed(name.text);
    const std::size_t colons = name.text.find("::");
    if (colons != std::string::npos) {
      made.name_space = name;
      made.name_space.text = name.text.substr(0, colons);
      name.text.erase(0, colons + 2);
    }
  }
  made.name = std::move(name);
}

void PythonRegistrationBuilder::set_schema(PythonRegistration& made, PythonText schema) const {
  if (!schema.decided()) {
    // The name is the first part of a schema that isn't known, in the form that is a method.
    if (made.name.state == State::absent) {
      made.name = schema;
    }
    made.schema = std::move(schema);
    return;
  }
  if (made.name.state == State::absent) {
    const std::size_t paren = schema.text.find('(');
    PythonText name = schema;
    name.text = trimmed(std::string_view(schema.text).substr(0, paren));
    set_name(made, std::move(name));
  }
  made.schema = std::move(schema);
}

void PythonRegistrationBuilder::set_library(PythonRegistration& made, SyntaxIndex library) {
  // A name's own namespace goes before the library's.
  if (made.name_space.decided()) return;
  const std::vector<SyntaxIndex> makers =
      python_makers_of(syntax_, scopes_, library, PythonKind::torch_library);
  made.name_space.place = place_of(library);
  made.name_space.state = State::undecided;
  if (makers.empty()) {
    const std::vector<std::string> names = scopes_.full_names(library);
    const bool imported = names.size() == 1 && names[0].find('.') != std::string::npos;
    if (imported && syntax_.is(syntax_.unwrapped(library), SyntaxKind::identifier)) {
      made.library_path = names[0];
    }
  }
  if (makers.size() != 1) return;
  const SyntaxIndex arguments = syntax_.child(makers[0], SyntaxField::arguments);
  if (!syntax_.is(arguments, SyntaxKind::argument_list)) return;
  const BoundCall bound = bind_call(syntax_, arguments, "ns:namespace kind dispatch_key:key");
  const SyntaxIndex name = bound.in("namespace");
  if (name != no_syntax) made.name_space = text_of(name);
  // The library's own key stands where none is given.
  if (made.kind == PythonKind::torch_impl && made.key.state == State::absent &&
      bound.in("key") != no_syntax) {
    made.key = text_of(bound.in("key"));
  }
}

// A custom operator's name from where it is made; a primitive's too.
void PythonRegistrationBuilder::set_object(PythonRegistration& made, SyntaxIndex object) {
  if (object == no_syntax) return;
  const PythonConstant constant = constants_.of(object);
  const bool named = constant.kind == PythonConstant::Kind::reference;
  const SyntaxIndex index = named && constant.node != no_syntax ? constant.node : object;
  made.object = excerpt(index);
  if (made.name.state != State::absent) return;
  made.name.state = State::undecided;
  made.name.place = place_of(object);
  // Functions with derivatives of their own go by their own name.
  if (made.kind == PythonKind::derivative_rules && syntax_.is(index, SyntaxKind::identifier)) {
    const PythonBinding* binding = scopes_.only(made.object, index);
    if (binding != nullptr && binding->kind == PythonBinding::Kind::definition) {
      made.name.state = State::decided;
      made.name.text = made.object;
    }
    return;
  }
  std::vector<SyntaxIndex> makers;
  for (const PythonKind kind :
       {PythonKind::primitive, PythonKind::torch_custom_op, PythonKind::torch_triton_op}) {
    for (const SyntaxIndex maker : python_makers_of(syntax_, scopes_, index, kind)) {
      makers.push_back(maker);
    }
  }
  if (makers.size() != 1) return;
  const SyntaxIndex arguments = syntax_.child(makers[0], SyntaxField::arguments);
  if (!syntax_.is(arguments, SyntaxKind::argument_list)) return;
  const SyntaxIndex name = bind_call(syntax_, arguments, "name:name").in("name");
  if (name != no_syntax) set_name(made, text_of(name));
}

void PythonRegistrationBuilder::set_owner(PythonRegistration& made, const PythonCallee& callee) {
  if (callee.owner == no_syntax) return;
  switch (callee.form->home) {
    case PythonHome::torch_library_object:
      made.object = excerpt(callee.owner);
      set_library(made, callee.owner);
      break;
    case PythonHome::torch_operator_object:
    case PythonHome::method:
      set_object(made, callee.owner);
      if (made.kind == PythonKind::derivative_rules) set_derived(made, callee.owner);
      break;
    default:
      break;
  }
}

// The function whose derivative is its own, and which of its arguments have none: as its only
// decorator, or the call that wraps it, says.
void PythonRegistrationBuilder::set_derived(PythonRegistration& made, SyntaxIndex owner) {
  const SyntaxIndex index = syntax_.unwrapped(owner);
  if (!syntax_.is(index, SyntaxKind::identifier)) return;
  const PythonBinding* binding = scopes_.only(syntax_.text_of(index), index);
  if (binding == nullptr) return;
  SyntaxIndex maker = no_syntax;
  if (binding->kind == PythonBinding::Kind::definition) {
    const SyntaxIndex decorated = syntax_[binding->value].parent;
    if (!syntax_.is(decorated, SyntaxKind::decorated_definition)) return;
    const std::vector<SyntaxIndex> parts = syntax_.children(decorated);
    // What further decorators make of it may take other arguments.
    if (parts.size() != 2 || !syntax_.is(parts[0], SyntaxKind::decorator)) return;
    maker = syntax_.first(parts[0]);
    made.of = python_definition(syntax_, binding->value);
  } else if (binding->kind == PythonBinding::Kind::value) {
    maker = syntax_.unwrapped(binding->value);
  }
  if (maker == no_syntax) return;
  SyntaxIndex called = maker;
  std::size_t skipped = 0;
  SyntaxIndex arguments = no_syntax;
  if (syntax_.is(maker, SyntaxKind::call)) {
    called = syntax_.child(maker, SyntaxField::function);
    arguments = syntax_.child(maker, SyntaxField::arguments);
    if (called == no_syntax || !syntax_.is(arguments, SyntaxKind::argument_list)) return;
    const std::vector<std::string> names = scopes_.full_names(called);
    if (!names.empty() && (names[0] == "functools.partial" || names[0] == "partial")) {
      called = syntax_.first(arguments);
      skipped = 1;
    }
  }
  const PythonCallee callee =
      called == no_syntax ? PythonCallee() : python_callee(syntax_, scopes_, called, no_syntax);
  if (callee.form == nullptr || callee.form->kind != PythonKind::custom_derivative) {
    made.of = {};
    return;
  }
  if (arguments == no_syntax) return;
  const BoundCall bound = bind_call(syntax_, arguments, callee.form->parameters, skipped);
  bool whole = !bound.open_ended;
  for (const BoundArgument& argument : bound.arguments) {
    if (argument.role == "function") {
      made.of = python_function(syntax_, scopes_, constants_, argument.value);
    } else if (argument.keyword == "nondiff_argnums") {
      made.arguments.push_back(argument_of(argument));
    } else {
      whole = false;
    }
  }
  if (!whole) made.of = {};
}

void PythonRegistrationBuilder::apply(PythonRegistration& made, const BoundArgument& argument) {
  const std::string_view role = argument.role;
  if (role == "function") {
    PythonFunction function = python_function(syntax_, scopes_, constants_, argument.value);
    function.role = argument.keyword;
    made.functions.push_back(std::move(function));
  } else if (role == "name") {
    const std::vector<SyntaxIndex> operators =
        python_makers_of(syntax_, scopes_, argument.value, PythonKind::torch_custom_op);
    // `register_fake(op)` with the operator itself.
    if (!operators.empty()) {
      set_object(made, argument.value);
    } else {
      set_name(made, text_of(argument.value));
    }
  } else if (role == "namespace") {
    made.name_space = text_of(argument.value);
  } else if (role == "schema") {
    set_schema(made, text_of(argument.value));
  } else if (role == "key") {
    made.key = joined_texts(argument.value);
  } else if (role == "backend") {
    made.backend = text_of(argument.value);
  } else if (role == "fake") {
    made.fake = python_function(syntax_, scopes_, constants_, argument.value);
  } else if (role == "object") {
    set_object(made, argument.value);
  } else if (role == "library") {
    made.object = excerpt(argument.value);
    set_library(made, argument.value);
  } else {
    made.arguments.push_back(argument_of(argument));
  }
}

void PythonRegistrationBuilder::infer_schema(PythonRegistration& made) const {
  if (made.kind != PythonKind::torch_custom_op && made.kind != PythonKind::torch_triton_op &&
      made.kind != PythonKind::torch_direct) {
    return;
  }
  if (made.schema.state == State::decided || made.schema.state == State::undecided) return;
  // It puts an argument of its own in front of some.
  if (is_compile_guard(made)) return;
  if (made.functions.empty()) return;
  std::vector<std::string> mutated;
  for (const PythonArgument& argument : made.arguments) {
    if (argument.name != "mutates_args") continue;
    if (argument.value.state == State::undecided) return;
    if (!argument.list && argument.value.decided()) mutated.push_back(argument.value.text);
    for (const PythonText& item : argument.items) mutated.push_back(item.text);
  }
  const std::string inferred = inferred_torch_schema(made.functions.front(), mutated);
  made.schema_inferred = true;
  made.schema.place = made.functions.front().place;
  made.schema.state = inferred.empty() ? State::undecided : State::decided;
  made.schema.text = inferred.empty() ? "" : made.name.text + inferred;
}

// The names of the primitives that rules bind with tangents; those that aren't known are left out.
void PythonRegistrationBuilder::read_tangents(PythonRegistration& made, std::size_t place) {
  for (const PythonFunction& function : made.functions) {
    std::vector<std::string>& names = made.tangents.emplace_back();
    for (const SyntaxIndex use : python_tangent_uses(syntax_, function, place)) {
      PythonRegistration bound;
      bound.kind = PythonKind::primitive_use;
      set_object(bound, use);
      if (!bound.name.decided()) continue;
      if (std::find(names.begin(), names.end(), bound.name.text) == names.end()) {
        names.push_back(bound.name.text);
      }
    }
  }
}

void PythonRegistrationBuilder::read_derivative_bodies(PythonRegistration& made) {
  // Where the function gives one array, so is its cotangent, and no tuple.
  bool one_result = false;
  if (made.of.found && made.of.node != no_syntax) {
    const std::vector<PythonReturn> results = returns_.of_jax(made.of.node);
    one_result =
        !results.empty() && std::all_of(results.begin(), results.end(),
                                        [](const PythonReturn& result) { return result.bare; });
  }
  for (const PythonFunction& function : made.functions) {
    if (!function.found || function.node == no_syntax) continue;
    std::vector<PythonReturn> returns = returns_.of_jax(function.node);
    for (PythonReturn& one : returns) one.bare = one.bare || (one.handed_on && one_result);
    std::erase_if(returns, [](const PythonReturn& one) { return one.handed_on && !one.bare; });
    (function.role == "fwd" ? made.forward_returns : made.returns) = std::move(returns);
  }
  if (made.functions.size() == 2 && made.functions[0].role == "fwd") {
    made.saved = python_saved_residuals(syntax_, scopes_, made.functions[0], made.functions[1]);
  }
}

// What the bodies of the functions tell.
void PythonRegistrationBuilder::read_bodies(PythonRegistration& made) {
  switch (made.kind) {
    case PythonKind::derivative_rules:
      read_derivative_bodies(made);
      break;
    case PythonKind::primitive:
      read_multiple_results(made);
      break;
    case PythonKind::primitive_batching:
      if (!made.functions.empty()) read_axes(syntax_, scopes_, made.functions.front(), made);
      read_sequences(made);
      break;
    case PythonKind::torch_autograd:
      for (const PythonFunction& function : made.functions) {
        if (!function.found || function.node == no_syntax) continue;
        if (function.role == "setup_context") continue;
        made.returns = returns_.of(function.node, false);
      }
      break;
    case PythonKind::primitive_jvp:
      // `defbilinear` makes transposes itself.
      if (made.how.ends_with("defjvp")) read_tangents(made, 0);
      read_sequences(made);
      break;
    case PythonKind::torch_custom_op:
    case PythonKind::torch_triton_op:
    case PythonKind::torch_kernel:
    case PythonKind::torch_impl:
    case PythonKind::torch_direct:
      if (!made.functions.empty()) {
        made.writes = python_writes(syntax_, scopes_, made.functions.front());
        made.returned_views = python_returned_views(syntax_, scopes_, made.functions.front());
        made.results = python_result_dtypes(syntax_, scopes_, made.functions.front());
        made.functions.front().choices =
            python_shape_choices(syntax_, scopes_, made.functions.front());
        made.functions.front().ranks =
            python_result_ranks(syntax_, scopes_, made.functions.front());
      }
      if (made.kind == PythonKind::torch_direct) {
        made.fake_results = python_result_dtypes(syntax_, scopes_, made.fake);
        read_parameter_reads(syntax_, made.fake);
        made.fake.ranks = python_result_ranks(syntax_, scopes_, made.fake);
      }
      break;
    case PythonKind::torch_fake:
      if (!made.functions.empty()) {
        made.results = python_result_dtypes(syntax_, scopes_, made.functions.front());
        read_parameter_reads(syntax_, made.functions.front());
        made.functions.front().ranks =
            python_result_ranks(syntax_, scopes_, made.functions.front());
      }
      break;
    case PythonKind::primitive_lowering:
      if (!made.functions.empty()) read_lowered_call(syntax_, scopes_, made);
      break;
    default:
      break;
  }
}

PythonRegistration PythonRegistrationBuilder::from_call(const PythonCallee& callee,
                                                        SyntaxIndex call, SyntaxIndex arguments,
                                                        SyntaxIndex definition,
                                                        std::size_t skipped) {
  PythonRegistration made = start(callee.form->kind, call);
  made.how = callee.full_name;
  if (arguments != no_syntax) {
    std::string_view parameters = callee.form->parameters;
    // `impl(lib, "name", "key")` is the older order.
    if (callee.form->home == PythonHome::torch_library && callee.form->name == "impl") {
      const SyntaxIndex first = syntax_.first(arguments);
      if (first != no_syntax && !syntax_.is(first, SyntaxKind::keyword_argument) &&
          !constants_.of(first).is_text() &&
          (bind_call(syntax_, arguments, "").arguments.size() == 3 ||
           !python_makers_of(syntax_, scopes_, first, PythonKind::torch_library).empty())) {
        parameters = "lib:library name:name types:key func:function";
      }
    }
    const BoundCall bound = bind_call(syntax_, arguments, parameters, skipped);
    made.open_ended = bound.open_ended;
    // Names first, since others ask whether one is known.
    for (const bool names : {true, false}) {
      for (const BoundArgument& argument : bound.arguments) {
        if ((argument.role == "name" || argument.role == "key") != names) continue;
        apply(made, argument);
      }
    }
  }
  if (!callee.form->key.empty()) {
    made.key = {State::decided, std::string(callee.form->key), place_of(call)};
  }
  if (!callee.form->backend.empty()) {
    made.backend = {State::decided, std::string(callee.form->backend), place_of(call)};
  }
  set_owner(made, callee);
  if (definition != no_syntax) {
    const bool given = std::any_of(made.functions.begin(), made.functions.end(),
                                   [](const PythonFunction& one) { return !one.null; });
    if (syntax_.is(definition, SyntaxKind::function_definition) && !given) {
      PythonFunction function = python_definition(syntax_, definition);
      function.role = "decorated";
      made.functions.insert(made.functions.begin(), std::move(function));
    }
    const SyntaxIndex name = syntax_.child(definition, SyntaxField::name);
    if (name != no_syntax) {
      made.holder = excerpt(name);
      const bool by_function =
          made.kind == PythonKind::triton_kernel || made.kind == PythonKind::numba_kernel ||
          made.kind == PythonKind::custom_derivative || made.kind == PythonKind::tvm_function ||
          made.kind == PythonKind::onnx_function || (is_compile_guard(made) && !given);
      if (by_function && made.name.state == State::absent) {
        made.name = {State::decided, excerpt(name), place_of(name)};
      }
    }
  } else if (const SyntaxIndex parent = syntax_[call].parent;
             syntax_.is(parent, SyntaxKind::assignment)) {
    const SyntaxIndex target = syntax_.child(parent, SyntaxField::left);
    if (target != no_syntax && target != call) made.holder = excerpt(target);
  }
  if (made.kind == PythonKind::ffi_lookup && definition == no_syntax) {
    made.call = python_call_of(syntax_, scopes_, constants_, call);
  }
  infer_schema(made);
  read_bodies(made);
  return made;
}

PythonRegistration PythonRegistrationBuilder::from_table(const PythonTableForm& form,
                                                         SyntaxIndex assignment) {
  PythonRegistration made = start(form.kind, assignment);
  const SyntaxIndex target = syntax_.child(assignment, SyntaxField::left);
  made.how = std::string(form.name) + "[…]";
  set_object(made, syntax_.child(target, SyntaxField::subscript));
  const SyntaxIndex rule = syntax_.child(assignment, SyntaxField::right);
  if (rule != no_syntax) {
    made.functions.push_back(python_function(syntax_, scopes_, constants_, rule));
  }
  if (form.name == "primitive_jvps") {
    read_tangents(made, 1);
    read_sequences(made);
  }
  if (made.kind == PythonKind::primitive_batching) read_bodies(made);
  return made;
}

// `**names`, unless these are what the function around it was given as such: they are those that
// another call says.
bool PythonRegistrationBuilder::adds_names(SyntaxIndex arguments) const {
  for (const SyntaxIndex argument : syntax_.children(arguments)) {
    if (!syntax_.is(argument, SyntaxKind::dictionary_splat)) continue;
    const SyntaxIndex value = syntax_.first(argument);
    if (!syntax_.is(value, SyntaxKind::identifier)) return true;
    const PythonBinding* binding = scopes_.only(syntax_.text_of(value), value);
    if (binding == nullptr || binding->kind != PythonBinding::Kind::parameter ||
        !syntax_.is(binding->value, SyntaxKind::dictionary_splat_pattern)) {
      return true;
    }
  }
  return false;
}

PythonRegistration PythonRegistrationBuilder::from_use(SyntaxIndex call, SyntaxIndex primitive) {
  PythonRegistration made = start(PythonKind::primitive_use, call);
  made.how = excerpt(syntax_.child(call, SyntaxField::function));
  set_object(made, primitive);
  const SyntaxIndex arguments = syntax_.child(call, SyntaxField::arguments);
  const BoundCall bound = bind_call(syntax_, arguments, "");
  made.open_ended = bound.open_ended;
  made.call.open_ended = adds_names(arguments);
  for (const BoundArgument& argument : bound.arguments) {
    if (argument.keyword.empty()) {
      ++made.positional;
    } else {
      made.arguments.push_back(argument_of(argument));
    }
  }
  return made;
}

PythonRegistration PythonRegistrationBuilder::from_lookup(SyntaxIndex expression,
                                                          std::string_view full_name) {
  constexpr std::string_view prefix = "torch.ops.";
  PythonRegistration made = start(PythonKind::torch_lookup, expression);
  made.how = "torch.ops";
  std::string_view rest = full_name.substr(full_name.find(prefix) + prefix.size());
  const std::size_t dot = rest.find('.');
  made.name_space = {State::decided, std::string(rest.substr(0, dot)), made.place};
  if (dot == std::string_view::npos) return made;
  rest.remove_prefix(dot + 1);
  // Behind the name comes an overload, or an attribute of the operator.
  const std::size_t next = rest.find('.');
  made.name = {State::decided, std::string(rest.substr(0, next)), made.place};
  if (next != std::string_view::npos) {
    const std::string_view overload = rest.substr(next + 1);
    PythonArgument argument;
    argument.name = "overload";
    argument.value = {State::decided, std::string(overload.substr(0, overload.find('.'))),
                      made.place};
    made.arguments.push_back(std::move(argument));
  }
  return made;
}

}  // namespace opseal
