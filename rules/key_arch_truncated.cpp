#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opseal/rule.h"
#include "rules/cache_keys.h"

namespace opseal {
namespace {

// An architecture of a GPU in its shortest spelling: `90a` for `sm_90a`, `9.0a` and `compute_90a`,
// `gfx942` for `gfx942:xnack-`. Empty for anything else.
std::string short_architecture(std::string_view text) {
  std::string word = lower(text.substr(0, text.find(':')));
  for (const std::string_view prefix : {"sm_", "sm", "compute_", "cuda-", "cuda"}) {
    if (word.starts_with(prefix)) {
      word.erase(0, prefix.size());
      break;
    }
  }
  // `9.0`, `(9, 0)` and `9_0`.
  std::erase_if(word, [](char byte) {
    return std::string_view(" .,()[]_").find(byte) != std::string_view::npos;
  });
  const bool amd = word.starts_with("gfx");
  std::string_view digits = word;
  if (amd) digits.remove_prefix(3);
  if (!amd && (digits.ends_with('a') || digits.ends_with('f'))) digits.remove_suffix(1);
  if (digits.empty() || digits.size() > 4) return {};
  const std::string_view allowed = amd ? "0123456789abcdef" : "0123456789";
  if (digits.find_first_not_of(allowed) != digits.npos) return {};
  return word;
}

// A whole one, with the number of the generation and that within it.
bool is_whole(std::string_view architecture) {
  return architecture.size() > (architecture.starts_with("gfx") ? 5u : 1u);
}

// `held` is what is left of `whole` without its last digit, or without its suffix.
bool lost_from(std::string_view held, std::string_view whole) {
  return !held.empty() && held.size() < whole.size() && whole.starts_with(held);
}

// Architectures of the fleet: as they are, and each without its last digit.
class Fleet {
 public:
  Fleet(const Facts& facts, const Fact& manifest) {
    add(manifest[Key::architectures]);
    for (const Document& document : facts.documents) {
      if (document.settings) add(facts.root(document)[Key::architectures]);
    }
  }

  // The architecture whose minor number is missing from `held`, or nothing.
  Fact loses_minor(const std::string& held) const {
    if (held.empty() || whole_.contains(held)) return {};
    const auto found = without_minor_.find(held);
    return found == without_minor_.end() ? Fact() : found->second;
  }

 private:
  void add(const Fact& architectures) {
    for (const Fact written : architectures.items()) {
      std::string word = short_architecture(written.text());
      if (!is_whole(word)) continue;
      whole_.emplace(word, written);
      if (!word.starts_with("gfx") && (word.ends_with('a') || word.ends_with('f'))) word.pop_back();
      whole_.emplace(word, written);
      word.pop_back();
      without_minor_.emplace(word, written);
    }
  }

  std::unordered_map<std::string, Fact> whole_;
  std::unordered_map<std::string, Fact> without_minor_;
};

// Whether only the suffix is missing. That is no mix-up by itself, where a machine with one
// architecture is always built for with one suffix.
bool lost_suffix(std::string_view held, std::string_view whole) {
  return whole.starts_with(held) && whole.size() == held.size() + 1 &&
         (whole.ends_with('a') || whole.ends_with('f')) && !whole.starts_with("gfx");
}

// Two architectures for which the key holds the same. What holds a whole architecture itself is no
// mix-up: a binary for 8.0 runs on 8.6, and one for `100f` on 10.3.
bool check_equal(const Fact& cache, const Fact& values, Sink& sink) {
  std::unordered_map<Name, Fact> holder;
  for (const auto [name, held] : values.entries()) {
    const std::string whole = short_architecture(name.text());
    if (!is_whole(whole) || !held.is_text()) continue;
    const auto [other, fresh] = holder.emplace(held.name(), name);
    const std::string first = short_architecture(other->second.text());
    if (fresh || first == whole) continue;
    const std::string part = short_architecture(held.text());
    if (is_whole(part) && !lost_from(part, whole) && !lost_from(part, first)) continue;
    Finding& finding = sink.add(cache_subject(cache),
                                "key holds " + quote(held.text()) + " for " +
                                    quote(other->second.text()) + " and for " + quote(name.text()),
                                evidence(held, "held for one architecture" + key_site(cache)));
    finding.related.push_back(evidence(other->second, "another architecture"));
    return true;
  }
  return false;
}

// Several architectures and what the key holds for each. True when it was told.
bool check_values(const Fact& cache, const Fact& values, Sink& sink) {
  bool looked = false;
  for (const auto [name, held] : values.entries()) {
    looked = looked || (held.is_text() && is_whole(short_architecture(name.text())));
  }
  if (!looked) return false;
  sink.inspected();
  if (check_equal(cache, values, sink)) return true;
  for (const auto [name, held] : values.entries()) {
    const std::string whole = short_architecture(name.text());
    const std::string part = short_architecture(held.text());
    if (!is_whole(whole) || !lost_from(part, whole)) continue;
    Finding& finding = sink.add(cache_subject(cache),
                                "key holds " + quote(held.text()) + " for " + quote(name.text()),
                                evidence(held, "held for the architecture" + key_site(cache)));
    finding.related.push_back(evidence(name, "architecture that is built for"));
    if (lost_suffix(part, whole)) finding.severity = Severity::warning;
    return true;
  }
  return false;
}

// Of the architecture its first number alone, where the build isn't for all that have it.
bool check_major(const Fact& cache, Sink& sink) {
  Fact major;
  for (const Fact part : cache[Key::key_parts].items()) {
    if (!part[Key::input].is("architecture")) continue;
    if (!part[Key::form].is("major")) return false;
    if (!major) major = part;
  }
  if (!major || !all_read(cache[Key::key_parts])) return false;
  sink.inspected();
  bool for_all = false;
  for (const Fact read : cache[Key::reads].items()) {
    if (!read[Key::input].is("architecture")) continue;
    for_all = read[Key::form].is("major");
    if (!for_all) break;
  }
  if (for_all) return true;
  sink.add(cache_subject(cache),
           "key holds the major number of the architecture alone, expected the minor number too",
           evidence(major[Key::form], "what the key holds" + key_site(cache)));
  return true;
}

void check(const Facts& facts, Sink& sink) {
  std::vector<Fleet> fleet;
  std::uint32_t entered = 0;
  for_each_cache(facts, [&](const Fact& manifest, const Fact& cache) {
    if (check_major(cache, sink)) return;
    for (const Fact part : cache[Key::key_parts].items()) {
      if (!part[Key::input].is("architecture")) continue;
      if (part[Key::values].is_map()) {
        if (check_values(cache, part[Key::values], sink)) return;
        continue;
      }
      const Fact value = part[Key::value];
      const std::string held = short_architecture(value.text());
      if (held.empty()) continue;
      if (fleet.empty() || entered != manifest.index()) fleet = {Fleet(facts, manifest)};
      entered = manifest.index();
      sink.inspected();
      const Fact whole = fleet.front().loses_minor(held);
      if (!whole) continue;
      Finding& finding = sink.add(
          cache_subject(cache),
          "key holds " + quote(value.text()) + " for the architecture " + quote(whole.text()),
          evidence(value, "what stands in the key" + key_site(cache)));
      finding.related.push_back(evidence(whole, "architecture that is built for"));
      return;
    }
  });
}

}  // namespace

extern constinit const Rule key_arch_truncated{
    .id = "key-arch-truncated",
    .title = "cache key that holds only a part of the architecture",
    .rationale =
        "Code for one GPU architecture may not run on its sibling of the same generation, and code "
        "for `90a` doesn't run on anything else. With only the major number in the key, or without "
        "the suffix, a machine with another GPU is served what was built for the first: the load "
        "fails, or a kernel gives wrong numbers until the cache is wiped.",
    .example = R"({"name": "kernels", "key_parts": [{"name": "capability",)"
               R"( "input": "architecture", "values": {"sm_120": "12", "sm_121": "12"}}]})",
    .fix = "put the whole architecture into the key: major and minor number and the suffix",
    .severity = Severity::error,
    .inspects = "part of a cache key of which it is said what it holds for an architecture",
    .needs = {Key::caches, Key::key_parts},
    .check = check,
};

}  // namespace opseal
