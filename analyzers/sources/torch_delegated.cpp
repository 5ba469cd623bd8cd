#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "analyzers/sources/torch_cpp.h"

namespace opseal {
namespace {

// Functions that hand a library on to functions; real code has two.
constexpr int most_hops = 8;
// Records of one function in all blocks that reach it.
constexpr std::size_t most_callers = 64;

using Reached = std::multimap<std::string, TorchTarget>;

// Which blocks reach each function.
Reached reached_by(const std::vector<TorchCpp>& files) {
  std::multimap<std::string, const TorchCpp::Call*> from;
  Reached reached;
  std::vector<std::pair<std::string, TorchTarget>> next;
  for (const TorchCpp& file : files) {
    for (const TorchCpp::Call& call : file.calls) {
      if (call.caller.empty()) {
        next.emplace_back(call.function, call.target);
      } else {
        from.emplace(call.caller, &call);
      }
    }
  }
  for (int hop = 0; hop < most_hops && !next.empty(); ++hop) {
    std::vector<std::pair<std::string, TorchTarget>> now;
    now.swap(next);
    for (auto& [function, target] : now) {
      if (reached.count(function) >= most_callers) continue;
      const auto [first, end] = from.equal_range(function);
      for (auto call = first; call != end; ++call) {
        TorchTarget handed = target;
        handed.when = target.when && call->second->target.when;
        next.emplace_back(call->second->function, std::move(handed));
      }
      reached.emplace(std::move(function), std::move(target));
    }
  }
  return reached;
}

TorchRecord record_in(const TorchRecord& delegated, const TorchTarget& target) {
  TorchRecord record = delegated;
  if (record.space.text.empty()) record.space = target.space;
  // What the function gives no key has that of the block.
  const bool free = record.key.empty() || record.key == "CompositeImplicitAutograd";
  if (free && !target.key.empty()) record.key = target.key;
  record.when = target.when && record.when;
  return record;
}

}  // namespace

void set_torch_name(std::string text, TorchRecord& record) {
  const auto is_space = [](char byte) { return std::isspace(static_cast<unsigned char>(byte)); };
  text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), is_space));
  const std::size_t open = text.find('(');
  std::string name = text.substr(0, open);
  while (!name.empty() && is_space(name.back())) name.pop_back();
  const std::size_t colons = name.find("::");
  if (colons != name.npos) {
    record.space = {name.substr(0, colons), false};
    name.erase(0, colons + 2);
  }
  if (open != text.npos) record.schema = name + text.substr(open);
  record.name.text = std::move(name);
}

void add_delegated(const std::vector<TorchCpp>& files, std::vector<TorchRecord>& records) {
  const Reached reached = reached_by(files);
  for (const TorchCpp& file : files) {
    for (const TorchCpp::Delegated& delegated : file.delegated) {
      const auto [first, end] = reached.equal_range(delegated.function);
      for (auto target = first; target != end; ++target) {
        records.push_back(record_in(delegated.record, target->second));
      }
      if (first != end) continue;
      // Nobody was seen to call it: any namespace.
      TorchRecord record = delegated.record;
      if (record.space.text.empty()) record.space = {delegated.function, true};
      records.push_back(std::move(record));
    }
  }
}

}  // namespace opseal
