#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/library_groups.h"

namespace opseal {
namespace {

// Libraries that one finding names.
constexpr std::size_t most_shown = 4;

// Every tag lets installers put the wheel on any machine: `py3-none-any`.
bool is_for_any_machine(const Fact& tags) {
  for (const Fact tag : tags.items()) {
    if (!tag.text().ends_with("-any")) return false;
  }
  return tags.is_list() && tags.size() > 0;
}

// How the package takes the library into its process.
enum class Use : std::uint8_t {
  // Nothing shows that it does: it may be data, such as an example or the input of a test.
  none,
  // A Python file names the file.
  loaded,
  // As a module, which can't be imported where the library doesn't load.
  imported,
};

Use use_of(const PlacedLibrary& one) {
  if (one.content[Key::imported_by].size() > 0) return Use::imported;
  return one.content[Key::loaded_by].size() > 0 ? Use::loaded : Use::none;
}

bool is_host_library(const PlacedLibrary& one) {
  return one.content[Key::format].is("elf") && one.content[Key::type].is("shared") &&
         one.content[Key::machine].is_text();
}

// A package that carries the libraries of several systems or processors picks one of them when it
// runs, and may be right to promise any machine.
bool brings_other_systems(const LibraryGroup& wheel) {
  constexpr std::array<std::string_view, 4> foreign = {".dll", ".dylib", ".pyd", ".exe"};
  std::unordered_set<std::string_view> read;
  std::string_view machine;
  for (const PlacedLibrary& one : wheel) {
    read.insert(one.path());
    for (const Fact alias : one.content[Key::aliases].items()) read.insert(alias.text());
    if (!is_host_library(one)) continue;
    if (machine.empty()) machine = one.content[Key::machine].text();
    if (!one.content[Key::machine].is(machine)) return true;
  }
  for (const Fact file : wheel.front().manifest[Key::distribution][Key::files].items()) {
    const std::string_view path = file[Key::path].text();
    const auto ends = [path](std::string_view suffix) { return path.ends_with(suffix); };
    if (std::any_of(foreign.begin(), foreign.end(), ends)) return true;
    // macOS calls extension modules `.so`, too; such a file isn't read.
    if (path.ends_with(".so") && !read.contains(path)) return true;
  }
  return false;
}

void tell(const LibraryGroup& wheel, const std::vector<const PlacedLibrary*>& used, Sink& sink) {
  const Fact distribution = wheel.front().manifest[Key::distribution];
  const PlacedLibrary& first = *used.front();
  Finding& finding = sink.add(
      "wheel " + std::string(distribution[Key::name].text("(no name)")),
      "holds " + plural(used.size(), "library", "libraries") + " for " +
          quote(first.content[Key::machine].text()) + " that its Python files " +
          (use_of(first) == Use::imported ? "import" : "load") + ", and the tag " +
          quote(texts_of(distribution[Key::tags]).front()) + " promises to run on any machine",
      evidence(first.library[Key::path], "library for Linux and one processor"));
  if (use_of(first) != Use::imported) finding.severity = Severity::warning;
  finding.related.push_back(evidence(distribution[Key::tags], "promised here"));
  for (std::size_t i = 0; i < std::min(used.size(), most_shown); ++i) {
    const bool imported = use_of(*used[i]) == Use::imported;
    const Fact by = used[i]->content[imported ? Key::imported_by : Key::loaded_by];
    for (const Fact place : by.items()) {
      finding.related.push_back(
          evidence(place, quote(used[i]->path()) + " is asked for at " + place_text(place)));
      break;
    }
  }
}

void check(const Facts& facts, Sink& sink) {
  const LibraryFacts libraries(facts);
  for (const LibraryGroup& group : library_groups(libraries)) {
    const Fact distribution = group.front().manifest[Key::distribution];
    if (!distribution[Key::kind].is("wheel") || !distribution[Key::tags].is_list()) continue;
    std::vector<const PlacedLibrary*> used;
    for (const PlacedLibrary& one : group) {
      if (!is_host_library(one)) continue;
      sink.inspected();
      if (use_of(one) != Use::none) used.push_back(&one);
    }
    if (used.empty() || !is_for_any_machine(distribution[Key::tags])) continue;
    if (brings_other_systems(group)) continue;
    std::stable_sort(used.begin(), used.end(), [](const PlacedLibrary* a, const PlacedLibrary* b) {
      return use_of(*a) > use_of(*b);
    });
    tell(group, used, sink);
  }
}

}  // namespace

extern constinit const Rule wheel_tag_pure{
    .id = "wheel-tag-pure",
    .title = "built library in a wheel whose tag promises any machine",
    .rationale =
        "Installers judge a wheel by its tag alone. Under `py3-none-any` they put it on Windows, "
        "macOS and every processor, where a library that was built for Linux and one processor "
        "doesn't load: the installation succeeds and the import fails, or the package falls back "
        "to slower code without a word. It happens when a library is added as package data and "
        "nobody tells the build that the package is no pure Python any more. Packages that carry "
        "libraries of several systems or processors, and files that no Python file of the wheel "
        "asks for, are let pass.",
    .example =
        R"({"opseal_manifest": 1,
 "distribution": {"kind": "wheel", "tags": ["py3-none-any"]},
 "libraries": [{"path": "ops/_x.abi3.so", "format": "elf", "type": "shared", "machine": "x86-64",
                "imported_by": [{"file": "ops/__init__.py", "line": 3}]}]})",
    .fix =
        "give the wheel the tag of its platform: `has_ext_modules` that answers true, or "
        "`bdist_wheel --plat-name` and then `auditwheel repair`",
    .severity = Severity::error,
    .tier = Tier::bytes,
    .inspects = "shared library of a wheel with known tags",
    .needs = {Key::distribution, Key::tags, Key::libraries, Key::machine},
    .check = check,
};

}  // namespace opseal
