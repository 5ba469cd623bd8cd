// Names: what binds them, and what a call hands over for a parameter.

#include <algorithm>
#include <array>

#include "analyzers/python/value_flow.h"

namespace opseal {
namespace {

// What has no part in a value although it stands in its expression.
constexpr std::array<std::string_view, 9> passive_names = {
    "None", "True", "False", "str", "int", "bytes", "sorted", "len", "print"};

bool is_passive(std::string_view word) {
  return std::find(passive_names.begin(), passive_names.end(), word) != passive_names.end();
}

}  // namespace

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
  Walk within{part, into.seen, into.itself};
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
        // `major, minor = get_device_capability()`
        const SyntaxIndex pattern = syntax_[binding.name].parent;
        const bool is_first =
            syntax_.is(pattern, SyntaxKind::pattern_list) && syntax_.first(pattern) == binding.name;
        if (is_first) {
          walk_major(binding.value, frame, form, depth, into);
        } else {
          walk(binding.value, frame, form, depth, into);
        }
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

}  // namespace opseal
