#include <array>

#include "analyzers/sources/enumerator_run.h"
#include "analyzers/words.h"

// Tables that a function looks the subject up in: sets that a predicate searches, maps and arrays
// of what serves a value.

namespace opseal {
namespace {

// The word that ends at `end`.
std::string_view word_before(std::string_view text, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && is_word_byte(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

// Where the bracket that opens at `open` closes.
std::size_t closing_in(std::string_view text, std::size_t open) {
  std::size_t depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    if (text[at] == '(' || text[at] == '[') ++depth;
    if ((text[at] == ')' || text[at] == ']') && --depth == 0) return at;
  }
  return text.npos;
}

}  // namespace

// Of `names->count($)`, `names->find($)`, `names[$]`, `std::find(names->begin(),names->end(),$)`,
// as `written` makes them.
EnumeratorRun::Lookup EnumeratorRun::lookup_in(std::string_view text, const Frame& frame) {
  const std::size_t open = text.find_first_of("([");
  if (open == text.npos || open == 0) return {};
  const std::size_t close = closing_in(text, open);
  if (close == text.npos) return {};
  Lookup lookup;
  lookup.rest = text.substr(close + 1);
  std::string_view inside = text.substr(open + 1, close - open - 1);
  std::string_view name;
  if (text[open] == '[') {
    name = word_before(text, open);
    lookup.indexed = true;
  } else {
    const std::string_view method = word_before(text, open);
    const std::string_view before = text.substr(0, open - method.size());
    if (before.ends_with("->")) {
      if (!is_one_of(method, {"count", "contains", "find", "at"})) return {};
      name = word_before(before, before.size() - 2);
      lookup.finds = method == "find";
    } else {
      if (!is_one_of(method, {"find", "binary_search", "count", "contains"})) return {};
      lookup.finds = method == "find";
      const std::size_t comma = inside.rfind(',');
      if (comma == inside.npos) return {};
      // `std::begin(names)`, `names->begin()`, `names`.
      std::string_view first = inside.substr(0, inside.find(','));
      inside = inside.substr(comma + 1);
      const std::size_t bracket = first.find('(');
      if (bracket != first.npos && first.ends_with(')') && first[first.size() - 2] != '(') {
        first = first.substr(bracket + 1, first.size() - bracket - 2);
      }
      const std::size_t member = first.find("->");
      name = word_before(first, member == first.npos ? first.size() : member);
    }
  }
  const std::string_view* value = assumed(std::string(inside));
  if (value == nullptr) return {};
  const EnumeratorTable* table = functions_.find_table(name, frame.function->file);
  if (table == nullptr || table->reversed ||
      enumerations_.of(table->rows.front().enumerator) == nullptr)
    return {};
  // A map that is indexed has an entry from then on; a plain array is indexed by numbers.
  if (lookup.indexed && !table->maps) return {};
  // A row is soon looked at, a label takes longer.
  if (!enumerations_.spend(table->rows.size() / 8 + 1)) {
    met_unknown_ = true;
    return {};
  }
  lookup.table = table;
  if (*value != options_.removed_label) lookup.row = table->row_of(*value);
  if (lookup.row != nullptr && table->designated && !lookup.row->has_value) lookup.row = nullptr;
  return lookup;
}

Truths EnumeratorRun::evaluate_lookup(std::string_view text, const Frame& frame) {
  const Lookup lookup = lookup_in(text, frame);
  if (lookup.table == nullptr || lookup.finds) return is_open;
  if (lookup.indexed && !lookup.table->designated) return is_open;
  constexpr std::array<std::string_view, 5> tests{"", ">0", ">=1", "!=0", "==1"};
  constexpr std::array<std::string_view, 3> indexed{"", "!=nullptr", "!=NULL"};
  constexpr std::array<std::string_view, 4> denied{"==0", "<1", "==nullptr", "==NULL"};
  const auto has = [&lookup](const auto& texts) {
    for (const std::string_view one : texts) {
      if (lookup.rest == one) return true;
    }
    return false;
  };
  const bool is_there = lookup.row != nullptr;
  if (is_there) name_row(lookup);
  if (has(tests) || has(indexed)) return is_there ? is_true : is_false;
  if (has(denied)) return is_there ? is_false : is_true;
  return is_open;
}

// `names->find($) == names->end()`
Truths EnumeratorRun::evaluate_found(std::string_view left, std::string_view right, bool equal,
                                     const Frame& frame) {
  const bool is_end = right.ends_with("->end()") || right.ends_with("->cend()") ||
                      right.starts_with("std::end(") || right.starts_with("end(") ||
                      right.starts_with("std::cend(");
  if (is_end) {
    const Lookup lookup = lookup_in(left, frame);
    if (lookup.table == nullptr || !lookup.finds || !lookup.rest.empty()) return is_open;
    if (right.find(lookup.table->name) == right.npos) return is_open;
    if (lookup.row != nullptr) name_row(lookup);
    return (lookup.row == nullptr) == equal ? is_true : is_false;
  }
  std::string text(left);
  text += equal ? "==" : "!=";
  text += right;
  return evaluate_lookup(text, frame);
}

void EnumeratorRun::name_row(const Lookup& lookup) {
  if (inlined_ == 0 && label_.second == no_token) {
    label_ = {lookup.table->file, lookup.row->token};
  }
}

// What stands beside a value in a table that is asked for it.
// `texts`: a text beside a value is a deed too.
void EnumeratorRun::collect_rows(TokenRange tokens, const Frame& frame, RunOutcome& outcome,
                                 bool texts) {
  for (std::uint32_t at = tokens.begin; at + 2 < tokens.end; ++at) {
    if (!token(at, frame).is_identifier()) continue;
    std::uint32_t open = at + 1;
    if (token(open, frame).is('.') || token(open, frame).is("->")) open = at + 3;
    if (open >= tokens.end) continue;
    const bool is_indexed = open == at + 1 && token(open, frame).is('[');
    if (!is_indexed && (open == at + 1 || !token(open, frame).is('('))) continue;
    const EnumeratorTable* table =
        functions_.find_table(token(at, frame).text, frame.function->file);
    if (table == nullptr || !table->maps) continue;
    const std::uint32_t close = closing(open, tokens.end, frame);
    const Lookup lookup = lookup_in(written({at, close + 1}, frame), frame);
    // `at` throws where there is nothing.
    const bool throws = token(open - 1, frame).is("at") && !is_indexed;
    if (lookup.table != nullptr && lookup.row == nullptr && throws) outcome.aborts = true;
    // Numbers beside a value are no deed, and texts where they aren't asked for.
    if (lookup.row == nullptr) continue;
    const std::string_view deed =
        lookup.row->value.empty() && texts ? lookup.row->text : lookup.row->value;
    if (deed.empty()) continue;
    outcome.deeds.emplace(CodePlace{table->file, lookup.row->token}, deed);
    name_row(lookup);
  }
}

}  // namespace opseal
