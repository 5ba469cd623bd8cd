#include "analyzers/sources/torch_unknowns.h"

#include <algorithm>

#include "opseal/one_slip.h"

namespace opseal {
namespace {

// Pairs of names that are held against each other in one tree; real ones come to some million.
constexpr std::uint64_t most_compared = 20'000'000;

std::string base_name(std::string_view name) { return std::string(name.substr(0, name.find('.'))); }

// One slip apart, within words that are long enough and not at an end, where variants of a name
// differ: `scale` and `scale_`.
bool is_slip(std::string_view a, std::string_view b) {
  constexpr std::size_t shortest = 8;
  if (a.size() < shortest || b.size() < shortest || !one_slip_apart(a, b)) return false;
  return a.substr(0, 2) == b.substr(0, 2) && a.substr(a.size() - 2) == b.substr(b.size() - 2);
}

}  // namespace

TorchUnknowns::TorchUnknowns(const std::vector<TorchRecord>& records) {
  for (const TorchRecord& record : records) {
    const bool names_nothing =
        record.use == TorchUse::own || record.use == TorchUse::backend_fallback;
    if (record.use == TorchUse::lookup || names_nothing) continue;
    Use& use = uses_[record.use];
    const bool named = !record.name.text.empty();
    if (!named && record.space.open) {
      use.anywhere = true;
    } else if (!named) {
      use.spaces.insert(record.space.text);
    } else {
      use.named.insert(base_name(record.name.text));
      if (record.space.open) use.in_open.insert(base_name(record.name.text));
    }
    if (record.use == TorchUse::define && named) {
      defined_[record.space.text].push_back(base_name(record.name.text));
    }
  }
}

bool TorchUnknowns::may_have(TorchUse which, const TorchSpace& space, std::string_view name) const {
  const auto found = uses_.find(which);
  if (found == uses_.end()) return false;
  const Use& use = found->second;
  if (use.anywhere || use.spaces.contains(space.text)) return true;
  // Of an open namespace every named one may be meant.
  if (space.open) return !use.spaces.empty() || use.named.contains(base_name(name));
  return use.in_open.contains(base_name(name));
}

bool TorchUnknowns::is_slip_in(const TorchSpace& space, std::string_view name) {
  const auto defined = defined_.find(space.text);
  if (defined == defined_.end() || compared_ > most_compared) return false;
  compared_ += defined->second.size();
  const std::string base = base_name(name);
  return std::any_of(defined->second.begin(), defined->second.end(),
                     [&](const std::string& other) { return is_slip(base, other); });
}

}  // namespace opseal
