#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "opseal/registration.h"
#include "opseal/text.h"
#include "rules/fleet_coverage.h"
#include "rules/fleet_words.h"
#include "rules/library_groups.h"
#include "rules/library_variants.h"

namespace opseal {
namespace {

// Libraries of which one is loaded; what one of them serves is served.
void check_alternatives(const std::vector<FleetCoverage*>& checks, const FleetPackage& package) {
  std::unordered_map<Name, Served> all;
  FleetMembers any = 0;
  for (const FleetCoverage* check : checks) {
    any |= check->any();
    if (checks.size() == 1) break;
    check->kernels().for_each_name(
        [&](std::span<const KernelRow> rows) { all[rows.front().name].add(check->served(rows)); });
  }
  for (FleetCoverage* check : checks) {
    const DeviceKernels& kernels = check->kernels();
    if (kernels.whole() && !kernels.rows().empty()) check->tell(all, any, package);
  }
}

// A file for one architecture each, of which whoever opens it takes the one that fits.
bool is_bare(const Fact& content) {
  const Fact format = content[Key::format];
  return format.is("cubin") || format.is("ptx");
}

// A fleet that isn't understood looks like one that is served. Words of other systems are left
// aside, unless they are nearly one of CUDA's.
void check_words(const LibraryGroup& group, Sink& sink) {
  std::vector<std::uint32_t> seen;
  for (const PlacedLibrary& library : group) {
    const Fact stated = library.manifest[Key::architectures];
    if (!stated.is_list() || std::find(seen.begin(), seen.end(), stated.index()) != seen.end())
      continue;
    seen.push_back(stated.index());
    for (const Fact text : stated.items()) {
      for (const std::string_view word : fleet_words(text.text())) {
        if (read_architecture(word) || is_amd_architecture(word)) continue;
        const std::string_view nearest = nearest_architecture(word);
        if (nearest.empty()) continue;
        Finding& finding =
            sink.add("architecture " + escape(word),
                     quote(word) +
                         " names no GPU architecture, so that no kernel is held against "
                         "it; did you mean " +
                         quote(nearest) + '?',
                     evidence(text, "stated as part of the fleet"));
        finding.fix = "name each device by its architecture, such as " + quote(nearest);
      }
    }
  }
}

void check_group(const Facts& facts, const LibraryGroup& group, Sink& sink) {
  std::vector<const PlacedLibrary*> with_images;
  for (const PlacedLibrary& library : group) {
    if (library.content[Key::images].size() > 0) with_images.push_back(&library);
  }
  if (with_images.empty()) return;
  check_words(group, sink);
  const std::vector<FleetMember> fleet = fleet_of(facts, group.front().manifest);
  if (fleet.empty()) return;
  FleetPackage package;
  package.single = with_images.size() == 1;
  std::vector<DeviceKernels> kernels;
  std::vector<FleetCoverage> checks;
  kernels.reserve(with_images.size());
  checks.reserve(with_images.size());
  std::map<std::string, std::vector<FleetCoverage*>> alternatives;
  for (const PlacedLibrary* library : with_images) {
    // Where there is one file alone, there is none that fits better.
    if (is_bare(library->content) && !package.single) continue;
    kernels.emplace_back(library->content);
    checks.emplace_back(*library, kernels.back(), fleet, sink);
    package.served |= checks.back().any();
    alternatives[variant_stem(library->path())].push_back(&checks.back());
  }
  for (const auto& [stem, members] : alternatives) check_alternatives(members, package);
}

void check(const Facts& facts, Sink& sink) {
  const LibraryFacts libraries(facts);
  for (const LibraryGroup& group : library_groups(libraries)) check_group(facts, group, sink);
}

}  // namespace

extern constinit const Rule arch_uncovered{
    .id = "arch-uncovered",
    .title = "kernel without code for an architecture of the stated fleet",
    .rationale =
        "The driver runs machine code only on the architecture that it was made for and on later "
        "ones of the same major number, and `a` code on exactly one; anything else must be "
        "compiled "
        "from PTX, upwards. A kernel that has neither for a device loads without a word. The first "
        "launch then fails with `no kernel image is available for execution on the device`, or, "
        "where nobody reads the launch's status, computes nothing.",
    .example = R"({"opseal_manifest": 1, "system": "engine", "architectures": ["sm_120"],
 "libraries": [{"path": "libops.so", "images": [
  {"kind": "sass", "architecture": "sm_90a", "kernels": [{"name": "gemm"}]},
  {"kind": "sass", "architecture": "sm_80", "kernels": [{"name": "gemm"}]}]}]})",
    .fix = "build for each architecture of the fleet, or add PTX of an older one",
    .severity = Severity::error,
    .tier = Tier::bytes,
    .inspects = "kernel of a library, held against a stated fleet",
    .needs = {Key::libraries, Key::images, Key::architecture, Key::architectures},
    .asked_by = Key::architectures,
    .check = check,
};

}  // namespace opseal
