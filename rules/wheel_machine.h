#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "rules/library_groups.h"

namespace opseal {

// The machine that a tag of a wheel for Linux promises, in the words of `libraries[].machine`, or
// empty.
inline std::string_view tag_machine(std::string_view tag) {
  if (tag.find("linux") == tag.npos) return {};
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> machines = {
      {{"_x86_64", "x86-64"}, {"_aarch64", "aarch64"}}};
  for (const auto& [suffix, machine] : machines) {
    if (tag.ends_with(suffix)) return machine;
  }
  return {};
}

// The first library of a wheel none of whose libraries is for a machine that its tags promise, or
// nullptr. One that has such a library may well carry those of other processors as data.
inline const PlacedLibrary* on_wrong_machine(const LibraryGroup& wheel) {
  const Fact distribution = wheel.front().manifest[Key::distribution];
  if (!distribution[Key::kind].is("wheel") || distribution[Key::tags].size() == 0) return nullptr;
  const PlacedLibrary* wrong = nullptr;
  for (const PlacedLibrary& one : wheel) {
    if (!one.content[Key::format].is("elf")) continue;
    const Fact machine = one.content[Key::machine];
    if (!machine.is_text()) return nullptr;
    for (const Fact tag : distribution[Key::tags].items()) {
      const std::string_view promised = tag_machine(tag.text());
      if (promised.empty() || machine.is(promised)) return nullptr;
    }
    if (wrong == nullptr) wrong = &one;
  }
  return wrong;
}

}  // namespace opseal
