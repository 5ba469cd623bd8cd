#pragma once

#include <string>
#include <string_view>
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
  // Something in the file asks whether a tensor is dense, or makes it so.
  bool asks_for_layout = false;
  // Of `__CUDA_ARCH__`, under which all of its body stands; empty: none.
  std::string guard;
  // What the body is where the guard is false: `nothing`, `assert`, `trap`, `code`.
  std::string_view otherwise;
  BuildCondition when;
  SourcePlace place;
};

// It does nothing at all, or asserts, where its guard is false.
bool is_hollow_outside(const DeviceFunction& function);

void read_device_functions(const PlainSource& source, std::vector<DeviceFunction>& functions);

}  // namespace opseal
