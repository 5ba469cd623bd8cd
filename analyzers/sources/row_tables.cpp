#include "analyzers/sources/row_tables.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "analyzers/sources/enumerator_names.h"

namespace opseal {
namespace {

constexpr std::size_t fewest_rows = 4;
constexpr std::size_t most_rows = 1024;
constexpr std::size_t most_cells = 64;
constexpr std::uint32_t longest_row = 4000;

// One name in a row, by the field that it is given to, or its position.
struct Cell {
  std::string column;
  TokenRange name;
};

struct Row {
  TokenRange key;
  std::vector<Cell> cells;
};

class RowTableReader {
 public:
  RowTableReader(const PlainSource& source, std::uint32_t number)
      : number_(number), tokens_(source.unit.tokens), partners_(source.shape.partners) {}

  void read(std::vector<AgreeingTables>& tables) const {
    for (std::uint32_t open = 2; open + 1 < tokens_.size(); ++open) {
      if (!tokens_[open].is('{') || !(tokens_[open + 1].is('{') || tokens_[open + 1].is('['))) {
        continue;
      }
      const std::uint32_t close = partners_[open];
      const std::uint32_t name = name_before(open);
      if (close == no_token || close <= open || name == no_token) continue;
      if (std::optional<AgreeingTables> table = read_table(name, {open + 1, close})) {
        tables.push_back(std::move(*table));
      }
      open = close;
    }
  }

 private:
  // `NAME = {`, `NAME{`, `NAME[…] = {`
  std::uint32_t name_before(std::uint32_t open) const {
    std::uint32_t name = open - 1;
    if (tokens_[name].is('=')) --name;
    while (name > 0 && tokens_[name].is(']') && partners_[name] != no_token &&
           partners_[name] < name && partners_[name] > 0) {
      name = partners_[name] - 1;
    }
    return tokens_[name].is_identifier() ? name : no_token;
  }

  std::uint32_t comma_in(TokenRange range) const {
    std::uint32_t at = range.begin;
    for (; at < range.end && !tokens_[at].is(','); ++at) {
      const bool opens = tokens_[at].is('(') || tokens_[at].is('[') || tokens_[at].is('{');
      if (opens && partners_[at] != no_token && partners_[at] > at) at = partners_[at];
    }
    return std::min(at, range.end);
  }

  // What stands in braces, and nothing else.
  std::optional<TokenRange> in_braces(TokenRange range) const {
    if (range.empty() || !tokens_[range.begin].is('{')) return {};
    if (partners_[range.begin] != range.end - 1) return {};
    return TokenRange{range.begin + 1, range.end - 1};
  }

  // `A`, `B::A` or `&A`, casts taken off.
  std::optional<TokenRange> lone_name(TokenRange range) const {
    range = without_casts(tokens_, partners_, range);
    if (!range.empty() && tokens_[range.begin].is('&')) ++range.begin;
    if (range.empty()) return {};
    for (std::uint32_t at = range.begin; at < range.end; ++at) {
      const bool is_name = (range.end - 1 - at) % 2 == 0;
      if (is_name ? !tokens_[at].is_identifier() : !tokens_[at].is("::")) return {};
    }
    const std::string_view only = tokens_[range.begin].text;
    if (only == "nullptr" || only == "NULL" || only == "true" || only == "false") return {};
    return range;
  }

  bool read_cells(TokenRange range, Row& row) const {
    std::size_t position = 0;
    for (std::uint32_t at = range.begin; at < range.end; ++at, ++position) {
      const std::uint32_t end = comma_in({at, range.end});
      if (row.cells.size() == most_cells) return false;
      Cell cell{std::to_string(position), {at, end}};
      const bool is_field = end > at + 2 && tokens_[at].is('.') && tokens_[at + 1].is_identifier();
      if (is_field && tokens_[at + 2].is('=')) {
        cell.column = tokens_[at + 1].text;
        cell.name.begin = at + 3;
      } else if (!cell.name.empty() && tokens_[at].condition != tokens_[range.begin].condition) {
        // By position a branch of `#if` moves all that stands behind it.
        return false;
      }
      const std::optional<TokenRange> inner = in_braces(cell.name);
      if (inner && position == 1 && end == range.end) return read_cells(*inner, row);
      if (const std::optional<TokenRange> name = lone_name(cell.name)) {
        cell.name = *name;
        row.cells.push_back(std::move(cell));
      }
      at = end;
    }
    return true;
  }

  // Nothing where it is no row; a row of another key (`[4] = {…}`) has no cells.
  std::optional<Row> read_row(TokenRange range) const {
    if (range.end - range.begin > longest_row) return {};
    Row row;
    TokenRange inside = range;
    const bool keyed = tokens_[range.begin].is('[');
    if (keyed) {
      const std::uint32_t close = partners_[range.begin];
      if (close == no_token || close + 1 >= range.end || !tokens_[close + 1].is('=')) return {};
      const std::optional<TokenRange> key = lone_name({range.begin + 1, close});
      if (!key) return row;
      row.key = *key;
      inside.begin = close + 2;
    }
    const std::optional<TokenRange> cells = in_braces(inside);
    if (!cells || !read_cells(*cells, row)) return {};
    if (!keyed) {
      if (row.cells.empty()) return row;
      row.key = row.cells.front().name;
      row.cells.erase(row.cells.begin());
    }
    return row;
  }

  std::string text(TokenRange name) const {
    std::string joined;
    for (std::uint32_t at = name.begin; at < name.end; ++at) joined += tokens_[at].text;
    return joined;
  }

  SourcePlace place(TokenRange name) const {
    const Token& last = tokens_[name.end - 1];
    return {number_, last.offset, last.length};
  }

  std::optional<AgreeingTables> read_table(std::uint32_t name, TokenRange range) const {
    // `std::array` has braces of its own.
    if (const std::optional<TokenRange> inner = in_braces(range)) range = *inner;
    std::map<std::string, KindTable> columns;
    std::size_t rows = 0;
    for (std::uint32_t at = range.begin; at < range.end; ++at) {
      const std::uint32_t end = comma_in({at, range.end});
      if (end == at) break;
      const std::optional<Row> row = read_row({at, end});
      if (!row || ++rows > most_rows) return {};
      for (const Cell& cell : row->cells) {
        KindTable& column = columns[cell.column];
        column.rows = true;
        if (column.entries.empty()) column.name = {cell.column, place(cell.name)};
        column.entries.push_back({{text(row->key), place(cell.name)}, text(cell.name)});
      }
      at = end;
    }
    if (rows < fewest_rows) return {};
    if (!has_kinds(columns)) return {};
    AgreeingTables table;
    table.enumeration = tokens_[name].text;
    for (auto& [label, column] : columns) {
      if (column.entries.size() >= fewest_rows) table.tables.push_back(std::move(column));
    }
    if (table.tables.empty()) return {};
    return table;
  }

  // `GGML_TYPE_` of all that stands as a key, where they have that much in common.
  static std::string start_of_keys(const std::map<std::string, KindTable>& columns) {
    std::string start;
    bool first = true;
    for (const auto& [label, column] : columns) {
      for (const NamedKind& entry : column.entries) {
        if (first) start = entry.kind.name;
        first = false;
        const auto differ = std::mismatch(start.begin(), start.end(), entry.kind.name.begin(),
                                          entry.kind.name.end());
        start.erase(differ.first, start.end());
      }
    }
    const std::size_t end = start.find_last_of("_:");
    return end == start.npos ? std::string() : start.substr(0, end + 1);
  }

  // Some column names values of the enumeration that the rows are for.
  static bool has_kinds(const std::map<std::string, KindTable>& columns) {
    const std::string start = start_of_keys(columns);
    if (start.size() < 2) return false;
    return std::any_of(columns.begin(), columns.end(), [&start](const auto& labelled) {
      const std::vector<NamedKind>& entries = labelled.second.entries;
      return std::all_of(entries.begin(), entries.end(), [&start](const NamedKind& entry) {
        return entry.text.starts_with(start);
      });
    });
  }

  std::uint32_t number_;
  Tokens tokens_;
  const std::vector<std::uint32_t>& partners_;
};

}  // namespace

bool may_hold_row_tables(std::string_view bytes) {
  // `[A] = {` with no text or number as its first cell, or `{A, …},`, in so many lines.
  std::size_t lines = 0;
  for (std::size_t at = bytes.find('\n'); at != bytes.npos; at = bytes.find('\n', at + 1)) {
    const std::size_t begin = bytes.find_first_not_of(" \t", at + 1);
    if (begin == bytes.npos) break;
    const bool keyed = bytes[begin] == '[';
    if (!keyed && bytes[begin] != '{') continue;
    const std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
    const std::string_view line = bytes.substr(begin, end - begin);
    const bool is_row = keyed ? line.find("] = {") != line.npos && line[1] > '9'
                              : line.find("},") != line.npos && line.find('_') != line.npos;
    if (is_row && ++lines == fewest_rows) return true;
  }
  return false;
}

void find_row_tables(const PlainSource& source, std::uint32_t number,
                     std::vector<AgreeingTables>& tables) {
  RowTableReader(source, number).read(tables);
}

}  // namespace opseal
