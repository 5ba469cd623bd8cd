#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opseal/paths.h"
#include "opseal/registration.h"
#include "opseal/text.h"
#include "rules/device_kernels.h"
#include "rules/library_groups.h"
#include "rules/library_variants.h"

namespace opseal {
namespace {

// More libraries than a package has that load each other.
constexpr std::size_t most_libraries = 512;

// A library that exports host stubs of kernels.
struct Member {
  const PlacedLibrary* library = nullptr;
  DeviceKernels kernels;
};

// A kernel of two libraries.
struct Shared {
  Name name = Names::missing;
  Fact symbol;
  Fact other_symbol;
};

class GroupCheck {
 public:
  GroupCheck(const LibraryGroup& group, Sink& sink) : group_(group), sink_(sink) {}

  void run() {
    if (group_.size() < 2 || group_.size() > most_libraries) return;
    find_members();
    if (members_.size() < 2) return;
    find_scopes();
    std::unordered_map<Name, std::vector<std::pair<std::size_t, Fact>>> exporters;
    for (std::size_t at = 0; at < members_.size(); ++at) {
      for (const Fact symbol : members_[at].library->content[Key::exports].items()) {
        const Fact name = symbol[Key::name];
        if (!name.is_text() || members_[at].kernels.rows_of(name.name()).empty()) continue;
        sink_.inspected();
        std::vector<std::pair<std::size_t, Fact>>& known = exporters[name.name()];
        // One finding for a pair is enough; a name in a hundred libraries is held against few.
        for (std::size_t other = 0; other < std::min<std::size_t>(known.size(), 4); ++other) {
          compare(known[other].first, at, {name.name(), known[other].second, symbol});
        }
        known.emplace_back(at, symbol);
      }
    }
    for (const auto& [pair, shared] : told_) tell(pair.first, pair.second, shared);
  }

 private:
  void find_members() {
    for (const PlacedLibrary& library : group_) {
      const Fact& content = library.content;
      if (content[Key::images].size() == 0 || content[Key::exports].size() == 0) continue;
      DeviceKernels kernels(content);
      if (kernels.whole()) members_.push_back({&library, std::move(kernels)});
    }
  }

  // Which libraries the loader puts into one search list: a library and all that it needs.
  void find_scopes() {
    std::unordered_map<std::string_view, std::size_t> by_name;
    for (std::size_t at = 0; at < group_.size(); ++at) {
      by_name.emplace(file_name_of(group_[at].path()), at);
      const Fact soname = group_[at].content[Key::soname];
      if (soname.is_text()) by_name.insert_or_assign(soname.text(), at);
    }
    for (std::size_t root = 0; root < group_.size(); ++root) {
      std::vector<std::size_t> waiting = {root};
      std::vector<bool> reached(group_.size());
      reached[root] = true;
      while (!waiting.empty()) {
        const std::size_t at = waiting.back();
        waiting.pop_back();
        for (const Fact needed : group_[at].content[Key::needed].items()) {
          const auto found = by_name.find(needed.text());
          if (found == by_name.end() || reached[found->second]) continue;
          reached[found->second] = true;
          waiting.push_back(found->second);
        }
      }
      if (std::count(reached.begin(), reached.end(), true) > 1) scopes_.push_back(reached);
    }
  }

  bool share_scope(std::size_t a, std::size_t b) const {
    const std::size_t left = static_cast<std::size_t>(members_[a].library - group_.data());
    const std::size_t right = static_cast<std::size_t>(members_[b].library - group_.data());
    return std::any_of(scopes_.begin(), scopes_.end(),
                       [&](const std::vector<bool>& scope) { return scope[left] && scope[right]; });
  }

  // Devices that one serves and the other doesn't.
  std::vector<Architecture> difference(std::size_t a, std::size_t b, Name name) const {
    const auto serves = [name](const DeviceKernels& kernels, const Architecture& device) {
      const std::span<const KernelRow> rows = kernels.rows_of(name);
      return std::any_of(rows.begin(), rows.end(), [&](const KernelRow& row) {
        return kernels.image_of(row).serves(device);
      });
    };
    std::vector<Architecture> devices;
    for (const std::size_t side : {a, b}) {
      const DeviceKernels& own = members_[side].kernels;
      const DeviceKernels& other = members_[side == a ? b : a].kernels;
      for (const KernelRow& row : own.rows_of(name)) {
        const Architecture device = capability_of(own.image_of(row).architecture);
        if (serves(other, device)) continue;
        if (std::find(devices.begin(), devices.end(), device) == devices.end()) {
          devices.push_back(device);
        }
      }
    }
    std::sort(devices.begin(), devices.end(),
              [](const Architecture& x, const Architecture& y) { return x.number() < y.number(); });
    return devices;
  }

  void compare(std::size_t a, std::size_t b, const Shared& shared) {
    if (a == b || !share_scope(a, b)) return;
    const PlacedLibrary& left = *members_[a].library;
    const PlacedLibrary& right = *members_[b].library;
    if (difference(a, b, shared.name).empty()) return;
    if (variants_.alternatives(left.content, left.path(), right.content, right.path())) return;
    told_[{a, b}].push_back(shared);
  }

  void tell(std::size_t a, std::size_t b, const std::vector<Shared>& shared) {
    std::vector<Name> names;
    for (const Shared& one : shared) names.push_back(one.name);
    const std::string other(members_[b].library->path());
    Finding& finding =
        sink_.add(library_subject(members_[a].library->library),
                  "exports " + plural(shared.size(), "kernel") + " that " + quote(other) +
                      " exports too, and only one of the two has code for " +
                      to_text(difference(a, b, names.front())) + ": " +
                      kernel_list(members_[a].kernels, names),
                  evidence(shared.front().symbol[Key::name], "exported here"));
    finding.related.push_back(
        evidence(shared.front().other_symbol[Key::name], "and here, in " + quote(other)));
  }

  const LibraryGroup& group_;
  Sink& sink_;
  std::vector<Member> members_;
  std::vector<std::vector<bool>> scopes_;
  LibraryVariants variants_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<Shared>> told_;
};

void check(const Facts& facts, Sink& sink) {
  const LibraryFacts libraries(facts);
  for (const LibraryGroup& group : library_groups(libraries)) GroupCheck(group, sink).run();
}

}  // namespace

extern constinit const Rule arch_duplicate_kernel{
    .id = "arch-duplicate-kernel",
    .title = "kernel of two libraries that are loaded together and have code for different devices",
    .rationale =
        "The host launches a kernel through a stub, and a stub that two libraries export is one "
        "symbol to the loader: both libraries launch the copy of whichever was loaded first. Where "
        "the two were built for different architectures, a device that the second one serves finds "
        "no code, although the library that made the call has it. It depends on the order of "
        "loading, so that it comes and goes with an unrelated import.",
    .example = R"({"opseal_manifest": 1, "system": "engine", "libraries": [
 {"path": "liba.so", "needed": ["libb.so"], "exports": [{"name": "_Z1kIfEvT_", "weak": true}],
  "images": [{"kind": "sass", "architecture": "sm_80", "kernels": [{"name": "_Z1kIfEvT_"}]}]},
 {"path": "libb.so", "needed": [], "exports": [{"name": "_Z1kIfEvT_", "weak": true}],
  "images": [{"kind": "sass", "architecture": "sm_90", "kernels": [{"name": "_Z1kIfEvT_"}]}]}]})",
    .fix =
        "build both for the same architectures, or hide the stubs (`-fvisibility=hidden`, an "
        "anonymous namespace)",
    .severity = Severity::error,
    .tier = Tier::bytes,
    .inspects = "exported kernel of a library that lies beside others",
    .needs = {Key::libraries, Key::path, Key::images, Key::exports},
    .check = check,
};

}  // namespace opseal
