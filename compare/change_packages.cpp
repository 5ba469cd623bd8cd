// What two packages promise by their tags. One release of a wheel has a file for each system and
// mostly for each interpreter: that another file was given is no change of the release, and so
// interpreters are compared only where one file serves many of them.

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compare/change_list.h"
#include "opseal/registration.h"
#include "opseal/text.h"
#include "rules/platform_tag.h"

namespace opseal {
namespace {

using enum Impact;

using Version = std::array<unsigned, 2>;

// The part of a platform that has no version, and the least version that the wheel runs on:
// `manylinux_x86_64` from 2.17 on, `macosx_arm64` from 11.0 on, `win_amd64`, `any`.
struct Promise {
  std::string system;
  Version version{};
};

std::optional<unsigned> number_of(std::string_view text) {
  unsigned number = 0;
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || behind != end) return std::nullopt;
  return number;
}

Promise promise_of(std::string_view platform) {
  const std::optional<PlatformTag> tag = read_platform_tag(platform);
  if (!tag || tag->machine.empty()) return {std::string(platform), {}};
  return {std::string(tag->family) + std::string(tag->machine),
          {tag->major_version, tag->minor_version}};
}

// How many interpreters one file serves, in rising order.
enum class Reach : std::uint8_t { one, stable, any };

struct Tags {
  // System -> the least version, and the tag that says it.
  std::map<std::string, std::pair<Version, std::string>> systems;
  Reach reach = Reach::one;
  // The interpreter from which on the stable interface is served: 310.
  unsigned since = 0;
  // All were understood.
  bool read = true;
};

Tags tags_of(const Fact& list) {
  Tags tags;
  for (const std::string& text : texts_of(list)) {
    const std::size_t platform = text.rfind('-');
    const std::size_t abi =
        platform == 0 || platform == text.npos ? text.npos : text.rfind('-', platform - 1);
    if (abi == text.npos) {
      tags.read = false;
      return tags;
    }
    const Promise promise = promise_of(std::string_view(text).substr(platform + 1));
    const auto known = tags.systems.find(promise.system);
    if (known == tags.systems.end() || promise.version < known->second.first)
      tags.systems[promise.system] = {promise.version, text};
    const std::string_view interface = std::string_view(text).substr(abi + 1, platform - abi - 1);
    if (interface == "none") tags.reach = Reach::any;
    if (interface != "abi3" || tags.reach == Reach::any) continue;
    const auto since =
        number_of(std::string_view(text).substr(2, abi - std::min<std::size_t>(abi, 2)));
    if (!since) continue;
    tags.since = tags.reach == Reach::stable ? std::min(tags.since, *since) : *since;
    tags.reach = Reach::stable;
  }
  tags.read = tags.read && !tags.systems.empty();
  return tags;
}

std::string to_text(Version version) {
  return std::to_string(version[0]) + '.' + std::to_string(version[1]);
}

class PackageChanges {
 public:
  PackageChanges(ChangeList& list, const LibrarySet& before, const LibrarySet& after)
      : list_(list),
        subject_(subject_of(after)),
        then_(before.distribution()[Key::tags]),
        now_(after.distribution()[Key::tags]) {}

  void compare() {
    const Tags then = tags_of(then_);
    const Tags now = tags_of(now_);
    if (!then.read || !now.read) return compare_words();
    compare_systems(then, now);
    compare_reach(then, now);
  }

 private:
  void tell(Impact impact, std::string message, std::string_view meaning) {
    list_.add(impact, "package-tags", subject_, std::move(message), meaning, then_, now_);
  }

  void compare_words() {
    const std::vector<std::string> then = texts_of(then_);
    const std::vector<std::string> now = texts_of(now_);
    const auto same = [](const auto& a, const auto& b) {
      return std::set<std::string>(a.begin(), a.end()) == std::set<std::string>(b.begin(), b.end());
    };
    if (same(then, now)) return;
    const bool fewer = std::any_of(then.begin(), then.end(), [&now](const std::string& tag) {
      return std::find(now.begin(), now.end(), tag) == now.end();
    });
    tell(fewer ? breaking : additive, "`tags` " + difference_text(then_, now_),
         fewer ? "installers find nothing for what was lost" : "more systems are served");
  }

  void compare_systems(const Tags& then, const Tags& now) {
    const bool was_any = then.systems.contains("any");
    const bool is_any = now.systems.contains("any");
    for (const auto& [system, was] : then.systems) {
      const auto is = now.systems.find(system);
      // A plain `linux` tag promises nothing, and no index takes it.
      if (is == now.systems.end() && !is_any && !system.starts_with("linux_")) {
        tell(breaking, "is no longer for " + quote(system), "installers there find no wheel");
      } else if (is != now.systems.end() && is->second.first != was.first) {
        const bool newer = is->second.first > was.first;
        tell(newer ? breaking : additive,
             "is for " + quote(system) + " from " + to_text(is->second.first) +
                 " on, before from " + to_text(was.first) + " on",
             newer ? "installers on older systems find no wheel" : "older systems are served, too");
      }
    }
    for (const auto& [system, is] : now.systems) {
      if (then.systems.contains(system) || was_any || system.starts_with("linux_")) continue;
      tell(additive, "is for " + quote(system) + ", too", "more systems are served");
    }
  }

  void compare_reach(const Tags& then, const Tags& now) {
    constexpr std::array<std::string_view, 3> words = {"one interpreter", "the stable interface",
                                                       "any interpreter"};
    if (then.reach != now.reach) {
      const bool fewer = now.reach < then.reach;
      tell(fewer ? breaking : additive,
           "is for " + std::string(words[static_cast<std::size_t>(now.reach)]) + ", before for " +
               std::string(words[static_cast<std::size_t>(then.reach)]),
           fewer ? "interpreters without a wheel of their own find none"
                 : "one file serves more interpreters");
    } else if (then.reach == Reach::stable && then.since != now.since) {
      const bool newer = now.since > then.since;
      tell(newer ? breaking : additive,
           "is for interpreters from `cp" + std::to_string(now.since) + "` on, before from `cp" +
               std::to_string(then.since) + "` on",
           newer ? "older interpreters find no wheel" : "older interpreters are served, too");
    }
  }

  ChangeList& list_;
  const std::string subject_;
  const Fact then_;
  const Fact now_;
};

}  // namespace

void compare_packages(ChangeList& list, const LibrarySet& before, const LibrarySet& after) {
  if (!before.distribution().is_object() || !after.distribution().is_object()) return;
  if (!list.both(before.distribution(), after.distribution(), Key::tags)) return;
  PackageChanges(list, before, after).compare();
}

}  // namespace opseal
