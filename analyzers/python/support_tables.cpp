#include "analyzers/python/support_tables.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "analyzers/python/scopes.h"
#include "analyzers/python/support_sets.h"
#include "analyzers/python/syntax.h"
#include "analyzers/python/table_access.h"

namespace opseal {
namespace {

// Of one file; each is compared with few others.
constexpr std::size_t most_functions = 4096;
// Functions of one file that are taken for predicates.
constexpr std::size_t most_predicates = 64;
// Nodes of one function that are looked at.
constexpr std::size_t largest_function = 20'000;
// A predicate that stands alone shares so many of a hundred values with what it speaks for.
constexpr std::size_t least_alike = 70;

// What a function does with one thing.
struct Asked {
  std::string_view subject;
  SyntaxIndex place = no_syntax;
  // From here on only what the set has is left.
  SyntaxIndex from = no_syntax;
  SyntaxIndex to = no_syntax;
  PythonSet keys;
};

class SupportReader {
 public:
  explicit SupportReader(const ParsedPython& file) : syntax_(file.syntax), sets_(file) {}

  std::vector<PythonSupport> read() {
    std::vector<SyntaxIndex> functions;
    for (SyntaxIndex at = 0; at < syntax_.nodes.size() && functions.size() < most_functions; ++at) {
      if (syntax_.is(at, SyntaxKind::function_definition) &&
          syntax_[at].next - at <= largest_function) {
        functions.push_back(at);
      }
    }
    for (const SyntaxIndex function : functions) {
      if (predicates_.size() == most_predicates) break;
      if (std::optional<PythonSet> keys = answer_of(function)) {
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
  PythonPlace place_of_name(SyntaxIndex function) const {
    const SyntaxIndex name = syntax_.child(function, SyntaxField::name);
    return syntax_.place_of(name == no_syntax ? function : name);
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
  std::optional<PythonSet> answer_of(SyntaxIndex function) const {
    const std::string_view name = name_of(function);
    if (name.find("upport") == name.npos || name.find("nsupport") != name.npos) return {};
    const std::vector<SyntaxIndex> statements = statements_of(function);
    if (statements.size() != 1 || !syntax_.is(statements.front(), SyntaxKind::return_statement)) {
      return {};
    }
    const std::optional<PythonMembership> asked =
        sets_.comparison(syntax_.first(statements.front()));
    if (!asked || asked->sign != "in") return {};
    return sets_.keys_named(asked->right, false);
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
    if (const std::optional<PythonMembership> one = sets_.comparison(condition)) {
      if (one->sign != (denies ? "not in" : "in")) return {};
      std::optional<PythonSet> keys = sets_.keys_named(one->right, false);
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
      std::optional<PythonSet> keys = sets_.keys_named(left, true);
      constexpr std::size_t bytes_of_a_step = 256;
      if (sets_.spend(whole.size() / bytes_of_a_step)) break;
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
    const std::optional<PythonMembership> one = sets_.comparison(condition);
    if (!one) return false;
    const std::string_view subject = syntax_.text_of(one->left);
    if (!chain.subject.empty() && chain.subject != subject) return false;
    chain.subject = subject;
    if (one->sign == "in") {
      const std::optional<PythonSet> keys = sets_.keys_named(one->right, false);
      if (!keys) return false;
      chain.keys.keys.insert(chain.keys.keys.end(), keys->keys.begin(), keys->keys.end());
      return true;
    }
    if (one->sign != "==" && one->sign != "is") return false;
    std::optional<PythonKey> key = sets_.key_of(one->right);
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

  // Places in a function where a name, or a dotted one, gets another value, in order.
  using Assignments = std::map<std::string_view, std::vector<SyntaxIndex>>;
  Assignments assignments_in(SyntaxIndex function) const {
    Assignments found;
    for (SyntaxIndex at = function; at < syntax_[function].next; ++at) {
      if (!syntax_.is(at, SyntaxKind::assignment)) continue;
      const SyntaxIndex left = syntax_.child(at, SyntaxField::left);
      if (left != no_syntax) found[syntax_.text_of(left)].push_back(at);
    }
    return found;
  }

  // `a.b.c`, or its root, gets another value between two places.
  static bool is_set_between(const Assignments& assignments, std::string_view subject,
                             SyntaxIndex from, SyntaxIndex to) {
    const std::string_view root = subject.substr(0, subject.find_first_of(".[("));
    for (const std::string_view name : {root, subject}) {
      const auto found = assignments.find(name);
      if (found == assignments.end()) continue;
      const auto next = std::lower_bound(found->second.begin(), found->second.end(), from);
      if (next != found->second.end() && *next < to) return true;
    }
    return false;
  }

  void read_guarded(SyntaxIndex function, std::set<SyntaxIndex>& guarded) {
    // By what they ask about.
    std::map<std::string_view, std::vector<Asked>> guards;
    for (const SyntaxIndex statement : statements_of(function)) {
      if (std::optional<Asked> one = guard_of(statement, syntax_[function].next)) {
        guards[one->subject].push_back(std::move(*one));
      }
    }
    if (guards.empty()) return;
    guarded.insert(function);
    const Assignments assignments = assignments_in(function);
    for (const Asked& dispatch : dispatches_of(function)) {
      const auto asking = guards.find(dispatch.subject);
      if (asking == guards.end()) continue;
      for (const Asked& guard : asking->second) {
        if (sets_.spend(1)) return;
        if (dispatch.place < guard.from ||
            is_set_between(assignments, guard.subject, guard.from, dispatch.place)) {
          continue;
        }
        add(function, guard.keys.name, guard.keys, guard.keys.node, dispatch);
        break;
      }
    }
  }

  // Values that both have.
  std::size_t shared(const PythonSet& left, const PythonSet& right) const {
    if (sets_.spend(left.keys.size() + right.keys.size())) return 0;
    std::set<std::string_view> texts;
    for (const PythonKey& key : right.keys) texts.insert(key.text);
    return static_cast<std::size_t>(
        std::count_if(left.keys.begin(), left.keys.end(),
                      [&](const PythonKey& key) { return texts.contains(key.text); }));
  }

  // A predicate that others ask, and the one function of the file that dispatches by nearly the
  // same values and turns away the rest.
  void read_alone(SyntaxIndex predicate, const PythonSet& keys,
                  const std::vector<SyntaxIndex>& functions, const std::set<SyntaxIndex>& guarded) {
    std::vector<std::pair<SyntaxIndex, Asked>> alike;
    for (const SyntaxIndex function : functions) {
      if (guarded.contains(function) ||
          sets_.class_around(function) != sets_.class_around(predicate))
        continue;
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

  void add(SyntaxIndex function, std::string predicate, const PythonSet& accepted,
           SyntaxIndex place, const Asked& dispatch) {
    // A file may spell the values of the two in different ways: `"float16"`, `torch.float16`.
    if (shared(accepted, dispatch.keys) < fewest_keys) return;
    // Ends of file names: formats of files, which no kernel is made for.
    if (std::all_of(accepted.keys.begin(), accepted.keys.end(),
                    [](const PythonKey& key) { return key.text.starts_with('.'); })) {
      return;
    }
    PythonSupport one;
    one.function = name_of(function);
    one.predicate = std::move(predicate);
    one.predicate_place = syntax_.is(place, SyntaxKind::function_definition)
                              ? place_of_name(place)
                              : syntax_.place_of(place);
    one.accepted = accepted.keys;
    one.table = dispatch.keys.name;
    one.table_place = dispatch.keys.node == no_syntax ? place_of_name(function)
                                                      : syntax_.place_of(dispatch.keys.node);
    one.entries = dispatch.keys.keys;
    for (SyntaxIndex at = function; at < syntax_[function].next; ++at) {
      const SyntaxKind kind = syntax_[at].kind;
      if (kind != SyntaxKind::string && kind != SyntaxKind::attribute) continue;
      std::optional<PythonKey> key = sets_.key_of(at);
      if (sets_.spend(accepted.keys.size())) return;
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
  const PythonSets sets_;
  std::map<SyntaxIndex, std::vector<Asked>> dispatches_;
  // Functions that answer whether a set has what they get, each with the set.
  std::vector<std::pair<SyntaxIndex, PythonSet>> predicates_;
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
