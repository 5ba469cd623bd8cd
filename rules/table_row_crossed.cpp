#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "opseal/rule.h"
#include "rules/dispatch_kinds.h"

namespace opseal {
namespace {

// Rows that agree before one that doesn't is a slip.
constexpr std::size_t fewest_agreeing = 3;
// More columns than any table of structures has: an input made to cost time.
constexpr std::uint32_t most_columns = 64;
constexpr std::uint32_t most_entries = 2048;

struct Cell {
  std::string_view kind;
  std::string_view named;
  Fact fact;
};

using Column = std::vector<Cell>;

// `GGML_TYPE_` or `DType::` of all kinds; empty where they have nothing in common.
std::string_view common_start(const std::vector<Column>& columns) {
  std::string_view start;
  bool first = true;
  for (const Column& column : columns) {
    for (const Cell& cell : column) {
      if (first) start = cell.kind;
      first = false;
      std::size_t same = 0;
      while (same < std::min(start.size(), cell.kind.size()) && start[same] == cell.kind[same]) {
        ++same;
      }
      start = start.substr(0, same);
    }
  }
  const std::size_t end = start.find_last_of("_:");
  return end == start.npos ? std::string_view() : start.substr(0, end + 1);
}

class RowCheck {
 public:
  RowCheck(const Fact& dispatch, Sink& sink) : dispatch_(dispatch), sink_(sink) {}

  void run() {
    for (const Fact table : dispatch_[Key::agree].items()) {
      if (!table[Key::match].is("row")) return;
      Column column;
      for (const Fact entry : table[Key::entries].items()) {
        if (!entry[Key::kind].is_text() || !entry[Key::kernel].is_text()) return;
        column.push_back({entry[Key::kind].text(), entry[Key::kernel].text(), entry[Key::kernel]});
      }
      columns_.push_back(std::move(column));
      labels_.push_back(table[Key::name].text());
    }
    start_ = common_start(columns_);
    if (start_.size() < 2) return;
    for (const Column& column : columns_) {
      for (const Cell& cell : column) {
        names_.add(tail(cell.kind));
        if (is_kind(cell.named)) names_.add(tail(cell.named));
      }
    }
    names_.seal();
    for (std::size_t functions = 0; functions < columns_.size(); ++functions) {
      if (holds_kinds(columns_[functions])) continue;
      check_copies(columns_[functions], labels_[functions]);
      for (std::size_t kinds = 0; kinds < columns_.size(); ++kinds) {
        if (holds_kinds(columns_[kinds])) check_pair(functions, kinds);
      }
    }
  }

 private:
  std::string_view tail(std::string_view kind) const { return kind.substr(start_.size()); }

  bool is_kind(std::string_view text) const {
    return text.size() > start_.size() && text.starts_with(start_);
  }

  bool holds_kinds(const Column& column) const {
    return std::all_of(column.begin(), column.end(),
                       [this](const Cell& cell) { return is_kind(cell.named); });
  }

  // The kinds that a function is named after, where these are the row's own and others.
  std::vector<std::string> others_named(const Cell& cell) const {
    std::vector<std::string> named;
    for (const std::string_view kind : names_.found_in(cell.named)) {
      named.push_back(canonical_kind(kind));
    }
    const auto own = std::find(named.begin(), named.end(), canonical_kind(tail(cell.kind)));
    if (own == named.end()) return {};
    named.erase(own);
    return named;
  }

  // A function is named after the value of its row and that of another column, in all rows but one.
  void check_pair(std::size_t functions, std::size_t kinds) {
    // By row: a branch of `#if` may put another value there.
    std::map<std::string_view, std::vector<const Cell*>> beside;
    for (const Cell& cell : columns_[kinds]) beside[cell.kind].push_back(&cell);
    std::size_t agreeing = 0;
    std::vector<const Cell*> crossed;
    for (const Cell& cell : columns_[functions]) {
      const auto row = beside.find(cell.kind);
      if (row == beside.end()) continue;
      const std::vector<std::string> named = others_named(cell);
      if (named.empty()) continue;
      const bool agrees = std::any_of(row->second.begin(), row->second.end(), [&](const Cell* one) {
        return std::find(named.begin(), named.end(), canonical_kind(tail(one->named))) !=
               named.end();
      });
      if (agrees) {
        ++agreeing;
      } else {
        crossed.push_back(&cell);
      }
    }
    if (agreeing < fewest_agreeing) return;
    sink_.inspected(agreeing + crossed.size());
    if (crossed.size() != 1) return;
    const Cell& cell = *crossed.front();
    const Cell& value = *beside[cell.kind].front();
    Finding& finding = sink_.add(
        dispatch_subject(dispatch_),
        "the row of " + quote(cell.kind) + " has " + quote(cell.named) + " beside " +
            quote(value.named) + "; in the " + plural(agreeing, "other row") +
            " that tell, the function is named after what stands under " + quote(labels_[kinds]),
        evidence(value.fact, "the value here"));
    finding.related.push_back(evidence(cell.fact, "the function here"));
  }

  // A function of one storage format is named after its row's in all rows but one, which has that
  // of another row.
  void check_copies(const Column& column, std::string_view label) {
    std::size_t agreeing = 0;
    std::vector<const Cell*> copies;
    std::map<std::string_view, const Cell*> owners;
    for (const Cell& cell : column) {
      const std::vector<std::string_view> named = names_.found_in(cell.named);
      if (named.size() != 1 || !is_storage_kind(tail(cell.kind))) continue;
      const std::string own = canonical_kind(tail(cell.kind));
      if (canonical_kind(named.front()) == own) {
        ++agreeing;
        owners[cell.named] = &cell;
      } else if (is_storage_kind(named.front()) &&
                 !is_own_name(compact_kind(cell.named), tail(cell.kind), named.front())) {
        copies.push_back(&cell);
      }
    }
    if (agreeing < fewest_agreeing) return;
    sink_.inspected(agreeing + copies.size());
    if (copies.size() != 1) return;
    const Cell& cell = *copies.front();
    const auto owner = owners.find(cell.named);
    if (owner == owners.end()) return;
    Finding& finding =
        sink_.add(dispatch_subject(dispatch_),
                  "the row of " + quote(cell.kind) + " has " + quote(cell.named) + " under " +
                      quote(label) + ", which is that of " + quote(owner->second->kind) + "; the " +
                      plural(agreeing, "other row") + " have a function of their own",
                  evidence(cell.fact, "the function here"));
    finding.related.push_back(evidence(owner->second->fact, "the row that it is of"));
  }

  const Fact& dispatch_;
  Sink& sink_;
  std::vector<Column> columns_;
  std::vector<std::string_view> labels_;
  std::string_view start_;
  KindNames names_;
};

void check(const Facts& facts, Sink& sink) {
  for_each_dispatch(facts, [&sink](const Fact& dispatch) {
    const Fact tables = dispatch[Key::agree];
    if (!tables.is_list() || tables.size() > most_columns) return;
    for (const Fact table : tables.items()) {
      if (table[Key::entries].size() > most_entries) return;
    }
    RowCheck(dispatch, sink).run();
  });
}

}  // namespace

extern constinit const Rule table_row_crossed{
    .id = "table-row-crossed",
    .title = "in one row of a table the function and the type beside it do not belong together",
    .rationale =
        "Tables of types have a structure for each format: the function that computes with it, and "
        "the type that the other operand is converted to for that function. Rows are made by "
        "copying, and one whose type was not changed, or was changed to a neighbour's, has the "
        "operand converted to a format that the function does not read: it takes the bytes for "
        "another format, and the results are wrong without any error. The name of the function "
        "tells both formats, as it does in all other rows.",
    .example =
        R"({"operator": "traits", "agree": [{"name": "dot", "match": "row", "entries": [{"kind": )"
        R"("T_A", "kernel": "dot_a_x"}, {"kind": "T_B", "kernel": "dot_b_x"}, {"kind": "T_C", )"
        R"("kernel": "dot_c_x"}, {"kind": "T_D", "kernel": "dot_d_x"}]}, {"name": "dot_type", )"
        R"("match": "row", "entries": [{"kind": "T_A", "kernel": "T_X"}, {"kind": "T_B", )"
        R"("kernel": "T_X"}, {"kind": "T_C", "kernel": "T_X"}, {"kind": "T_D", "kernel": )"
        R"("T_Y"}]}]})",
    .fix = "put the type there that the function reads, or the function that reads the type",
    .severity = Severity::warning,
    .inspects = "row of a table of structures whose function is named after values",
    .needs = {Key::dispatch, Key::agree, Key::entries},
    .check = check,
};

}  // namespace opseal
