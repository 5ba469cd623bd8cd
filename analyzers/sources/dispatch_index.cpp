#include "analyzers/sources/dispatch_index.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "analyzers/source/preprocessor.h"
#include "analyzers/source/source_tree.h"
#include "analyzers/sources/cpp_function.h"
#include "analyzers/words.h"
#include "opseal/side_by_side.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Functions that a call may mean: more means that the name says nothing.
// Of one file with its macros expanded. Those of public projects stay below a third of it.
constexpr std::size_t most_tokens = 300'000;
constexpr std::size_t most_meanings = 16;
// Functions that a kernel leads to, and choices on the way.
constexpr std::size_t most_reached = 400;
constexpr std::size_t most_sites = 48;
// Files that hold neither a choice nor a name that leads to one are not read; each round finds
// names that are one call further away.
constexpr int most_rounds = 4;
// Shorter names are in most files.
constexpr std::size_t shortest_name = 4;

// `csrc/cuda/x.cu` for CUDA.
bool is_of_key(std::string_view path, std::string_view key) {
  return !key.empty() && lower(path).find(lower(key)) != std::string::npos;
}

bool ends_with_name(std::string_view whole, std::string_view name) {
  if (!whole.ends_with(name)) return false;
  return whole.size() == name.size() || whole[whole.size() - name.size() - 1] == ':';
}

// `Basis::forward` and not `detail::run`: of classes the bodies know the names.
bool is_in_class(std::string_view name) {
  const std::size_t colons = name.rfind("::");
  if (colons == name.npos) return false;
  const std::string_view outer = base_of(name.substr(0, colons));
  return !outer.empty() && outer.front() >= 'A' && outer.front() <= 'Z';
}

}  // namespace

std::vector<std::string_view> CalledNames::keep(const std::vector<std::string>& names) {
  std::vector<std::string_view> kept;
  kept.reserve(names.size());
  const std::lock_guard<std::mutex> lock(guard_);
  for (const std::string& name : names) kept.push_back(*names_.insert(name).first);
  return kept;
}

void DispatchIndex::add(std::vector<FunctionBody>&& bodies) {
  for (FunctionBody& body : bodies) {
    by_name_[std::string(base_of(body.name))].push_back(static_cast<std::uint32_t>(bodies_.size()));
    bodies_.push_back(std::move(body));
  }
}

ConvertedFor DispatchIndex::converted_for() const {
  ConvertedFor names;
  for (const FunctionBody& body : bodies_) {
    names.insert(body.converting.begin(), body.converting.end());
  }
  return names;
}

std::vector<std::string> DispatchIndex::leading_names() const {
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> callers;
  for (std::uint32_t at = 0; at < bodies_.size(); ++at) {
    for (const std::string_view call : bodies_[at].calls) callers[base_of(call)].push_back(at);
  }
  std::unordered_set<std::string> names;
  std::deque<std::string> wanted;
  const auto add_name = [&](const FunctionBody& body) {
    std::string name(base_of(body.name));
    // Called through `A::apply`.
    if (name == "forward") {
      const std::string_view owner = std::string_view(body.name).substr(0, body.name.size() - 7);
      if (owner.size() > 2) name = std::string(base_of(owner.substr(0, owner.size() - 2)));
    }
    if (names.insert(name).second) wanted.push_back(name);
  };
  for (const FunctionBody& body : bodies_) {
    if (!body.sites.empty()) add_name(body);
  }
  while (!wanted.empty()) {
    const std::string name = std::move(wanted.front());
    wanted.pop_front();
    const auto found = callers.find(name);
    if (found == callers.end()) continue;
    for (const std::uint32_t caller : found->second) add_name(bodies_[caller]);
  }
  std::vector<std::string> sorted(names.begin(), names.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

std::vector<std::uint32_t> DispatchIndex::resolve(std::string_view name, std::uint32_t file,
                                                  std::string_view key) const {
  const auto found = by_name_.find(std::string(base_of(name)));
  if (found == by_name_.end()) return {};
  steps_ += found->second.size();
  // Within a class that is named, or by the base name alone.
  std::vector<std::uint32_t> candidates;
  for (const std::uint32_t at : found->second) {
    if (ends_with_name(bodies_[at].name, name)) candidates.push_back(at);
  }
  if (candidates.empty() && is_in_class(name)) return {};
  if (candidates.empty()) candidates = found->second;
  const auto keep_if = [&candidates](auto fits) {
    std::vector<std::uint32_t> kept;
    std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(kept), fits);
    if (!kept.empty()) candidates = std::move(kept);
    return !candidates.empty();
  };
  const bool own = std::any_of(candidates.begin(), candidates.end(),
                               [&](std::uint32_t at) { return bodies_[at].file == file; });
  if (own) {
    keep_if([&](std::uint32_t at) { return bodies_[at].file == file; });
    return candidates;
  }
  keep_if([&](std::uint32_t at) { return is_of_key(paths_[bodies_[at].file], key); });
  std::size_t most = 0;
  for (const std::uint32_t at : candidates) {
    most = std::max(most, shared_folders(paths_[bodies_[at].file], paths_[file]));
  }
  keep_if([&](std::uint32_t at) {
    return shared_folders(paths_[bodies_[at].file], paths_[file]) == most;
  });
  return candidates;
}

std::optional<std::vector<DispatchSite>> DispatchIndex::reached(const TorchRecord& kernel) const {
  if (kernel.function.name.empty()) return {};
  std::vector<DispatchSite> sites;
  // By number of the body; once more where a conversion is on the way.
  std::deque<std::pair<std::uint32_t, bool>> wanted;
  std::unordered_set<std::uint32_t> seen;
  std::unordered_set<std::uint32_t> converted;
  const auto follow = [&](std::string_view name, std::uint32_t file, bool converts) {
    if (steps_ > most_steps) return false;
    const std::vector<std::uint32_t> meant = resolve(name, file, kernel.key);
    if (meant.size() > most_meanings) return false;
    for (const std::uint32_t at : meant) {
      const bool is_new = seen.insert(at).second;
      if ((converts && converted.insert(at).second) || is_new) wanted.emplace_back(at, converts);
    }
    return true;
  };
  if (!follow(kernel.function.name, kernel.place.file, false)) return {};
  if (wanted.empty()) return {};
  while (!wanted.empty()) {
    const auto [number, converts] = wanted.front();
    const FunctionBody& body = bodies_[number];
    wanted.pop_front();
    for (DispatchSite site : body.sites) {
      // What comes there may have another dtype than what the operator was given.
      if (converts) site.known = false;
      sites.push_back(std::move(site));
    }
    if (seen.size() > most_reached || sites.size() > most_sites) return {};
    for (const std::string_view call : body.calls) {
      const bool hands_converted =
          converts ||
          std::binary_search(body.converting.begin(), body.converting.end(), base_of(call));
      bool known = true;
      if (call.ends_with("::apply")) {
        known = follow(std::string(call.substr(0, call.size() - 5)) + "forward", body.file,
                       hands_converted);
      } else {
        known = follow(call, body.file, hands_converted);
      }
      if (!known) return {};
    }
  }
  std::sort(sites.begin(), sites.end(), [](const DispatchSite& a, const DispatchSite& b) {
    if (a.place.file != b.place.file) return a.place.file < b.place.file;
    return a.place.offset < b.place.offset;
  });
  sites.erase(std::unique(sites.begin(), sites.end()), sites.end());
  return sites;
}

ConvertedFor find_dispatches(const std::vector<std::string>& paths,
                             const std::vector<std::size_t>& numbers, const SourceTexts& texts,
                             const std::function<bool(std::size_t)>& may_start, unsigned threads,
                             std::vector<TorchRecord>& records) {
  const bool wanted = std::any_of(records.begin(), records.end(), [](const TorchRecord& record) {
    return record.use == TorchUse::implement && !record.python && !record.function.name.empty();
  });
  if (!wanted) return {};
  std::vector<std::string> cpp;
  cpp.reserve(numbers.size());
  std::unordered_map<std::string_view, std::size_t> by_path;
  for (const std::size_t number : numbers) {
    cpp.push_back(paths[number]);
    by_path.emplace(paths[number], number);
  }
  SourceTree tree(cpp, dispatch_vocabulary(), [&](const std::string& path, std::string& bytes) {
    const auto found = by_path.find(path);
    return found != by_path.end() && texts.read(found->second, bytes);
  });
  std::vector<std::size_t> numbers_in_tree;
  for (FileId file = 0; file < tree.size(); ++file) {
    numbers_in_tree.push_back(by_path.at(tree.path(file)));
  }
  tree.discover(
      [&](FileId file, const WordQuery& any) { return texts.may_hold(numbers_in_tree[file], any); },
      [&](FileId file) { return may_start(numbers_in_tree[file]); });
  const WordQuery macros(tree.project_macros());
  // Nested choices repeat their bodies for each dtype.
  PreprocessorLimits limits;
  limits.tokens = most_tokens;
  CalledNames pool;
  DispatchIndex index(paths);
  std::vector<char> done(tree.size(), 0);
  std::unordered_set<std::string> looked_for;
  std::vector<std::string> names;
  for (int round = 0; round < most_rounds; ++round) {
    const WordQuery any_name(names);
    std::vector<std::vector<FunctionBody>> bodies(tree.size());
    std::atomic<std::uint32_t> next{0};
    side_by_side(threads, threads, [&](std::size_t) {
      Preprocessor preprocessor(tree, limits);
      SourceUnit unit;
      Invocations found;
      std::string bytes;
      for (std::uint32_t file = next++; file < tree.size(); file = next++) {
        const std::size_t number = numbers_in_tree[file];
        if (done[file] != 0) continue;
        const bool may_matter = round == 0 ? may_start(number) || texts.may_hold(number, macros)
                                           : texts.may_hold(number, any_name);
        if (!may_matter) continue;
        if (!texts.read(number, bytes) || (round == 0 && !tree.has_needle(bytes))) continue;
        done[file] = 1;
        preprocessor.run(file, bytes, unit);
        // Part of the choices would pass for all of them.
        if (unit.truncated) continue;
        find_invocations(unit, tree.vocabulary(), found);
        unit.file = static_cast<std::uint32_t>(number);
        read_bodies(unit, found, pool, bodies[file]);
      }
    });
    for (std::vector<FunctionBody>& some : bodies) index.add(std::move(some));
    names.clear();
    for (std::string& name : index.leading_names()) {
      if (name.size() >= shortest_name && looked_for.insert(name).second) names.push_back(name);
    }
    if (names.empty()) break;
  }
  for (TorchRecord& record : records) {
    if (record.use != TorchUse::implement || record.python) continue;
    if (std::optional<std::vector<DispatchSite>> sites = index.reached(record)) {
      record.dispatches = std::move(*sites);
    }
  }
  return index.converted_for();
}

}  // namespace opseal
