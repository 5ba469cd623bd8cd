#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/native/byte_reader.h"
#include "opseal/facts.h"

namespace opseal {

class Elf;

enum class ImageKind : std::uint8_t { sass, ptx, lto_ir, other };
enum class Compression : std::uint8_t { none, zstd, lz4 };

// One kernel of one image.
struct DeviceKernel {
  // Mangled, as in the image; a view into the file or into `DeviceImages::names`.
  std::string_view name;
  // -1: the image doesn't say (PTX never does).
  std::int32_t registers = -1;
  // Static shared memory in bytes as `ptxas -v` reports it: without the 1,024 bytes that images for
  // sm_90 and newer reserve. -1: not said.
  std::int32_t shared_memory = -1;
  // Bytes of each parameter, in order.
  std::vector<std::uint32_t> parameters;
  // Launch bounds in threads by dimension (`.maxntid`, `.reqntid`), and blocks of a cluster; all
  // zero: not said.
  std::array<std::uint32_t, 3> max_threads{};
  std::array<std::uint32_t, 3> required_threads{};
  std::array<std::uint32_t, 3> cluster{};
  // Has internal linkage.
  bool local = false;
  // The body was looked at, as that of machine code from sm_70 on is; else what follows says
  // nothing.
  bool body_read = false;
  // Those that are neither no-ops nor branches; -1 for a body of more than 64, which is not
  // counted.
  std::int32_t instructions = -1;
  // Changes what threads of other blocks or the host may see: store, atomic or reduction to global
  // or generic memory or to another block of the cluster, surface store, bulk or tensor copy.
  bool writes = false;
  // These two are known of bodies that were counted, and of those that don't write; of others only
  // as far as their last write.
  bool traps = false;
  bool calls = false;
};

struct DeviceImage {
  ImageKind kind = ImageKind::other;
  Compression compression = Compression::none;
  // `sm_90a`; of PTX the target it was made for, `compute_90` spelled as `sm_90`.
  std::string architecture;
  // PTX ISA, cubin code or NVVM IR version: `9.0`.
  std::string version;
  // A part that was not linked yet: ET_REL, or PTX beside such or in a section for such.
  bool relocatable = false;
  // Of `DeviceImages::containers`.
  std::uint32_t container = 0;
  // The entry, in bytes of the file.
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::vector<DeviceKernel> kernels;
};

struct DeviceContainer {
  // Name of the section that holds it; empty for a bare file.
  std::string_view section;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

// A code object of a HIP bundle, which is listed and not read.
struct BundleEntry {
  // `hipv4-amdgcn-amd-amdhsa--gfx90a`
  std::string target;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

struct DeviceImages {
  std::vector<DeviceContainer> containers;
  // In the order of the file.
  std::vector<DeviceImage> images;
  std::vector<BundleEntry> bundles;
  // Places that could not be read. Where it is not empty, the list is not whole.
  std::vector<Problem> problems;
  // The memory of names that came out of decompressed images.
  std::vector<std::unique_ptr<char[]>> names;
};

// Of one file, whatever its size; larger files may have more, see `read_device_images`.
constexpr std::uint64_t most_kernels = std::uint64_t{1} << 16;
// Throws InputError at `offset`.
[[noreturn]] void refuse_kernels(std::uint64_t offset, std::uint64_t most);

struct ImageOptions {
  unsigned threads = 1;
  // Only containers and architectures: nothing is decompressed.
  bool kernels = true;
  // Number of the file, for the places of problems.
  std::uint32_t file = 0;
};

// Every fat binary in the non-executable sections of a host file, or, where it has no section
// headers, in all of it. Damage becomes problems; never throws InputError. More kernels than 65,536
// and one for each 16 bytes of images are a problem, too.
DeviceImages read_device_images(const Elf& elf, const ImageOptions& options);

// A bare `.cubin`, `.fatbin` or `.ptx`, or a HIP bundle; nothing recognised gives no image.
DeviceImages read_bare_image(const Bytes& file, const ImageOptions& options);
bool is_fat_binary(std::string_view head);
// The text of a PTX module, by its first directives.
bool is_ptx(std::string_view head);

}  // namespace opseal
