#include "analyzers/python/value_flow.h"

#include <algorithm>

namespace opseal {
namespace {

constexpr std::size_t max_depth = 64;
constexpr std::uint32_t max_frames = 5;
constexpr std::size_t max_roots = 128;

constexpr std::string_view handing_methods[] = {"update", "append", "extend",    "insert",
                                                "add",    "write",  "writelines"};

bool same_root(const FlowRoot& a, const FlowRoot& b) {
  return a.kind == b.kind && a.form == b.form && a.name == b.name && a.field == b.field &&
         (a.kind != FlowRoot::Kind::digest || a.node == b.node);
}

}  // namespace

const FlowRoot* FlowTrace::digest() const {
  const auto found = std::find_if(roots.begin(), roots.end(), [](const FlowRoot& root) {
    return root.kind == FlowRoot::Kind::digest;
  });
  return found == roots.end() ? nullptr : &*found;
}

void FlowTrace::take(const FlowTrace& part, bool only_digest) {
  limited = limited || part.limited;
  words.insert(part.words.begin(), part.words.end());
  const auto keep = [this](std::vector<FlowRoot>& list, const FlowRoot& root) {
    const auto known = std::find_if(list.begin(), list.end(), [&root](const FlowRoot& other) {
      return same_root(root, other);
    });
    if (known != list.end()) {
      known->itself = known->itself && root.itself;
      return;
    }
    if (list.size() < max_roots) {
      list.push_back(root);
    } else {
      limited = true;
    }
  };
  for (const FlowRoot& root : part.beside) keep(beside, root);
  for (const FlowRoot& root : part.roots) {
    const bool named_after = only_digest && root.kind != FlowRoot::Kind::digest;
    keep(named_after ? beside : roots, root);
  }
}

ValueFlow::ValueFlow(const PythonSyntax& syntax, const PythonScopes& scopes)
    : syntax_(syntax), scopes_(scopes) {
  index();
}

void ValueFlow::index() {
  for (SyntaxIndex at = 0; at < syntax_.nodes.size(); ++at) {
    switch (syntax_[at].kind) {
      case SyntaxKind::return_statement:
        if (syntax_.first(at) != no_syntax) {
          returns_[function_above(at)].push_back(syntax_.first(at));
        }
        break;
      case SyntaxKind::function_definition: {
        const SyntaxIndex name = syntax_.child(at, SyntaxField::name);
        const SyntaxIndex within = class_above(at);
        if (name == no_syntax || within == no_syntax) break;
        methods_.try_emplace({within, syntax_.text_of(name)}, at);
        break;
      }
      case SyntaxKind::call: {
        const SyntaxIndex function = syntax_.child(at, SyntaxField::function);
        if (function == no_syntax) break;
        const SyntaxIndex entered = function_of(at);
        if (entered != no_syntax) calls_of_[entered].push_back(at);
        if (!syntax_.is(function, SyntaxKind::attribute)) break;
        const SyntaxIndex object = syntax_.child(function, SyntaxField::object);
        const std::string_view method = called(at);
        const bool hands = std::find(std::begin(handing_methods), std::end(handing_methods),
                                     method) != std::end(handing_methods);
        if (!hands || !syntax_.is(object, SyntaxKind::identifier)) break;
        const SyntaxIndex bound = first_binding(object);
        if (bound == no_syntax) break;
        for (const SyntaxIndex argument : arguments(at)) handed_[bound].push_back(argument);
        break;
      }
      case SyntaxKind::assignment: {
        // `environment["X"] = value`
        const SyntaxIndex left = syntax_.child(at, SyntaxField::left);
        const SyntaxIndex right = syntax_.child(at, SyntaxField::right);
        if (!syntax_.is(left, SyntaxKind::subscript) || right == no_syntax) break;
        const SyntaxIndex object = syntax_.child(left, SyntaxField::value);
        if (!syntax_.is(object, SyntaxKind::identifier)) break;
        const SyntaxIndex bound = first_binding(object);
        if (bound != no_syntax) handed_[bound].push_back(right);
        break;
      }
      default:
        break;
    }
  }
}

SyntaxIndex ValueFlow::function_above(SyntaxIndex node) const {
  SyntaxIndex scope = scopes_.scope_of(node);
  for (std::size_t depth = 0; depth < max_depth && scope != no_syntax && scope != 0; ++depth) {
    if (syntax_.is(scope, SyntaxKind::function_definition)) return scope;
    scope = scopes_.scope_of(scope);
  }
  return no_syntax;
}

SyntaxIndex ValueFlow::class_above(SyntaxIndex node) const {
  SyntaxIndex scope = scopes_.scope_of(node);
  for (std::size_t depth = 0; depth < max_depth && scope != no_syntax && scope != 0; ++depth) {
    if (syntax_.is(scope, SyntaxKind::class_definition)) return scope;
    scope = scopes_.scope_of(scope);
  }
  return no_syntax;
}

const std::vector<SyntaxIndex>& ValueFlow::handed_to(SyntaxIndex binding) const {
  static const std::vector<SyntaxIndex> nothing;
  const auto found = handed_.find(binding);
  return found == handed_.end() ? nothing : found->second;
}

const std::vector<SyntaxIndex>& ValueFlow::returned_by(SyntaxIndex function) const {
  static const std::vector<SyntaxIndex> nothing;
  const auto found = returns_.find(function);
  return found == returns_.end() ? nothing : found->second;
}

const std::vector<SyntaxIndex>& ValueFlow::calls_of(SyntaxIndex function) const {
  static const std::vector<SyntaxIndex> nothing;
  const auto found = calls_of_.find(function);
  return found == calls_of_.end() ? nothing : found->second;
}

SyntaxIndex ValueFlow::first_binding(SyntaxIndex identifier) const {
  const std::vector<PythonBinding>& bindings =
      scopes_.find(syntax_.text_of(identifier), identifier);
  return bindings.empty() ? no_syntax : bindings.front().name;
}

std::vector<std::string> ValueFlow::made_of(const FlowRoot& attribute) {
  std::vector<std::string> names;
  if (attribute.kind != FlowRoot::Kind::attribute) return names;
  const std::vector<SyntaxIndex>& values = scopes_.assigned(attribute.name);
  if (values.size() > max_roots) return names;
  for (const SyntaxIndex value : values) {
    if (value == no_syntax) continue;
    for (const FlowRoot& root : of(value, nullptr).roots) {
      if (names.size() < max_roots) names.push_back(root.name);
    }
  }
  return names;
}

std::string_view ValueFlow::called(SyntaxIndex call) const {
  const SyntaxIndex function = syntax_.child(call, SyntaxField::function);
  if (function == no_syntax) return {};
  const std::string_view text = syntax_.text_of(function);
  return text.substr(text.rfind('.') + 1);
}

bool ValueFlow::is_named(SyntaxIndex expression, std::string_view prefix) const {
  if (expression == no_syntax) return false;
  const std::vector<std::string> names = scopes_.full_names(expression);
  return std::any_of(names.begin(), names.end(), [prefix](const std::string& name) {
    return prefix.ends_with('.') ? name.starts_with(prefix) : name == prefix;
  });
}

std::vector<SyntaxIndex> ValueFlow::arguments(SyntaxIndex call) const {
  const SyntaxIndex list = syntax_.child(call, SyntaxField::arguments);
  if (list == no_syntax) return {};
  if (!syntax_.is(list, SyntaxKind::argument_list)) return {list};
  return syntax_.children(list);
}

SyntaxIndex ValueFlow::function_of(SyntaxIndex call) const {
  const SyntaxIndex function = syntax_.child(call, SyntaxField::function);
  if (syntax_.is(function, SyntaxKind::identifier)) {
    const PythonBinding* bound = scopes_.only(syntax_.text_of(function), function);
    const bool defined = bound != nullptr && bound->kind == PythonBinding::Kind::definition;
    return defined && syntax_.is(bound->value, SyntaxKind::function_definition) ? bound->value
                                                                                : no_syntax;
  }
  if (!syntax_.is(function, SyntaxKind::attribute)) return no_syntax;
  const SyntaxIndex object = syntax_.child(function, SyntaxField::object);
  if (!syntax_.is(object, SyntaxKind::identifier)) return no_syntax;
  const std::string_view name = syntax_.text_of(object);
  if (name != "self" && name != "cls") return no_syntax;
  const auto found = methods_.find({class_above(call), called(call)});
  return found == methods_.end() ? no_syntax : found->second;
}

SyntaxIndex ValueFlow::property_of(SyntaxIndex attribute) const {
  const SyntaxIndex name = syntax_.child(attribute, SyntaxField::attribute);
  if (name == no_syntax) return no_syntax;
  const auto found = methods_.find({class_above(attribute), syntax_.text_of(name)});
  if (found == methods_.end()) return no_syntax;
  const SyntaxIndex above = syntax_[found->second].parent;
  if (!syntax_.is(above, SyntaxKind::decorated_definition)) return no_syntax;
  for (const SyntaxIndex decorator : syntax_.children(above)) {
    if (!syntax_.is(decorator, SyntaxKind::decorator)) continue;
    if (syntax_.text_of(decorator).ends_with("property")) return found->second;
  }
  return no_syntax;
}

const FlowFrame* ValueFlow::enter(SyntaxIndex function, SyntaxIndex call, const FlowFrame* caller) {
  const std::uint32_t depth = caller == nullptr ? 1 : caller->depth + 1;
  if (depth > max_frames) return nullptr;
  for (const FlowFrame* frame = caller; frame != nullptr; frame = frame->caller) {
    if (frame->function == function) return nullptr;
  }
  frames_.push_back({function, call, caller, depth});
  return &frames_.back();
}

FlowTrace ValueFlow::of(SyntaxIndex expression, const FlowFrame* frame) {
  FlowTrace trace;
  std::set<std::pair<SyntaxIndex, const FlowFrame*>> seen;
  Walk into{trace, seen};
  walk(expression, frame, FlowForm::value, 0, into);
  return trace;
}

FlowTrace ValueFlow::of_command(SyntaxIndex expression, const FlowFrame* frame) {
  expression = syntax_.unwrapped(expression);
  if (syntax_.is(expression, SyntaxKind::identifier)) {
    const PythonBinding* bound = scopes_.only(syntax_.text_of(expression), expression);
    const bool text = bound != nullptr && bound->kind == PythonBinding::Kind::value &&
                      bound->value != no_syntax && is_one_text(bound->value);
    if (text) expression = bound->value;
  }
  return of(expression, frame);
}

void ValueFlow::add(FlowRoot::Kind kind, std::string_view name, SyntaxIndex node,
                    const FlowFrame* frame, FlowForm form, Walk& into) const {
  FlowTrace one;
  one.roots.push_back({kind, form, std::string(name.substr(0, 200)), {}, node, frame, into.itself});
  into.trace.take(one, false);
}

}  // namespace opseal
