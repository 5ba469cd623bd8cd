#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "opseal/paths.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/libraries_by_name.h"
#include "rules/library_reach.h"
#include "rules/library_variants.h"
#include "rules/search_paths.h"
#include "rules/string_forms.h"
#include "rules/symbol_needs.h"
#include "rules/system_libraries.h"
#include "rules/version_needs.h"

namespace opseal {
namespace {

// A missing library is told once, with so many of those that need it.
constexpr std::size_t most_shown = 8;

struct Needer {
  const PlacedLibrary* library = nullptr;
  Fact need;
};

class NeedsCheck {
 public:
  NeedsCheck(const LibraryGroup& group, Sink& sink)
      : group_(group),
        distribution_(group.front().manifest[Key::distribution]),
        base_(platform_base(distribution_)),
        together_(group),
        sink_(sink) {
    for (const PlacedLibrary& one : group) {
      stems_[backend_stem(one.path())].push_back(&one);
      for (const Fact need : one.content[Key::needed].items()) {
        versions_[peers_of(one, need.text())].insert(need.name());
        needed_.insert(need.text());
      }
    }
  }

  void run() {
    std::map<std::string_view, std::vector<Needer>> missing;
    for (const PlacedLibrary& one : group_) {
      for (const Fact need : one.content[Key::needed].items()) {
        if (need.is_text() && is_missing(one, need)) missing[need.text()].push_back({&one, need});
      }
    }
    if (base_ == PlatformBase::musllinux) report_other_c_library(missing);
    for (const auto& [soname, needers] : missing) report(soname, needers);
  }

  // The system, or somebody whom the package asks for, may well provide it.
  bool may_come_from_elsewhere(const PlacedLibrary& one, std::string_view soname) const {
    return is_base_library(base_, soname) || is_elsewhere(one, soname);
  }

 private:
  // Also counts what could be judged.
  bool is_missing(const PlacedLibrary& one, const Fact& need) {
    const std::string_view soname = need.text();
    std::string_view there;
    const bool present = !together_.named(soname).empty();
    const bool promised = base_ != PlatformBase::none;
    if (!promised && !present) {
      // Without a tag anything may be installed; but who ships another version means this one.
      if (distribution_.is_object() && !distribution_[Key::kind].is("wheel")) return false;
      if (together_.other_version(soname, there) == nullptr) return false;
    }
    sink_.inspected();
    if (present || is_base_library(base_, soname)) return false;
    if (promised ? is_elsewhere(one, soname) : is_framework_library(soname)) return false;
    return !is_optional(one, soname);
  }

  // Whether somebody else may well provide it.
  bool is_elsewhere(const PlacedLibrary& one, std::string_view soname) const {
    if (is_framework_library(soname)) return true;
    if (soname == "libgomp.so.1" && needs_torch(one)) return true;
    for (const Fact requirement : distribution_[Key::requires_].items()) {
      if (may_bring(requirement.text(), soname)) return true;
      // Another part of the same release: the library may have any name.
      if (asks_for_version(requirement.text(), distribution_[Key::version].text())) return true;
    }
    for (const Fact name : distribution_[Key::loads].items()) {
      if (file_name_of(name.text()) == soname) return true;
    }
    for (const Key key : {Key::rpath, Key::run_path}) {
      for (const Fact entry : one.content[key].items()) {
        const std::string_view path = entry.text();
        // A place where somebody installs it on purpose.
        if (path.starts_with("/opt/") || path.starts_with("/usr/")) return true;
        // Where this package has nothing, another one puts its libraries.
        const std::string folder = search_folder(one.path(), path);
        if (!folder.empty() && !together_.has_folder(folder) &&
            !is_framework_library("lib" + folder)) {
          return true;
        }
      }
    }
    return false;
  }

  // Whoever loads it has loaded torch before, whether the package asks for it or not, and the
  // runtime of OpenMP that torch's wheels carry keeps its soname.
  static bool needs_torch(const PlacedLibrary& one) {
    for (const Fact need : one.content[Key::needed].items()) {
      if (need.text().starts_with("libtorch") || need.text().starts_with("libc10")) return true;
    }
    return false;
  }

  // Libraries whose names differ in numbers only, and what they need, whatever its version.
  static std::string peers_of(const PlacedLibrary& one, std::string_view soname) {
    return numberless_stem(one.path()) + '\0' + std::string(soname_family(soname));
  }

  // One of several builds, of which another does without it or takes another version of it: then it
  // is chosen only where it works.
  bool is_optional(const PlacedLibrary& one, std::string_view soname) const {
    const auto versions = versions_.find(peers_of(one, soname));
    if (versions != versions_.end() && versions->second.size() > 1) return true;
    const auto stem = stems_.find(backend_stem(one.path()));
    if (stem == stems_.end() || stem->second.size() < 2) return false;
    return std::any_of(stem->second.begin(), stem->second.end(), [&](const PlacedLibrary* other) {
      const Fact needed = other->content[Key::needed];
      return other != &one && all_read(needed) && !list_has(needed, soname);
    });
  }

  // A part that Python neither imports nor another library needs: it is loaded by its path, when
  // somebody asks for what it does, and the rest works without it.
  bool is_loaded_on_demand(const PlacedLibrary& one) const {
    const Fact soname = one.content[Key::soname];
    if (one.content[Key::imported_by].size() > 0) return false;
    if (needed_.contains(soname.text()) || needed_.contains(file_name_of(one.path()))) return false;
    for (const Fact symbol : one.content[Key::exports].items()) {
      if (symbol[Key::name].text().starts_with("PyInit_")) return false;
    }
    return one.content[Key::exports].is_list();
  }

  // Built for the other C library as a whole: one finding for all of its parts, which nobody can
  // pack.
  void report_other_c_library(std::map<std::string_view, std::vector<Needer>>& missing) {
    constexpr std::string_view parts[] = {"libc.so.6",     "libm.so.6",       "libdl.so.2",
                                          "librt.so.1",    "libpthread.so.0", "libutil.so.1",
                                          "libresolv.so.2"};
    std::vector<const PlacedLibrary*> libraries;
    std::vector<Needer> needers;
    for (const std::string_view part : parts) {
      const auto found = missing.find(part);
      if (found == missing.end()) continue;
      for (const Needer& needer : found->second) {
        if (std::find(libraries.begin(), libraries.end(), needer.library) != libraries.end())
          continue;
        libraries.push_back(needer.library);
        needers.push_back(needer);
      }
      missing.erase(found);
    }
    if (needers.empty()) return;
    std::string message = "is built for the GNU C library (needs " +
                          quote(needers.front().need.text()) + "), and " +
                          quote(platform_tag(distribution_)) + " promises to run with musl";
    add_others(message, needers);
    Finding& finding = sink_.add("library " + std::string(needers.front().library->path()),
                                 std::move(message), evidence(needers.front().need, "needed here"));
    finding.related.push_back(evidence(distribution_[Key::tags], "what the package promises"));
    finding.fix = "build it in an image of the platform tag, or tag the wheel `manylinux`";
  }

  // Copies in the package are files of their own.
  static void add_others(std::string& message, const std::vector<Needer>& needers) {
    std::size_t others = needers.size() - 1;
    for (const Needer& needer : needers) others += needer.library->content[Key::aliases].size();
    if (others == 1) message += "; so does another library";
    if (others > 1) message += "; so do " + std::to_string(others) + " other libraries";
  }

  void report(std::string_view soname, const std::vector<Needer>& needers) {
    std::string_view there;
    const PlacedLibrary* other = together_.other_version(soname, there);
    std::string message = "needs " + quote(soname);
    if (other != nullptr) {
      message += distribution_.is_object() ? ", the package holds " : ", beside it lies ";
      message += quote(there);
    } else {
      message +=
          ", which neither the package nor " + quote(platform_tag(distribution_)) + " provides";
    }
    add_others(message, needers);
    const Needer& first = needers.front();
    Finding& finding = sink_.add("library " + std::string(first.library->path()),
                                 std::move(message), evidence(first.need, "needed here"));
    if (other != nullptr) {
      finding.related.push_back(evidence(other->library[Key::path], "another version of it"));
    } else if (distribution_[Key::tags].said()) {
      finding.related.push_back(evidence(distribution_[Key::tags], "what the package promises"));
    }
    for (std::size_t i = 1; i < needers.size() && i < most_shown; ++i) {
      finding.related.push_back(evidence(needers[i].need, "needed here, too"));
    }
    const bool on_demand = needers.size() < group_.size() &&
                           std::all_of(needers.begin(), needers.end(), [this](const Needer& one) {
                             return is_loaded_on_demand(*one.library);
                           });
    if (on_demand) finding.severity = Severity::warning;
    if (other != nullptr) {
      finding.fix = "build it against the version that is shipped, or ship the one that it needs";
    }
  }

  const LibraryGroup& group_;
  Fact distribution_;
  PlatformBase base_;
  LibrariesByName together_;
  Sink& sink_;
  std::unordered_map<std::string, std::vector<const PlacedLibrary*>> stems_;
  std::unordered_set<std::string_view> needed_;
  // By `peers_of`: the names of all versions that are needed.
  std::unordered_map<std::string, std::unordered_set<Name>> versions_;
};

void check(const Facts& facts, Sink& sink) {
  const LibraryFacts libraries(facts);
  for (const LibraryGroup& group : library_groups(libraries)) {
    NeedsCheck check(group, sink);
    check.run();
    check_reach(
        group,
        [&check](const PlacedLibrary& one, std::string_view soname) {
          return check.may_come_from_elsewhere(one, soname);
        },
        sink);
    check_version_needs(group, sink);
    check_string_forms(group, sink);
    check_symbol_needs(libraries, group, sink);
  }
}

}  // namespace

extern constinit const Rule library_needs_missing{
    .id = "library-needs-missing",
    .title = "library that needs what neither its package nor its platform provides",
    .rationale =
        "A shared library names the libraries, versions and symbols that the loader must find "
        "beside it. One that lay on the build machine and was not packed, that is shipped in "
        "another version, or that was compiled with the other form of strings, is not found on a "
        "machine that is just what the package's tag asks for: the import fails, for those users "
        "only. A symbol that its library keeps to itself (hidden visibility, a version script), or "
        "has under a version that nobody asked for, is not found anywhere, and neither is one that "
        "was "
        "renamed, or given other parameters, after the library that calls it was built. A library "
        "that "
        "is packed is found only where a run path leads to its folder, or where it "
        "was loaded before.",
    .example = R"({"opseal_manifest": 1, "distribution": {"kind": "wheel", "name": "ops",)"
               R"( "tags": ["cp311-cp311-manylinux2014_x86_64"], "requires": []}, "libraries": [)"
               R"({"path": "ops/_C.so", "needed": ["libnuma.so.1", "libc.so.6"]}]})",
    .fix = "pack the library into the package, as `auditwheel repair` does, or don't need it",
    .severity = Severity::error,
    .tier = Tier::bytes,
    .inspects =
        "needed library of a package whose tag promises a base system, or of a library that lies "
        "beside others",
    .needs = {Key::libraries, Key::needed},
    .check = check,
};

}  // namespace opseal
