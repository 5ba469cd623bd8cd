#include "rules/kernel_key.h"

#include <bit>

#include "opseal/digest.h"
#include "opseal/registration.h"

namespace opseal {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 29);
}

bool selects(Key key) {
  switch (key) {
    case Key::dtypes:
    case Key::signatures:
    case Key::versions:
    case Key::type_constraints:
    case Key::params:
    case Key::priority:
    case Key::semantics:
    case Key::source:
    case Key::capabilities:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::uint64_t hash_of(const Fact& fact) {
  if (!fact.said()) return 0;
  const Facts& facts = fact.facts();
  const std::uint32_t end = fact.index() + extent(fact.node());
  std::uint64_t hash = 1;
  for (std::uint32_t index = fact.index(); index < end; ++index) {
    const Node& node = facts.nodes[index];
    hash = mix(hash,
               static_cast<std::uint64_t>(node.type) << 16 | static_cast<std::uint64_t>(node.key));
    hash = mix(hash, node.type == NodeType::real
                         ? std::bit_cast<std::uint64_t>(facts.reals[node.value])
                         : node.value);
  }
  return hash;
}

std::uint64_t selection_of(const Fact& kernel) {
  std::uint64_t hash = 0;
  for (const Fact member : kernel.items()) {
    // A sum, since members may stand in any order.
    if (selects(member.key())) hash += hash_of(member);
  }
  return hash;
}

std::uint64_t kernel_key(const Fact& kernel, PlatformNames& names) {
  const std::uint64_t platform = hash_text(names.of(kernel[Key::platform]).name);
  return mix(mix(selection_of(kernel), platform), kernel[Key::backend].name());
}

bool kernels_known(const Fact& op) { return all_read(op[Key::kernels]); }

bool same_site(const Fact& a, const Fact& b) {
  const Fact first = a[Key::location];
  const Fact second = b[Key::location];
  if (!first[Key::file].is_text() || !first[Key::line].is_count()) return false;
  return first[Key::file].name() == second[Key::file].name() && second[Key::line].is_count() &&
         first[Key::line].count() == second[Key::line].count();
}

}  // namespace opseal
