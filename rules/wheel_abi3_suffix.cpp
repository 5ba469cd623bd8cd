#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {

namespace {

// `pkg/_x` of `pkg/_x.cpython-310-x86_64-linux-gnu.so`.
std::string_view stem_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t dot = path.find('.', slash == path.npos ? 0 : slash);
  return path.substr(0, dot);
}

// `cpython-310` where the file's name binds it to one version of the interpreter, else empty.
std::string_view interpreter_of(std::string_view path) {
  constexpr std::string_view prefix = ".cpython-";
  const std::string_view suffix = path.substr(stem_of(path).size());
  if (!suffix.starts_with(prefix)) return {};
  return suffix.substr(1, std::min(suffix.find('-', prefix.size()), suffix.find('.', 1)) - 1);
}

// Every tag promises the stable interface, so that later interpreters take the wheel, too.
bool is_abi3(const Fact& tags) {
  for (const Fact tag : tags.items()) {
    if (tag.text().find("-abi3-") == std::string_view::npos) return false;
  }
  return tags.is_list() && tags.size() > 0;
}

// The file has the function by which an interpreter imports it.
bool is_module(const Fact& library) {
  const std::string_view stem = stem_of(library[Key::path].text());
  const std::size_t slash = stem.rfind('/');
  const std::string entry =
      "PyInit_" + std::string(slash == stem.npos ? stem : stem.substr(slash + 1));
  for (const Fact symbol : library[Key::exports].items()) {
    if (symbol[Key::name].is(entry)) return true;
  }
  return false;
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    const Fact distribution = manifest[Key::distribution];
    if (!distribution[Key::kind].is("wheel") || !is_abi3(distribution[Key::tags])) continue;
    // Modules that are there for every interpreter.
    std::unordered_set<std::string_view> stable;
    for (const Fact library : manifest[Key::libraries].items()) {
      const std::string_view path = library[Key::path].text();
      if (interpreter_of(path).empty()) stable.insert(stem_of(path));
    }
    for (const Fact library : manifest[Key::libraries].items()) {
      const Fact path = library[Key::path];
      if (!path.is_text()) continue;
      sink.inspected();
      const std::string_view interpreter = interpreter_of(path.text());
      const Fact imports = library[Key::imported_by];
      if (interpreter.empty() || stable.contains(stem_of(path.text()))) continue;
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
      for (const Fact import : imports.items()) {
        finding.related.push_back(evidence(import, "imported at " + place_text(import)));
        break;
      }
    }
  }
}

}  // namespace

extern constinit const Rule wheel_abi3_suffix{
    .id = "wheel-abi3-suffix",
    .title = "module for one interpreter in a wheel for all of them",
    .rationale =
        "An `abi3` wheel installs under every later version of the interpreter. An extension whose "
        "file is named for one version is found by that version alone; under any other the import "
        "fails as if the module had never been built.",
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
    .inspects = "library of a wheel whose tags all say `abi3`",
    .needs = {Key::distribution, Key::tags, Key::libraries},
    .check = check,
};

}  // namespace opseal
