#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/mutants/families.h"

namespace opseal::test {
namespace {

constexpr const char* table = "libraries";

// 90 of `sm_90a`.
unsigned capability(const Json& image) {
  const std::string text = text_of(image, "architecture").substr(3);
  unsigned number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Made for one device alone.
bool is_exact(const Json& image) {
  const std::string text = text_of(image, "architecture");
  return !text.empty() && text.back() == 'a';
}

bool is_machine_code(const Json& image) {
  return text_of(image, "kind") == "sass" && has_items(image, "kernels");
}
bool is_ptx(const Json& image) {
  return text_of(image, "kind") == "ptx" && has_items(image, "kernels");
}

// The driver takes the image for such a device.
bool serves(const Json& image, unsigned device) {
  const unsigned made_for = capability(image);
  if (is_exact(image)) return made_for == device;
  if (text_of(image, "kind") == "ptx") return made_for <= device;
  return made_for / 10 == device / 10 && made_for <= device;
}

bool in_unit(const Json& image, const Json& unit) {
  return has_items(image, "kernels") && at(image, "container") == unit;
}

// Images of the unit with that device's number.
std::size_t count_for(const Json& library, const Json& unit, unsigned device) {
  std::size_t count = 0;
  for (const Json& image : at(library, "images")) {
    if (in_unit(image, unit) && capability(image) == device) ++count;
  }
  return count;
}

// The devices that the library has machine code for, ascending.
std::vector<unsigned> devices_of(const Json& library) {
  std::vector<unsigned> devices;
  for (const Json& image : at(library, "images")) {
    if (is_machine_code(image)) devices.push_back(capability(image));
  }
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

template <typename Want>
void erase_images(Json& library, Want want) {
  Json kept = Json::array();
  for (Json& image : library["images"]) {
    if (!want(image)) kept.push_back(std::move(image));
  }
  library["images"] = std::move(kept);
}

bool has_kernels(const Json& library) {
  return std::any_of(at(library, "images").begin(), at(library, "images").end(),
                     [](const Json& image) { return has_items(image, "kernels"); });
}

// Namespaces and name of the function whose instantiation a kernel is, as they stand in its
// mangled name: `_ZN2ns1k` of `_ZN2ns1kIfEEvT_`.
std::string_view function_of(std::string_view mangled) {
  std::size_t at = mangled.find_first_of("0123456789");
  while (at < mangled.size() && mangled[at] >= '0' && mangled[at] <= '9') {
    std::size_t length = 0;
    const char* const first = mangled.data() + at;
    const auto read = std::from_chars(first, mangled.data() + mangled.size(), length);
    at += static_cast<std::size_t>(read.ptr - first) + length;
  }
  return mangled.substr(0, at);
}

// An image for a new device, alone for it in its unit, beside images of the unit for others. What
// older devices lack may be lacking on purpose.
Json* image_beside_others(Place& place) {
  std::vector<Json*> found;
  for (Json& image : place.item["images"]) {
    const unsigned device = is_machine_code(image) ? capability(image) : 0;
    if (device < 90 || count_for(place.item, image["container"], device) != 1) continue;
    const bool beside = std::any_of(
        place.item["images"].begin(), place.item["images"].end(), [&image](const Json& other) {
          return in_unit(other, image["container"]) && capability(other) != capability(image);
        });
    if (beside) found.push_back(&image);
  }
  return found.empty() ? nullptr : found[place.random() % found.size()];
}

bool leave_kernel_out(Place& place) {
  Json* image = has_items(place.item, "images") ? image_beside_others(place) : nullptr;
  if (image == nullptr || (*image)["kernels"].size() < 2) return false;
  Json& kernels = (*image)["kernels"];
  kernels.erase(place.random() % kernels.size());
  return true;
}

// A template argument that is another type under an architecture guard.
bool rename_kernel(Place& place) {
  Json* image = has_items(place.item, "images") ? image_beside_others(place) : nullptr;
  if (image == nullptr) return false;
  constexpr std::string_view types[] = {"N7cutlass6half_tE", "N7cutlass10bfloat16_tE",
                                        "13__nv_bfloat16", "f", "d"};
  for (Json& kernel : (*image)["kernels"]) {
    std::string name = text_of(kernel, "name");
    for (const std::string_view type : types) {
      const std::size_t at = name.find('I' + std::string(type));
      if (at != function_of(name).size()) continue;
      name.replace(at + 1, type.size(), "13accumulator_t");
      kernel["name"] = name;
      place.item["unregistered_kernels"].push_back(name);
      return true;
    }
  }
  return false;
}

bool empty_bodies_for(Place& place, unsigned device) {
  bool emptied = false;
  for (Json& image : place.item["images"]) {
    if (!is_machine_code(image) || capability(image) != device) continue;
    for (Json& kernel : image["kernels"]) {
      emptied = emptied || at(kernel, "writes") == true;
      kernel["instructions"] = 3;
      kernel["writes"] = false;
      kernel.erase("traps");
    }
  }
  return emptied;
}

// Everything below a guard that ends before the newest device.
bool empty_bodies(Place& place) {
  const std::vector<unsigned> devices = devices_of(place.item);
  if (devices.size() < 2 || devices.front() / 10 == devices.back() / 10) return false;
  return empty_bodies_for(place, devices.back());
}

// A guard that begins above the oldest device, without another branch.
bool empty_old_bodies(Place& place) {
  const std::vector<unsigned> devices = devices_of(place.item);
  return devices.size() >= 2 && empty_bodies_for(place, devices.front());
}

// Machine code and PTX for one architecture, which is what a compiler of that release makes.
bool build_for_default(Place& place) {
  Json images = Json::array();
  std::map<std::pair<Json, Json>, bool> seen;
  bool ptx = false;
  for (Json& image : place.item["images"]) {
    if (!is_machine_code(image) && !is_ptx(image)) continue;
    if (std::exchange(seen[{image["container"], image["kind"]}], true)) continue;
    ptx = ptx || is_ptx(image);
    images.push_back(image);
  }
  for (Json& image : images) {
    image["architecture"] = "sm_75";
    if (is_ptx(image)) image["version"] = "9.0";
  }
  place.item["images"] = std::move(images);
  return ptx && has_kernels(place.item);
}

std::string architecture(unsigned device) { return "sm_" + std::to_string(device); }

// One unit that was not built for a device of the fleet.
bool forget_device_in_unit(Place& place) {
  const std::vector<unsigned> devices = devices_of(place.item);
  if (devices.empty()) return false;
  const unsigned device = devices[place.random() % devices.size()];
  Json unit;
  for (const Json& image : place.item["images"]) {
    if (is_machine_code(image) && capability(image) == device) unit = image["container"];
  }
  bool left = false;
  erase_images(place.item, [&](const Json& image) {
    if (!in_unit(image, unit)) return false;
    const bool lost = serves(image, device);
    left = left || !lost;
    return lost;
  });
  place.beside["architectures"] = Json::array({architecture(device)});
  return left;
}

bool forget_declared_device(Place& place) {
  const std::vector<unsigned> devices = devices_of(place.item);
  if (devices.size() < 2) return false;
  const unsigned device = devices[place.random() % devices.size()];
  erase_images(place.item, [device](const Json& image) { return serves(image, device); });
  place.item["architectures"] = Json::array({architecture(device)});
  return has_kernels(place.item);
}

// A second library that is built for the first device alone, with a kernel from a header of both.
bool share_kernel(Place& place) {
  if (devices_of(place.item).size() < 2) return false;
  for (const Json& image : place.item["images"]) {
    if (!is_machine_code(image)) continue;
    const Json& kernel = image["kernels"][place.random() % image["kernels"].size()];
    // Of an anonymous namespace.
    if (at(kernel, "local") == true) continue;
    const Json stub = {{"name", kernel["name"]}, {"kind", "function"}, {"weak", true}};
    const std::string path = place.item["path"];
    const std::size_t slash = path.rfind('/') + 1;
    Json own = image;
    own["kernels"] = Json::array({kernel});
    place.added.push_back({{"path", path.substr(0, slash) + "libshared_kernels.so"},
                           {"format", "elf"},
                           {"needed", Json::array({path.substr(slash)})},
                           {"exports", Json::array({stub})},
                           {"images", Json::array({own})}});
    place.item["exports"].push_back(stub);
    return true;
  }
  return false;
}

// PTX, which alone serves the newest device here, for one function of a unit.
bool compile_one_function(Place& place) {
  const std::vector<unsigned> devices = devices_of(place.item);
  if (devices.size() < 2) return false;
  for (Json& image : place.item["images"]) {
    if (!is_ptx(image)) continue;
    const Json unit = image["container"];
    const bool elsewhere = std::any_of(
        place.item["images"].begin(), place.item["images"].end(), [&](const Json& other) {
          return is_machine_code(other) && other["container"] != unit &&
                 capability(other) == devices.back();
        });
    const std::string first = text_of(image["kernels"].front(), "name");
    Json kept = Json::array();
    for (const Json& kernel : image["kernels"]) {
      if (function_of(text_of(kernel, "name")) == function_of(first)) kept.push_back(kernel);
    }
    if (!elsewhere || kept.size() == image["kernels"].size()) continue;
    image["kernels"] = std::move(kept);
    image["architecture"] = architecture(devices.front());
    erase_images(place.item, [&](const Json& other) {
      return is_machine_code(other) && in_unit(other, unit) && capability(other) == devices.back();
    });
    return true;
  }
  return false;
}

}  // namespace

std::vector<Mistake> image_mistakes() {
  return {
      {"arch-kernel-missing-in-image", "a kernel inside an architecture guard", leave_kernel_out,
       table},
      {"arch-name-split", "a type that is another one under an architecture guard", rename_kernel,
       table},
      {"arch-hollow-body", "a guard that ends below the newest device", empty_bodies, table},
      {"arch-hollow-possible", "a guard that begins above the oldest device", empty_old_bodies,
       table},
      {"arch-default-only", "no architecture given to the compiler", build_for_default, table},
      {"arch-uncovered", "one unit not built for a device of the fleet", forget_device_in_unit,
       table},
      {"device-arch-missing", "an older build left in place", forget_declared_device, table},
      {"arch-duplicate-kernel", "a kernel of a header in a second library", share_kernel, table},
      {"arch-uneven", "PTX for one function of a unit", compile_one_function, table},
  };
}

}  // namespace opseal::test
