#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "opseal/registration.h"
#include "opseal/text.h"
#include "rules/device_kernels.h"
#include "rules/library_facts.h"

namespace opseal {
namespace {

// The architecture that nvcc builds for when it isn't told one, by the PTX ISA of its release:
// option `--gpu-architecture` in the manuals "NVIDIA CUDA Compiler Driver NVCC" of CUDA 8.0 to
// 13.0. 0: not known.
std::uint32_t default_architecture(std::string_view isa_version) {
  unsigned major = 0;
  const auto [end, error] =
      std::from_chars(isa_version.data(), isa_version.data() + isa_version.size(), major);
  if (error != std::errc() || end == isa_version.data() + isa_version.size() || *end != '.') {
    return 0;
  }
  switch (major) {
    case 5:
      return 20;
    case 6:
      return 30;
    case 7:
    case 8:
      return 52;
    case 9:
      return 75;
    default:
      return 0;
  }
}

void check_library(const Fact& library, const Fact& content, Sink& sink) {
  const DeviceKernels kernels(content);
  if (!kernels.whole() || kernels.rows().empty()) return;
  sink.inspected();
  const CodeImage* machine_code = nullptr;
  const CodeImage* ptx = nullptr;
  for (const CodeImage& image : kernels.images()) {
    if (image.kernels == 0) continue;
    const CodeImage& first = machine_code != nullptr ? *machine_code
                             : ptx != nullptr        ? *ptx
                                                     : image;
    if (image.architecture.scope != Architecture::Scope::plain ||
        image.architecture != first.architecture) {
      return;
    }
    (image.machine_code ? machine_code : ptx) = &image;
  }
  if (machine_code == nullptr || ptx == nullptr) return;
  const std::string_view version = ptx->fact[Key::version].text();
  if (machine_code->architecture.number() != default_architecture(version)) return;
  const std::string architecture = quote(to_text(machine_code->architecture));
  Finding& finding = sink.add(
      library_subject(library),
      "machine code for " + architecture +
          " alone, which is what the compiler makes when it is told no architecture; expected a "
          "list of those that the library is for",
      evidence(machine_code->fact[Key::architecture], "only architecture of machine code"));
  finding.related.push_back(
      evidence(ptx->fact[Key::version], "PTX ISA that tells the release of the compiler"));
}

void check(const Facts& facts, Sink& sink) {
  LibraryFacts(facts).for_each(
      [&sink](const Document&, const Fact&, const Fact& library, const Fact& content) {
        if (content[Key::images].size() > 0) check_library(library, content, sink);
      });
}

}  // namespace

extern constinit const Rule arch_default_only{
    .id = "arch-default-only",
    .title = "library built for the compiler's default architecture alone",
    .rationale =
        "Without an architecture option the CUDA compiler builds for the oldest device that it "
        "supports, and adds PTX for it. On every newer device the driver compiles that PTX when "
        "the library is loaded: the first use takes minutes for large libraries, needs a driver at "
        "least as new as the compiler, and the code uses none of what newer devices can do.",
    .example = R"({"path": "libops.so", "images": [
  {"kind": "sass", "architecture": "sm_75", "kernels": [{"name": "add"}]},
  {"kind": "ptx", "architecture": "sm_75", "version": "9.0", "kernels": [{"name": "add"}]}]})",
    .fix =
        "name the architectures to build for (`-gencode`, `CMAKE_CUDA_ARCHITECTURES`, "
        "`TORCH_CUDA_ARCH_LIST`)",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .tier = Tier::bytes,
    .inspects = "library with kernels whose images are known",
    .needs = {Key::libraries, Key::path, Key::images, Key::version},
    .check = check,
};

}  // namespace opseal
