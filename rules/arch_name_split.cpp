#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "opseal/registration.h"
#include "opseal/text.h"
#include "rules/device_kernels.h"
#include "rules/library_facts.h"

namespace opseal {
namespace {

// What one unit has of one function: its kernels whose name the host has, and those whose name
// stands nowhere in the host.
struct Split {
  std::vector<std::span<const KernelRow>> registered;
  std::vector<std::span<const KernelRow>> unregistered;
};

// The host has `registered`, the image for a device has `unregistered` in its place.
struct Pair {
  std::span<const KernelRow> registered;
  std::span<const KernelRow> unregistered;
  std::size_t device = 0;
};

class LibraryCheck {
 public:
  LibraryCheck(const Fact& library, const Fact& content, const DeviceKernels& kernels, Sink& sink)
      : library_(library), content_(content), kernels_(kernels), sink_(sink) {}

  void run() {
    std::unordered_set<Name> unregistered;
    for (const Fact name : content_[Key::unregistered_kernels].items()) {
      if (!name.is_text()) return;
      unregistered.insert(name.name());
    }
    // Units that hold a kernel nobody registers, and that kernel's functions.
    std::unordered_set<std::uint32_t> units;
    for (const Name name : unregistered) {
      for (const KernelRow& row : kernels_.rows_of(name)) units.insert(kernels_.image_of(row).unit);
    }
    std::map<std::pair<std::uint32_t, std::uint64_t>, Split> splits;
    kernels_.for_each_name([&](std::span<const KernelRow> of_name) {
      kernels_.for_each_in_unit(of_name, [&](std::uint32_t unit, std::span<const KernelRow> rows) {
        sink_.inspected();
        if (!units.contains(unit)) return;
        const Name name = rows.front().name;
        const FunctionName function = read_function_name(kernels_.text(name));
        if (!function.instantiated) return;
        Split& split = splits[{unit, function.hash}];
        (unregistered.contains(name) ? split.unregistered : split.registered).push_back(rows);
      });
    });
    for (const auto& [place, split] : splits) tell(pairs_of(place.first, split));
  }

 private:
  // The images for one device hold exactly as many strange names as they lack known ones. Names
  // that an image holds beside the known ones are of kernels that nobody uses.
  std::vector<Pair> pairs_of(std::uint32_t unit_index, const Split& split) const {
    std::vector<Pair> pairs;
    if (split.unregistered.empty() || split.registered.empty()) return pairs;
    for_each_device(kernels_.units()[unit_index].devices, [&](std::size_t device) {
      std::vector<std::span<const KernelRow>> lacking;
      DeviceSet elsewhere = 0;
      for (const auto& rows : split.registered) {
        if (has_device(kernels_.devices_of(rows), device)) continue;
        lacking.push_back(rows);
        elsewhere |= kernels_.devices_of(rows);
      }
      std::vector<std::span<const KernelRow>> strange;
      for (const auto& rows : split.unregistered) {
        const DeviceSet there = kernels_.devices_of(rows);
        if (has_device(there, device) && (there & elsewhere) == 0) strange.push_back(rows);
      }
      if (strange.size() != lacking.size()) return;
      for (std::size_t at = 0; at < strange.size(); ++at) {
        pairs.push_back({lacking[at], strange[at], device});
      }
    });
    return pairs;
  }

  // A kernel's name as C++ writes it, unless it reads like the other one's. A long one is shortened
  // in the middle, and keeps the place where the two part.
  std::string name_beside(Name name, Name other) const {
    constexpr std::size_t most = 112;
    constexpr std::size_t ends = 24;
    std::string text = readable_kernel(kernels_.text(name));
    std::string second = readable_kernel(kernels_.text(other));
    if (text == second) {
      text = kernels_.text(name);
      second = kernels_.text(other);
    }
    if (text.size() <= most) return quote(text);
    const auto parting = std::mismatch(text.begin(), text.end(), second.begin(), second.end());
    const auto at = static_cast<std::size_t>(parting.first - text.begin());
    const std::size_t last = text.size() - ends;
    const std::size_t from = std::clamp(at, 2 * ends, last) - ends;
    const std::size_t end = std::min(from + most - 2 * ends, last);
    return quote(text.substr(0, ends) + (from > ends ? "..." : "") + text.substr(from, end - from) +
                 (end < last ? "..." : "") + text.substr(last));
  }

  // One finding for all images that hold the same names in place of the same ones.
  void tell(const std::vector<Pair>& pairs) {
    using Names = std::pair<std::vector<Name>, std::vector<Name>>;
    std::map<Names, std::vector<const Pair*>> by_names;
    for (std::size_t first = 0; first < pairs.size();) {
      Names names;
      std::size_t end = first;
      for (; end < pairs.size() && pairs[end].device == pairs[first].device; ++end) {
        names.first.push_back(pairs[end].unregistered.front().name);
        names.second.push_back(pairs[end].registered.front().name);
      }
      by_names[std::move(names)].push_back(&pairs[first]);
      first = end;
    }
    for (const auto& [names, of_device] : by_names) report(names.first, names.second, of_device);
  }

  void report(const std::vector<Name>& strange, const std::vector<Name>& lacking,
              const std::vector<const Pair*>& of_device) {
    std::vector<Architecture> at;
    for (const Pair* pair : of_device) at.push_back(kernels_.devices()[pair->device]);
    std::sort(at.begin(), at.end(),
              [](const Architecture& a, const Architecture& b) { return a.number() < b.number(); });
    const Pair& pair = *of_device.front();
    const KernelRow& held = *std::find_if(
        pair.unregistered.begin(), pair.unregistered.end(),
        [&](const KernelRow& row) { return kernels_.image_of(row).device == pair.device; });
    Finding& finding =
        sink_.add(library_subject(library_),
                  (at.size() > 1 ? "images for " : "image for ") + to_text(at) +
                      (at.size() > 1 ? " hold " : " holds ") + plural(strange.size(), "kernel") +
                      " under " + (strange.size() == 1 ? "a name" : "names") +
                      " that the host never registers: " + kernel_list(kernels_, lacking),
                  evidence(kernels_.fact(held)[Key::name],
                           name_beside(strange.front(), lacking.front()) +
                               ", whose mangled name stands nowhere in the host's data"));
    finding.related.push_back(evidence(
        kernels_.fact(pair.registered.front())[Key::name],
        name_beside(lacking.front(), strange.front()) + " in other images and in the host"));
  }

  Fact library_;
  Fact content_;
  const DeviceKernels& kernels_;
  Sink& sink_;
};

void check(const Facts& facts, Sink& sink) {
  LibraryFacts(facts).for_each(
      [&sink](const Document&, const Fact&, const Fact& library, const Fact& content) {
        if (!content[Key::unregistered_kernels].is_list()) return;
        const DeviceKernels kernels(content);
        if (kernels.whole()) LibraryCheck(library, content, kernels, sink).run();
      });
}

}  // namespace

extern constinit const Rule arch_name_split{
    .id = "arch-name-split",
    .title = "kernel that an image holds under another name than the host registers",
    .rationale =
        "The host asks for a kernel by its mangled name, and template arguments are part of that. "
        "Where a type is one thing under an architecture guard and another without it, the "
        "compiler gives the kernel another name in the images on the far side of the guard. The "
        "driver finds no kernel of the registered name there, and the launch fails on those "
        "devices, although code for them is in the file.",
    .example = R"({"path": "libops.so", "unregistered_kernels": ["_Z1kI4halfEvT_"], "images": [
  {"container": 0, "kind": "sass", "architecture": "sm_75", "kernels": [{"name": "_Z1kI4halfEvT_"}]},
  {"container": 0, "kind": "sass", "architecture": "sm_80", "kernels": [{"name": "_Z1kI6__halfEvT_"}]}]})",
    .fix = "give the kernel's template arguments one spelling for host and all architectures",
    .severity = Severity::error,
    .tier = Tier::bytes,
    .inspects = "kernel of a translation unit whose host part was searched for its name",
    .needs = {Key::libraries, Key::path, Key::images, Key::unregistered_kernels},
    .check = check,
};

}  // namespace opseal
