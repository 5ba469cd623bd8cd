#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "opseal/rule.h"
#include "rules/architectures.h"
#include "rules/mangled_names.h"

namespace opseal {

// A set of the devices that a library holds code for: bits are indices into
// `DeviceKernels::devices()`.
using DeviceSet = std::uint64_t;
inline constexpr std::size_t most_devices = 64;

inline bool has_device(DeviceSet set, std::size_t device) { return (set >> device & 1) != 0; }

// Calls `visit(device)` for each member.
template <typename Visit>
void for_each_device(DeviceSet set, Visit visit) {
  for (; set != 0; set &= set - 1) visit(static_cast<std::size_t>(std::countr_zero(set)));
}

// An image of `images` of a library, as far as rules judge it.
struct CodeImage {
  Fact fact;
  Architecture architecture;
  // Else PTX.
  bool machine_code = false;
  // Number of kernels that it holds.
  std::uint32_t kernels = 0;
  // Index into `DeviceKernels::units()`; `no_unit`: the container isn't said.
  std::uint32_t unit = no_unit;
  // Its capability, as an index into `DeviceKernels::devices()`.
  std::uint32_t device = 0;

  static constexpr std::uint32_t no_unit = 0xffffffff;

  // The driver can run a kernel of this image on such a device.
  bool serves(const Architecture& at) const {
    return machine_code ? machine_code_runs(architecture, at) : ptx_compiles(architecture, at);
  }
};

// The images of one container, which one translation unit was compiled to.
struct CodeUnit {
  // `container`.
  std::uint32_t number = 0;
  // Those that its images with at least one kernel are for.
  DeviceSet devices = 0;
  std::vector<std::uint32_t> images;
};

struct KernelRow {
  Name name = Names::missing;
  // Index into `DeviceKernels::images()`.
  std::uint32_t image = 0;
  // The kernel's fact.
  std::uint32_t node = 0;
};

// The kernels of one library by name: from its linked images of machine code and PTX. What was not
// linked yet, and code for the linker, serve nobody by themselves and are left out.
class DeviceKernels {
 public:
  // `content`: as from `LibraryFacts::content`.
  explicit DeviceKernels(const Fact& content);

  // Everything that a rule needs to call something missing was said: each image with its kind,
  // architecture and kernels, and nothing of the file was damaged.
  bool whole() const { return whole_; }
  const std::vector<CodeImage>& images() const { return images_; }
  const std::vector<CodeUnit>& units() const { return units_; }
  // The capabilities that its images with at least one kernel are for, ascending. Where there are
  // more than a set holds, nothing is `whole`.
  const std::vector<Architecture>& devices() const { return devices_; }
  const std::vector<KernelRow>& rows() const { return rows_; }
  const Facts& facts() const { return content_.facts(); }
  const CodeImage& image_of(const KernelRow& row) const { return images_[row.image]; }
  Fact fact(const KernelRow& row) const { return facts().fact(row.node); }
  std::string_view text(Name name) const { return facts().names.text(name); }

  // Calls `visit(rows)` for each name: all its rows, those of one unit side by side.
  template <typename Visit>
  void for_each_name(Visit visit) const {
    for_each_run(
        rows_, [](const KernelRow& a, const KernelRow& b) { return a.name == b.name; }, visit);
  }
  // Calls `visit(unit, rows)` for each unit that has the name; `unit` is an index into `units()`.
  template <typename Visit>
  void for_each_in_unit(std::span<const KernelRow> of_name, Visit visit) const {
    const auto same = [this](const KernelRow& a, const KernelRow& b) {
      return image_of(a).unit == image_of(b).unit;
    };
    for_each_run(of_name, same, [&](std::span<const KernelRow> rows) {
      const std::uint32_t unit = image_of(rows.front()).unit;
      if (unit != CodeImage::no_unit) visit(unit, rows);
    });
  }
  // All rows of a name; empty when there are none.
  std::span<const KernelRow> rows_of(Name name) const;
  // What the images that hold these rows are for.
  DeviceSet devices_of(std::span<const KernelRow> rows) const {
    DeviceSet devices = 0;
    for (const KernelRow& row : rows) devices |= DeviceSet{1} << image_of(row).device;
    return devices;
  }
  // What the driver can run kernels of this image on, of `devices()`.
  DeviceSet served_by(const CodeImage& image) const;
  // Machine code and PTX, each once, by number.
  std::vector<Architecture> architectures_of(std::span<const KernelRow> rows) const;
  std::vector<Architecture> architectures_of(DeviceSet devices) const;

 private:
  template <typename Rows, typename Same, typename Visit>
  static void for_each_run(const Rows& rows, Same same, Visit visit) {
    for (std::size_t first = 0; first < rows.size();) {
      std::size_t end = first + 1;
      while (end < rows.size() && same(rows[first], rows[end])) ++end;
      visit(std::span<const KernelRow>(rows.data() + first, end - first));
      first = end;
    }
  }
  void read_image(const Fact& image);
  void read_kernels(std::uint32_t image);
  void find_devices();
  void find_units();

  Fact content_;
  bool whole_ = true;
  std::vector<Architecture> devices_;
  std::vector<CodeImage> images_;
  std::vector<CodeUnit> units_;
  std::vector<KernelRow> rows_;
};

// The instantiations of one function, by the devices that each has.
struct FunctionForms {
  FunctionName name;
  // Each set once.
  std::vector<DeviceSet> forms;

  // Some instantiation has the device.
  bool has(std::size_t device) const;
  // Some instantiation has the device and lacks one of these: one form for each kind of device, of
  // which the host takes the one that fits. Where every form for the device is for all the others
  // too, nothing shows that it stands in for the one that lacks it.
  bool has_instead(std::size_t device, DeviceSet of_lacking) const;
};

// What all instantiations of some functions have, asked by name of a kernel. Only the functions of
// the kernels that were asked for are gathered.
class Functions {
 public:
  // Notes that the kernel's function will be asked for.
  void want(const DeviceKernels& kernels, Name kernel);
  // `devices(rows)`: those that count for the instantiation with these rows.
  template <typename Devices>
  void gather(const DeviceKernels& kernels, Devices devices) {
    if (forms_.empty()) return;
    kernels.for_each_name([&](std::span<const KernelRow> rows) {
      FunctionForms* forms = wanted(kernels, rows.front().name);
      if (forms != nullptr) forms->forms.push_back(devices(rows));
    });
    settle();
  }
  // Needs: `want` was called for this kernel.
  const FunctionForms& of(Name kernel) const { return forms_.at(names_.at(kernel)); }

 private:
  FunctionForms* wanted(const DeviceKernels& kernels, Name kernel);
  void settle();

  // Kernel -> hash of its function.
  std::unordered_map<Name, std::uint64_t> names_;
  std::unordered_map<std::uint64_t, FunctionForms> forms_;
};

// A kernel that lacks code for a device which others of its unit have code for.
struct LackingKernel {
  Name name = Names::missing;
  // Index into `DeviceKernels::units()`.
  std::uint32_t unit = 0;
  // Index into `DeviceKernels::devices()`.
  std::size_t device = 0;
};

// `kernel<float>`, `other` and 3 more: a few kernels for a message. `all`: how many it is about,
// where `names` are only those that are fit to be named; 0: these.
std::string kernel_list(const DeviceKernels& kernels, std::span<const Name> names,
                        std::size_t all = 0);

// The device can't compute with the dtype in the kernel's name, so that code for it isn't missed.
bool lacks_dtype(const Architecture& device, std::string_view kernel);

// `library libx.so`.
std::string library_subject(const Fact& library);

}  // namespace opseal
