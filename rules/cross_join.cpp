#include "rules/cross_join.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "opseal/digest.h"
#include "opseal/stated_joins.h"
#include "opseal/text.h"
#include "rules/cross_name.h"
#include "rules/repeats.h"

namespace opseal {
namespace {

// A registration under one of its keys.
struct Row {
  std::uint32_t manifest = 0;
  std::uint32_t item = 0;
  bool target = false;
  bool package = false;
  FoldedName folded;
};

class NameJoin {
 public:
  NameJoin(const Facts& facts, std::unordered_set<std::uint32_t> taken)
      : facts_(facts), taken_(std::move(taken)) {}

  void join(std::vector<CrossOperator>& out) {
    if (!has_two_systems()) return;
    for (const Document& document : facts_.documents) {
      const Fact manifest = facts_.root(document);
      for (const Fact op : manifest[Key::operators].items()) add(manifest, op, false);
      for (const Fact target : manifest[Key::targets].items()) add(manifest, target, true);
    }
    find_groups(out);
  }

 private:
  bool has_two_systems() const {
    Name first = Names::missing;
    for (const Document& document : facts_.documents) {
      const Name system = facts_.root(document)[Key::system].name();
      if (system == Names::missing) continue;
      if (first == Names::missing) first = system;
      if (system != first) return true;
    }
    return false;
  }

  void add(const Fact& manifest, const Fact& item, bool target) {
    if (!item[Key::name].is_text() || !manifest[Key::system].is_text()) return;
    if (taken_.contains(item.index())) return;
    Row row{manifest.index(), item.index(), target, false, {}};
    row.folded = fold_name(manifest, item, target, key_);
    if (!key_.empty()) push(row);
    if (target || !fold_package_name(manifest, item, key_)) return;
    row.package = true;
    row.folded = {true, false};
    push(row);
  }

  void push(const Row& row) {
    rows_.push_back(row);
    hashes_.push_back(hash_text(key_));
  }

  Name system_of(std::uint32_t row) const {
    return Fact(facts_, rows_[row].manifest)[Key::system].name();
  }

  // Rows of one hash: two systems, and one of them names a project.
  bool is_worth_reading(const std::vector<std::uint32_t>& rows, std::size_t first,
                        std::size_t end) const {
    bool project = false;
    bool systems = false;
    for (std::size_t i = first; i < end; ++i) {
      project = project || rows_[rows[i]].folded.project;
      systems = systems || system_of(rows[i]) != system_of(rows[first]);
    }
    return project && systems;
  }

  void find_groups(std::vector<CrossOperator>& out) {
    std::vector<std::uint32_t> rows = repeated(hashes_);
    std::sort(rows.begin(), rows.end(), [this](std::uint32_t a, std::uint32_t b) {
      return hashes_[a] != hashes_[b] ? hashes_[a] < hashes_[b] : a < b;
    });
    std::vector<std::pair<std::string, std::uint32_t>> named;
    for (std::size_t first = 0; first < rows.size();) {
      std::size_t end = first + 1;
      while (end < rows.size() && hashes_[rows[end]] == hashes_[rows[first]]) ++end;
      if (is_worth_reading(rows, first, end)) {
        for (std::size_t i = first; i < end; ++i) named.emplace_back(name_of(rows[i]), rows[i]);
      }
      first = end;
    }
    // By the texts themselves, since hostile inputs can make hashes equal.
    std::sort(named.begin(), named.end());
    const std::size_t stated = out.size();
    for (std::size_t first = 0; first < named.size();) {
      std::size_t end = first + 1;
      while (end < named.size() && named[end].first == named[first].first) ++end;
      add_group(named, first, end, out);
      first = end;
    }
    std::sort(out.begin() + static_cast<std::ptrdiff_t>(stated), out.end(),
              [](const CrossOperator& a, const CrossOperator& b) {
                return a.columns.front().item.index() < b.columns.front().item.index();
              });
  }

  std::string name_of(std::uint32_t row) {
    const Fact manifest(facts_, rows_[row].manifest);
    const Fact item(facts_, rows_[row].item);
    if (rows_[row].package) {
      fold_package_name(manifest, item, key_);
    } else {
      fold_name(manifest, item, rows_[row].target, key_);
    }
    return key_;
  }

  void add_group(const std::vector<std::pair<std::string, std::uint32_t>>& named, std::size_t first,
                 std::size_t end, std::vector<CrossOperator>& out);

  const Facts& facts_;
  // Items that `joins` states.
  std::unordered_set<std::uint32_t> taken_;
  std::vector<Row> rows_;
  std::vector<std::uint64_t> hashes_;
  // Groups that were made, by their columns: namespace and package may join the same two.
  std::unordered_set<std::uint64_t> made_;
  std::string key_;
};

// The newer of two versions of an operator of one registry.
bool is_newer(const Fact& a, const Fact& b) {
  if (a[Key::deprecated].truth() != b[Key::deprecated].truth()) return b[Key::deprecated].truth();
  return a[Key::versions][Key::since].count() > b[Key::versions][Key::since].count();
}

bool are_versions(const CrossColumn& a, const CrossColumn& b) {
  return !a.target && !b.target && a.manifest == b.manifest &&
         a.item[Key::name].name() == b.item[Key::name].name() &&
         a.item[Key::namespace_].name() == b.item[Key::namespace_].name() &&
         a.item[Key::versions][Key::since].is_count() &&
         b.item[Key::versions][Key::since].is_count();
}

// Needs: versions of one operator stand side by side.
void keep_newest(std::vector<CrossColumn>& columns) {
  std::vector<CrossColumn> kept;
  for (const CrossColumn& column : columns) {
    if (kept.empty() || !are_versions(kept.back(), column)) {
      kept.push_back(column);
    } else if (is_newer(column.item, kept.back().item)) {
      kept.back() = column;
    }
  }
  columns = std::move(kept);
}

void NameJoin::add_group(const std::vector<std::pair<std::string, std::uint32_t>>& named,
                         std::size_t first, std::size_t end, std::vector<CrossOperator>& out) {
  CrossOperator op;
  bool project = false;
  bool systems = false;
  for (std::size_t i = first; i < end; ++i) {
    const Row& row = rows_[named[i].second];
    project = project || row.folded.project;
    systems = systems || system_of(named[i].second) != system_of(named[first].second);
    op.columns.push_back(
        {Fact(facts_, row.manifest), Fact(facts_, row.item), row.target, row.folded.exact, {}});
  }
  if (!project || !systems) return;
  keep_newest(op.columns);
  std::uint64_t columns = 0;
  for (const CrossColumn& column : op.columns)
    columns = (columns ^ column.item.index()) * 0x9e3779b97f4a7c15u;
  if (made_.insert(columns).second) out.push_back(std::move(op));
}

}  // namespace

std::vector<CrossOperator> cross_operators(const Facts& facts) {
  std::vector<CrossOperator> out;
  std::unordered_set<std::uint32_t> taken;
  for (const StatedJoin& join : read_stated_joins(facts).joins) {
    CrossOperator op;
    for (const JoinedItem& item : join.items) {
      op.columns.push_back({item.manifest, item.item, item.target, true, item.stated});
      taken.insert(item.item.index());
    }
    std::stable_sort(
        op.columns.begin(), op.columns.end(),
        [](const CrossColumn& a, const CrossColumn& b) { return a.item.index() < b.item.index(); });
    keep_newest(op.columns);
    if (op.columns.size() > 1) out.push_back(std::move(op));
  }
  NameJoin(facts, std::move(taken)).join(out);
  return out;
}

Certainty certainty_of(const CrossColumn& a, const CrossColumn& b) {
  if (a.stated && b.stated) return Certainty::stated;
  return a.exact && b.exact ? Certainty::sure : Certainty::likely;
}

bool comparable(const CrossColumn& a, const CrossColumn& b) {
  if (certainty_of(a, b) == Certainty::stated) {
    // One text may name several: rows of one operator, or a target on each platform.
    return !(a.stated == b.stated);
  }
  return a.manifest[Key::system].name() != b.manifest[Key::system].name();
}

std::string subject_of(const CrossColumn& column) {
  return subject_of(column.manifest, column.item);
}

std::string column_text(const CrossColumn& column) {
  std::string out;
  if (const Fact system = column.manifest[Key::system]; system.is_text() && !system.is("engine"))
    out = std::string(system.text()) + ' ';
  out += column.target ? "target " : "operator ";
  return out + quote(column.target ? std::string(column.item[Key::name].text())
                                   : subject_of(column.manifest, column.item));
}

void add_join_evidence(const CrossColumn& reference, const CrossColumn& other, Finding& finding) {
  switch (certainty_of(reference, other)) {
    case Certainty::stated:
      finding.related.push_back(evidence(reference.stated, "joined here"));
      finding.related.push_back(evidence(other.stated, "with this one"));
      break;
    case Certainty::sure:
      finding.related.push_back(
          evidence(reference.item[Key::name], "the same name in the same namespace"));
      break;
    case Certainty::likely:
      finding.related.push_back(
          evidence(reference.item[Key::name], "the same operator, to judge by its name"));
      break;
  }
}

}  // namespace opseal
