#pragma once

#include <string>
#include <vector>

#include "analyzers/source/plain_source.h"
#include "analyzers/sources/records.h"
#include "opseal/build_condition.h"

namespace opseal {

// A function that runs on a device and is started by the host.
struct DeviceFunction {
  std::string name;
  // Those with a name, in order.
  std::vector<std::string> parameters;
  // Of these, those that its body doesn't name.
  std::vector<std::string> unread;
  BuildCondition when;
  SourcePlace place;
};

void read_device_functions(const PlainSource& source, std::vector<DeviceFunction>& functions);

}  // namespace opseal
