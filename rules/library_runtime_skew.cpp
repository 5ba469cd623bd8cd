#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/libraries_by_name.h"
#include "rules/library_groups.h"
#include "rules/library_variants.h"
#include "rules/symbol_abi.h"
#include "rules/system_libraries.h"

namespace opseal {
namespace {

// Pairs of libraries that are held against each other before the rest is taken to be alike.
constexpr std::size_t most_pairs = 4096;

// Runtimes that keep the state of a device or of a framework: two versions in one process don't
// know of each other's memory, streams and registrations.
bool is_runtime(std::string_view family) {
  constexpr std::array<std::string_view, 6> families = {
      "libcudart.so", "libamdhip64.so", "libtensorflow_framework.so",
      "libmusart.so", "libsycl.so",     "libascendcl.so"};
  return std::find(families.begin(), families.end(), family) != families.end();
}

// `12` of `libcudart.so.12.0`; CUDA 11 put the minor number into the name.
std::string_view major_of(std::string_view soname) {
  const std::string_view version = soname_version(soname);
  return version.substr(0, version.find('.'));
}

// The path says which runtime it is for: one of several builds, though the others may not be here.
bool names_its_runtime(const PlacedLibrary& one) {
  const std::string path = lower(one.path());
  for (const std::string_view word : {"cuda", "cu", "rocm", "hip", "sycl", "musa", "tf"}) {
    for (std::size_t at = path.find(word); at != path.npos; at = path.find(word, at + 1)) {
      const std::size_t end = at + word.size();
      const bool letter_before = at > 0 && path[at - 1] >= 'a' && path[at - 1] <= 'z';
      if (!letter_before && end < path.size() && path[end] >= '0' && path[end] <= '9') return true;
    }
  }
  return false;
}

struct User {
  const PlacedLibrary* library = nullptr;
  Fact fact;
};

using Versions = std::map<std::string, std::vector<User>>;

class SkewCheck {
 public:
  explicit SkewCheck(Sink& sink) : sink_(sink) {}

  void judge(const LibraryGroup& group) {
    std::map<std::string_view, Versions> families;
    Versions forms;
    stems_.clear();
    const LibrariesByName together(group);
    for (const PlacedLibrary& one : group) ++stems_[variant_stem(one.path())];
    for (const PlacedLibrary& one : group) {
      for (const Fact need : one.content[Key::needed].items()) {
        const std::string_view family = soname_family(need.text());
        if (!is_runtime(family) || major_of(need.text()).empty()) continue;
        sink_.inspected();
        families[family][std::string(major_of(need.text()))].push_back({&one, need});
      }
      if (const Fact symbol = torch_string(one.content); symbol.said()) {
        sink_.inspected();
        forms[has_new_string(symbol[Key::name].text()) ? "new" : "old"].push_back({&one, symbol});
      }
    }
    for (const auto& [family, versions] : families) {
      compare(
          versions,
          [&together](const PlacedLibrary& a, const PlacedLibrary& b) {
            return is_one_part(a, b) || reaches(a, b, together) || reaches(b, a, together);
          },
          [](const User& user) { return quote(user.fact.text()); });
    }
    // There is one torch, so that one of the two works with none that may be installed.
    compare(
        forms, [](const PlacedLibrary&, const PlacedLibrary&) { return true; },
        [](const User& user) {
          return "a torch with the " +
                 std::string(has_new_string(user.fact[Key::name].text()) ? "new" : "old") +
                 " form of `std::string`";
        });
  }

 private:
  // An import from torch that shows the form of strings, if all of them show one.
  static Fact torch_string(const Fact& content) {
    Fact newer;
    Fact older;
    for (const Fact symbol : content[Key::imports].items()) {
      const std::string_view name = symbol[Key::name].text();
      if (!is_torch_symbol(name)) continue;
      if (!newer.said() && has_new_string(name)) newer = symbol;
      if (!older.said() && has_old_string(name)) older = symbol;
    }
    if (newer.said() && older.said()) return {};
    return newer.said() ? newer : older;
  }

  static std::string_view folder_of(const PlacedLibrary& one) {
    const std::size_t slash = one.path().rfind('/');
    return slash == std::string_view::npos ? std::string_view() : one.path().substr(0, slash);
  }

  // Below a directory such as that of all Python packages lie parts that have nothing to do with
  // each other: frameworks for two runtimes are installed side by side, and work.
  static bool is_one_part(const PlacedLibrary& a, const PlacedLibrary& b) {
    return a.manifest == b.manifest || folder_of(a) == folder_of(b);
  }

  // Whether the loader puts `to` beside `from`, for what that one needs.
  static bool reaches(const PlacedLibrary& from, const PlacedLibrary& to,
                      const LibrariesByName& together) {
    std::vector<const PlacedLibrary*> waiting = {&from};
    std::unordered_set<const PlacedLibrary*> seen = {&from};
    while (!waiting.empty()) {
      const PlacedLibrary& one = *waiting.back();
      waiting.pop_back();
      if (&one == &to) return true;
      for (const Fact needed : one.content[Key::needed].items()) {
        for (const PlacedLibrary* next : together.named(needed.text())) {
          if (seen.insert(next).second) waiting.push_back(next);
        }
      }
    }
    return false;
  }

  // One finding for the first two that `may_meet` and would be loaded together.
  template <typename MayMeet, typename Describe>
  void compare(const Versions& versions, MayMeet may_meet, Describe describe) {
    std::size_t pairs = 0;
    for (auto one = versions.begin(); one != versions.end(); ++one) {
      for (auto other = std::next(one); other != versions.end(); ++other) {
        for (const User& a : one->second) {
          for (const User& b : other->second) {
            if (++pairs > most_pairs) return;
            if (!may_meet(*a.library, *b.library)) continue;
            if (!loaded_together(*a.library, *b.library)) continue;
            Finding& finding =
                sink_.add("library " + std::string(b.library->path()),
                          "needs " + describe(b) + ", " + quote(base_name_of(*a.library)) +
                              " beside it needs " + describe(a),
                          evidence(b.fact, "needed here"));
            finding.related.push_back(evidence(a.fact, "needed here"));
            return;
          }
        }
      }
    }
  }

  bool loaded_together(const PlacedLibrary& a, const PlacedLibrary& b) {
    // Of several builds the one that fits is chosen.
    if (is_one_of_several(a) || is_one_of_several(b)) return false;
    return !variants_.alternatives(a.content, a.path(), b.content, b.path());
  }

  bool is_one_of_several(const PlacedLibrary& one) const {
    const auto stem = stems_.find(variant_stem(one.path()));
    return names_its_runtime(one) || (stem != stems_.end() && stem->second > 1);
  }

  static std::string_view base_name_of(const PlacedLibrary& one) {
    const std::size_t slash = one.path().rfind('/');
    return slash == std::string_view::npos ? one.path() : one.path().substr(slash + 1);
  }

  Sink& sink_;
  LibraryVariants variants_;
  // Libraries of the group at hand.
  std::map<std::string, std::size_t> stems_;
};

void check(const Facts& facts, Sink& sink) {
  const LibraryFacts libraries(facts);
  SkewCheck skew(sink);
  for (const LibraryGroup& group : library_groups(libraries)) skew.judge(group);
}

}  // namespace

extern constinit const Rule library_runtime_skew{
    .id = "library-runtime-skew",
    .title = "libraries of one package that need different builds of a runtime",
    .rationale =
        "Two libraries that are loaded into one process bring in two versions of the same runtime, "
        "or need two builds of a framework of which a process can hold one. At best one of the two "
        "fails to load. At worst both load, and memory, streams and registrations of the one are "
        "unknown to the other.",
    .example =
        R"({"opseal_manifest": 1, "libraries": [{"path": "liba.so", "needed": ["libcudart.so.12"]},)"
        R"( {"path": "libb.so", "needed": ["libcudart.so.13"]}]})",
    .fix = "build all libraries of the package against one version",
    .severity = Severity::error,
    .tier = Tier::bytes,
    .inspects = "need of a device runtime or framework build by a library",
    .needs = {Key::libraries},
    .reads = {Key::imports, Key::needed},
    .check = check,
};

}  // namespace opseal
