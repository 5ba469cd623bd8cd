#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {

namespace {

// The name as installers compare it (PEP 503), without digits: builds of one package for several
// CUDA versions (`x-cu12`, `x-cu13`) are alternatives, of which an environment has one.
std::string family_of(std::string_view name) {
  std::string out;
  for (const char byte : lower(name)) {
    if (byte >= '0' && byte <= '9') continue;
    out += byte == '_' || byte == '.' ? '-' : byte;
  }
  return out;
}

// Where a file of a wheel is installed, as far as that differs from its place in the package.
std::string_view installed_path(std::string_view path) {
  const std::size_t top = path.find('/');
  if (top == path.npos || !path.substr(0, top).ends_with(".data")) return path;
  const std::string_view rest = path.substr(top + 1);
  for (const std::string_view scheme : {"platlib/", "purelib/"}) {
    if (rest.starts_with(scheme)) return rest.substr(scheme.size());
  }
  return rest;
}

// `linux`, `macosx`, `win`: what a tag's platform begins with; `any` fits all.
std::string_view system_of(std::string_view tag) {
  const std::string_view platform = tag.substr(tag.rfind('-') + 1);
  for (const std::string_view system : {"macosx", "win", "any"}) {
    if (platform.starts_with(system)) return system;
  }
  return "linux";
}

// `cp311`, or empty for what more than one interpreter takes.
std::string_view interpreter_of(std::string_view tag) {
  const std::string_view python = tag.substr(0, tag.find('-'));
  const bool bound = python.starts_with("cp") && tag.find("-abi3-") == tag.npos;
  return bound ? python : std::string_view();
}

bool fit_together(std::string_view a, std::string_view b) {
  const std::string_view one = system_of(a);
  const std::string_view other = system_of(b);
  if (one != other && one != "any" && other != "any") return false;
  const std::string_view python = interpreter_of(a);
  return python.empty() || interpreter_of(b).empty() || python == interpreter_of(b);
}

struct Package {
  Fact distribution;
  std::string family;

  std::string_view name() const { return distribution[Key::name].text(); }
};

// There is an environment that takes both.
bool are_neighbours(const Package& a, const Package& b) {
  if (a.family == b.family) return false;
  if (a.distribution[Key::kind].text() != b.distribution[Key::kind].text()) return false;
  const Fact tags = a.distribution[Key::tags];
  const Fact others = b.distribution[Key::tags];
  if (!a.distribution[Key::kind].is("wheel") || tags.size() == 0 || others.size() == 0) return true;
  for (const Fact tag : tags.items()) {
    for (const Fact other : others.items()) {
      if (fit_together(tag.text(), other.text())) return true;
    }
  }
  return false;
}

struct Owned {
  std::size_t package = 0;
  Fact file;
};

// Digests made in different ways tell nothing.
bool differ(std::string_view a, std::string_view b) {
  const std::size_t colon = a.find(':');
  return a != b && colon != a.npos && a.substr(0, colon) == b.substr(0, b.find(':'));
}

void check(const Facts& facts, Sink& sink) {
  std::vector<Package> packages;
  for (const Document& document : facts.documents) {
    const Fact distribution = facts.root(document)[Key::distribution];
    if (!distribution[Key::name].is_text() || !distribution[Key::files].is_list()) continue;
    packages.push_back({distribution, family_of(distribution[Key::name].text())});
  }
  if (packages.size() < 2) return;
  std::unordered_map<std::string_view, std::vector<Owned>> owners;
  // Two packages -> the paths that both own, with their files.
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::pair<Fact, Fact>>> clashes;
  for (std::size_t number = 0; number < packages.size(); ++number) {
    sink.inspected();
    for (const Fact file : packages[number].distribution[Key::files].items()) {
      if (!file[Key::path].is_text() || !file[Key::digest].is_text()) continue;
      std::vector<Owned>& others = owners[installed_path(file[Key::path].text())];
      // A list that names a path twice says nothing more of it.
      if (!others.empty() && others.back().package == number) continue;
      for (const Owned& other : others) {
        if (differ(file[Key::digest].text(), other.file[Key::digest].text()) &&
            are_neighbours(packages[number], packages[other.package])) {
          clashes[{other.package, number}].emplace_back(other.file, file);
        }
      }
      others.push_back({number, file});
    }
  }
  for (const auto& [pair, files] : clashes) {
    std::vector<std::string> paths;
    for (const auto& [first, second] : files) {
      paths.emplace_back(installed_path(second[Key::path].text()));
    }
    const std::string first(packages[pair.first].name());
    const std::string second(packages[pair.second].name());
    Finding& finding = sink.add("packages " + first + " and " + second,
                                "both own " + quote_list(paths, 3) + ", with other content",
                                evidence(files.front().second, "owned by " + quote(second)));
    finding.related.push_back(evidence(files.front().first, "owned by " + quote(first)));
  }
}

}  // namespace

extern constinit const Rule package_path_clash{
    .id = "package-path-clash",
    .title = "two packages that own one path with different content",
    .rationale =
        "Installers unpack packages over each other. Where two own one path, the last to be "
        "installed wins, the other runs with a file that was never tested with it, and removing "
        "either takes the file away from both.",
    .example =
        R"([{"opseal_manifest": 1, "distribution": {"kind": "wheel", "name": "ops",
   "files": [{"path": "ops/_C.so", "digest": "sha256:00ff"}]}},
 {"opseal_manifest": 1, "distribution": {"kind": "wheel", "name": "ops-extra",
   "files": [{"path": "ops/_C.so", "digest": "sha256:11ee"}]}}])",
    .fix =
        "give each package paths of its own, or declare that they exclude each other and check "
        "only one of them",
    .severity = Severity::error,
    .tier = Tier::bytes,
    .inspects = "package with a list of its files, where more than one is given",
    .needs = {Key::distribution, Key::files, Key::digest},
    .check = check,
};

}  // namespace opseal
