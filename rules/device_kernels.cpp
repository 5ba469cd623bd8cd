#include "rules/device_kernels.h"

#include <algorithm>
#include <numeric>

#include "opseal/text.h"

namespace opseal {
namespace {

constexpr std::size_t most_named = 3;
constexpr std::size_t most_looked_at = 64;

bool is_less(const Architecture& a, const Architecture& b) {
  return a.number() != b.number() ? a.number() < b.number() : a.scope < b.scope;
}

void keep_distinct(std::vector<Architecture>& architectures) {
  std::sort(architectures.begin(), architectures.end(), is_less);
  architectures.erase(std::unique(architectures.begin(), architectures.end()), architectures.end());
}

bool is_damaged(const Facts& facts, const Fact& content) {
  const std::uint32_t file = content.where().file;
  if (file >= facts.files.size() || !facts.files[file].binary) return false;
  return std::any_of(facts.problems.begin(), facts.problems.end(), [file](const Problem& problem) {
    return problem.where.file == file && problem.severity != Severity::note;
  });
}

}  // namespace

DeviceKernels::DeviceKernels(const Fact& content) : content_(content) {
  const Fact images = content[Key::images];
  if (!images.is_list()) {
    whole_ = false;
    return;
  }
  whole_ = !is_damaged(content.facts(), content);
  images_.reserve(images.size());
  for (const Fact image : images.items()) read_image(image);
  find_devices();
  find_units();
  // Unit by unit, so that a sort by name alone leaves the rows of a unit side by side.
  std::vector<std::uint32_t> order(images_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
    return images_[a].unit < images_[b].unit;
  });
  for (const std::uint32_t at : order) read_kernels(at);
  std::stable_sort(rows_.begin(), rows_.end(),
                   [](const KernelRow& a, const KernelRow& b) { return a.name < b.name; });
}

void DeviceKernels::read_image(const Fact& image) {
  const Fact kind = image[Key::kind];
  if (!kind.is_text()) {
    whole_ = false;
    return;
  }
  CodeImage code;
  code.fact = image;
  code.machine_code = kind.is("sass");
  if (!code.machine_code && !kind.is("ptx")) return;
  if (image[Key::relocatable].truth()) return;
  const std::optional<Architecture> architecture =
      read_architecture(image[Key::architecture].text());
  const Fact kernels = image[Key::kernels];
  if (!architecture || !kernels.is_list()) {
    whole_ = false;
    return;
  }
  code.architecture = *architecture;
  code.kernels = kernels.size();
  images_.push_back(code);
}

void DeviceKernels::read_kernels(std::uint32_t image) {
  for (const Fact kernel : images_[image].fact[Key::kernels].items()) {
    const Fact name = kernel[Key::name];
    if (name.is_text()) {
      rows_.push_back({name.name(), image, kernel.index()});
    } else {
      whole_ = false;
    }
  }
}

void DeviceKernels::find_devices() {
  for (const CodeImage& image : images_) {
    if (image.kernels > 0) devices_.push_back(capability_of(image.architecture));
  }
  keep_distinct(devices_);
  if (devices_.size() > most_devices) {
    whole_ = false;
    images_.clear();
    devices_.clear();
  }
  for (CodeImage& image : images_) {
    const auto place = std::lower_bound(devices_.begin(), devices_.end(),
                                        capability_of(image.architecture), is_less);
    image.device = static_cast<std::uint32_t>(place - devices_.begin());
  }
}

void DeviceKernels::find_units() {
  std::unordered_map<std::uint32_t, std::uint32_t> by_number;
  for (std::uint32_t at = 0; at < images_.size(); ++at) {
    CodeImage& image = images_[at];
    const Fact container = image.fact[Key::container];
    if (!container.is_count()) continue;
    const auto [found, fresh] =
        by_number.try_emplace(container.count(), static_cast<std::uint32_t>(units_.size()));
    if (fresh) units_.push_back({container.count(), 0, {}});
    image.unit = found->second;
    units_[image.unit].images.push_back(at);
    if (image.kernels > 0) units_[image.unit].devices |= DeviceSet{1} << image.device;
  }
}

DeviceSet DeviceKernels::served_by(const CodeImage& image) const {
  DeviceSet devices = 0;
  for (std::size_t at = 0; at < devices_.size(); ++at) {
    if (image.serves(devices_[at])) devices |= DeviceSet{1} << at;
  }
  return devices;
}

std::vector<Architecture> DeviceKernels::architectures_of(std::span<const KernelRow> rows) const {
  std::vector<Architecture> architectures;
  for (const KernelRow& row : rows) architectures.push_back(image_of(row).architecture);
  keep_distinct(architectures);
  return architectures;
}

std::vector<Architecture> DeviceKernels::architectures_of(DeviceSet devices) const {
  std::vector<Architecture> architectures;
  for_each_device(devices, [&](std::size_t at) { architectures.push_back(devices_[at]); });
  return architectures;
}

std::span<const KernelRow> DeviceKernels::rows_of(Name name) const {
  const auto [first, end] =
      std::equal_range(rows_.begin(), rows_.end(), KernelRow{name, 0, 0},
                       [](const KernelRow& a, const KernelRow& b) { return a.name < b.name; });
  return {first, end};
}

bool FunctionForms::has(std::size_t device) const {
  return std::any_of(forms.begin(), forms.end(),
                     [device](DeviceSet form) { return has_device(form, device); });
}

bool FunctionForms::has_instead(std::size_t device, DeviceSet of_lacking) const {
  return std::any_of(forms.begin(), forms.end(), [&](DeviceSet form) {
    return has_device(form, device) && (of_lacking & ~form) != 0;
  });
}

void Functions::want(const DeviceKernels& kernels, Name kernel) {
  if (names_.contains(kernel)) return;
  const FunctionName function = read_function_name(kernels.text(kernel));
  names_.emplace(kernel, function.hash);
  forms_.try_emplace(function.hash, FunctionForms{function, {}});
}

FunctionForms* Functions::wanted(const DeviceKernels& kernels, Name kernel) {
  const auto found = forms_.find(read_function_name(kernels.text(kernel)).hash);
  return found == forms_.end() ? nullptr : &found->second;
}

void Functions::settle() {
  for (auto& [hash, forms] : forms_) {
    std::sort(forms.forms.begin(), forms.forms.end());
    forms.forms.erase(std::unique(forms.forms.begin(), forms.forms.end()), forms.forms.end());
  }
}

std::string kernel_list(const DeviceKernels& kernels, std::span<const Name> names,
                        std::size_t all) {
  std::vector<std::string> words;
  // Instantiations of one function look alike once they are shortened.
  for (const Name name : names.first(std::min(names.size(), most_looked_at))) {
    std::string word = quote(short_kernel(kernels.text(name)));
    if (std::find(words.begin(), words.end(), word) != words.end()) continue;
    words.push_back(std::move(word));
    if (words.size() == most_named) break;
  }
  const std::size_t more = std::max(all, names.size()) - words.size();
  std::string text;
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (at > 0) text += at + 1 == words.size() && more == 0 ? " and " : ", ";
    text += words[at];
  }
  if (more > 0) text += " and " + std::to_string(more) + " more";
  return text;
}

bool lacks_dtype(const Architecture& device, std::string_view kernel) {
  return device.number() < least_capability(dtype_need(kernel));
}

std::string library_subject(const Fact& library) {
  return "library " + std::string(library[Key::path].text());
}

}  // namespace opseal
