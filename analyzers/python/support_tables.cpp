#include "analyzers/python/support_tables.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"

namespace opseal {
namespace {

// Of one file; each is compared with few others.
constexpr std::size_t most_functions = 4096;
constexpr std::size_t most_keys = 1024;
// Functions of one file that are taken for predicates.
constexpr std::size_t most_predicates = 64;
// Keys, and stretches of text, that are looked at in a file: an input made to cost time has more.
constexpr std::size_t most_steps = 1'000'000;
// Nodes of one function that are looked at.
constexpr std::size_t largest_function = 20'000;
constexpr std::size_t fewest_keys = 2;
// A predicate that stands alone shares so many of a hundred values with what it speaks for.
constexpr std::size_t least_alike = 70;

struct Keys {
  std::string name;
  SyntaxIndex node = no_syntax;
  std::vector<PythonKey> keys;

  bool has(std::string_view text) const {
    return std::any_of(keys.begin(), keys.end(),
                       [&](const PythonKey& key) { return key.text == text; });
  }
};

// What a function does with one thing.
struct Asked {
  std::string_view subject;
  SyntaxIndex place = no_syntax;
  // From here on only what the set has is left.
  SyntaxIndex from = no_syntax;
  SyntaxIndex to = no_syntax;
  Keys keys;
};

class SupportReader {
 public:
  explicit SupportReader(const ParsedPython& file) : syntax_(file.syntax), scopes_(file.scopes) {}

  std::vector<PythonSupport> read() {
    find_changed();
    std::vector<SyntaxIndex> functions;
    for (SyntaxIndex at = 0; at < syntax_.nodes.size() && functions.size() < most_functions; ++at) {
      if (syntax_.is(at, SyntaxKind::function_definition) &&
          syntax_[at].next - at <= largest_function) {
        functions.push_back(at);
      }
    }
    for (const SyntaxIndex function : functions) {
      if (predicates_.size() == most_predicates) break;
      if (std::optional<Keys> keys = answer_of(function)) {
        predicates_.emplace_back(function, std::move(*keys));
      }
    }
    std::set<SyntaxIndex> guarded;
    for (const SyntaxIndex function : functions) read_guarded(function, guarded);
    for (const auto& [predicate, keys] : predicates_) {
      if (!asked_.contains(predicate)) read_alone(predicate, keys, functions, guarded);
    }
    return std::move(found_);
  }

 private:
  std::string_view name_of(SyntaxIndex function) const {
    const SyntaxIndex name = syntax_.child(function, SyntaxField::name);
    return name == no_syntax ? std::string_view() : syntax_.text_of(name);
  }
  PythonPlace place_of(SyntaxIndex index) const {
    return {syntax_[index].begin, syntax_[index].end - syntax_[index].begin};
  }
  PythonPlace place_of_name(SyntaxIndex function) const {
    const SyntaxIndex name = syntax_.child(function, SyntaxField::name);
    return place_of(name == no_syntax ? function : name);
  }

  // Names that something is put into after they were made.
  void find_changed() {
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

  static std::string_view last_name(std::string_view text) {
    return text.substr(text.rfind('.') == text.npos ? 0 : text.rfind('.') + 1);
  }

  // A text, or a dotted name.
  std::optional<PythonKey> key_of(SyntaxIndex index) const {
    index = syntax_.unwrapped(index);
    if (index == no_syntax) return {};
    PythonKey key;
    key.place = place_of(index);
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
  std::optional<std::vector<PythonKey>> keys_of(SyntaxIndex value, bool maps) const {
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
      if (!key || keys.size() == most_keys || ++steps_ > most_steps) return {};
      if (beside != no_syntax) key->value = syntax_.text_of(beside).substr(0, 80);
      keys.push_back(std::move(*key));
    }
    if (keys.size() < fewest_keys) return {};
    return keys;
  }

  // What a name stands for that is bound once and never changed.
  std::optional<Keys> keys_named(SyntaxIndex expression, bool maps) const {
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
    return Keys{std::string(name.substr(0, 80)), value, std::move(*keys)};
  }

  SyntaxIndex class_around(SyntaxIndex at) const {
    std::size_t steps = 0;
    while (at != no_syntax && ++steps < PythonScopes::max_depth) {
      if (syntax_.is(at, SyntaxKind::class_definition)) return at;
      at = syntax_[at].holder;
    }
    return no_syntax;
  }

  SyntaxIndex member_of(SyntaxIndex holder, std::string_view name) const {
    const SyntaxIndex body = syntax_.child(holder, SyntaxField::body);
    if (body == no_syntax) return no_syntax;
    SyntaxIndex value = no_syntax;
    for (const SyntaxIndex statement : syntax_.children(body)) {
      const SyntaxIndex assignment = syntax_.first(statement);
      if (!syntax_.is(assignment, SyntaxKind::assignment)) continue;
      const SyntaxIndex left = syntax_.child(assignment, SyntaxField::left);
      if (left == no_syntax || syntax_.text_of(left) != name) continue;
      if (value != no_syntax) return no_syntax;
      value = syntax_.child(assignment, SyntaxField::right);
    }
    return value;
  }

  // `S in NAME` or `S not in NAME` with the sign between the two.
  struct Membership {
    SyntaxIndex left = no_syntax;
    SyntaxIndex right = no_syntax;
    std::string_view sign;
  };
  std::optional<Membership> comparison(SyntaxIndex index) const {
    index = syntax_.unwrapped(index);
    if (index == no_syntax || syntax_[index].kind != SyntaxKind::other) return {};
    Membership found;
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

  std::vector<SyntaxIndex> statements_of(SyntaxIndex function) const {
    const SyntaxIndex body = syntax_.child(function, SyntaxField::body);
    if (body == no_syntax) return {};
    std::vector<SyntaxIndex> list = syntax_.children(body);
    const bool has_docstring = !list.empty() &&
                               syntax_.is(list.front(), SyntaxKind::expression_statement) &&
                               syntax_.is(syntax_.first(list.front()), SyntaxKind::string);
    if (has_docstring) list.erase(list.begin());
    return list;
  }

  // `def supports(x): return x in NAME`
  std::optional<Keys> answer_of(SyntaxIndex function) const {
    const std::string_view name = name_of(function);
    if (name.find("upport") == name.npos || name.find("nsupport") != name.npos) return {};
    const std::vector<SyntaxIndex> statements = statements_of(function);
    if (statements.size() != 1 || !syntax_.is(statements.front(), SyntaxKind::return_statement)) {
      return {};
    }
    const std::optional<Membership> asked = comparison(syntax_.first(statements.front()));
    if (!asked || asked->sign != "in") return {};
    return keys_named(asked->right, false);
  }

  // A block that leaves the function.
  bool leaves(SyntaxIndex block) const {
    if (block == no_syntax) return false;
    const std::vector<SyntaxIndex> list = syntax_.children(block);
    return !list.empty() && (syntax_.is(list.back(), SyntaxKind::return_statement) ||
                             syntax_.text_of(list.back()).starts_with("raise"));
  }

  bool raises(SyntaxIndex statement) const {
    return statement != no_syntax && syntax_.text_of(statement).starts_with("raise");
  }

  // What a statement of a function lets through: `if x not in NAME: raise`, `assert x in NAME`,
  // `if not supports(x): raise`.
  std::optional<Asked> guard_of(SyntaxIndex statement, SyntaxIndex end) {
    Asked asked;
    asked.place = statement;
    asked.from = syntax_[statement].next;
    asked.to = end;
    SyntaxIndex condition = no_syntax;
    bool denies = true;
    if (syntax_.is(statement, SyntaxKind::if_statement)) {
      condition = syntax_.child(statement, SyntaxField::condition);
      if (!leaves(syntax_.child(statement, SyntaxField::consequence)) ||
          syntax_.child(statement, SyntaxField::alternative) != no_syntax) {
        return {};
      }
    } else if (syntax_.text_of(statement).starts_with("assert ")) {
      condition = syntax_.first(statement);
      denies = false;
    } else {
      return {};
    }
    condition = syntax_.unwrapped(condition);
    if (condition == no_syntax) return {};
    if (const std::optional<Membership> one = comparison(condition)) {
      if (one->sign != (denies ? "not in" : "in")) return {};
      std::optional<Keys> keys = keys_named(one->right, false);
      if (!keys) return {};
      asked.subject = syntax_.text_of(one->left);
      asked.keys = std::move(*keys);
      return asked;
    }
    const std::string_view text = syntax_.text_of(condition);
    if (text.starts_with("not ") != denies) return {};
    // The operand of `not` is the last child.
    if (denies) {
      const std::vector<SyntaxIndex> parts = syntax_.children(condition);
      condition = parts.empty() ? no_syntax : syntax_.unwrapped(parts.back());
    }
    if (!syntax_.is(condition, SyntaxKind::call)) return {};
    const SyntaxIndex called = syntax_.child(condition, SyntaxField::function);
    const SyntaxIndex arguments = syntax_.child(condition, SyntaxField::arguments);
    if (called == no_syntax || arguments == no_syntax) return {};
    const std::vector<SyntaxIndex> list = syntax_.children(arguments);
    if (list.size() != 1) return {};
    const std::string_view name = last_name(syntax_.text_of(called));
    for (const auto& [predicate, keys] : predicates_) {
      if (name_of(predicate) != name) continue;
      asked_.insert(predicate);
      asked.subject = syntax_.text_of(list.front());
      asked.keys = keys;
      return asked;
    }
    return {};
  }

  // Every way to `index` from the body of the function is without a condition.
  bool is_unconditional(SyntaxIndex index, SyntaxIndex function) const {
    const SyntaxIndex body = syntax_.child(function, SyntaxField::body);
    std::size_t steps = 0;
    for (SyntaxIndex at = syntax_[index].parent; at != body; at = syntax_[at].parent) {
      if (at == no_syntax || ++steps > PythonScopes::max_depth) return false;
      switch (syntax_[at].kind) {
        case SyntaxKind::if_statement:
        case SyntaxKind::elif_clause:
        case SyntaxKind::else_clause:
        case SyntaxKind::try_statement:
        case SyntaxKind::except_clause:
        case SyntaxKind::for_statement:
        case SyntaxKind::while_statement:
        case SyntaxKind::conditional_expression:
        case SyntaxKind::function_definition:
        case SyntaxKind::lambda:
        case SyntaxKind::list_comprehension:
        case SyntaxKind::case_clause:
          return false;
        default:
          break;
      }
    }
    return true;
  }

  // `NAME[S]` on every way, where nobody asks first whether it is there; a chain of
  // `if S == key: …` that ends in `raise`.
  std::vector<Asked> dispatches_of(SyntaxIndex function) const {
    std::vector<Asked> found;
    const std::string_view whole = syntax_.text_of(function);
    for (SyntaxIndex at = function; at < syntax_[function].next; ++at) {
      if (!syntax_.is(at, SyntaxKind::subscript)) continue;
      const SyntaxIndex left = syntax_.first(at);
      const SyntaxIndex key = syntax_.child(at, SyntaxField::subscript);
      if (left == no_syntax || key == no_syntax || !is_unconditional(at, function)) continue;
      std::optional<Keys> keys = keys_named(left, true);
      constexpr std::size_t bytes_of_a_step = 256;
      steps_ += whole.size() / bytes_of_a_step;
      if (steps_ > most_steps) break;
      if (!keys || whole.find("in " + keys->name) != whole.npos) continue;
      found.push_back({syntax_.text_of(key), at, no_syntax, no_syntax, std::move(*keys)});
    }
    const std::vector<SyntaxIndex> statements = statements_of(function);
    for (std::size_t number = 0; number < statements.size(); ++number) {
      const SyntaxIndex next = number + 1 < statements.size() ? statements[number + 1] : no_syntax;
      if (std::optional<Asked> chain = chain_of(statements[number], next)) {
        chain->keys.name = name_of(function);
        found.push_back(std::move(*chain));
      }
    }
    return found;
  }

  // `S == key`, `S is key`, `S in (key, key)`.
  bool add_branch(SyntaxIndex condition, Asked& chain) const {
    const std::optional<Membership> one = comparison(condition);
    if (!one) return false;
    const std::string_view subject = syntax_.text_of(one->left);
    if (!chain.subject.empty() && chain.subject != subject) return false;
    chain.subject = subject;
    if (one->sign == "in") {
      const std::optional<Keys> keys = keys_named(one->right, false);
      if (!keys) return false;
      chain.keys.keys.insert(chain.keys.keys.end(), keys->keys.begin(), keys->keys.end());
      return true;
    }
    if (one->sign != "==" && one->sign != "is") return false;
    std::optional<PythonKey> key = key_of(one->right);
    if (!key) return false;
    chain.keys.keys.push_back(std::move(*key));
    return true;
  }

  std::optional<Asked> chain_of(SyntaxIndex statement, SyntaxIndex next) const {
    if (!syntax_.is(statement, SyntaxKind::if_statement)) return {};
    Asked chain;
    chain.place = statement;
    const SyntaxIndex condition = syntax_.child(statement, SyntaxField::condition);
    if (condition == no_syntax || !add_branch(condition, chain)) return {};
    bool all_leave = leaves(syntax_.child(statement, SyntaxField::consequence));
    bool ends = false;
    std::size_t branches = 1;
    for (const SyntaxIndex part : syntax_.children(statement)) {
      if (syntax_.is(part, SyntaxKind::elif_clause)) {
        const SyntaxIndex asked = syntax_.child(part, SyntaxField::condition);
        if (asked == no_syntax || !add_branch(asked, chain)) return {};
        all_leave = all_leave && leaves(syntax_.child(part, SyntaxField::consequence));
        ++branches;
      } else if (syntax_.is(part, SyntaxKind::else_clause)) {
        const SyntaxIndex body = syntax_.child(part, SyntaxField::body);
        const std::vector<SyntaxIndex> list =
            body == no_syntax ? std::vector<SyntaxIndex>() : syntax_.children(body);
        if (list.empty() || !raises(list.back())) return {};
        ends = true;
      }
    }
    if (branches < fewest_keys || (!ends && !(all_leave && raises(next)))) return {};
    return chain;
  }

  // The root of `a.b.c` gets another value between two places.
  bool is_set_between(SyntaxIndex function, std::string_view subject, SyntaxIndex from,
                      SyntaxIndex to) const {
    const std::string_view root = subject.substr(0, subject.find_first_of(".[("));
    for (SyntaxIndex at = from; at < to; ++at) {
      if (!syntax_.is(at, SyntaxKind::assignment)) continue;
      const SyntaxIndex left = syntax_.child(at, SyntaxField::left);
      if (left != no_syntax && (syntax_.text_of(left) == root || syntax_.text_of(left) == subject))
        return true;
    }
    return function == no_syntax;
  }

  void read_guarded(SyntaxIndex function, std::set<SyntaxIndex>& guarded) {
    const std::vector<SyntaxIndex> statements = statements_of(function);
    std::vector<Asked> guards;
    for (const SyntaxIndex statement : statements) {
      if (std::optional<Asked> one = guard_of(statement, syntax_[function].next)) {
        guards.push_back(std::move(*one));
      }
    }
    if (guards.empty()) return;
    guarded.insert(function);
    for (const Asked& dispatch : dispatches_of(function)) {
      for (const Asked& guard : guards) {
        if (guard.subject != dispatch.subject || dispatch.place < guard.from ||
            is_set_between(function, guard.subject, guard.from, dispatch.place)) {
          continue;
        }
        add(function, guard.keys.name, guard.keys, guard.keys.node, dispatch);
        break;
      }
    }
  }

  // Values that both have.
  std::size_t shared(const Keys& left, const Keys& right) const {
    steps_ += left.keys.size() + right.keys.size();
    if (steps_ > most_steps) return 0;
    std::set<std::string_view> texts;
    for (const PythonKey& key : right.keys) texts.insert(key.text);
    return static_cast<std::size_t>(
        std::count_if(left.keys.begin(), left.keys.end(),
                      [&](const PythonKey& key) { return texts.contains(key.text); }));
  }

  // A predicate that others ask, and the one function of the file that dispatches by nearly the
  // same values and turns away the rest.
  void read_alone(SyntaxIndex predicate, const Keys& keys,
                  const std::vector<SyntaxIndex>& functions, const std::set<SyntaxIndex>& guarded) {
    std::vector<std::pair<SyntaxIndex, Asked>> alike;
    for (const SyntaxIndex function : functions) {
      if (guarded.contains(function) || class_around(function) != class_around(predicate)) continue;
      auto [known, fresh] = dispatches_.try_emplace(function);
      if (fresh) known->second = dispatches_of(function);
      for (const Asked& one : known->second) {
        const std::size_t same = shared(keys, one.keys);
        const std::size_t all = keys.keys.size() + one.keys.keys.size();
        if (same >= fewest_keys && same * 200 >= least_alike * all) {
          alike.emplace_back(function, one);
        }
      }
    }
    if (alike.size() != 1) return;
    add(alike.front().first, std::string(name_of(predicate)), keys, predicate,
        alike.front().second);
  }

  void add(SyntaxIndex function, std::string predicate, const Keys& accepted, SyntaxIndex place,
           const Asked& dispatch) {
    // A file may spell the values of the two in different ways: `"float16"`, `torch.float16`.
    if (shared(accepted, dispatch.keys) < fewest_keys) return;
    PythonSupport one;
    one.function = name_of(function);
    one.predicate = std::move(predicate);
    one.predicate_place =
        syntax_.is(place, SyntaxKind::function_definition) ? place_of_name(place) : place_of(place);
    one.accepted = accepted.keys;
    one.table = dispatch.keys.name;
    one.table_place =
        dispatch.keys.node == no_syntax ? place_of_name(function) : place_of(dispatch.keys.node);
    one.entries = dispatch.keys.keys;
    for (SyntaxIndex at = function; at < syntax_[function].next; ++at) {
      const SyntaxKind kind = syntax_[at].kind;
      if (kind != SyntaxKind::string && kind != SyntaxKind::attribute) continue;
      std::optional<PythonKey> key = key_of(at);
      steps_ += accepted.keys.size();
      if (steps_ > most_steps) return;
      if (!key || !accepted.has(key->text) || dispatch.keys.has(key->text)) continue;
      // Those of a set that is written out in the function are no use of them.
      if (accepted.node != no_syntax && at >= accepted.node && at < syntax_[accepted.node].next) {
        continue;
      }
      one.named.push_back(std::move(*key));
    }
    found_.push_back(std::move(one));
  }

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
  std::set<std::string_view> changed_;
  std::map<SyntaxIndex, std::vector<Asked>> dispatches_;
  mutable std::size_t steps_ = 0;
  // Functions that answer whether a set has what they get, each with the set.
  std::vector<std::pair<SyntaxIndex, Keys>> predicates_;
  // Those that a function of the file asks before it dispatches.
  std::set<SyntaxIndex> asked_;
  std::vector<PythonSupport> found_;
};

bool has_guard(std::string_view text) {
  for (const std::string_view form : {"not in ", "assert ", "if not "}) {
    std::size_t next = 0;
    for (std::size_t at = text.find(form); at != text.npos; at = text.find(form, next)) {
      const std::string_view line = text.substr(at, text.substr(at).find('\n'));
      next = at + std::max<std::size_t>(line.size(), 1);
      if (form == "not in " || line.find(" in ") != line.npos || line.find("upport") != line.npos) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

bool may_hold_support(std::string_view text) {
  const bool dispatches = text.find("raise") != text.npos || text.find("assert") != text.npos;
  if (!dispatches && text.find("upport") == text.npos) return false;
  const bool compares = text.find(" == ") != text.npos || text.find("] = ") != text.npos ||
                        text.find("= {") != text.npos;
  return compares && (has_guard(text) || text.find("supports_") != text.npos ||
                      text.find("_supported(") != text.npos || text.find("supports(") != text.npos);
}

std::vector<PythonSupport> find_python_support(const ParsedPython& file) {
  return SupportReader(file).read();
}

}  // namespace opseal
