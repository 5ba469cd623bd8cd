#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "opseal/registration.h"
#include "opseal/text.h"
#include "rules/device_kernels.h"
#include "rules/library_facts.h"

namespace opseal {
namespace {

class LibraryCheck {
 public:
  LibraryCheck(const Fact& library, const DeviceKernels& kernels, Sink& sink)
      : library_(library), kernels_(kernels), sink_(sink) {}

  void run() {
    find_reach();
    kernels_.for_each_name([this](std::span<const KernelRow> of_name) {
      const DeviceSet reached = reach_of(of_name);
      kernels_.for_each_in_unit(of_name, [&](std::uint32_t unit, std::span<const KernelRow>) {
        sink_.inspected();
        for_each_device(by_unit_[unit] & ~reached, [&](std::size_t device) {
          candidates_.push_back({of_name.front().name, unit, device});
        });
      });
    });
    for (const LackingKernel& candidate : candidates_) functions_.want(kernels_, candidate.name);
    functions_.gather(kernels_, [this](std::span<const KernelRow> rows) { return reach_of(rows); });
    std::map<std::pair<std::uint32_t, std::size_t>, std::vector<Name>> told;
    for (const LackingKernel& candidate : candidates_) {
      if (!is_meant(candidate)) told[{candidate.unit, candidate.device}].push_back(candidate.name);
    }
    for (const auto& [place, names] : told) tell(place.first, place.second, names);
  }

 private:
  void find_reach() {
    by_unit_.resize(kernels_.units().size());
    for (const CodeImage& image : kernels_.images()) {
      by_image_.push_back(kernels_.served_by(image));
      if (image.unit != CodeImage::no_unit && image.kernels > 0) {
        by_unit_[image.unit] |= by_image_.back();
      }
    }
    // What an image of the unit is for, and lacks, is told by `arch-kernel-missing-in-image`.
    for (std::size_t at = 0; at < by_unit_.size(); ++at) {
      by_unit_[at] &= ~kernels_.units()[at].devices;
    }
  }

  DeviceSet reach_of(std::span<const KernelRow> rows) const {
    DeviceSet reached = 0;
    for (const KernelRow& row : rows) reached |= by_image_[row.image];
    return reached;
  }

  bool is_meant(const LackingKernel& candidate) const {
    const FunctionForms& function = functions_.of(candidate.name);
    if (function.name.names_architecture || function.has(candidate.device)) return true;
    const Architecture& device = kernels_.devices()[candidate.device];
    if (lacks_dtype(device, kernels_.text(candidate.name))) return true;
    // Made for the features of other devices.
    const std::span<const KernelRow> rows = kernels_.rows_of(candidate.name);
    return std::all_of(rows.begin(), rows.end(), [this](const KernelRow& row) {
      return kernels_.image_of(row).architecture.scope != Architecture::Scope::plain;
    });
  }

  void tell(std::uint32_t unit_index, std::size_t device, const std::vector<Name>& names) {
    const CodeUnit& unit = kernels_.units()[unit_index];
    const std::uint32_t serving =
        *std::find_if(unit.images.begin(), unit.images.end(), [&](std::uint32_t image) {
          return kernels_.images()[image].kernels > 0 && has_device(by_image_[image], device);
        });
    const CodeImage& image = kernels_.images()[serving];
    const std::span<const KernelRow> rows = kernels_.rows_of(names.front());
    Finding& finding = sink_.add(
        library_subject(library_),
        plural(names.size(), "kernel") + " without code that runs on " +
            quote(to_text(kernels_.devices()[device])) + ", where others of the same unit run by " +
            (image.machine_code ? "machine code" : "PTX") + " for " +
            quote(to_text(image.architecture)) + ": " + kernel_list(kernels_, names) +
            "; there is code for " + to_text(kernels_.architectures_of(rows)),
        evidence(kernels_.fact(rows.front())[Key::name], "kernel held here"));
    finding.related.push_back(
        evidence(image.fact[Key::architecture], "image that serves the other kernels"));
  }

  Fact library_;
  const DeviceKernels& kernels_;
  Sink& sink_;
  // What each image serves.
  std::vector<DeviceSet> by_image_;
  // Devices that a unit's images serve beyond those that they are for.
  std::vector<DeviceSet> by_unit_;
  std::vector<LackingKernel> candidates_;
  Functions functions_;
};

void check(const Facts& facts, Sink& sink) {
  LibraryFacts(facts).for_each(
      [&sink](const Document&, const Fact&, const Fact& library, const Fact& content) {
        if (content[Key::images].size() < 2) return;
        const DeviceKernels kernels(content);
        if (kernels.whole()) LibraryCheck(library, kernels, sink).run();
      });
}

}  // namespace

extern constinit const Rule arch_uneven{
    .id = "arch-uneven",
    .title = "kernels of one translation unit that reach different devices",
    .rationale =
        "The library serves a device, some kernels of a translation unit run on it by PTX or by "
        "code for an older device of its kind, and another kernel of the same unit has neither. "
        "What works then depends on which kernel a call happens to need: the first calls succeed, "
        "and a later one fails for lack of a kernel image.",
    .example = R"({"path": "libops.so", "images": [
  {"container": 0, "kind": "sass", "architecture": "sm_80", "kernels": [{"name": "add"}, {"name": "mul"}]},
  {"container": 0, "kind": "ptx", "architecture": "sm_80", "kernels": [{"name": "add"}]},
  {"container": 1, "kind": "sass", "architecture": "sm_90", "kernels": [{"name": "sub"}]}]})",
    .fix = "compile all kernels of the unit for the same architectures, PTX included",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .tier = Tier::bytes,
    .inspects = "kernel of a translation unit whose images are known",
    .needs = {Key::libraries, Key::path, Key::images, Key::container},
    .check = check,
};

}  // namespace opseal
