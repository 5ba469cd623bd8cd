// What devices two builds of one library serve. Names of architectures are not compared by
// themselves: `sm_80` serves 8.6, and `sm_120f` serves 12.0.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "compare/change_list.h"
#include "compare/served_devices.h"
#include "opseal/text.h"
#include "rules/architectures.h"

namespace opseal {
namespace {

using enum Impact;

struct Code {
  Architecture architecture;
  bool machine_code = false;
  Fact image;
};

// The code of one build by its name in messages, such as "sm_90a" and "sm_90 as ptx".
struct Build {
  std::map<std::string, Code> cuda;
  // For devices of other makers, of which only the names are compared.
  std::map<std::string, Fact> others;
};

Build build_of(const Fact& library) {
  Build build;
  for (const Fact image : library[Key::images].items()) {
    const Fact architecture = image[Key::architecture];
    // What isn't linked yet runs nowhere, and an image without a kernel serves nobody.
    if (!architecture.is_text() || image[Key::relocatable].truth()) continue;
    if (image[Key::kernels].is_list() && image[Key::kernels].size() == 0) continue;
    const bool machine_code = image[Key::kind].is("sass");
    std::string name(architecture.text());
    if (!machine_code) name += " as " + std::string(image[Key::kind].text());
    const auto read = read_architecture(architecture.text());
    if (read && (machine_code || image[Key::kind].is("ptx"))) {
      build.cuda.emplace(std::move(name), Code{*read, machine_code, image});
    } else {
      build.others.emplace(std::move(name), image);
    }
  }
  return build;
}

DeviceService service(const Build& build, const Architecture& device) {
  DeviceService best = DeviceService::none;
  for (const auto& [name, code] : build.cuda)
    best = std::max(best, service_of(code.architecture, code.machine_code, device));
  return best;
}

std::vector<Architecture> devices_of(const Build& before, const Build& after) {
  std::vector<Architecture> built_for;
  for (const Build* build : {&before, &after}) {
    for (const auto& [name, code] : build->cuda) built_for.push_back(code.architecture);
  }
  return devices_with(built_for);
}

bool has(const std::vector<Architecture>& devices, const Architecture& code) {
  return std::find(devices.begin(), devices.end(), capability_of(code)) != devices.end();
}

// Names of `from` that `other` lacks, and whose devices weren't told. PTX serves so many that
// whatever was told is about it.
std::vector<std::string> only_in(const Build& from, const Build& other,
                                 const std::vector<Architecture>& told) {
  std::vector<std::string> names;
  for (const auto& [name, code] : from.cuda) {
    if (other.cuda.contains(name)) continue;
    if (code.machine_code ? !has(told, code.architecture) : told.empty()) names.push_back(name);
  }
  return names;
}

void compare_others(ChangeList& list, const std::string& subject, const Build& before,
                    const Build& after, const Fact& then, const Fact& now) {
  for (const auto& [name, image] : before.others) {
    if (!after.others.contains(name))
      list.add(breaking, "images", subject, "lost the code for " + quote(name),
               "devices that only it served have no kernels any more", image, now);
  }
  for (const auto& [name, image] : after.others) {
    if (!before.others.contains(name))
      list.add(additive, "images", subject, "gained code for " + quote(name),
               "more devices are served", then, image);
  }
}

}  // namespace

void compare_device_code(ChangeList& list, const std::string& subject, const Fact& before,
                         const Fact& after) {
  const Build old_build = build_of(before);
  const Build new_build = build_of(after);
  const Fact then = before[Key::images];
  const Fact now = after[Key::images];
  DeviceChanges changes;
  auto& [lost, slower, gained, quicker] = changes;
  for (const Architecture& device : devices_of(old_build, new_build)) {
    const DeviceService was = service(old_build, device);
    const DeviceService is = service(new_build, device);
    if (is < was) (is == DeviceService::none ? lost : slower).push_back(device);
    if (was < is) (was == DeviceService::none ? gained : quicker).push_back(device);
  }
  const auto tell = [&](Impact impact, const std::string& what,
                        const std::vector<Architecture>& devices, std::string_view meaning) {
    if (devices.empty()) return;
    list.add(impact, "images", subject, what + device_list(devices), meaning, then, now);
  };
  tell(breaking, "no code any more for ", lost, "kernels can't be launched on these devices");
  tell(speed, "only PTX is left for ", slower,
       "the driver compiles it when it is loaded, and has to be new enough to read it");
  tell(additive, "code for further devices: ", gained, "more devices are served");
  tell(additive, "machine code where only PTX was, for ", quicker,
       "nothing is compiled for these devices when it is loaded");
  compare_kernel_devices(list, subject, before, after, changes);
  lost.insert(lost.end(), slower.begin(), slower.end());
  gained.insert(gained.end(), quicker.begin(), quicker.end());
  const std::vector<std::string> gone = only_in(old_build, new_build, lost);
  const std::vector<std::string> come = only_in(new_build, old_build, gained);
  if (!gone.empty()) {
    list.add(speed, "images", subject,
             "without " + quote_list(gone) + (come.empty() ? "" : ", with " + quote_list(come)),
             "other code serves these devices, which may be slower", then, now);
  } else if (!come.empty()) {
    list.add(additive, "images", subject, "further code: " + quote_list(come),
             "devices that were served by other code get their own", then, now);
  }
  compare_others(list, subject, old_build, new_build, then, now);
}

}  // namespace opseal
