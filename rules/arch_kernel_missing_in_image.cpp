#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
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
  LibraryCheck(const Fact& library, const Fact& content, const DeviceKernels& kernels, Sink& sink)
      : library_(library), kernels_(kernels), sink_(sink) {
    for (const Fact name : content[Key::unregistered_kernels].items()) {
      if (name.is_text()) unregistered_.insert(name.name());
    }
  }

  void run() {
    kernels_.for_each_name([this](std::span<const KernelRow> of_name) {
      kernels_.for_each_in_unit(of_name, [&](std::uint32_t unit, std::span<const KernelRow> rows) {
        const DeviceSet all = kernels_.units()[unit].devices;
        if ((all & (all - 1)) == 0) return;
        sink_.inspected();
        for_each_device(all & ~kernels_.devices_of(rows),
                        [&](std::size_t device) { add(unit, device, of_name); });
      });
    });
    for (const LackingKernel& candidate : candidates_) functions_.want(kernels_, candidate.name);
    functions_.gather(
        kernels_, [this](std::span<const KernelRow> rows) { return kernels_.devices_of(rows); });
    std::map<std::pair<std::uint32_t, std::size_t>, std::vector<Name>> by_image;
    for (const LackingKernel& candidate : candidates_) {
      if (!is_meant(candidate)) {
        by_image[{candidate.unit, candidate.device}].push_back(candidate.name);
      }
    }
    // One guard shuts a kernel out of the images of all older architectures alike.
    std::map<std::pair<std::uint32_t, std::vector<Name>>, std::vector<std::size_t>> by_guard;
    for (const auto& [place, names] : by_image) {
      by_guard[{place.first, names}].push_back(place.second);
    }
    for (const auto& [lack, devices] : by_guard) tell(lack.first, devices, lack.second);
  }

 private:
  void add(std::uint32_t unit, std::size_t device, std::span<const KernelRow> of_name) {
    // Another unit has it for that device: that one is loaded, too.
    for (const KernelRow& row : of_name) {
      const CodeImage& image = kernels_.image_of(row);
      if (image.unit != unit && image.serves(kernels_.devices()[device])) return;
    }
    // It never gets that far: the host has no name to ask for it by.
    if (unregistered_.contains(of_name.front().name)) return;
    candidates_.push_back({of_name.front().name, unit, device});
  }

  // It is lacking on purpose, as far as its name and its relatives show.
  bool is_meant(const LackingKernel& candidate) const {
    const FunctionForms& function = functions_.of(candidate.name);
    return function.name.names_architecture ||
           lacks_dtype(kernels_.devices()[candidate.device], kernels_.text(candidate.name)) ||
           function.has_instead(candidate.device,
                                kernels_.devices_of(kernels_.rows_of(candidate.name)));
  }

  void tell(std::uint32_t unit_index, const std::vector<std::size_t>& devices,
            const std::vector<Name>& names) {
    const CodeUnit& unit = kernels_.units()[unit_index];
    std::vector<Architecture> lack;
    for (const std::size_t device : devices) lack.push_back(kernels_.devices()[device]);
    std::sort(lack.begin(), lack.end(),
              [](const Architecture& a, const Architecture& b) { return a.number() < b.number(); });
    const std::string at = to_text(lack);
    const auto lacking =
        std::find_if(unit.images.begin(), unit.images.end(), [&](std::uint32_t image) {
          return kernels_.images()[image].device == devices.front() &&
                 kernels_.images()[image].kernels > 0;
        });
    const CodeImage& image = kernels_.images()[*lacking];
    std::vector<KernelRow> there;
    for (const KernelRow& row : kernels_.rows_of(names.front())) {
      if (kernels_.image_of(row).unit == unit_index) there.push_back(row);
    }
    Finding& finding = sink_.add(
        library_subject(library_),
        (lack.size() > 1 ? "images for " + at + " lack " : "image for " + at + " lacks ") +
            plural(names.size(), "kernel") + " that the same translation unit has for " +
            to_text(kernels_.architectures_of(there)) + ": " + kernel_list(kernels_, names),
        evidence(image.fact[Key::architecture],
                 "image that holds " + plural(image.kernels, "other kernel") + " and lacks it"));
    finding.related.push_back(
        evidence(kernels_.fact(there.front())[Key::name], "kernel held here"));
    finding.fix = "keep the kernel for " + at +
                  " too, with a body that traps where it can't work, and let the host test the "
                  "device before it launches";
  }

  Fact library_;
  const DeviceKernels& kernels_;
  Sink& sink_;
  std::unordered_set<Name> unregistered_;
  std::vector<LackingKernel> candidates_;
  Functions functions_;
};

void check(const Facts& facts, Sink& sink) {
  LibraryFacts(facts).for_each(
      [&sink](const Document&, const Fact&, const Fact& library, const Fact& content) {
        if (content[Key::images].size() < 2) return;
        const DeviceKernels kernels(content);
        if (kernels.whole()) LibraryCheck(library, content, kernels, sink).run();
      });
}

}  // namespace

extern constinit const Rule arch_kernel_missing_in_image{
    .id = "arch-kernel-missing-in-image",
    .title = "kernel that one image of its translation unit lacks",
    .rationale =
        "A compiler makes one image of a translation unit for each architecture, and the driver "
        "loads the one that fits the device, whole. A kernel inside an architecture guard is in "
        "some of these images and not in others, while the host registers it for all. On a device "
        "that gets an image without it the launch fails with an invalid device function, and where "
        "nobody reads the launch's status the result is whatever was in memory.",
    .example = R"({"path": "libops.so", "images": [
  {"container": 0, "kind": "sass", "architecture": "sm_75", "kernels": [{"name": "add"}]},
  {"container": 0, "kind": "sass", "architecture": "sm_80", "kernels": [{"name": "add"}, {"name": "mma"}]}]})",
    .fix =
        "keep the kernel in the images for all architectures and test the device before the launch",
    .severity = Severity::error,
    .tier = Tier::bytes,
    .inspects = "kernel of a translation unit that was compiled for several architectures",
    .needs = {Key::libraries, Key::path, Key::images, Key::container},
    .check = check,
};

}  // namespace opseal
