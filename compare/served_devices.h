#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rules/architectures.h"

namespace opseal {

// How code serves a device; more is better.
enum class DeviceService : std::uint8_t { none, compiled, machine_code };

// What code for `architecture` does for a device.
DeviceService service_of(const Architecture& architecture, bool machine_code,
                         const Architecture& device);

// Every device that there is, those that code for `built_for` is for, and one that stands for all
// that don't exist yet; ascending.
std::vector<Architecture> devices_with(const std::vector<Architecture>& built_for);

// "`sm_86`, `sm_89`, and devices yet to come", of devices from `devices_with`.
std::string device_list(const std::vector<Architecture>& devices);

// The devices for which a library's service changed, whatever single kernels have.
struct DeviceChanges {
  std::vector<Architecture> lost;
  std::vector<Architecture> slower;
  std::vector<Architecture> gained;
  std::vector<Architecture> quicker;
};

}  // namespace opseal
