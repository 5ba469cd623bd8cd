#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/module_suffixes.h"

namespace opseal {

namespace {

// Every tag promises the stable interface, so that later interpreters take the wheel, too.
bool is_abi3(const Fact& tags) {
  for (const Fact tag : tags.items()) {
    if (tag.text().find("-abi3-") == std::string_view::npos) return false;
  }
  return tags.is_list() && tags.size() > 0;
}

// The file has the function by which an interpreter imports it.
bool is_module(const Fact& library) {
  const std::string_view stem = module_stem(library[Key::path].text());
  const std::size_t slash = stem.rfind('/');
  const std::string entry =
      "PyInit_" + std::string(slash == stem.npos ? stem : stem.substr(slash + 1));
  for (const Fact symbol : library[Key::exports].items()) {
    if (symbol[Key::name].is(entry)) return true;
  }
  return false;
}

void add_import(Finding& finding, const Fact& imports) {
  for (const Fact import : imports.items()) {
    finding.related.push_back(evidence(import, "imported at " + place_text(import)));
    break;
  }
}

// A module of a wheel for every later interpreter, by the stable interface.
void check_stable(const Fact& manifest, Sink& sink) {
  const Fact distribution = manifest[Key::distribution];
  // Modules that are there for every interpreter.
  std::unordered_set<std::string_view> stable;
  for (const Fact library : manifest[Key::libraries].items()) {
    const std::string_view path = library[Key::path].text();
    if (module_interpreter(path).empty()) stable.insert(module_stem(path));
  }
  for (const Fact library : manifest[Key::libraries].items()) {
    const Fact path = library[Key::path];
    if (!path.is_text()) continue;
    sink.inspected();
    const std::string_view interpreter = module_interpreter(path.text());
    const Fact imports = library[Key::imported_by];
    if (interpreter.empty() || stable.contains(module_stem(path.text()))) continue;
    // What is loaded by its path may have any name; an import may then be tried first.
    if (library[Key::loaded_by].size() > 0) continue;
    const bool imported = imports.size() > 0;
    if (!imported && !is_module(library)) continue;
    Finding& finding = sink.add(
        "library " + std::string(path.text()),
        "only " + quote(interpreter) +
            " finds this module by its name, and the tags of the wheel (" +
            quote_list(texts_of(distribution[Key::tags])) + ") promise every later interpreter",
        evidence(path, imported ? "module for one interpreter"
                                : "module for one interpreter, which no Python file of the wheel "
                                  "imports or loads by its path"));
    if (!imported) finding.severity = Severity::warning;
    add_import(finding, imports);
  }
}

// A module of any other wheel, of which the tags name the interpreters.
void check_named(const Fact& manifest, Sink& sink) {
  const Fact tags = manifest[Key::distribution][Key::tags];
  const ModuleFiles files(manifest);
  for (const Fact library : manifest[Key::libraries].items()) {
    const Fact path = library[Key::path];
    if (!path.is_text()) continue;
    const std::string_view interpreter = module_interpreter(path.text());
    if (interpreter.empty()) continue;
    sink.inspected();
    const Finds finds = finds_module(tags, interpreter);
    const Fact imports = library[Key::imported_by];
    if (finds == Finds::some || imports.size() == 0 || library[Key::loaded_by].size() > 0 ||
        files.has_other(path.text(), tags)) {
      continue;
    }
    const bool none = finds == Finds::none;
    Finding& finding =
        sink.add("library " + std::string(path.text()),
                 "only " + quote(interpreter) +
                     " finds this module by its name, and the tags of the wheel (" +
                     quote_list(texts_of(tags)) +
                     (none ? ") are for other interpreters" : ") are for others as well"),
                 evidence(path, "module for one interpreter"));
    // The metadata may ask for just that version.
    if (!none) finding.severity = Severity::warning;
    finding.fix =
        "build the module with each interpreter that the tags name, or give the wheel "
        "the tag of the one that it was built with";
    add_import(finding, imports);
  }
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    const Fact distribution = manifest[Key::distribution];
    if (!distribution[Key::kind].is("wheel")) continue;
    if (is_abi3(distribution[Key::tags])) {
      check_stable(manifest, sink);
    } else {
      check_named(manifest, sink);
    }
  }
}

}  // namespace

extern constinit const Rule wheel_abi3_suffix{
    .id = "wheel-abi3-suffix",
    .title = "module for one interpreter in a wheel for others",
    .rationale =
        "An `abi3` wheel installs under every later version of the interpreter. An extension whose "
        "file is named for one version is found by that version alone; under any other the import "
        "fails as if the module had never been built. So it does where the tags of the wheel name "
        "other versions than the file.",
    .example =
        R"({"opseal_manifest": 1,
 "distribution": {"kind": "wheel", "tags": ["cp310-abi3-manylinux2014_x86_64"]},
 "libraries": [{"path": "pkg/_x.cpython-310-x86_64-linux-gnu.so",
                "imported_by": [{"file": "pkg/__init__.py", "line": 3}]}]})",
    .fix =
        "build the module against the stable interface with the suffix `.abi3.so`, or give the "
        "wheel the tag of the interpreter",
    .severity = Severity::error,
    .tier = Tier::bytes,
    .inspects =
        "library of a wheel whose tags all say `abi3`, or one that is named for one interpreter",
    .needs = {Key::distribution, Key::tags, Key::libraries},
    .check = check,
};

}  // namespace opseal
