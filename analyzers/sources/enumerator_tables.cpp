#include "analyzers/sources/enumerator_tables.h"

#include <optional>

namespace opseal {
namespace {

// Larger lists are data.
constexpr std::size_t most_rows = 1024;
constexpr std::uint32_t longest_row = 400;

enum class RowForm : std::uint8_t { single, pair, designated, reversed };

// A range that is nothing but `A` or `B::A`: its last token.
std::uint32_t lone_name(Tokens tokens, TokenRange range) {
  if (range.empty() || !tokens[range.end - 1].is_identifier()) return no_token;
  for (std::uint32_t at = range.begin; at < range.end; ++at) {
    const bool is_name = (range.end - 1 - at) % 2 == 0;
    if (is_name ? !tokens[at].is_identifier() : !tokens[at].is("::")) return no_token;
  }
  return range.end - 1;
}

bool is_nothing(std::string_view text) {
  return text == "nullptr" || text == "NULL" || text == "false" || text == "0";
}

class RowReader {
 public:
  RowReader(Tokens tokens, const std::vector<std::uint32_t>& partners)
      : tokens_(tokens), partners_(partners) {}

  // One row of a list in braces; none where it is something else.
  std::optional<RowForm> read(TokenRange range, EnumeratorRow& row) const {
    if (range.empty() || range.end - range.begin > longest_row) return {};
    const Token& first = tokens_[range.begin];
    const bool is_braced = first.is('{') && partners_[range.begin] == range.end - 1;
    if (is_braced) {
      const std::uint32_t comma = comma_in({range.begin + 1, range.end - 1});
      if (comma == range.end - 1) return {};
      if (comma == range.begin + 2 && tokens_[range.begin + 1].is_string()) {
        const std::uint32_t second = comma_in({comma + 1, range.end - 1});
        if (!name({comma + 1, second}, row)) return {};
        row.text = tokens_[range.begin + 1].text;
        return RowForm::reversed;
      }
      if (!name({range.begin + 1, comma}, row)) return {};
      value({comma + 1, range.end - 1}, row);
      return RowForm::pair;
    }
    if (first.is('[')) {
      const std::uint32_t close = partners_[range.begin];
      if (close == no_token || close + 1 >= range.end || !tokens_[close + 1].is('=')) return {};
      if (!name({range.begin + 1, close}, row)) return {};
      value({close + 2, range.end}, row);
      return RowForm::designated;
    }
    if (!name(range, row)) return {};
    return RowForm::single;
  }

  // The first comma of a range that no bracket holds, or its end.
  std::uint32_t comma_in(TokenRange range) const {
    std::uint32_t at = range.begin;
    for (; at < range.end && !tokens_[at].is(','); ++at) {
      const bool opens = tokens_[at].is('(') || tokens_[at].is('[') || tokens_[at].is('{');
      if (opens && partners_[at] != no_token && partners_[at] > at) at = partners_[at];
    }
    return at < range.end ? at : range.end;
  }

 private:
  bool name(TokenRange range, EnumeratorRow& row) const {
    const std::uint32_t at = lone_name(tokens_, range);
    if (at == no_token) return false;
    row.token = at;
    row.enumerator = tokens_[at].text;
    return true;
  }

  void value(TokenRange range, EnumeratorRow& row) const {
    if (range.empty()) return;
    row.has_value = range.end > range.begin + 1 || !is_nothing(tokens_[range.begin].text);
    for (std::uint32_t at = range.begin; at < range.end; ++at) {
      if (tokens_[at].is_identifier() && row.has_value) row.value = tokens_[at].text;
      if (tokens_[at].is_string() && row.text.empty()) row.text = tokens_[at].text;
    }
  }

  Tokens tokens_;
  const std::vector<std::uint32_t>& partners_;
};

}  // namespace

const EnumeratorRow* EnumeratorTable::row_of(std::string_view enumerator) const {
  for (const EnumeratorRow& row : rows) {
    if (row.enumerator == enumerator) return &row;
  }
  return nullptr;
}

std::vector<EnumeratorTable> find_enumerator_tables(Tokens tokens,
                                                    const std::vector<std::uint32_t>& partners,
                                                    std::uint32_t file) {
  std::vector<EnumeratorTable> tables;
  const RowReader reader(tokens, partners);
  for (std::uint32_t open = 2; open < tokens.size(); ++open) {
    if (!tokens[open].is('{')) continue;
    const std::uint32_t close = partners[open];
    if (close == no_token || close <= open + 1) continue;
    // `NAME = {`, `NAME{`, `NAME[…] = {`, also with a macro or a call of the type between.
    std::uint32_t name = open - 1;
    if (tokens[name].is('=')) --name;
    if (tokens[name].is(']') && partners[name] != no_token && partners[name] < name) {
      name = partners[name] - 1;
    }
    if (name == no_token || name == 0 || name >= open || !tokens[name].is_identifier()) continue;
    // `NAME{` must have a type before it: `struct name {` and `enum name {` are none.
    const Token& before = tokens[name - 1];
    const bool is_typed =
        before.is('>') || before.is('*') || before.is('&') || before.is_identifier();
    if (!is_typed || before.is("struct") || before.is("enum") || before.is("class") ||
        before.is("union") || before.is("namespace") || before.is("return")) {
      continue;
    }
    EnumeratorTable table;
    table.name = tokens[name].text;
    table.file = file;
    table.name_token = name;
    std::optional<RowForm> form;
    bool is_table = true;
    for (std::uint32_t at = open + 1; at < close && is_table; ++at) {
      const std::uint32_t end = reader.comma_in({at, close});
      if (end == at && end == close) break;
      EnumeratorRow row;
      const std::optional<RowForm> here = reader.read({at, end}, row);
      is_table = here && (!form || *form == *here) && table.rows.size() < most_rows;
      form = here;
      if (is_table) table.rows.push_back(row);
      at = end;
    }
    if (!is_table || table.rows.size() < 2) continue;
    table.reversed = *form == RowForm::reversed;
    table.maps = *form != RowForm::single && !table.reversed;
    table.designated = *form == RowForm::designated;
    tables.push_back(std::move(table));
    open = close;
  }
  return tables;
}

}  // namespace opseal
