#include "rules/architectures.h"

#include <algorithm>
#include <charconv>

#include "opseal/ascii.h"
#include "opseal/text.h"
#include "rules/fleet_words.h"

namespace opseal {
namespace {

constexpr std::size_t most_members = 64;

// Takes the longest number of at most `most` digits off the front. -1: none, or a longer one.
int take_number(std::string_view& text, std::size_t most) {
  std::size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  if (digits == 0 || digits > most) return -1;
  int number = 0;
  std::from_chars(text.data(), text.data() + digits, number);
  text.remove_prefix(digits);
  return number;
}

std::string_view without_prefix(std::string_view text) {
  for (const std::string_view prefix : {"sm_", "compute_", "lto_", "sm", "compute"}) {
    if (text.starts_with(prefix)) return text.substr(prefix.size());
  }
  return text;
}

// PTX ISA -> CUDA release, from the release history of NVIDIA's "Parallel Thread Execution ISA".
struct PtxRelease {
  std::string_view isa;
  std::string_view cuda;
};
constexpr PtxRelease ptx_releases[] = {
    {"4.0", "6.0"},  {"4.1", "6.5"},  {"4.2", "7.0"},  {"4.3", "7.5"},  {"5.0", "8.0"},
    {"6.0", "9.0"},  {"6.1", "9.1"},  {"6.2", "9.2"},  {"6.3", "10.0"}, {"6.4", "10.1"},
    {"6.5", "10.2"}, {"7.0", "11.0"}, {"7.1", "11.1"}, {"7.2", "11.2"}, {"7.3", "11.3"},
    {"7.4", "11.4"}, {"7.5", "11.5"}, {"7.6", "11.6"}, {"7.7", "11.7"}, {"7.8", "11.8"},
    {"8.0", "12.0"}, {"8.1", "12.1"}, {"8.2", "12.2"}, {"8.3", "12.3"}, {"8.4", "12.4"},
    {"8.5", "12.5"}, {"8.6", "12.7"}, {"8.7", "12.8"}, {"8.8", "12.9"}, {"9.0", "13.0"},
    {"9.1", "13.1"}, {"9.2", "13.2"}, {"9.3", "13.3"}, {"9.4", "13.4"}, {"9.5", "13.5"},
};

}  // namespace

std::optional<Architecture> read_architecture(std::string_view word) {
  if (word.size() > 32) return std::nullopt;
  const std::string lowered = lower(word);
  std::string_view text = without_prefix(lowered);
  // How builds ask for one kind of code; the architecture is the same.
  for (const std::string_view ending : {"+ptx", "-real", "-virtual"}) {
    if (text.ends_with(ending)) text.remove_suffix(ending.size());
  }
  Architecture architecture;
  const int number = take_number(text, 3);
  if (number < 0) return std::nullopt;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const int minor = take_number(text, 1);
    if (minor < 0 || number == 0 || number >= 100) return std::nullopt;
    architecture.major = static_cast<std::uint16_t>(number);
    architecture.minor = static_cast<std::uint16_t>(minor);
  } else {
    if (number < 10) return std::nullopt;
    architecture.major = static_cast<std::uint16_t>(number / 10);
    architecture.minor = static_cast<std::uint16_t>(number % 10);
  }
  if (text == "a") {
    architecture.scope = Architecture::Scope::exact;
  } else if (text == "f") {
    architecture.scope = Architecture::Scope::family;
  } else if (!text.empty()) {
    return std::nullopt;
  }
  return architecture;
}

std::string to_text(const Architecture& architecture) {
  std::string text = "sm_" + std::to_string(architecture.number());
  if (architecture.scope == Architecture::Scope::exact) text += 'a';
  if (architecture.scope == Architecture::Scope::family) text += 'f';
  return text;
}

std::string to_text(const std::vector<Architecture>& architectures) {
  std::vector<std::string> words;
  for (const Architecture& architecture : architectures) words.push_back(to_text(architecture));
  return quote_list(words, 12);
}

// NVIDIA's list "CUDA GPU Compute Capability", column Jetson; 3.2 is Jetson TK1, 10.1 the name that
// 11.0 (Thor) had before CUDA 13.
bool is_embedded(const Architecture& architecture) {
  switch (architecture.number()) {
    case 32:
    case 53:
    case 62:
    case 72:
    case 87:
    case 101:
    case 110:
      return true;
    default:
      return false;
  }
}

bool machine_code_runs(const Architecture& code, const Architecture& device) {
  if (code.major != device.major || code.minor > device.minor) return false;
  if (code.minor == device.minor) return true;
  if (code.scope == Architecture::Scope::exact) return false;
  return !is_embedded(code) && !is_embedded(device);
}

bool ptx_compiles(const Architecture& ptx, const Architecture& device) {
  switch (ptx.scope) {
    case Architecture::Scope::plain:
      return ptx.number() <= device.number();
    case Architecture::Scope::family:
    case Architecture::Scope::exact:
      break;
  }
  return machine_code_runs(ptx, device);
}

std::string_view release_for_ptx(std::string_view isa_version) {
  const auto found =
      std::find_if(std::begin(ptx_releases), std::end(ptx_releases),
                   [&](const PtxRelease& release) { return release.isa == isa_version; });
  return found == std::end(ptx_releases) ? std::string_view{} : found->cuda;
}

std::vector<FleetMember> fleet_of(const Facts& facts, const Fact& manifest) {
  std::vector<FleetMember> fleet;
  const auto add = [&fleet](const Fact& list) {
    for (const Fact stated : list.items()) {
      for (const std::string_view word : fleet_words(stated.text())) {
        const std::optional<Architecture> read = read_architecture(word);
        if (!read || fleet.size() >= most_members) continue;
        const Architecture device = capability_of(*read);
        const bool known =
            std::any_of(fleet.begin(), fleet.end(),
                        [&device](const FleetMember& member) { return member.device == device; });
        if (!known) fleet.push_back({device, stated});
      }
    }
  };
  add(manifest[Key::architectures]);
  for (const Document& document : facts.documents) {
    if (document.settings) add(facts.root(document)[Key::architectures]);
  }
  return fleet;
}

}  // namespace opseal
