#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/source/plain_source.h"
#include "analyzers/sources/device_functions.h"
#include "analyzers/sources/device_launches.h"
#include "analyzers/sources/device_pointers.h"
#include "analyzers/sources/placed_writer.h"
#include "analyzers/sources/records.h"
#include "analyzers/sources/tensor_layouts.h"
#include "analyzers/sources/untyped_pointers.h"

namespace opseal {

// A conditional that compares `__CUDA_ARCH__` with something.
struct ArchTest {
  std::string condition;
  SourcePlace place;
  // `host`: a function of the host; `host_compiler`: the compiler for devices never sees the file;
  // `device`, `both`.
  std::string_view side;
  // How it comes out for the host alone: `always`, `never`; else empty.
  std::string_view status;
  std::string function;
  // Of the conditional as a whole.
  BuildCondition when;
};

// What one file says of code for devices.
struct DeviceCode {
  bool was_read = false;
  std::vector<ArchTest> arch_tests;
  LaunchCode launches;
  std::vector<DeviceFunction> functions;
  std::vector<KeptPointer> pointers;
  std::vector<LayoutFunction> layouts;
  std::vector<UntypedPointer> untyped;
  // Files that it includes, which are sources by their name: `#include "kernels.cpp"`.
  std::vector<std::string> included_sources;
};

// A file that doesn't say so is not read.
bool says_device_code(std::string_view bytes);

void read_arch_tests(const PlainSource& source, std::string_view path, DeviceCode& code);
// All of the above.
void read_device_code(const PlainSource& source, std::string_view path, DeviceCode& code);

// Joins what the files say. Gives the names that further files should be read for, which may be
// joined again.
std::vector<std::string> join_device_code(std::vector<DeviceCode>& codes);

// C++ asks nothing before the launch of a kernel that needs a capability.
bool has_unasked_launch(const std::vector<DeviceCode>& codes);
// Of those launches it isn't known: something that is no C++ asks.
void forget_unasked(std::vector<DeviceCode>& codes);

// The files that say something once they are joined, by number. What stands in sources that other
// files include is dropped: `codes` and `paths` are by number of the file.
std::set<std::uint32_t> files_with_device_code(std::vector<DeviceCode>& codes,
                                               const std::vector<std::string>& paths);

// Writes the lists of a document.
void write_device_code(const std::vector<DeviceCode>& codes, const std::set<std::uint32_t>& files,
                       bool partial, PlacedWriter& writer);

}  // namespace opseal
