#include "analyzers/sources/torch_table.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "analyzers/sources/torch_unknowns.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

// Namespaces that torch itself defines operators in.
constexpr std::array<std::string_view, 10> torch_spaces{
    "aten",      "prim",       "prims",
    "quantized", "_quantized", "quantized_decomposed",
    "profiler",  "c10d",       "_c10d_functional",
    "inductor"};

std::string without_spaces(std::string_view text) {
  std::string out;
  for (const char byte : text) {
    if (byte != ' ' && byte != '\n' && byte != '\t' && byte != '\r') out += byte;
  }
  return out;
}

// Definitions of one name that are told apart, and held against each other: more say nothing.
constexpr std::size_t most_rows = 64;

// Every build that has the one has the other, and one run makes both: functions that define an
// operator anew, each in its own way, are called when somebody wants that.
bool meet(const TorchRecord& a, const TorchRecord& b) {
  return a.scope == b.scope && (a.when.implies(b.when) || b.when.implies(a.when));
}

// All that is said under one name.
struct Group {
  std::vector<const TorchRecord*> definitions;
  std::vector<const TorchRecord*> kernels;
  std::vector<const TorchRecord*> fakes;
  std::vector<const TorchRecord*> gradients;
};

// One row of the table while it is made.
struct Row {
  TorchOperator op;
  std::vector<const TorchRecord*> definitions;
};

class TorchJoin {
 public:
  TorchJoin(const std::vector<TorchRecord>& records, const std::vector<std::string>& paths,
            bool partial)
      : records_(records), paths_(paths), whole_(!partial), unknowns_(records) {}

  TorchTable run() {
    for (const TorchRecord& record : records_) {
      if (record.use == TorchUse::own || record.use == TorchUse::holder) continue;
      if (record.use == TorchUse::backend_fallback) {
        add_fallback(record);
        continue;
      }
      if (record.name.text.empty()) {
        if (record.use != TorchUse::lookup) table_.undecided.push_back(&record);
        continue;
      }
      add(groups_[{record.space.text, record.name.text}], record);
    }
    for (const auto& [name, group] : groups_) add_operators(group);
    add_lookups();
    return std::move(table_);
  }

 private:
  static void add(Group& group, const TorchRecord& record) {
    switch (record.use) {
      case TorchUse::define:
        group.definitions.push_back(&record);
        break;
      case TorchUse::implement:
        group.kernels.push_back(&record);
        break;
      case TorchUse::fake:
        group.fakes.push_back(&record);
        break;
      case TorchUse::gradient:
        group.gradients.push_back(&record);
        break;
      case TorchUse::lookup:
      case TorchUse::own:
      case TorchUse::holder:
      case TorchUse::backend_fallback:
        break;
    }
  }

  void add_fallback(const TorchRecord& record) {
    const bool known =
        std::any_of(table_.fallbacks.begin(), table_.fallbacks.end(),
                    [&record](const TorchRecord* other) { return other->key == record.key; });
    if (!record.fallthrough && !known) table_.fallbacks.push_back(&record);
  }

  // Rows of equal schemas are one, but for a second definition in one file that meets the first.
  std::vector<Row> rows_of(const Group& group) const {
    std::vector<Row> rows;
    for (const TorchRecord* definition : group.definitions) {
      if (rows.size() >= most_rows) break;
      const std::string schema = without_spaces(definition->schema);
      Row* equal = nullptr;
      bool repeated = false;
      for (Row& row : rows) {
        if (without_spaces(row.definitions.front()->schema) != schema) continue;
        equal = &row;
        for (const TorchRecord* other : row.definitions) {
          repeated = repeated ||
                     (other->place.file == definition->place.file && meet(*other, *definition));
        }
      }
      if (equal != nullptr && (!repeated || equal->definitions.size() >= most_rows)) {
        if (equal->definitions.size() < most_rows) equal->definitions.push_back(definition);
        continue;
      }
      Row row;
      row.op.definition = definition;
      row.op.identity = identity_of(*definition, rows);
      row.definitions.push_back(definition);
      rows.push_back(std::move(row));
    }
    if (rows.empty()) rows.emplace_back();
    return rows;
  }

  // Definitions that no build has together are told apart.
  std::string identity_of(const TorchRecord& definition, const std::vector<Row>& rows) const {
    bool shares_file = false;
    for (const Row& row : rows) {
      for (const TorchRecord* other : row.definitions) {
        if (other->place.file != definition.place.file) continue;
        if (meet(*other, definition)) return row.op.identity;
        shares_file = true;
      }
    }
    if (rows.empty()) return {};
    const std::string& path = paths_[definition.place.file];
    if (!shares_file) return path;
    std::string identity = path;
    if (!definition.scope.empty()) identity += " within " + definition.scope;
    if (!definition.when.always()) identity += " if " + definition.when.text();
    return identity;
  }

  // The row whose definition a kernel belongs to: that of its file, else of the nearest folder.
  Row& row_for(std::vector<Row>& rows, const TorchRecord& kernel) const {
    Row* best = &rows.front();
    std::size_t most = 0;
    for (Row& row : rows) {
      for (const TorchRecord* definition : row.definitions) {
        if (definition->when.excludes(kernel.when)) continue;
        std::size_t shared =
            2 + shared_folders(paths_[definition->place.file], paths_[kernel.place.file]);
        if (definition->place.file == kernel.place.file) shared = 1'000'000;
        if (shared <= most) continue;
        most = shared;
        best = &row;
      }
    }
    return *best;
  }

  void add_operators(const Group& group) {
    if (group.definitions.empty() && group.kernels.empty() && group.fakes.empty() &&
        group.gradients.empty()) {
      return;
    }
    std::vector<Row> rows = rows_of(group);
    for (const TorchRecord* kernel : group.kernels) {
      row_for(rows, *kernel).op.kernels.push_back(kernel);
    }
    // Which of several schemas a function was written for isn't said.
    const bool one = rows.size() == 1;
    if (one && !group.fakes.empty()) rows.front().op.fake = group.fakes.front();
    if (one && !group.gradients.empty()) rows.front().op.gradient = group.gradients.front();
    for (Row& row : rows) {
      const TorchRecord& first = first_of(row, group);
      row.op.space = first.space;
      row.op.name = first.name.text;
      row.op.one_condition =
          std::all_of(row.definitions.begin(), row.definitions.end(),
                      [&first](const TorchRecord* other) { return other->when == first.when; });
      if (one) say_absences(row.op, group);
      table_.operators.push_back(std::move(row.op));
    }
  }

  static const TorchRecord& first_of(const Row& row, const Group& group) {
    if (row.op.definition != nullptr) return *row.op.definition;
    if (!group.kernels.empty()) return *group.kernels.front();
    return group.fakes.empty() ? *group.gradients.front() : *group.fakes.front();
  }

  static bool is_torch_space(const TorchSpace& space) {
    return std::find(torch_spaces.begin(), torch_spaces.end(), space.text) != torch_spaces.end();
  }

  void say_absences(TorchOperator& op, const Group& group) {
    if (!whole_ || is_torch_space(op.space)) return;
    if (group.definitions.empty()) {
      op.no_definition = !group.kernels.empty() && unknowns_.defines_in(op.space) &&
                         (!unknowns_.may_have(TorchUse::define, op.space, op.name) ||
                          unknowns_.is_slip_in(op.space, op.name));
      // Shape functions and gradients are often for operators that another package brings.
      op.no_definition =
          op.no_definition || (group.kernels.empty() && unknowns_.defines_in(op.space) &&
                               unknowns_.is_slip_in(op.space, op.name));
      return;
    }
    op.no_kernel =
        group.kernels.empty() && !unknowns_.may_have(TorchUse::implement, op.space, op.name);
    op.no_fake = group.fakes.empty() && !op.space.open &&
                 !unknowns_.may_have(TorchUse::fake, op.space, op.name) &&
                 !unknowns_.may_have(TorchUse::implement, op.space, op.name);
  }

  void add_lookups() {
    if (!whole_) return;
    std::set<std::pair<std::string_view, std::string_view>> optional;
    std::set<std::string_view> owned;
    for (const TorchRecord& record : records_) {
      // Beside an owner in Python there may be a built library that adds to the namespace.
      if (record.use == TorchUse::own && !record.python) owned.insert(record.space.text);
      if (record.asks_whether) optional.emplace(record.space.text, record.name.text);
    }
    for (const TorchRecord& record : records_) {
      if (optional.contains({record.space.text, record.name.text})) continue;
      if (record.use != TorchUse::lookup || record.name.text.empty() || record.space.open) continue;
      if (is_torch_space(record.space) || !unknowns_.defines_in(record.space)) continue;
      // Other packages may add to a namespace, and do where nobody owns it.
      const bool known = owned.contains(record.space.text) &&
                         !unknowns_.may_have(TorchUse::define, record.space, record.name.text);
      const auto group = groups_.find({record.space.text, record.name.text});
      const bool defined = group != groups_.end() && !group->second.definitions.empty();
      if (defined || known || unknowns_.is_slip_in(record.space, record.name.text)) {
        table_.lookups.push_back(&record);
      }
    }
  }

  const std::vector<TorchRecord>& records_;
  const std::vector<std::string>& paths_;
  const bool whole_;
  TorchUnknowns unknowns_;
  std::map<std::pair<std::string, std::string>, Group> groups_;
  TorchTable table_;
};

}  // namespace

TorchTable join_torch(const std::vector<TorchRecord>& records,
                      const std::vector<std::string>& paths, bool partial) {
  return TorchJoin(records, paths, partial).run();
}

}  // namespace opseal
