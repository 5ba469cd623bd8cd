#include "analyzers/sources/switch_subject.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace opseal {
namespace {

// Functions that hand the question on to another.
constexpr unsigned most_handed_on = 4;
// A switch within no other tells what the function decides by; one within may ask for a dtype.
constexpr std::uint32_t outer_weight = 1000;

struct Candidate {
  const CodeEnumeration* enumeration = nullptr;
  std::string_view root;
  std::uint32_t weight = 0;
  std::uint32_t labels = 0;
};

class SubjectFinder {
 public:
  SubjectFinder(const CodeFunctions& code, const CodeFunction& function,
                const Enumerations& enumerations, const CodeEnumeration* wanted)
      : code_(code),
        file_(function.file),
        tokens_(code.tokens_of(function)),
        enumerations_(enumerations),
        wanted_(wanted) {}

  void visit(const std::vector<Statement>& block, unsigned outer) {
    for (const Statement& statement : block) {
      add_comparisons(statement.tokens);
      add_lookups(statement.tokens);
      const bool is_switch = statement.kind == StatementKind::switch_;
      if (is_switch) add_switch(statement, outer);
      visit(statement.body, outer + (is_switch ? 1 : 0));
      visit(statement.otherwise, outer);
    }
  }

  SwitchSubject best(const CodeFunction& function) const {
    SwitchSubject subject;
    subject.function = &function;
    std::uint32_t weight = 0;
    for (const auto& [key, candidate] : candidates_) {
      if (candidate.weight <= weight) continue;
      weight = candidate.weight;
      subject.enumeration = candidate.enumeration;
      subject.root = candidate.root;
      subject.labels = candidate.labels;
      subject.expression = "$" + key.first.substr(candidate.root.size());
    }
    const auto place =
        std::find(function.parameters.begin(), function.parameters.end(), subject.root);
    if (place != function.parameters.end()) {
      subject.parameter = static_cast<std::uint32_t>(place - function.parameters.begin());
    }
    return subject;
  }

 private:
  void add(TokenRange range, std::string_view enumerator, std::uint32_t weight,
           std::uint32_t labels) {
    const CodeEnumeration* enumeration = enumerations_.of(enumerator);
    if (enumeration == nullptr || (wanted_ != nullptr && enumeration != wanted_)) return;
    while (!range.empty() && tokens_[range.begin].is('(')) {
      ++range.begin;
      if (!range.empty() && tokens_[range.end - 1].is(')')) --range.end;
    }
    range = code_.value_in(file_, range);
    if (range.empty() || !tokens_[range.begin].is_identifier()) return;
    std::string text;
    for (std::uint32_t at = range.begin; at < range.end; ++at) {
      const Token& token = tokens_[at];
      if (token.is('[') || token.is('(') || token.is("src")) return;
      if (!token.is_identifier() && !token.is("->") && !token.is('.')) return;
      text += token.is('.') ? "->" : token.text;
    }
    Candidate& candidate = candidates_[{std::move(text), enumeration}];
    candidate.enumeration = enumeration;
    candidate.root = tokens_[range.begin].text;
    candidate.weight += weight;
    candidate.labels += labels;
  }

  void add_switch(const Statement& statement, unsigned outer) {
    std::uint32_t labels = 0;
    std::string_view enumerator;
    for (const Statement& inner : statement.body) {
      if (inner.kind != StatementKind::case_label || inner.tokens.empty()) continue;
      const Token& last = tokens_[code_.value_in(file_, inner.tokens).end - 1];
      if (!last.is_identifier()) continue;
      ++labels;
      if (enumerations_.of(last.text) != nullptr) enumerator = last.text;
    }
    if (labels > 0) {
      add(statement.tokens, enumerator, outer == 0 ? labels * outer_weight : labels, labels);
    }
  }

  // `x->op == NAME`
  void add_comparisons(TokenRange range) {
    for (std::uint32_t at = range.begin + 1; at + 1 < range.end; ++at) {
      if (!tokens_[at].is("==") && !tokens_[at].is("!=")) continue;
      std::uint32_t last = at + 1;
      while (last + 2 < range.end && tokens_[last + 1].is("::")) last += 2;
      if (!tokens_[last].is_identifier()) continue;
      std::uint32_t begin = at;
      while (begin > range.begin && (tokens_[begin - 1].is_identifier() ||
                                     tokens_[begin - 1].is("->") || tokens_[begin - 1].is('.'))) {
        --begin;
      }
      if (begin > range.begin && tokens_[begin - 1].is(']')) continue;
      add({begin, at}, tokens_[last].text, 1, 1);
    }
  }

  // `names.count(x->op)`, `table[x->op]`, `std::find(names.begin(), names.end(), x->op)`
  void add_lookups(TokenRange range) {
    const std::vector<std::uint32_t>& partners = code_.files()[file_]->partners;
    for (std::uint32_t at = range.begin; at + 2 < range.end; ++at) {
      if (!tokens_[at].is_identifier()) continue;
      std::uint32_t open = at + 1;
      const bool is_member = tokens_[open].is('.') || tokens_[open].is("->");
      if (is_member) open = at + 3;
      if (open >= range.end || partners[open] == no_token || partners[open] >= range.end) continue;
      const bool is_search =
          !is_member && tokens_[open].is('(') &&
          (tokens_[at].is("find") || tokens_[at].is("binary_search") || tokens_[at].is("count"));
      const bool is_lookup = is_member ? tokens_[open].is('(') : tokens_[open].is('[');
      if (!is_search && !is_lookup) continue;
      const std::uint32_t close = partners[open];
      std::uint32_t begin = open + 1;
      const EnumeratorTable* table =
          is_lookup ? code_.find_table(tokens_[at].text, file_) : nullptr;
      for (std::uint32_t inside = open + 1; is_search && inside < close; ++inside) {
        if (tokens_[inside].is(',')) begin = inside + 1;
        if (table == nullptr && begin == open + 1 && tokens_[inside].is_identifier()) {
          table = code_.find_table(tokens_[inside].text, file_);
        }
      }
      if (table == nullptr || table->reversed || (is_search && begin == open + 1)) continue;
      const auto rows = static_cast<std::uint32_t>(table->rows.size());
      add({begin, close}, table->rows.front().enumerator, rows * outer_weight, rows);
    }
  }

  const CodeFunctions& code_;
  std::uint32_t file_;
  Tokens tokens_;
  const Enumerations& enumerations_;
  const CodeEnumeration* wanted_;
  std::map<std::pair<std::string, const CodeEnumeration*>, Candidate> candidates_;
};

void for_each_call(const std::vector<Statement>& block, Tokens tokens,
                   const std::function<void(std::uint32_t)>& visit) {
  for (const Statement& statement : block) {
    for (std::uint32_t at = statement.tokens.begin; at + 1 < statement.tokens.end; ++at) {
      if (tokens[at].is_identifier() && tokens[at + 1].is('(')) visit(at);
    }
    for_each_call(statement.body, tokens, visit);
    for_each_call(statement.otherwise, tokens, visit);
  }
}

// `seen`: no function is looked into twice.
SwitchSubject predicate_subject(const CodeFunctions& code, const Enumerations& enumerations,
                                const CodeFunction& function, const CodeEnumeration* wanted,
                                unsigned depth, std::set<const CodeFunction*>& seen) {
  const SwitchSubject subject = find_subject(code, enumerations, function, wanted);
  if (depth == 0 || !seen.insert(&function).second) return subject;
  const Tokens tokens = code.tokens_of(function);
  // A small switch of its own may only prepare the answer of the function that it asks.
  SwitchSubject best = subject;
  for_each_call(function.statements, tokens, [&](std::uint32_t at) {
    const CodeFunction* callee = code.find(tokens[at].text, function.file);
    if (callee == nullptr || callee == &function) return;
    const std::uint32_t close = code.files()[function.file]->partners[at + 1];
    if (close == no_token || close <= at) return;
    const SwitchSubject inner =
        predicate_subject(code, enumerations, *callee, wanted, depth - 1, seen);
    if (inner.enumeration == nullptr || inner.labels <= best.labels) return;
    const std::vector<Tokens> arguments =
        split_call_arguments(tokens.subspan(at + 2, close - at - 2));
    if (inner.parameter >= arguments.size() || arguments[inner.parameter].size() != 1) return;
    const std::string_view argument = arguments[inner.parameter].front().text;
    const auto place = std::find(function.parameters.begin(), function.parameters.end(), argument);
    if (place == function.parameters.end()) return;
    best = inner;
    best.function = &function;
    best.root = argument;
    best.parameter = static_cast<std::uint32_t>(place - function.parameters.begin());
  });
  return best;
}

}  // namespace

SwitchSubject find_subject(const CodeFunctions& code, const Enumerations& enumerations,
                           const CodeFunction& function, const CodeEnumeration* wanted) {
  SubjectFinder finder(code, function, enumerations, wanted);
  finder.visit(function.statements, 0);
  return finder.best(function);
}

SwitchSubject find_predicate_subject(const CodeFunctions& code, const Enumerations& enumerations,
                                     const CodeFunction& function, const CodeEnumeration* wanted) {
  std::set<const CodeFunction*> seen;
  return predicate_subject(code, enumerations, function, wanted, most_handed_on, seen);
}

}  // namespace opseal
