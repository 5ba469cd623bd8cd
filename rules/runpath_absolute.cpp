#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/library_groups.h"

namespace opseal {
namespace {

// Libraries that one finding names.
constexpr std::size_t most_shown = 8;

template <std::size_t size>
bool has(const std::array<std::string_view, size>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Whether a directory is one of somebody's build or home, rather than a place where programs are
// installed: outside a package an absolute run path may be right for the one machine it is for.
bool is_build_place(std::string_view path) {
  constexpr std::array<std::string_view, 10> roots = {"home", "Users",  "root",  "tmp", "work",
                                                      "src",  "github", "agent", "mnt", "scratch"};
  constexpr std::array<std::string_view, 10> parts = {
      "build",  "builds",  "_build",    "workspace", "__w",
      "runner", "jenkins", "buildkite", "conda-bld", "bazel-out"};
  if (path.starts_with("/usr/") || path.starts_with("/lib")) return false;
  std::string_view rest = path.substr(1);
  if (has(roots, rest.substr(0, rest.find('/')))) return true;
  while (!rest.empty()) {
    const std::size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    if (has(parts, part) || part.starts_with("build-") || part.starts_with("cmake-build")) {
      return true;
    }
    rest.remove_prefix(slash == rest.npos ? rest.size() : slash + 1);
  }
  return false;
}

struct Entry {
  const PlacedLibrary* library = nullptr;
  Fact path;
};

// Distributions of systems install to fixed places, and their policies allow or ask for such paths.
bool is_of_a_system(const Fact& distribution) {
  return distribution[Key::kind].is("deb") || distribution[Key::kind].is("conda");
}

void judge(const LibraryGroup& group, Sink& sink) {
  const Fact distribution = group.front().manifest[Key::distribution];
  const bool packed = distribution.is_object();
  if (is_of_a_system(distribution)) return;
  // By the directories of one library: those of one build lie in many.
  std::map<std::string, std::vector<Entry>> found;
  for (const PlacedLibrary& one : group) {
    for (const Key key : {Key::rpath, Key::run_path}) {
      std::string directories;
      Fact first;
      for (const Fact path : one.content[key].items()) {
        if (!path.text().starts_with('/') || (!packed && !is_build_place(path.text()))) continue;
        if (!first.said()) first = path;
        directories += (directories.empty() ? "" : " and ") + quote(path.text());
      }
      if (one.content[key].is_list()) sink.inspected();
      if (first.said()) found[directories].push_back({&one, first});
    }
  }
  for (const auto& [directories, entries] : found) {
    const Entry& first = entries.front();
    std::string message = "searches " + directories + " for what it needs";
    if (entries.size() == 2) message += "; so does another library";
    if (entries.size() > 2) {
      message += "; so do " + std::to_string(entries.size() - 1) + " other libraries";
    }
    Finding& finding = sink.add("library " + std::string(first.library->path()), std::move(message),
                                evidence(first.path, "run path"));
    for (std::size_t i = 1; i < entries.size() && i < most_shown; ++i) {
      finding.related.push_back(evidence(entries[i].path, "and here"));
    }
  }
}

void check(const Facts& facts, Sink& sink) {
  const LibraryFacts libraries(facts);
  for (const LibraryGroup& group : library_groups(libraries)) judge(group, sink);
}

}  // namespace

extern constinit const Rule runpath_absolute{
    .id = "runpath-absolute",
    .title = "shipped library that searches a directory of the machine it was built on",
    .rationale =
        "The loader looks into the run path of a library before it looks anywhere else. A "
        "directory of the build machine isn't there on the user's, or it holds something else: "
        "another version of the same libraries is loaded in silence, and where anybody can write "
        "to the directory, anybody's code.",
    .example = R"({"path": "libops.so", "run_path": ["$ORIGIN", "/home/me/build/lib"]})",
    .fix = "set the run path relative to `$ORIGIN`, as `patchelf --set-rpath` does, or remove it",
    .severity = Severity::warning,
    .tier = Tier::bytes,
    .inspects = "run path of a library of a package, or of one that lies by itself",
    .needs = {Key::libraries},
    .check = check,
};

}  // namespace opseal
