#include <algorithm>
#include <array>

#include "analyzers/python/value_flow.h"

namespace opseal {
namespace {

// Brackets, names and functions within each other.
constexpr std::size_t max_depth = 64;
// Of a file: a loader takes some thousands.
constexpr std::size_t max_steps = 400'000;
// Places that bind one name, or call one helper.
constexpr std::size_t max_bindings = 16;

// What has no part in a value although it stands in its expression.
constexpr std::array<std::string_view, 9> passive_names = {
    "None", "True", "False", "str", "int", "bytes", "sorted", "len", "print"};

bool is_passive(std::string_view word) {
  return std::find(passive_names.begin(), passive_names.end(), word) != passive_names.end();
}

}  // namespace

void ValueFlow::walk_part(SyntaxIndex expression, const FlowFrame* frame, FlowForm form,
                          std::size_t depth, Walk& into) {
  FlowTrace part;
  Walk within{part, into.seen};
  walk(expression, frame, form, depth + 1, within);
  steps_ += part.roots.size() * into.trace.roots.size() / 16;
  into.trace.take(part, part.has_digest());
}

void ValueFlow::walk_children(SyntaxIndex node, const FlowFrame* frame, FlowForm form,
                              std::size_t depth, Walk& into) {
  for (const SyntaxIndex child : syntax_.children(node)) walk(child, frame, form, depth + 1, into);
}

void ValueFlow::walk(SyntaxIndex expression, const FlowFrame* frame, FlowForm form,
                     std::size_t depth, Walk& into) {
  if (expression == no_syntax) return;
  if (depth > max_depth || ++steps_ > max_steps) {
    into.trace.limited = true;
    return;
  }
  switch (syntax_[expression].kind) {
    case SyntaxKind::lambda:
    case SyntaxKind::type:
      return;
    case SyntaxKind::string_content:
      into.trace.words.insert(syntax_.text_of(expression));
      return;
    case SyntaxKind::identifier:
      walk_name(expression, frame, form, depth, into);
      return;
    case SyntaxKind::attribute:
      walk_attribute(expression, frame, form, depth, into);
      return;
    case SyntaxKind::call:
      walk_call(expression, frame, form, depth, into);
      return;
    case SyntaxKind::keyword_argument:
      walk(syntax_.child(expression, SyntaxField::value), frame, form, depth + 1, into);
      return;
    case SyntaxKind::for_in_clause:
      walk(syntax_.child(expression, SyntaxField::right), frame, form, depth + 1, into);
      return;
    case SyntaxKind::list:
    case SyntaxKind::tuple:
    case SyntaxKind::interpolation:
      for (const SyntaxIndex child : syntax_.children(expression)) {
        walk_part(child, frame, form, depth, into);
      }
      return;
    case SyntaxKind::subscript: {
      const SyntaxIndex object = syntax_.child(expression, SyntaxField::value);
      const SyntaxIndex named = syntax_.child(expression, SyntaxField::subscript);
      if (is_named(object, "os.environ") && walk_environment(expression, named, frame, into)) {
        return;
      }
      walk_children(expression, frame, form, depth, into);
      return;
    }
    default:
      walk_children(expression, frame, form, depth, into);
  }
}

// A text or a path, and not a list of them.
bool ValueFlow::is_one_text(SyntaxIndex value) const {
  value = syntax_.unwrapped(value);
  switch (syntax_[value].kind) {
    case SyntaxKind::string:
    case SyntaxKind::concatenated_string:
      return true;
    case SyntaxKind::binary_operator: {
      const SyntaxIndex left = syntax_.child(value, SyntaxField::left);
      const SyntaxIndex right = syntax_.child(value, SyntaxField::right);
      return !syntax_.is(left, SyntaxKind::list) && !syntax_.is(right, SyntaxKind::list);
    }
    case SyntaxKind::call:
      return function_of(value) == no_syntax && called(value) != "list" &&
             called(value) != "split" && called(value) != "dict";
    default:
      return false;
  }
}

void ValueFlow::walk_name(SyntaxIndex name, const FlowFrame* frame, FlowForm form,
                          std::size_t depth, Walk& into) {
  const std::string_view text = syntax_.text_of(name);
  if (is_passive(text)) return;
  if (text == "self" || text == "cls") {
    // The object as a whole, or a method that a base class has.
    into.trace.limited = true;
    return;
  }
  into.trace.words.insert(text);
  const std::vector<PythonBinding>& bindings = scopes_.find(text, name);
  if (bindings.size() > max_bindings) {
    into.trace.limited = true;
    return;
  }
  if (bindings.empty()) return;
  const std::pair place(bindings.front().name, frame);
  // On the way to itself, as in `flags = flags + more`.
  if (!into.seen.insert(place).second) return;
  walk_bindings(name, bindings, frame, form, depth, into);
  into.seen.erase(place);
}

void ValueFlow::walk_bindings(SyntaxIndex name, const std::vector<PythonBinding>& bindings,
                              const FlowFrame* frame, FlowForm form, std::size_t depth,
                              Walk& into) {
  const bool of_module = is_of_module(name, bindings);
  for (const PythonBinding& binding : bindings) {
    const bool in_function = function_above(binding.name) != no_syntax;
    if (of_module && in_function && binding.kind != PythonBinding::Kind::parameter) {
      add(FlowRoot::Kind::global, syntax_.text_of(name), name, frame, form, into);
      return;
    }
  }
  FlowTrace part;
  Walk within{part, into.seen};
  for (const PythonBinding& binding : bindings) {
    walk_binding(binding, frame, form, depth + 1, within);
  }
  for (const SyntaxIndex given : handed_to(bindings.front().name)) {
    walk_part(given, frame, form, depth + 1, within);
  }
  const bool one_text = bindings.size() == 1 && handed_to(bindings.front().name).empty() &&
                        bindings.front().kind == PythonBinding::Kind::value &&
                        bindings.front().value != no_syntax && is_one_text(bindings.front().value);
  steps_ += part.roots.size() * into.trace.roots.size() / 16;
  into.trace.take(part, one_text && part.has_digest());
  // A constant that is written out is a part of a key like any other.
  const bool constant = of_module && part.roots.empty() && one_text &&
                        syntax_.is(bindings.front().value, SyntaxKind::string);
  if (constant) {
    add(FlowRoot::Kind::constant, syntax_.text_of(name), name, frame, form, into);
  }
}

// Some function may assign the name by `global`; then it is bound outside of functions too.
bool ValueFlow::is_of_module(SyntaxIndex name, const std::vector<PythonBinding>& bindings) const {
  const std::vector<PythonBinding>& all = scopes_.find(syntax_.text_of(name), 0);
  return !all.empty() && all.front().name == bindings.front().name;
}

void ValueFlow::walk_binding(const PythonBinding& binding, const FlowFrame* frame, FlowForm form,
                             std::size_t depth, Walk& into) {
  switch (binding.kind) {
    case PythonBinding::Kind::parameter:
      walk_parameter(binding, frame, form, depth, into);
      return;
    case PythonBinding::Kind::import:
      add(FlowRoot::Kind::imported, binding.path, binding.name, frame, form, into);
      return;
    case PythonBinding::Kind::definition:
      return;
    case PythonBinding::Kind::loop:
      walk(syntax_.child(binding.value, SyntaxField::right), frame, form, depth, into);
      return;
    case PythonBinding::Kind::value:
    case PythonBinding::Kind::context:
      walk(binding.value, frame, form, depth, into);
      return;
    case PythonBinding::Kind::other: {
      if (binding.value != no_syntax) {
        walk(binding.value, frame, form, depth, into);
        return;
      }
      const SyntaxIndex above = syntax_[binding.name].parent;
      if (syntax_.is(above, SyntaxKind::augmented_assignment)) {
        walk(syntax_.child(above, SyntaxField::right), frame, form, depth, into);
      }
      return;
    }
  }
}

// What a call hands over for a parameter; none where it is left to its default. `decided` is false
// where a splat may be it.
SyntaxIndex ValueFlow::argument_for(SyntaxIndex call, SyntaxIndex function,
                                    std::string_view parameter, bool& decided) const {
  decided = true;
  std::vector<std::string_view> names;
  const SyntaxIndex list = syntax_.child(function, SyntaxField::parameters);
  if (list == no_syntax) return no_syntax;
  for (SyntaxIndex one : syntax_.children(list)) {
    if (!syntax_.is(one, SyntaxKind::identifier)) {
      const SyntaxIndex name = syntax_.child(one, SyntaxField::name);
      one = name != no_syntax ? name : syntax_.first(one);
    }
    names.push_back(one == no_syntax ? std::string_view() : syntax_.text_of(one));
  }
  const SyntaxIndex called_as = syntax_.child(call, SyntaxField::function);
  const bool bound = syntax_.is(called_as, SyntaxKind::attribute);
  if (bound && !names.empty() && (names.front() == "self" || names.front() == "cls")) {
    names.erase(names.begin());
  }
  std::size_t position = 0;
  for (const SyntaxIndex argument : arguments(call)) {
    if (syntax_.is(argument, SyntaxKind::keyword_argument)) {
      const SyntaxIndex name = syntax_.child(argument, SyntaxField::name);
      if (name != no_syntax && syntax_.text_of(name) == parameter) {
        return syntax_.child(argument, SyntaxField::value);
      }
    } else if (syntax_.is(argument, SyntaxKind::list_splat) ||
               syntax_.is(argument, SyntaxKind::dictionary_splat)) {
      decided = false;
    } else if (position < names.size() && names[position++] == parameter) {
      return argument;
    }
  }
  return no_syntax;
}

void ValueFlow::walk_parameter(const PythonBinding& binding, const FlowFrame* frame, FlowForm form,
                               std::size_t depth, Walk& into) {
  const std::string_view text = syntax_.text_of(binding.name);
  const SyntaxIndex function = scopes_.scope_of(binding.name);
  for (const FlowFrame* from = frame; from != nullptr; from = from->caller) {
    if (from->function != function) continue;
    bool decided = true;
    const SyntaxIndex given = argument_for(from->call, function, text, decided);
    if (given != no_syntax) {
      walk(given, from->caller, form, depth, into);
    } else if (!decided) {
      add(FlowRoot::Kind::parameter, text, binding.name, frame, form, into);
    } else if (!syntax_.is(binding.value, SyntaxKind::identifier)) {
      walk(syntax_.child(binding.value, SyntaxField::value), from->caller, form, depth, into);
    }
    return;
  }
  // A helper within a function is its own business, and called by it alone.
  const auto calls = calls_of_.find(function);
  const bool helper = function != no_syntax && function_above(function) != no_syntax;
  if (helper && calls != calls_of_.end() && calls->second.size() <= max_bindings) {
    for (const SyntaxIndex call : calls->second) {
      bool decided = true;
      const SyntaxIndex given = argument_for(call, function, text, decided);
      if (given != no_syntax) walk(given, frame, form, depth, into);
      if (!decided) into.trace.limited = true;
    }
    return;
  }
  add(FlowRoot::Kind::parameter, text, binding.name, frame, form, into);
}

bool ValueFlow::walk_environment(SyntaxIndex node, SyntaxIndex named, const FlowFrame* frame,
                                 Walk& into) {
  if (!syntax_.is(named, SyntaxKind::string)) return false;
  std::string name;
  for (const SyntaxIndex part : syntax_.children(named)) {
    if (syntax_.is(part, SyntaxKind::string_content)) name += syntax_.text_of(part);
  }
  add(FlowRoot::Kind::environment, name, node, frame, FlowForm::value, into);
  return true;
}

// A module, or what one has.
bool ValueFlow::is_import(SyntaxIndex object) const {
  for (std::size_t up = 0; up < max_depth && syntax_.is(object, SyntaxKind::attribute); ++up) {
    object = syntax_.child(object, SyntaxField::object);
  }
  if (!syntax_.is(object, SyntaxKind::identifier)) return false;
  const PythonBinding* bound = scopes_.only(syntax_.text_of(object), object);
  return bound != nullptr && bound->kind == PythonBinding::Kind::import;
}

// `self.key` is the digest that some method made; whatever else it is has a name that says more.
void ValueFlow::walk_own(SyntaxIndex attribute, const FlowFrame* frame, FlowForm form,
                         std::size_t depth, Walk& into) {
  const std::string_view text = syntax_.text_of(attribute);
  const std::vector<SyntaxIndex>& values = scopes_.assigned(text);
  FlowTrace part;
  Walk within{part, into.seen};
  for (const SyntaxIndex value : values) {
    if (values.size() > max_bindings || value == no_syntax) continue;
    if (!into.seen.insert({value, nullptr}).second) continue;
    walk(value, nullptr, form, depth + 1, within);
    into.seen.erase({value, nullptr});
  }
  if (part.has_digest()) {
    into.trace.take(part, true);
  } else {
    add(FlowRoot::Kind::attribute, text, attribute, frame, form, into);
  }
}

void ValueFlow::walk_attribute(SyntaxIndex attribute, const FlowFrame* frame, FlowForm form,
                               std::size_t depth, Walk& into) {
  const SyntaxIndex object = syntax_.child(attribute, SyntaxField::object);
  const SyntaxIndex last = syntax_.child(attribute, SyntaxField::attribute);
  if (object == no_syntax || last == no_syntax) return;
  const std::string_view text = syntax_.text_of(attribute);
  into.trace.words.insert(syntax_.text_of(last));
  if (is_named(attribute, "os.environ")) {
    add(FlowRoot::Kind::environment, "", attribute, frame, form, into);
    return;
  }
  if (syntax_.text_of(last) == "st_mtime" || syntax_.text_of(last) == "st_mtime_ns") {
    walk(object, frame, FlowForm::mtime, depth + 1, into);
    return;
  }
  if (syntax_.is(object, SyntaxKind::identifier)) {
    const std::string_view name = syntax_.text_of(object);
    if (name == "self" || name == "cls") {
      walk_own(attribute, frame, form, depth, into);
      return;
    }
  }
  const std::vector<std::string> names = scopes_.full_names(attribute);
  if (!names.empty() && names.front() != text) {
    add(FlowRoot::Kind::imported, names.front(), attribute, frame, form, into);
    return;
  }
  if (is_import(object)) {
    add(FlowRoot::Kind::imported, text, attribute, frame, form, into);
    return;
  }
  walk(object, frame, form, depth + 1, into);
}

// Calls that say what of a thing goes on. True where nothing more is to be done.
bool ValueFlow::walk_known_call(SyntaxIndex call, const FlowFrame* frame, FlowForm form,
                                std::size_t depth, Walk& into) {
  const SyntaxIndex function = syntax_.child(call, SyntaxField::function);
  const std::string_view name = called(call);
  const std::vector<SyntaxIndex> given = arguments(call);
  if (is_named(function, "hashlib.") || is_named(function, "xxhash.") ||
      is_named(function, "zlib.crc32") || is_named(function, "zlib.adler32")) {
    add(FlowRoot::Kind::digest, syntax_.text_of(function), call, frame, FlowForm::value, into);
    return true;
  }
  if (is_named(function, "os.getenv") || is_named(function, "os.environ.get")) {
    if (given.empty()) return false;
    for (std::size_t at = 1; at < given.size(); ++at) walk(given[at], frame, form, depth + 1, into);
    return walk_environment(call, given.front(), frame, into);
  }
  if (is_named(function, "shutil.which") && given.size() == 1) {
    const std::string_view program = syntax_.text_of(given.front());
    if (syntax_.is(given.front(), SyntaxKind::string)) {
      into.trace.words.insert(program);
      add(FlowRoot::Kind::call, program, call, frame, form, into);
      return true;
    }
  }
  if (name == "get_device_capability" || name == "get_device_properties" ||
      name == "get_arch_list" || name == "compute_capability") {
    add(FlowRoot::Kind::call, name, call, frame, form, into);
    return true;
  }
  if (is_named(function, "subprocess.")) {
    FlowTrace part;
    Walk within{part, into.seen};
    for (const SyntaxIndex one : given) walk(one, frame, form, depth + 1, within);
    const bool version =
        std::any_of(part.words.begin(), part.words.end(), [](std::string_view word) {
          return word.find("-version") != word.npos || word == "-V" || word == "-dumpversion";
        });
    if (version) {
      add(FlowRoot::Kind::compiler_version, "compiler version", call, frame, form, into);
    } else {
      into.trace.take(part, false);
    }
    return true;
  }
  const bool plain = syntax_.is(function, SyntaxKind::identifier);
  FlowForm kept = form;
  if (plain && name == "id") kept = FlowForm::identity;
  if (name == "getmtime") kept = FlowForm::mtime;
  if (name == "read_bytes" || name == "read_text" || (plain && name == "open")) {
    kept = FlowForm::content;
  }
  if (kept == form) return false;
  const std::size_t before = into.trace.roots.size();
  for (const SyntaxIndex one : given) walk(one, frame, kept, depth + 1, into);
  if (syntax_.is(function, SyntaxKind::attribute) && name != "getmtime") {
    walk(syntax_.child(function, SyntaxField::object), frame, kept, depth + 1, into);
  }
  // A file of the project's own.
  if (kept == FlowForm::content && into.trace.roots.size() == before) {
    add(FlowRoot::Kind::call, syntax_.text_of(call), call, frame, kept, into);
  }
  return true;
}

void ValueFlow::walk_call(SyntaxIndex call, const FlowFrame* frame, FlowForm form,
                          std::size_t depth, Walk& into) {
  if (walk_known_call(call, frame, form, depth, into)) return;
  const SyntaxIndex function = syntax_.child(call, SyntaxField::function);
  if (function == no_syntax) return;
  into.trace.words.insert(called(call));
  const SyntaxIndex entered = function_of(call);
  const auto returned = returns_.find(entered);
  if (entered != no_syntax && returned != returns_.end()) {
    const FlowFrame* inner = enter(entered, call, frame);
    if (inner == nullptr) {
      // A function that calls itself: its other ways say what it makes.
      for (const SyntaxIndex one : arguments(call)) walk_part(one, frame, form, depth, into);
      return;
    }
    for (const SyntaxIndex value : returned->second) walk(value, inner, form, depth + 1, into);
    return;
  }
  const std::size_t before = into.trace.roots.size();
  for (const SyntaxIndex one : arguments(call)) walk(one, frame, form, depth + 1, into);
  if (syntax_.is(function, SyntaxKind::attribute)) {
    const SyntaxIndex object = syntax_.child(function, SyntaxField::object);
    const std::vector<std::string> names = scopes_.full_names(function);
    const bool module =
        (!names.empty() && names.front() != syntax_.text_of(function)) || is_import(object);
    if (!module) walk(object, frame, form, depth + 1, into);
    if (module && into.trace.roots.size() == before && arguments(call).empty()) {
      add(FlowRoot::Kind::call, syntax_.text_of(function), call, frame, form, into);
    }
    return;
  }
  const PythonBinding* bound = scopes_.only(syntax_.text_of(function), function);
  const bool foreign = bound != nullptr && bound->kind == PythonBinding::Kind::import;
  if (foreign && into.trace.roots.size() == before && arguments(call).empty()) {
    add(FlowRoot::Kind::call, syntax_.text_of(function), call, frame, form, into);
  }
}

}  // namespace opseal
