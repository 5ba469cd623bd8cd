#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "opseal/registration.h"
#include "opseal/text.h"
#include "rules/device_kernels.h"
#include "rules/fleet_words.h"
#include "rules/library_groups.h"
#include "rules/library_variants.h"

namespace opseal {
namespace {

// One bit for each member of the fleet.
using Members = std::uint64_t;

bool has_member(Members members, std::size_t at) { return (members >> at & 1) != 0; }

struct Served {
  // By machine code.
  Members runs = 0;
  // By PTX that the driver compiles, if nothing else.
  Members compiles = 0;

  Members all() const { return runs | compiles; }
  void add(const Served& other) {
    runs |= other.runs;
    compiles |= other.compiles;
  }
};

// What a library lacks for one member of the fleet.
struct Lack {
  std::vector<Name> kernels;
  // Made for the features of other devices (`a`, `f`), or named after another architecture: it is
  // for those on purpose.
  std::vector<Name> specific;
};

// The libraries that lie together.
struct Package {
  // Members that any of them serves.
  Members served = 0;
  // There is one.
  bool single = false;
};

class LibraryCheck {
 public:
  LibraryCheck(const PlacedLibrary& library, const DeviceKernels& kernels,
               const std::vector<FleetMember>& fleet, Sink& sink)
      : placed_(library), kernels_(kernels), fleet_(fleet), sink_(sink) {
    // The host can't launch them.
    for (const Fact name : library.content[Key::unregistered_kernels].items()) {
      if (name.is_text()) unregistered_.insert(name.name());
    }
    for (const CodeImage& image : kernels_.images()) {
      Served served;
      for (std::size_t at = 0; at < fleet_.size(); ++at) {
        if (!image.serves(fleet_[at].device)) continue;
        (image.machine_code ? served.runs : served.compiles) |= Members{1} << at;
      }
      by_image_.push_back(served);
      if (image.kernels > 0) any_ |= served.all();
    }
  }

  const PlacedLibrary& placed() const { return placed_; }
  const DeviceKernels& kernels() const { return kernels_; }
  // Members that some kernel of the library serves.
  Members any() const { return any_; }

  Served served(std::span<const KernelRow> rows) const {
    Served served;
    for (const KernelRow& row : rows) served.add(by_image_[row.image]);
    return served;
  }

  // `others`: what variants of the library serve, by kernel; `variants`: members that they serve.
  void run(const std::unordered_map<Name, Served>& others, Members variants,
           const Package& package) {
    const Members everyone = ~Members{0} >> (64 - fleet_.size());
    struct Candidate {
      Name name;
      Members lacks;
    };
    std::vector<Candidate> candidates;
    std::uint64_t names = 0;
    kernels_.for_each_name([&](std::span<const KernelRow> rows) {
      if (unregistered_.contains(rows.front().name)) return;
      ++names;
      Served all = served(rows);
      if (const auto other = others.find(rows.front().name); other != others.end()) {
        all.add(other->second);
      }
      Members only_compiled = all.compiles & ~all.runs;
      for (; only_compiled != 0; only_compiled &= only_compiled - 1) {
        ++compiled_[static_cast<std::size_t>(std::countr_zero(only_compiled))];
      }
      const Members lacks = everyone & ~all.all();
      if (lacks != 0) candidates.push_back({rows.front().name, lacks});
    });
    names_ = names;
    sink_.inspected(names);
    for (const Candidate& candidate : candidates) functions_.want(kernels_, candidate.name);
    functions_.gather(
        kernels_, [this](std::span<const KernelRow> rows) { return kernels_.devices_of(rows); });
    for (std::size_t at = 0; at < fleet_.size(); ++at) {
      DeviceSet serving = 0;
      for (const CodeImage& image : kernels_.images()) {
        if (image.kernels > 0 && image.serves(fleet_[at].device))
          serving |= DeviceSet{1} << image.device;
      }
      serving_.push_back(serving);
    }
    std::vector<Lack> lacks(fleet_.size());
    for (const Candidate& candidate : candidates) {
      for (Members left = candidate.lacks; left != 0; left &= left - 1) {
        const std::size_t at = static_cast<std::size_t>(std::countr_zero(left));
        sort_in(candidate.name, at, lacks[at]);
      }
    }
    for (std::size_t at = 0; at < fleet_.size(); ++at) {
      if (has_member(any_, at)) {
        tell_kernels(at, lacks[at]);
      } else if (!has_member(variants, at)) {
        // Another build of it is the one for this device, where there is one.
        tell_library(at, lacks[at], package);
      }
    }
  }

 private:
  void sort_in(Name name, std::size_t at, Lack& lack) {
    const FunctionForms& function = functions_.of(name);
    const std::span<const KernelRow> rows = kernels_.rows_of(name);
    const DeviceSet own = kernels_.devices_of(rows);
    bool instead = false;
    for_each_device(serving_[at], [&](std::size_t device) {
      instead = instead || function.has_instead(device, own);
    });
    if (instead || lacks_dtype(fleet_[at].device, kernels_.text(name))) return;
    bool specific = function.name.names_architecture;
    if (!specific) {
      specific = std::all_of(rows.begin(), rows.end(), [&](const KernelRow& row) {
        const Architecture& code = kernels_.image_of(row).architecture;
        // `sm_100a` beside a device of 10.3 is rather a list that nobody went on with.
        return code.scope != Architecture::Scope::plain && code.major != fleet_[at].device.major;
      });
    }
    (specific ? lack.specific : lack.kernels).push_back(name);
  }

  std::vector<Architecture> architectures_of(const std::vector<Name>& names, bool machine_code) {
    std::vector<Architecture> architectures;
    std::vector<bool> seen(kernels_.images().size());
    for (const Name name : names) {
      for (const KernelRow& row : kernels_.rows_of(name)) {
        const CodeImage& image = kernels_.image_of(row);
        if (seen[row.image] || image.machine_code != machine_code) continue;
        seen[row.image] = true;
        if (std::find(architectures.begin(), architectures.end(), image.architecture) ==
            architectures.end()) {
          architectures.push_back(image.architecture);
        }
      }
    }
    std::sort(architectures.begin(), architectures.end(),
              [](const Architecture& a, const Architecture& b) { return a.number() < b.number(); });
    return architectures;
  }

  // Why what is there doesn't serve, where the numbers alone don't show it.
  static std::string reason(const std::vector<Architecture>& there, const Architecture& device) {
    const auto near = [&device](const Architecture& code) {
      return code.major == device.major && code.minor < device.minor;
    };
    for (const Architecture& code : there) {
      if (near(code) && is_embedded(code) != is_embedded(device)) {
        return "; code for embedded boards and code for other devices are not taken to serve each "
               "other";
      }
    }
    for (const Architecture& code : there) {
      if (near(code) && code.scope == Architecture::Scope::exact) {
        return "; " + quote(to_text(code)) + " runs on exactly that architecture";
      }
    }
    return "";
  }

  // The library has code for the device, and some kernels don't. What is for other architectures on
  // purpose, beside code for this one, isn't lacking.
  void tell_kernels(std::size_t at, const Lack& lack) {
    if (lack.kernels.empty()) return;
    std::string message = (names_ == 1 ? "the only kernel has no code for "
                                       : std::to_string(lack.kernels.size()) + " of " +
                                             plural(names_, "kernel") + " without code for ") +
                          quote(to_text(fleet_[at].device)) + ": " +
                          kernel_list(kernels_, lack.kernels) + there_text(at, lack.kernels);
    if (!lack.specific.empty()) {
      message +=
          "; " + std::to_string(lack.specific.size()) + " more by design, as far as names show";
    }
    add(at, lack.kernels.front(), message + compiled_text(at));
  }

  // What is milder than an error says why.
  void tell_library(std::size_t at, const Lack& lack, const Package& package) {
    const std::vector<Name>& told = lack.kernels.empty() ? lack.specific : lack.kernels;
    if (told.empty()) return;
    const std::string device = quote(to_text(fleet_[at].device));
    std::string message = (names_ == 1 ? "the only kernel has no code for " + device + ": "
                                       : "none of " + plural(names_, "kernel") + " has code for " +
                                             device + (told.size() == 1 ? ": " : ", such as ")) +
                          kernel_list(kernels_, told) + there_text(at, told);
    Severity severity = Severity::error;
    if (has_member(package.served, at)) {
      // This one may be a part that isn't needed there.
      severity = Severity::warning;
      message += "; another library beside it has code for " + device;
    }
    // Where it is all there is, being made for other devices helps nobody.
    if (lack.kernels.empty() && !package.single) {
      severity = Severity::note;
      message += "; made for other architectures by design, as far as code and names show";
    }
    add(at, told.front(), std::move(message)).severity = severity;
  }

  std::string there_text(std::size_t at, const std::vector<Name>& names) {
    std::vector<Architecture> there = architectures_of(names, true);
    const std::vector<Architecture> ptx = architectures_of(names, false);
    std::string text;
    if (!there.empty()) text += "; there is machine code for " + to_text(there);
    if (!ptx.empty())
      text += (there.empty() ? "; there is PTX for " : " and PTX for ") + to_text(ptx);
    there.insert(there.end(), ptx.begin(), ptx.end());
    return text + reason(there, fleet_[at].device);
  }

  Finding& add(std::size_t at, Name example, std::string message) {
    const KernelRow& row = kernels_.rows_of(example).front();
    Finding& finding = sink_.add(library_subject(placed_.library), std::move(message),
                                 evidence(kernels_.fact(row)[Key::name],
                                          "kernel whose code is for other architectures only"));
    finding.related.push_back(evidence(fleet_[at].stated, "architecture stated here"));
    finding.fix = "build for " + quote(to_text(fleet_[at].device)) +
                  " too, or add PTX of an older architecture that the driver can compile";
    return finding;
  }

  std::string compiled_text(std::size_t at) {
    const auto compiled = compiled_.find(at);
    if (compiled == compiled_.end()) return "";
    std::string text = "; PTX alone serves " + std::to_string(compiled->second) + " more";
    // The newest: all of them must be read.
    std::string_view newest;
    for (const CodeImage& image : kernels_.images()) {
      const std::string_view version = image.fact[Key::version].text();
      if (image.machine_code || !image.serves(fleet_[at].device)) continue;
      if (version.size() > newest.size() || (version.size() == newest.size() && version > newest)) {
        newest = version;
      }
    }
    if (newest.empty()) return text;
    text += ", which takes a driver that reads PTX ISA " + escape(newest.substr(0, 16));
    const std::string_view release = release_for_ptx(newest);
    if (!release.empty()) text += " (CUDA " + std::string(release) + ")";
    return text;
  }

  const PlacedLibrary& placed_;
  const DeviceKernels& kernels_;
  const std::vector<FleetMember>& fleet_;
  Sink& sink_;
  std::unordered_set<Name> unregistered_;
  // By image.
  std::vector<Served> by_image_;
  Members any_ = 0;
  // Member -> kernels that it gets only from PTX.
  std::map<std::size_t, std::uint64_t> compiled_;
  std::uint64_t names_ = 0;
  Functions functions_;
  // For each member, those of the library's devices whose code serves it.
  std::vector<DeviceSet> serving_;
};

// Libraries of which one is loaded; what one of them serves is served.
void check_alternatives(const std::vector<LibraryCheck*>& checks, const Package& package) {
  std::unordered_map<Name, Served> all;
  Members any = 0;
  for (const LibraryCheck* check : checks) {
    any |= check->any();
    if (checks.size() == 1) break;
    check->kernels().for_each_name(
        [&](std::span<const KernelRow> rows) { all[rows.front().name].add(check->served(rows)); });
  }
  for (LibraryCheck* check : checks) {
    const DeviceKernels& kernels = check->kernels();
    if (kernels.whole() && !kernels.rows().empty()) check->run(all, any, package);
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
  Package package;
  package.single = with_images.size() == 1;
  std::vector<DeviceKernels> kernels;
  std::vector<LibraryCheck> checks;
  kernels.reserve(with_images.size());
  checks.reserve(with_images.size());
  std::map<std::string, std::vector<LibraryCheck*>> alternatives;
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
