#include "compare/served_devices.h"

#include <algorithm>
#include <array>

#include "opseal/text.h"

namespace opseal {
namespace {

// Devices that there are, from NVIDIA's list "CUDA GPU Compute Capability"; those that the builds
// are for come to them.
constexpr std::array<std::uint16_t, 21> known_devices = {
    50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121, 999};
// Stands for those that don't exist yet: only PTX serves them.
constexpr Architecture later_device{99, 9, Architecture::Scope::plain};

}  // namespace

DeviceService service_of(const Architecture& architecture, bool machine_code,
                         const Architecture& device) {
  if (machine_code)
    return machine_code_runs(architecture, device) ? DeviceService::machine_code
                                                   : DeviceService::none;
  return ptx_compiles(architecture, device) ? DeviceService::compiled : DeviceService::none;
}

std::vector<Architecture> devices_with(const std::vector<Architecture>& built_for) {
  std::vector<Architecture> devices;
  for (const std::uint16_t number : known_devices) {
    devices.push_back({static_cast<std::uint16_t>(number / 10),
                       static_cast<std::uint16_t>(number % 10), Architecture::Scope::plain});
  }
  for (const Architecture& architecture : built_for) {
    const Architecture device = capability_of(architecture);
    if (std::find(devices.begin(), devices.end(), device) == devices.end())
      devices.push_back(device);
  }
  std::sort(devices.begin(), devices.end(),
            [](const Architecture& a, const Architecture& b) { return a.number() < b.number(); });
  return devices;
}

std::string device_list(const std::vector<Architecture>& devices) {
  std::vector<std::string> names;
  for (const Architecture& device : devices) {
    if (device != later_device) names.push_back(to_text(device));
  }
  std::string text = names.empty() ? std::string() : quote_list(names);
  if (names.size() < devices.size())
    text += text.empty() ? "devices yet to come" : ", and devices yet to come";
  return text;
}

}  // namespace opseal
