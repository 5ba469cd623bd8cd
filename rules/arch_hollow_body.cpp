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

// Instructions of a body that does nothing: loads of its parameters and an exit. Measured: guarded
// bodies have 2 to 8.
constexpr std::uint32_t most_of_nothing = 8;

enum class Body : std::uint8_t { unknown, hollow, full, other };

// Long bodies are not counted. A trap is said where there is one: who counted the instructions
// looked at each of them.
Body body_of(const Fact& kernel) {
  const Fact instructions = kernel[Key::instructions];
  const Fact writes = kernel[Key::writes];
  if (!writes.is_truth()) return Body::unknown;
  if (writes.truth()) return Body::full;
  if (!instructions.is_count() || instructions.count() > most_of_nothing) return Body::other;
  return kernel[Key::traps].truth() ? Body::other : Body::hollow;
}

// A kernel whose bodies of one unit are full for some devices and hollow for others.
struct Candidate {
  std::vector<KernelRow> hollow;
  KernelRow full;
  DeviceSet full_for = 0;
};

// What the instantiations of one function are like on one device.
struct Told {
  std::vector<Name> kernels;
  KernelRow hollow;
  KernelRow full;
  DeviceSet full_for = 0;
};

class LibraryCheck {
 public:
  LibraryCheck(const Fact& library, const DeviceKernels& kernels, Sink& sink)
      : library_(library), kernels_(kernels), sink_(sink) {}

  void run() {
    kernels_.for_each_name([this](std::span<const KernelRow> of_name) {
      kernels_.for_each_in_unit(
          of_name, [this](std::uint32_t, std::span<const KernelRow> rows) { look(rows); });
    });
    for (const Candidate& candidate : candidates_) {
      functions_.want(kernels_, candidate.hollow.front().name);
    }
    functions_.gather(kernels_, [this](std::span<const KernelRow> rows) {
      DeviceSet full = 0;
      for (const KernelRow& row : rows) {
        if (body_of(kernels_.fact(row)) == Body::full)
          full |= kernels_.served_by(kernels_.image_of(row));
      }
      return full;
    });
    for (const Candidate& candidate : candidates_) sort_in(candidate);
    for (const auto& [place, told] : told_) tell(told);
  }

 private:
  void look(std::span<const KernelRow> rows) {
    Candidate candidate;
    DeviceSet hollow = 0;
    DeviceSet works = 0;
    std::vector<std::uint16_t> majors;
    std::size_t known = 0;
    for (const KernelRow& row : rows) {
      const CodeImage& image = kernels_.image_of(row);
      if (!image.machine_code) continue;
      const Body body = body_of(kernels_.fact(row));
      if (body != Body::unknown) ++known;
      (body == Body::hollow ? hollow : works) |= DeviceSet{1} << image.device;
      if (body != Body::full) continue;
      if (candidate.full_for == 0) candidate.full = row;
      candidate.full_for |= DeviceSet{1} << image.device;
      if (std::find(majors.begin(), majors.end(), image.architecture.major) == majors.end()) {
        majors.push_back(image.architecture.major);
      }
    }
    if (known < 2) return;
    sink_.inspected();
    // Beside `sm_90` and `sm_90a` of one unit, the device takes the one that works.
    hollow &= ~works;
    if (hollow == 0 || majors.size() < 2) return;
    for (const KernelRow& row : rows) {
      const CodeImage& image = kernels_.image_of(row);
      if (image.machine_code && has_device(hollow, image.device)) candidate.hollow.push_back(row);
    }
    candidates_.push_back(std::move(candidate));
  }

  void sort_in(const Candidate& candidate) {
    const Name name = candidate.hollow.front().name;
    const FunctionForms& function = functions_.of(name);
    if (function.name.names_architecture) return;
    for (const KernelRow& row : candidate.hollow) {
      const CodeImage& image = kernels_.image_of(row);
      // Only the newer side: a body that needs what old devices lack is mostly guarded by the host
      // too, by the very test that the guard makes.
      const DeviceSet older = (DeviceSet{1} << image.device) - 1;
      if ((candidate.full_for & older) == 0) continue;
      if (function.has(image.device)) continue;
      if (lacks_dtype(kernels_.devices()[image.device], kernels_.text(name))) continue;
      Told& told = told_[{function.name.hash, image.device}];
      if (told.kernels.empty()) {
        told.hollow = row;
        told.full = candidate.full;
        told.full_for = candidate.full_for;
      }
      if (told.kernels.empty() || told.kernels.back() != name) told.kernels.push_back(name);
    }
  }

  void tell(const Told& told) {
    const Fact hollow = kernels_.fact(told.hollow);
    const Architecture& at = kernels_.image_of(told.hollow).architecture;
    Finding& finding = sink_.add(library_subject(library_),
                                 kernel_list(kernels_, told.kernels) +
                                     (told.kernels.size() == 1 ? " does" : " do") + " nothing on " +
                                     quote(to_text(at)) + ": " +
                                     plural(hollow[Key::instructions].count(), "instruction") +
                                     " and no store, while the code for " +
                                     to_text(kernels_.architectures_of(told.full_for)) + " stores",
                                 evidence(hollow[Key::instructions], "body that ends at once"));
    finding.related.push_back(
        evidence(kernels_.fact(told.full)[Key::writes], "body that stores its result"));
  }

  Fact library_;
  const DeviceKernels& kernels_;
  Sink& sink_;
  std::vector<Candidate> candidates_;
  Functions functions_;
  // By function and device.
  std::map<std::pair<std::uint64_t, std::uint32_t>, Told> told_;
};

void check(const Facts& facts, Sink& sink) {
  LibraryFacts(facts).for_each(
      [&sink](const Document&, const Fact&, const Fact& library, const Fact& content) {
        if (content[Key::images].size() < 2) return;
        const DeviceKernels kernels(content);
        LibraryCheck(library, kernels, sink).run();
      });
}

}  // namespace

extern constinit const Rule arch_hollow_body{
    .id = "arch-hollow-body",
    .title = "kernel whose body does nothing on a newer architecture",
    .rationale =
        "Device code under an architecture guard without an `#else` compiles to an empty body for "
        "every architecture outside the guard. The kernel is there, the launch succeeds, no error "
        "is raised anywhere, and the output keeps whatever was in memory. It shows when a new "
        "device is added to the build: code that works on the old ones returns at once on it.",
    .example = R"({"path": "libops.so", "images": [
  {"container": 0, "kind": "sass", "architecture": "sm_80", "kernels": [{"name": "k", "writes": true}]},
  {"container": 0, "kind": "sass", "architecture": "sm_90", "kernels": [{"name": "k", "writes": true}]},
  {"container": 0, "kind": "sass", "architecture": "sm_100", "kernels": [{"name": "k", "instructions": 2, "writes": false, "traps": false}]}]})",
    .fix =
        "write the guard open to newer architectures, or let the other branch trap and the host "
        "refuse the device",
    .severity = Severity::warning,
    .tier = Tier::bytes,
    .inspects = "kernel whose bodies were decoded for several architectures",
    .needs = {Key::libraries, Key::path, Key::images, Key::writes},
    .check = check,
};

}  // namespace opseal
