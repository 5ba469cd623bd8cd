#include "rules/platform_tag.h"

#include <charconv>

namespace opseal {
namespace {

constexpr std::string_view manylinux = "manylinux_";

struct Named {
  std::string_view front;
  unsigned minor_version;
};
// All of glibc 2.
constexpr Named named[] = {{"manylinux1_", 5}, {"manylinux2010_", 12}, {"manylinux2014_", 17}};

}  // namespace

std::optional<unsigned> take_number(std::string_view& text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<PlatformTag> read_platform_tag(std::string_view platform) {
  for (const auto& [front, minor_version] : named) {
    if (platform.starts_with(front)) {
      return PlatformTag{manylinux, 2, minor_version, platform.substr(front.size())};
    }
  }
  for (const std::string_view family :
       {manylinux, std::string_view("musllinux_"), std::string_view("macosx_")}) {
    if (!platform.starts_with(family)) continue;
    std::string_view rest = platform.substr(family.size());
    const std::optional<unsigned> first = take_number(rest);
    if (!first || !rest.starts_with('_')) return std::nullopt;
    rest.remove_prefix(1);
    const std::optional<unsigned> second = take_number(rest);
    if (!second || !(rest.empty() || rest.starts_with('_'))) return std::nullopt;
    return PlatformTag{family, *first, *second, rest.substr(rest.empty() ? 0 : 1)};
  }
  return std::nullopt;
}

}  // namespace opseal
