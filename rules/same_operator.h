#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "opseal/registration.h"
#include "rules/repeats.h"

namespace opseal {

// Two manifests may be dumps of two releases, between which anything may change. They can meet in
// one process unless a package that both name has two versions.
inline bool may_meet(const Fact& a, const Fact& b) {
  if (a.index() == b.index()) return true;
  if (a[Key::system].name() != b[Key::system].name()) return false;
  const Fact packages = a[Key::producer][Key::packages];
  const Fact others = b[Key::producer][Key::packages];
  if (packages.size() > 64 || others.size() > 64) return false;
  for (const EntryRange::Entry entry : packages.entries()) {
    const Fact other = others.at(entry.name.text());
    if (other.is_text() && other.name() != entry.value.name()) return false;
  }
  return true;
}

// One row about an operator; a registry may be told in several.
struct OperatorRow {
  Fact manifest;
  Fact op;
  Side side = Side::alone;

  auto identity() const {
    return std::tuple(side, op[Key::namespace_].name(), op[Key::name].name(),
                      op[Key::versions][Key::since].count(0xffffffff), op[Key::identity].name());
  }
  std::uint64_t hash() const {
    const auto [beside, space, name, since, object] = identity();
    std::uint64_t hash = static_cast<std::uint64_t>(beside);
    for (const std::uint64_t part : {space, name, since, object}) {
      hash = (hash ^ part) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 29;
    }
    return hash;
  }
};

// Calls `visit(first, end)` for the rows [first, end) of each operator: all rows of the run with
// one namespace, name, version and identity, as far as their manifests may meet. Only rows for
// which `wants(op)` holds are gathered.
template <typename Wants, typename Visit>
void for_each_same_operator(const Facts& facts, Wants wants, Visit visit) {
  std::vector<OperatorRow> rows;
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    for (const Fact op : manifest[Key::operators].items()) {
      if (op[Key::name].is_text() && wants(op)) rows.push_back({manifest, op, document.side});
    }
  }
  std::vector<std::uint64_t> hashes;
  for (const OperatorRow& row : rows) hashes.push_back(row.hash());
  // Nearly every operator has one row, and is passed over without being sorted.
  std::vector<OperatorRow> again;
  auto next = rows.begin();
  for (const std::uint32_t index : repeated(hashes)) {
    const auto here = rows.begin() + static_cast<std::ptrdiff_t>(index);
    for (; next != here; ++next) visit(next, next + 1);
    again.push_back(*next++);
  }
  for (; next != rows.end(); ++next) visit(next, next + 1);
  rows.swap(again);
  std::sort(rows.begin(), rows.end(), [](const OperatorRow& a, const OperatorRow& b) {
    const auto left = a.identity();
    const auto right = b.identity();
    return left != right ? left < right : a.op.index() < b.op.index();
  });
  for (auto first = rows.begin(); first != rows.end();) {
    const auto end = std::find_if(first, rows.end(), [&](const OperatorRow& row) {
      return row.identity() != first->identity() || !may_meet(first->manifest, row.manifest);
    });
    visit(first, end);
    first = end;
  }
}

using OperatorRowIterator = std::vector<OperatorRow>::iterator;

}  // namespace opseal
