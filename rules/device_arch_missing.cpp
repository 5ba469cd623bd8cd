#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "opseal/registration.h"
#include "opseal/text.h"
#include "rules/device_kernels.h"
#include "rules/library_facts.h"

namespace opseal {
namespace {

// Code that a linker, at build time or in the driver, can still make machine code of.
bool may_be_linked(const Fact& content) {
  for (const Fact image : content[Key::images].items()) {
    const Fact kind = image[Key::kind];
    if (image[Key::relocatable].truth() || kind.is("lto_ir") || kind.is("other")) return true;
  }
  return false;
}

std::vector<Architecture> architectures_of(const DeviceKernels& kernels) {
  std::vector<Architecture> architectures;
  for (const CodeImage& image : kernels.images()) {
    if (image.kernels == 0) continue;
    if (std::find(architectures.begin(), architectures.end(), image.architecture) ==
        architectures.end()) {
      architectures.push_back(image.architecture);
    }
  }
  return architectures;
}

void check(const Facts& facts, Sink& sink) {
  LibraryFacts(facts).for_each([&sink](const Document&, const Fact&, const Fact& library,
                                       const Fact& content) {
    const Fact declared = library[Key::architectures];
    const Fact images = content[Key::images];
    if (!declared.is_list() || !images.is_list() || may_be_linked(content)) return;
    const DeviceKernels kernels(content);
    if (!kernels.whole()) return;
    const std::vector<Architecture> there = architectures_of(kernels);
    for (const Fact stated : declared.items()) {
      const std::optional<Architecture> read = read_architecture(stated.text());
      if (!read) continue;
      sink.inspected();
      const Architecture device = capability_of(*read);
      const bool served = std::any_of(
          kernels.images().begin(), kernels.images().end(),
          [&device](const CodeImage& image) { return image.kernels > 0 && image.serves(device); });
      if (served) continue;
      Finding& finding =
          sink.add(library_subject(library),
                   "declared for " + quote(stated.text()) + ", and " +
                       (there.empty() ? "no kernel for any architecture is in the file"
                                      : "the file holds kernels for " + to_text(there) + " only"),
                   evidence(stated, "architecture declared here"));
      finding.related.push_back(evidence(images, "device code listed here"));
    }
  });
}

}  // namespace

extern constinit const Rule device_arch_missing{
    .id = "device-arch-missing",
    .title = "library without any code for an architecture that it is declared for",
    .rationale =
        "The library is registered, or kept in a cache, as one for that device. Its symbols "
        "resolve and it loads, so that nothing looks wrong until the first launch, which fails for "
        "lack of a kernel image: the file was built for another device, or an old one was left in "
        "its place.",
    .example = R"({"path": "libops.so", "architectures": ["sm_90"], "images": [
  {"kind": "sass", "architecture": "sm_80", "kernels": [{"name": "add"}]}]})",
    .fix = "build the library for the architecture, or declare what it was built for",
    .severity = Severity::error,
    .tier = Tier::bytes,
    .inspects = "declared architecture of a library whose device code was read",
    .needs = {Key::libraries, Key::path, Key::images, Key::architectures},
    .check = check,
};

}  // namespace opseal
