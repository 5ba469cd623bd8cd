// Single kernels that lost or gained a device which the library as a whole serves in both builds.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compare/change_list.h"
#include "compare/served_devices.h"
#include "opseal/text.h"
#include "rules/device_kernels.h"

namespace opseal {
namespace {

using enum Impact;

// For each image of a build, what it does for each device.
using ImageServices = std::vector<std::vector<DeviceService>>;

ImageServices services_of(const DeviceKernels& kernels, const std::vector<Architecture>& devices) {
  ImageServices services;
  for (const CodeImage& image : kernels.images()) {
    std::vector<DeviceService>& row = services.emplace_back();
    for (const Architecture& device : devices)
      row.push_back(service_of(image.architecture, image.machine_code, device));
  }
  return services;
}

void best_of(std::span<const KernelRow> rows, const ImageServices& services,
             std::vector<DeviceService>& best) {
  std::fill(best.begin(), best.end(), DeviceService::none);
  for (const KernelRow& row : rows) {
    for (std::size_t at = 0; at < best.size(); ++at)
      best[at] = std::max(best[at], services[row.image][at]);
  }
}

// Kernels of both builds with the same change for the same device.
struct Group {
  std::vector<Name> kernels;
  // Kernels of both builds that have at least what these had, or lack what these gained.
  std::size_t others = 0;
};

enum class Kind : std::uint8_t { lost, slower, gained, quicker };

std::string message_of(Kind kind, const std::string& kernels, bool one, const std::string& devices,
                       std::size_t others, bool one_device) {
  std::string text = kernels + (one ? ", has " : ", have ");
  const std::string it = one_device ? "it" : "them";
  const bool one_other = others == 1;
  const std::string rest = "; " + std::to_string(others) + (one_other ? " other " : " others ");
  const auto with_rest = [&](const std::string& front, const std::string& what) {
    return others == 0 ? front : front + rest + what;
  };
  switch (kind) {
    case Kind::lost:
      return with_rest(text + "no code for " + devices + " any more",
                       (one_other ? "keeps " : "keep ") + it);
    case Kind::slower:
      return with_rest(text + "only PTX left for " + devices,
                       one_other ? "keeps its machine code" : "keep their machine code");
    case Kind::gained:
      return text + "code for " + devices + " now";
    case Kind::quicker:
      break;
  }
  return text + "machine code for " + devices + " now, where only PTX was";
}

struct Meaning {
  Impact impact;
  std::string_view text;
};

Meaning meaning_of(Kind kind) {
  switch (kind) {
    case Kind::lost:
      return {breaking, "these kernels can't be launched on these devices"};
    case Kind::slower:
      return {speed,
              "the driver compiles it when it is loaded, and has to be new enough to read it"};
    case Kind::gained:
      return {additive, "these kernels can be launched on more devices"};
    case Kind::quicker:
      break;
  }
  return {additive, "nothing is compiled for these devices when it is loaded"};
}

class Comparison {
 public:
  Comparison(ChangeList& list, const std::string& subject, const DeviceKernels& before,
             const DeviceKernels& after)
      : list_(list), subject_(subject), before_(before), after_(after) {
    std::vector<Architecture> built_for = before.devices();
    built_for.insert(built_for.end(), after.devices().begin(), after.devices().end());
    devices_ = devices_with(built_for);
    for (std::vector<Group>& groups : groups_) groups.resize(devices_.size());
  }

  void compare() {
    const ImageServices then = services_of(before_, devices_);
    const ImageServices now = services_of(after_, devices_);
    std::vector<DeviceService> was(devices_.size());
    std::vector<DeviceService> is(devices_.size());
    before_.for_each_name([&](std::span<const KernelRow> rows) {
      const std::span<const KernelRow> later = after_.rows_of(rows.front().name);
      if (later.empty()) return;
      best_of(rows, then, was);
      best_of(later, now, is);
      for (std::size_t at = 0; at < devices_.size(); ++at)
        count(at, rows.front().name, was[at], is[at]);
    });
  }

  // Devices in `told` are left out: what is true of the whole library was said of it.
  void tell(Kind kind, const std::vector<Architecture>& told) {
    const std::vector<Group>& groups = groups_[static_cast<std::size_t>(kind)];
    std::vector<bool> done(groups.size());
    for (std::size_t at = 0; at < groups.size(); ++at) {
      done[at] = done[at] || groups[at].kernels.empty() ||
                 std::find(told.begin(), told.end(), devices_[at]) != told.end();
    }
    for (std::size_t at = 0; at < groups.size(); ++at) {
      if (done[at]) continue;
      std::vector<Architecture> same;
      for (std::size_t other = at; other < groups.size(); ++other) {
        if (done[other] || groups[other].others != groups[at].others ||
            groups[other].kernels != groups[at].kernels) {
          continue;
        }
        done[other] = true;
        same.push_back(devices_[other]);
      }
      tell(kind, groups[at], same);
    }
  }

 private:
  void count(std::size_t device, Name kernel, DeviceService was, DeviceService is) {
    const auto group = [&](Kind kind) -> Group& {
      return groups_[static_cast<std::size_t>(kind)][device];
    };
    if (is < was) {
      group(is == DeviceService::none ? Kind::lost : Kind::slower).kernels.push_back(kernel);
    } else if (was < is) {
      group(was == DeviceService::none ? Kind::gained : Kind::quicker).kernels.push_back(kernel);
    }
    if (was != DeviceService::none && is != DeviceService::none) ++group(Kind::lost).others;
    if (was == DeviceService::machine_code && is == was) ++group(Kind::slower).others;
  }

  void tell(Kind kind, const Group& group, const std::vector<Architecture>& devices) {
    const Meaning meaning = meaning_of(kind);
    const std::size_t number = group.kernels.size();
    const auto fact = [&](const DeviceKernels& kernels) {
      return kernels.fact(kernels.rows_of(group.kernels.front()).front());
    };
    list_.add(
        meaning.impact, "images", subject_,
        message_of(kind, plural(number, "kernel") + ", " + kernel_list(before_, group.kernels),
                   number == 1, device_list(devices), group.others, devices.size() == 1),
        meaning.text, fact(before_), fact(after_));
  }

  ChangeList& list_;
  const std::string& subject_;
  const DeviceKernels& before_;
  const DeviceKernels& after_;
  std::vector<Architecture> devices_;
  // By `Kind` and device.
  std::array<std::vector<Group>, 4> groups_;
};

}  // namespace

void compare_kernel_devices(ChangeList& list, const std::string& subject, const Fact& before,
                            const Fact& after, const DeviceChanges& told) {
  const DeviceKernels then(before);
  const DeviceKernels now(after);
  // Where an image's kernels aren't known, none is missing.
  if (!then.whole() || !now.whole()) return;
  Comparison comparison(list, subject, then, now);
  comparison.compare();
  comparison.tell(Kind::lost, told.lost);
  std::vector<Architecture> worse = told.lost;
  worse.insert(worse.end(), told.slower.begin(), told.slower.end());
  comparison.tell(Kind::slower, worse);
  comparison.tell(Kind::gained, told.gained);
  std::vector<Architecture> better = told.gained;
  better.insert(better.end(), told.quicker.begin(), told.quicker.end());
  comparison.tell(Kind::quicker, better);
}

}  // namespace opseal
