#include "analyzers/python/value_flow.h"

namespace opseal {
namespace {

// Brackets, names and functions within each other.
constexpr std::size_t max_depth = 64;
// Of a file: a loader takes some thousands.
constexpr std::size_t max_steps = 400'000;
// Of the path of a field.
constexpr std::size_t max_field = 80;

}  // namespace

void ValueFlow::walk_part(SyntaxIndex expression, const FlowFrame* frame, FlowForm form,
                          std::size_t depth, Walk& into) {
  FlowTrace part;
  // One of several.
  Walk within{part, into.seen, false};
  walk(expression, frame, form, depth + 1, within);
  steps_ += part.roots.size() * into.trace.roots.size() / 16;
  into.trace.take(part, part.has_digest());
}

void ValueFlow::walk_children(SyntaxIndex node, const FlowFrame* frame, FlowForm form,
                              std::size_t depth, Walk& into) {
  for (const SyntaxIndex child : syntax_.children(node)) walk(child, frame, form, depth + 1, into);
}

void ValueFlow::walk_major(SyntaxIndex object, const FlowFrame* frame, FlowForm form,
                           std::size_t depth, Walk& into) {
  FlowTrace part;
  Walk within{part, into.seen};
  walk(object, frame, form, depth + 1, within);
  for (FlowRoot& root : part.roots) {
    root.itself = false;
    const bool capability = root.kind == FlowRoot::Kind::call && root.name.ends_with("capability");
    if (capability && root.form == FlowForm::value) root.form = FlowForm::major;
  }
  into.trace.take(part, part.has_digest());
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
      if (syntax_.is(named, SyntaxKind::integer) && syntax_.text_of(named) == "0") {
        walk_major(object, frame, form, depth, into);
        return;
      }
      if (const std::string_view field = written_text(named); !field.empty()) {
        into.trace.words.insert(field);
        walk_field(object, field, frame, form, depth, into);
        return;
      }
      walk_made(expression, frame, form, depth, into);
      return;
    }
    case SyntaxKind::parenthesized_expression:
      walk_children(expression, frame, form, depth, into);
      return;
    default:
      walk_made(expression, frame, form, depth, into);
  }
}

void ValueFlow::walk_made(SyntaxIndex node, const FlowFrame* frame, FlowForm form,
                          std::size_t depth, Walk& into) {
  Walk made{into.trace, into.seen, false};
  walk_children(node, frame, form, depth, made);
}

std::string_view ValueFlow::written_text(SyntaxIndex node) const {
  if (!syntax_.is(node, SyntaxKind::string)) return {};
  SyntaxIndex content = no_syntax;
  for (const SyntaxIndex part : syntax_.children(node)) {
    if (syntax_.is(part, SyntaxKind::interpolation)) return {};
    if (!syntax_.is(part, SyntaxKind::string_content)) continue;
    if (content != no_syntax) return {};
    content = part;
  }
  return content == no_syntax ? std::string_view() : syntax_.text_of(content);
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
  if (const SyntaxIndex getter = property_of(attribute); getter != no_syntax) {
    const FlowFrame* inner = enter(getter, attribute, frame);
    if (inner == nullptr) {
      into.trace.limited = true;
      return;
    }
    for (const SyntaxIndex value : returned_by(getter)) walk(value, inner, form, depth + 1, within);
    into.trace.take(part, part.has_digest());
    return;
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
  walk_field(object, syntax_.text_of(last), frame, form, depth, into);
}

void ValueFlow::walk_field(SyntaxIndex object, std::string_view field, const FlowFrame* frame,
                           FlowForm form, std::size_t depth, Walk& into) {
  FlowTrace part;
  Walk within{part, into.seen};
  walk(object, frame, form, depth + 1, within);
  for (FlowRoot& root : part.roots) {
    if (fields_told_ && root.kind == FlowRoot::Kind::parameter && root.itself &&
        root.field.size() + field.size() < max_field) {
      if (!root.field.empty()) root.field += '.';
      root.field += field;
    }
    root.itself = root.itself && into.itself;
    const bool properties =
        root.kind == FlowRoot::Kind::call && root.name == "get_device_properties";
    if (!properties) continue;
    if (field != "major" && field != "minor") continue;
    root.name = "device_capability";
    if (field == "major") root.form = FlowForm::major;
  }
  into.trace.take(part, false);
}

}  // namespace opseal
