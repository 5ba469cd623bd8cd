#include "analyzers/sources/torch_spaces.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace opseal {
namespace {

// Namespaces of libraries that Python takes operators from without defining them: an operator of
// the same name here is another one.
constexpr std::array<std::string_view, 16> known_spaces{
    "aten",     "prim",       "prims",      "quantized", "_quantized",       "quantized_decomposed",
    "profiler", "c10d",       "inductor",   "fbgemm",    "_c10d_functional", "torchvision",
    "image",    "torchaudio", "torch_ipex", "custom"};

std::string base_of_name(const TorchRecord& record) {
  return record.name.text.substr(0, record.name.text.find('.'));
}

bool is_open_native(const TorchRecord& record) {
  return !record.python && record.space.open && !record.name.text.empty() &&
         (record.use == TorchUse::define || record.use == TorchUse::implement);
}

// Blocks of one file with one word for their namespace.
using Block = std::pair<std::uint32_t, std::string>;

Block block_of(const TorchRecord& record) { return {record.place.file, record.space.text}; }

class SpaceNames {
 public:
  explicit SpaceNames(std::vector<TorchRecord>& records) : records_(records) {}

  void run() {
    if (std::none_of(records_.begin(), records_.end(), is_open_native)) return;
    collect();
    for (const auto& [block, names] : defined_) vote(block, names);
    for (const auto& [block, names] : implemented_) {
      if (!chosen_.contains(block)) follow(block, names);
    }
    for (TorchRecord& record : records_) {
      if (!is_open_native(record)) continue;
      const auto found = chosen_.find(block_of(record));
      if (found != chosen_.end()) record.space = {found->second, false};
    }
  }

 private:
  using Names = std::set<std::string>;

  void collect() {
    std::set<std::pair<std::string, std::string>> closed;
    for (const TorchRecord& record : records_) {
      if (is_open_native(record)) {
        Names& names = record.use == TorchUse::define ? defined_[block_of(record)]
                                                      : implemented_[block_of(record)];
        names.insert(base_of_name(record));
      } else if (record.use == TorchUse::define && !record.name.text.empty()) {
        closed.emplace(record.space.text, base_of_name(record));
      }
    }
    for (const TorchRecord& record : records_) {
      if (!record.python || record.space.open || record.name.text.empty()) continue;
      const std::string& space = record.space.text;
      if (std::find(known_spaces.begin(), known_spaces.end(), space) != known_spaces.end()) {
        continue;
      }
      const std::string name = base_of_name(record);
      if (!closed.contains({space, name})) asked_[name].insert(space);
    }
  }

  // What Python asks for by these names: nearly all of it in one namespace.
  void vote(const Block& block, const Names& names) {
    std::map<std::string, std::size_t> votes;
    for (const std::string& name : names) {
      const auto asked = asked_.find(name);
      if (asked == asked_.end()) continue;
      for (const std::string& space : asked->second) ++votes[space];
    }
    std::size_t most = 0;
    std::size_t all = 0;
    const std::string* best = nullptr;
    for (const auto& [space, count] : votes) {
      all += count;
      if (count <= most) continue;
      most = count;
      best = &space;
    }
    if (best != nullptr && most * 5 >= all * 4) choose(block, *best, names);
  }

  void choose(const Block& block, const std::string& space, const Names& names) {
    chosen_.emplace(block, space);
    for (const std::string& name : names) spaces_[{block.second, name}].insert(space);
  }

  // Kernels go where the definitions of the same names went.
  void follow(const Block& block, const Names& names) {
    std::set<std::string> spaces;
    for (const std::string& name : names) {
      const auto found = spaces_.find({block.second, name});
      if (found != spaces_.end()) spaces.insert(found->second.begin(), found->second.end());
    }
    if (spaces.size() == 1) chosen_.emplace(block, *spaces.begin());
  }

  std::vector<TorchRecord>& records_;
  std::map<Block, Names> defined_;
  std::map<Block, Names> implemented_;
  // Name -> namespaces by which Python speaks of it.
  std::map<std::string, std::set<std::string>> asked_;
  std::map<Block, std::string> chosen_;
  // Word and name -> namespaces that definitions were given.
  std::map<std::pair<std::string, std::string>, std::set<std::string>> spaces_;
};

}  // namespace

void name_open_spaces(std::vector<TorchRecord>& records) { SpaceNames(records).run(); }

}  // namespace opseal
