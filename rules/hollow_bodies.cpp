#include "rules/hollow_bodies.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "opseal/registration.h"
#include "opseal/text.h"
#include "rules/device_kernels.h"
#include "rules/guarded_kernels.h"
#include "rules/library_facts.h"

namespace opseal {
namespace {

// A kernel whose bodies of one unit are full for some devices and hollow for others.
struct Candidate {
  std::vector<KernelRow> hollow;
  KernelRow full;
  DeviceSet full_for = 0;
  // Major numbers that are full.
  std::size_t majors = 0;
  std::span<const KernelRow> rows;
};

// What the instantiations of one function are like on one device.
struct Told {
  std::vector<Name> kernels;
  // The member of the fleet that runs the hollow one, if there is one.
  const FleetMember* asked = nullptr;
  // Older code is full.
  bool newer = false;
  KernelRow hollow;
  KernelRow full;
  DeviceSet full_for = 0;
};

class LibraryCheck {
 public:
  LibraryCheck(const Fact& library, const DeviceKernels& kernels,
               const std::vector<FleetMember>& fleet, const UnaskedKernels& sources,
               HollowEvidence wanted, Sink& sink)
      : library_(library),
        kernels_(kernels),
        fleet_(fleet),
        sources_(sources),
        wanted_(wanted),
        sink_(sink) {}

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
    // Beside `sm_90` and `sm_90a` of one unit, the device takes the one that works.
    hollow &= ~works;
    if (hollow == 0 || candidate.full_for == 0) {
      sink_.inspected();
      return;
    }
    candidate.majors = majors.size();
    candidate.rows = rows;
    for (const KernelRow& row : rows) {
      const CodeImage& image = kernels_.image_of(row);
      if (image.machine_code && has_device(hollow, image.device)) candidate.hollow.push_back(row);
    }
    candidates_.push_back(std::move(candidate));
  }

  // The member of the fleet for which the driver takes this very image.
  const FleetMember* asked(const KernelRow& hollow, std::span<const KernelRow> rows) const {
    const CodeImage& image = kernels_.image_of(hollow);
    for (const FleetMember& member : fleet_) {
      if (!image.serves(member.device)) continue;
      const bool newer = std::any_of(rows.begin(), rows.end(), [&](const KernelRow& row) {
        const CodeImage& other = kernels_.image_of(row);
        return other.machine_code && other.device > image.device && other.serves(member.device);
      });
      if (!newer) return &member;
    }
    return nullptr;
  }

  // What sources say of a kernel that does nothing there, and that the host starts all the same.
  const GuardedKernel* source_of(Name kernel, const Architecture& at) const {
    return sources_.find(kernels_.text(kernel), 100U * at.major + 10U * at.minor);
  }

  void sort_in(const Candidate& candidate) {
    const Name name = candidate.hollow.front().name;
    const FunctionForms& function = functions_.of(name);
    bool judged = false;
    for (const KernelRow& row : candidate.hollow) {
      const CodeImage& image = kernels_.image_of(row);
      const FleetMember* member = asked(row, candidate.rows);
      // Only the newer side: a body that needs what old devices lack is mostly guarded by the host
      // too, by the very test that the guard makes.
      const DeviceSet older = (DeviceSet{1} << image.device) - 1;
      const bool newer = (candidate.full_for & older) != 0;
      const bool strong = member != nullptr || (newer && candidate.majors > 1) ||
                          source_of(name, image.architecture) != nullptr;
      if (strong != (wanted_ == HollowEvidence::strong)) continue;
      judged = true;
      if (function.name.names_architecture || function.has(image.device)) continue;
      if (lacks_dtype(kernels_.devices()[image.device], kernels_.text(name))) continue;
      Told& told = told_[{function.name.hash, image.device}];
      if (told.kernels.empty()) {
        told.asked = member;
        told.newer = newer;
        told.hollow = row;
        told.full = candidate.full;
        told.full_for = candidate.full_for;
      }
      if (told.kernels.empty() || told.kernels.back() != name) told.kernels.push_back(name);
    }
    if (judged) sink_.inspected();
  }

  void tell(const Told& told) {
    const Fact hollow = kernels_.fact(told.hollow);
    const Architecture& at = kernels_.image_of(told.hollow).architecture;
    std::string message = kernel_list(kernels_, told.kernels) +
                          (told.kernels.size() == 1 ? " does" : " do") + " nothing on " +
                          quote(to_text(at)) + ": " +
                          plural(hollow[Key::instructions].count(), "instruction") +
                          " and no store, while the code for " +
                          to_text(kernels_.architectures_of(told.full_for)) + " stores";
    const GuardedKernel* const source = source_of(told.kernels.front(), at);
    if (source != nullptr) {
      message += ", and the host starts it without asking for the device's capability";
    } else if (wanted_ == HollowEvidence::weak) {
      message += told.newer
                     ? "; nothing shows whether the host launches it there"
                     : "; hosts mostly refuse older devices by the test that the guard makes";
    }
    Finding& finding = sink_.add(library_subject(library_), std::move(message),
                                 evidence(hollow[Key::instructions], "body that ends at once"));
    if (source != nullptr) {
      finding.severity = Severity::error;
    } else if (wanted_ == HollowEvidence::weak && !told.newer) {
      finding.severity = Severity::note;
    }
    finding.related.push_back(
        evidence(kernels_.fact(told.full)[Key::writes], "body that stores its result"));
    if (source != nullptr) {
      const Fact& function = source->functions.front();
      finding.related.push_back(evidence(
          function, "all of it stands under " + quote(source->guard()) + site_of(function)));
      const Fact& launch = source->unasked.front();
      finding.related.push_back(evidence(launch, "started here" + site_of(launch)));
    }
    if (told.asked != nullptr && !told.newer) {
      finding.fix = "write a branch for that device, or let it trap and the host refuse the device";
    }
    if (told.asked != nullptr) {
      finding.related.push_back(
          evidence(told.asked->stated, "device that runs the empty body, stated here"));
    }
  }

  Fact library_;
  const DeviceKernels& kernels_;
  const std::vector<FleetMember>& fleet_;
  const UnaskedKernels& sources_;
  HollowEvidence wanted_;
  Sink& sink_;
  std::vector<Candidate> candidates_;
  Functions functions_;
  // By function and device.
  std::map<std::pair<std::uint64_t, std::uint32_t>, Told> told_;
};

}  // namespace

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

void check_hollow_bodies(const Facts& facts, Sink& sink, HollowEvidence wanted) {
  const UnaskedKernels sources(facts);
  LibraryFacts(facts).for_each(
      [&](const Document&, const Fact& manifest, const Fact& library, const Fact& content) {
        if (content[Key::images].size() < 2) return;
        const DeviceKernels kernels(content);
        const std::vector<FleetMember> fleet = fleet_of(facts, manifest);
        LibraryCheck(library, kernels, fleet, sources, wanted, sink).run();
      });
}

}  // namespace opseal
