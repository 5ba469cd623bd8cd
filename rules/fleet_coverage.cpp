#include "rules/fleet_coverage.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

#include "opseal/registration.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Why what is there doesn't serve, where the numbers alone don't show it.
std::string reason(const std::vector<Architecture>& there, const Architecture& device) {
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

}  // namespace

FleetCoverage::FleetCoverage(const PlacedLibrary& library, const DeviceKernels& kernels,
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
      (image.machine_code ? served.runs : served.compiles) |= FleetMembers{1} << at;
    }
    by_image_.push_back(served);
    if (image.kernels > 0) any_ |= served.all();
  }
}

Served FleetCoverage::served(std::span<const KernelRow> rows) const {
  Served served;
  for (const KernelRow& row : rows) served.add(by_image_[row.image]);
  return served;
}

std::vector<FleetCoverage::Candidate> FleetCoverage::find_candidates(
    const std::unordered_map<Name, Served>& others) {
  const FleetMembers everyone = ~FleetMembers{0} >> (64 - fleet_.size());
  std::vector<Candidate> candidates;
  kernels_.for_each_name([&](std::span<const KernelRow> rows) {
    if (unregistered_.contains(rows.front().name)) return;
    ++names_;
    Served all = served(rows);
    if (const auto other = others.find(rows.front().name); other != others.end()) {
      all.add(other->second);
    }
    FleetMembers only_compiled = all.compiles & ~all.runs;
    for (; only_compiled != 0; only_compiled &= only_compiled - 1) {
      ++compiled_[static_cast<std::size_t>(std::countr_zero(only_compiled))];
    }
    const FleetMembers lacks = everyone & ~all.all();
    if (lacks != 0) candidates.push_back({rows.front().name, lacks});
  });
  return candidates;
}

void FleetCoverage::find_serving() {
  for (const FleetMember& member : fleet_) {
    DeviceSet serving = 0;
    for (const CodeImage& image : kernels_.images()) {
      if (image.kernels > 0 && image.serves(member.device)) {
        serving |= DeviceSet{1} << image.device;
      }
    }
    serving_.push_back(serving);
  }
}

void FleetCoverage::tell(const std::unordered_map<Name, Served>& others, FleetMembers variants,
                         const FleetPackage& package) {
  const std::vector<Candidate> candidates = find_candidates(others);
  sink_.inspected(names_);
  for (const Candidate& candidate : candidates) functions_.want(kernels_, candidate.name);
  functions_.gather(kernels_,
                    [this](std::span<const KernelRow> rows) { return kernels_.devices_of(rows); });
  find_serving();
  std::vector<Lack> lacks(fleet_.size());
  for (const Candidate& candidate : candidates) {
    for (FleetMembers left = candidate.lacks; left != 0; left &= left - 1) {
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

void FleetCoverage::sort_in(Name name, std::size_t at, Lack& lack) const {
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

std::vector<Architecture> FleetCoverage::architectures_of(const std::vector<Name>& names,
                                                          bool machine_code) const {
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

// The library has code for the device, and some kernels don't. What is for other architectures on
// purpose, beside code for this one, isn't lacking.
void FleetCoverage::tell_kernels(std::size_t at, const Lack& lack) {
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
void FleetCoverage::tell_library(std::size_t at, const Lack& lack, const FleetPackage& package) {
  const std::vector<Name>& told = lack.kernels.empty() ? lack.specific : lack.kernels;
  if (told.empty()) return;
  const std::string device = quote(to_text(fleet_[at].device));
  std::string message = (names_ == 1 ? "the only kernel has no code for " + device + ": "
                                     : "none of " + plural(names_, "kernel") + " has code for " +
                                           device + ", such as ") +
                        kernel_list(kernels_, told, names_) + there_text(at, told);
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

std::string FleetCoverage::there_text(std::size_t at, const std::vector<Name>& names) const {
  std::vector<Architecture> there = architectures_of(names, true);
  const std::vector<Architecture> ptx = architectures_of(names, false);
  std::string text;
  if (!there.empty()) text += "; there is machine code for " + to_text(there);
  if (!ptx.empty())
    text += (there.empty() ? "; there is PTX for " : " and PTX for ") + to_text(ptx);
  there.insert(there.end(), ptx.begin(), ptx.end());
  return text + reason(there, fleet_[at].device);
}

Finding& FleetCoverage::add(std::size_t at, Name example, std::string message) {
  const KernelRow& row = kernels_.rows_of(example).front();
  Finding& finding = sink_.add(
      library_subject(placed_.library), std::move(message),
      evidence(kernels_.fact(row)[Key::name], "kernel whose code is for other architectures only"));
  finding.related.push_back(evidence(fleet_[at].stated, "architecture stated here"));
  finding.fix = "build for " + quote(to_text(fleet_[at].device)) +
                " too, or add PTX of an older architecture that the driver can compile";
  return finding;
}

std::string FleetCoverage::compiled_text(std::size_t at) const {
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

}  // namespace opseal
