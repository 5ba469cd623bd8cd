#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzers/sources/records.h"

namespace opseal {

// What the records of a tree leave open: names that only the running code knows, and namespaces
// that only the build knows. What is missing may be one of them.
class TorchUnknowns {
 public:
  explicit TorchUnknowns(const std::vector<TorchRecord>& records);

  // Such a record of that name may be there in spite of what was seen.
  bool may_have(TorchUse which, const TorchSpace& space, std::string_view name) const;
  bool defines_in(const TorchSpace& space) const { return defined_.contains(space.text); }
  // The name is a slip of one that is defined in its namespace: then it is hardly one of those that
  // nobody knows.
  bool is_slip_in(const TorchSpace& space, std::string_view name);

 private:
  struct Use {
    bool anywhere = false;
    std::unordered_set<std::string> spaces;
    // Without overloads.
    std::unordered_set<std::string> named;
    std::unordered_set<std::string> in_open;
  };

  std::map<TorchUse, Use> uses_;
  // Names by namespace.
  std::unordered_map<std::string, std::vector<std::string>> defined_;
  std::uint64_t compared_ = 0;
};

}  // namespace opseal
