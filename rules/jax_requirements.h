#pragma once

#include <algorithm>
#include <optional>
#include <string_view>

#include "rules/xla_versions.h"

namespace opseal {

// `jax`, `jaxlib`: one release of the one goes with the same of the other.
inline bool is_jax(std::string_view package) { return package == "jaxlib" || package == "jax"; }

// What a package asks of jax: `jax<0.9.0,>=0.5.0`, `jaxlib (>=0.4.38)`.
struct JaxRequirement {
  std::string_view name;
  // The oldest release that is let in.
  Release oldest{};
  // `==`: no other is.
  bool exact = false;
  // The first release that is let in no more; nothing where there is no bound.
  std::optional<Release> end;
};

// Nothing for other packages, for what only an extra asks for, and without an oldest release.
inline std::optional<JaxRequirement> read_jax_requirement(std::string_view requirement) {
  // What an extra asks for is not asked of everybody.
  if (requirement.find("extra") != requirement.npos) return std::nullopt;
  const std::string_view text = requirement.substr(0, requirement.find(';'));
  JaxRequirement read;
  read.name = text.substr(0, std::min(text.size(), text.find_first_of(" (<>=~![,")));
  if (!is_jax(read.name)) return std::nullopt;
  const auto release_after = [text](std::string_view sign) -> std::optional<Release> {
    const std::size_t at = text.find(sign);
    if (at == text.npos) return std::nullopt;
    std::string_view number = text.substr(at + sign.size());
    // `<` stands in `<=`, too.
    if (!number.empty() && number[0] == '=') number.remove_prefix(1);
    while (!number.empty() && number[0] == ' ') number.remove_prefix(1);
    return read_release(number);
  };
  for (const std::string_view sign : {">=", "==", "~="}) {
    const std::optional<Release> release = release_after(sign);
    if (text.find(sign) == text.npos) continue;
    if (!release) return std::nullopt;
    read.oldest = *release;
    read.exact = sign == "==";
    read.end = release_after("<");
    if (read.end && text.find("<=") != text.npos) ++(*read.end)[2];
    return read;
  }
  return std::nullopt;
}

}  // namespace opseal
