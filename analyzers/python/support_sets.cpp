#include "analyzers/python/support_sets.h"

#include <utility>

#include "analyzers/python/table_access.h"

namespace opseal {
namespace {

constexpr std::size_t most_keys = 1024;
// Keys, and stretches of text, that are looked at in a file: an input made to cost time has more.
constexpr std::size_t most_steps = 1'000'000;

}  // namespace

bool PythonSets::spend(std::size_t steps) const {
  steps_ += steps;
  return steps_ > most_steps;
}

// Names that something is put into after they were made.
void PythonSets::find_changed() {
  for (SyntaxIndex at = 0; at < syntax_.nodes.size(); ++at) {
    const SyntaxKind kind = syntax_[at].kind;
    if (kind == SyntaxKind::assignment || kind == SyntaxKind::augmented_assignment) {
      const SyntaxIndex left = syntax_.child(at, SyntaxField::left);
      if (!syntax_.is(left, SyntaxKind::subscript)) continue;
      changed_.insert(last_name(syntax_.text_of(syntax_.first(left))));
    } else if (kind == SyntaxKind::call) {
      const SyntaxIndex called = syntax_.child(at, SyntaxField::function);
      if (!syntax_.is(called, SyntaxKind::attribute)) continue;
      const std::string_view text = syntax_.text_of(called);
      const std::size_t dot = text.rfind('.');
      const std::string_view method = text.substr(dot + 1);
      if (method == "update" || method == "setdefault" || method == "add" || method == "pop" ||
          method == "append" || method == "extend" || method == "remove" || method == "discard" ||
          method == "clear" || method == "insert") {
        changed_.insert(last_name(text.substr(0, dot)));
      }
    }
  }
}

// A text, or a dotted name.
std::optional<PythonKey> PythonSets::key_of(SyntaxIndex index) const {
  index = syntax_.unwrapped(index);
  if (index == no_syntax) return {};
  PythonKey key;
  key.place = syntax_.place_of(index);
  const SyntaxKind kind = syntax_[index].kind;
  if (kind == SyntaxKind::attribute) {
    key.text = syntax_.text_of(index);
    if (key.text.find_first_of("([") != key.text.npos) return {};
    return key;
  }
  if (kind != SyntaxKind::string) return {};
  for (const SyntaxIndex part : syntax_.children(index)) {
    if (syntax_.is(part, SyntaxKind::interpolation)) return {};
    if (syntax_.is(part, SyntaxKind::string_content)) key.text += syntax_.text_of(part);
  }
  if (key.text.empty()) return {};
  return key;
}

// `{a, b}`, `[a, b]`, `frozenset((a, b))`; dictionaries where `maps`.
std::optional<std::vector<PythonKey>> PythonSets::keys_of(SyntaxIndex value, bool maps) const {
  value = syntax_.unwrapped(value);
  if (value == no_syntax) return {};
  SyntaxKind kind = syntax_[value].kind;
  if (kind == SyntaxKind::call && !maps) {
    const SyntaxIndex called = syntax_.child(value, SyntaxField::function);
    const SyntaxIndex arguments = syntax_.child(value, SyntaxField::arguments);
    if (called == no_syntax || !syntax_.is(arguments, SyntaxKind::argument_list)) return {};
    const std::string_view name = syntax_.text_of(called);
    if (name != "frozenset" && name != "set" && name != "tuple" && name != "list") return {};
    const std::vector<SyntaxIndex> list = syntax_.children(arguments);
    if (list.size() != 1) return {};
    value = syntax_.unwrapped(list.front());
    if (value == no_syntax) return {};
    kind = syntax_[value].kind;
  }
  const bool is_list =
      kind == SyntaxKind::set || kind == SyntaxKind::list || kind == SyntaxKind::tuple;
  if (maps ? kind != SyntaxKind::dictionary : !is_list) return {};
  std::vector<PythonKey> keys;
  for (const SyntaxIndex item : syntax_.children(value)) {
    SyntaxIndex named = item;
    SyntaxIndex beside = no_syntax;
    if (maps) {
      if (!syntax_.is(item, SyntaxKind::pair)) return {};
      named = syntax_.child(item, SyntaxField::key);
      beside = syntax_.child(item, SyntaxField::value);
    }
    std::optional<PythonKey> key = named == no_syntax ? std::nullopt : key_of(named);
    if (!key || keys.size() == most_keys || spend(1)) return {};
    if (beside != no_syntax) key->value = syntax_.text_of(beside).substr(0, 80);
    keys.push_back(std::move(*key));
  }
  if (keys.size() < fewest_keys) return {};
  return keys;
}

// What a name stands for that is bound once and never changed.
std::optional<PythonSet> PythonSets::keys_named(SyntaxIndex expression, bool maps) const {
  expression = syntax_.unwrapped(expression);
  if (expression == no_syntax) return {};
  SyntaxIndex value = no_syntax;
  const std::string_view text = syntax_.text_of(expression);
  const std::string_view name = last_name(text);
  if (changed_.contains(name)) return {};
  if (syntax_.is(expression, SyntaxKind::identifier)) {
    const PythonBinding* binding = scopes_.only(text, expression);
    if (binding == nullptr || binding->kind != PythonBinding::Kind::value) return {};
    // One of several that are set at once has no value of its own.
    value = binding->value;
  } else if (syntax_.is(expression, SyntaxKind::attribute) && text.starts_with("self.")) {
    const SyntaxIndex holder = class_around(expression);
    if (holder == no_syntax || !scopes_.assigned(text).empty()) return {};
    value = member_of(holder, name);
  } else if (!maps) {
    value = expression;
  }
  std::optional<std::vector<PythonKey>> keys = keys_of(value, maps);
  if (!keys) return {};
  return PythonSet{std::string(name.substr(0, 80)), value, std::move(*keys)};
}

SyntaxIndex PythonSets::class_around(SyntaxIndex at) const {
  std::size_t steps = 0;
  while (at != no_syntax && ++steps < PythonScopes::max_depth) {
    if (syntax_.is(at, SyntaxKind::class_definition)) return at;
    at = syntax_[at].holder;
  }
  return no_syntax;
}

SyntaxIndex PythonSets::member_of(SyntaxIndex holder, std::string_view name) const {
  const auto [place, fresh] = members_.try_emplace(holder);
  if (fresh) read_members(holder, place->second);
  const auto found = place->second.find(name);
  return found == place->second.end() ? no_syntax : found->second;
}

// A class is walked once, however many of its members are asked for.
void PythonSets::read_members(SyntaxIndex holder,
                              std::map<std::string_view, SyntaxIndex>& members) const {
  const SyntaxIndex body = syntax_.child(holder, SyntaxField::body);
  if (body == no_syntax) return;
  for (const SyntaxIndex statement : syntax_.children(body)) {
    const SyntaxIndex assignment = syntax_.first(statement);
    if (!syntax_.is(assignment, SyntaxKind::assignment)) continue;
    const SyntaxIndex left = syntax_.child(assignment, SyntaxField::left);
    if (left == no_syntax) continue;
    const auto [member, is_first] =
        members.try_emplace(syntax_.text_of(left), syntax_.child(assignment, SyntaxField::right));
    if (!is_first) member->second = no_syntax;
  }
}

std::optional<PythonMembership> PythonSets::comparison(SyntaxIndex index) const {
  index = syntax_.unwrapped(index);
  if (index == no_syntax || syntax_[index].kind != SyntaxKind::other) return {};
  PythonMembership found;
  for (const SyntaxIndex child : syntax_.children(index)) {
    if (syntax_[child].kind == SyntaxKind::other &&
        syntax_[child].field == SyntaxField::operator_sign) {
      continue;
    }
    if (found.left == no_syntax) {
      found.left = child;
    } else if (found.right == no_syntax) {
      found.right = child;
    } else {
      return {};
    }
  }
  if (found.right == no_syntax) return {};
  found.sign = syntax_.text.substr(syntax_[found.left].end,
                                   syntax_[found.right].begin - syntax_[found.left].end);
  while (!found.sign.empty() && (found.sign.front() == ' ' || found.sign.front() == ')')) {
    found.sign.remove_prefix(1);
  }
  while (!found.sign.empty() && (found.sign.back() == ' ' || found.sign.back() == '(')) {
    found.sign.remove_suffix(1);
  }
  return found;
}

}  // namespace opseal
