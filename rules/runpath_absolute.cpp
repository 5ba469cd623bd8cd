#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
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

// Whether a library lies where its run path says: below the prefix that the directory belongs to
// (`/home/me/py` for `/home/me/py/lib`). There it was installed, or never left its build.
bool is_in_place(std::string_view directory, std::string_view library) {
  // Its packages can be used in this place only.
  if (directory.starts_with("/home/linuxbrew/.linuxbrew/")) return true;
  while (directory.ends_with('/')) directory.remove_suffix(1);
  const std::string_view prefix = directory.substr(0, directory.rfind('/') + 1);
  return prefix.size() > 1 && library.starts_with(prefix);
}

// A directory that depends on where the process was started. `@` begins what only macOS expands.
bool is_relative(std::string_view path) {
  return path.empty() || (path[0] != '/' && path[0] != '$' && path[0] != '@');
}

// Where the loader looks in any case, on one system or another.
bool is_system_place(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  constexpr std::array<std::string_view, 8> places = {
      "/lib",     "/lib64",     "/lib/x86_64-linux-gnu",     "/lib/aarch64-linux-gnu",
      "/usr/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"};
  return has(places, path);
}

// `/usr/local/cuda-#/lib` for each version of CUDA.
std::string without_numbers(std::string_view path) {
  std::string result;
  for (const char byte : path) {
    const bool number = (byte >= '0' && byte <= '9') || (byte == '.' && result.ends_with('#'));
    if (!number) result += byte;
    if (number && !result.ends_with('#')) result += '#';
  }
  return result;
}

struct Entry {
  const PlacedLibrary* library = nullptr;
  Fact path;
  std::string directories;
  bool relative = false;
};

// Distributions of systems install to fixed places, and their policies allow or ask for such paths.
bool is_of_a_system(const Fact& distribution) {
  return distribution[Key::kind].is("deb") || distribution[Key::kind].is("conda");
}

class RunPathCheck {
 public:
  RunPathCheck(const Facts& facts, const LibraryGroup& group, Sink& sink)
      : facts_(facts), group_(group), sink_(sink) {
    const Fact distribution = group.front().manifest[Key::distribution];
    packed_ = distribution.is_object();
    of_a_system_ = is_of_a_system(distribution);
  }

  void run() {
    // By the directories of one library, whatever their versions: those of one build lie in many.
    std::map<std::string, std::vector<Entry>> found;
    for (const PlacedLibrary& one : group_) {
      for (const Key key : {Key::rpath, Key::run_path}) {
        const Fact paths = one.content[key];
        if (paths.is_list()) sink_.inspected();
        Entry entry{&one, {}, {}, false};
        for (const Fact path : paths.items()) {
          if (!path.is_text() || !is_wrong(one, path.text())) continue;
          if (!entry.path.said()) entry.path = path;
          entry.relative = entry.relative || is_relative(path.text());
          if (!entry.directories.empty()) entry.directories += " and ";
          entry.directories += path.text().empty() ? "an empty entry" : quote(path.text());
        }
        if (entry.path.said()) found[without_numbers(entry.directories)].push_back(entry);
      }
      if (!packed_) judge_needs(one);
    }
    for (const auto& [directories, entries] : found) report(entries);
  }

 private:
  bool is_wrong(const PlacedLibrary& one, std::string_view path) const {
    if (is_relative(path)) return true;
    if (!path.starts_with('/') || of_a_system_ || is_system_place(path)) return false;
    return packed_ || (is_build_place(path) && !is_in_place(path, place_of(one)));
  }

  // Where the file lies, as far as it was said.
  std::string_view place_of(const PlacedLibrary& one) const {
    const InputFile& file = facts_.files[one.content.where().file];
    return file.open_path.starts_with('/') ? std::string_view(file.open_path) : one.path();
  }

  // What is needed by a path is looked for there only. `library-needs-missing` judges those of
  // packages.
  void judge_needs(const PlacedLibrary& one) {
    for (const Fact need : one.content[Key::needed].items()) {
      const std::string_view path = need.text();
      if (need.is_text()) sink_.inspected();
      if (path.find('/') == path.npos || path.starts_with('@') || path.starts_with('$')) continue;
      const bool relative = path[0] != '/';
      const std::string_view directory = path.substr(0, path.rfind('/'));
      if (!relative && (!is_build_place(path) || is_in_place(directory, place_of(one)))) continue;
      Finding& finding = sink_.add(
          "library " + std::string(one.path()),
          "needs " + quote(path) +
              (relative ? ", which is looked for from the folder where the process was started"
                        : ", which is looked for in this place only"),
          evidence(need, "needed here"));
      finding.fix =
          "give the needed library a soname and link again, or use "
          "`patchelf --replace-needed`";
    }
  }

  void report(const std::vector<Entry>& entries) {
    const Entry& first = entries.front();
    std::string message = "searches " + first.directories + " for what it needs";
    if (first.relative) message += ", seen from the folder where the process was started";
    if (entries.size() == 2) message += "; so does another library";
    if (entries.size() > 2) {
      message += "; so do " + std::to_string(entries.size() - 1) + " other libraries";
    }
    const bool alike = std::all_of(entries.begin(), entries.end(), [&first](const Entry& entry) {
      return entry.directories == first.directories;
    });
    if (!alike) message += ", with other numbers";
    Finding& finding = sink_.add("library " + std::string(first.library->path()),
                                 std::move(message), evidence(first.path, "run path"));
    for (std::size_t i = 1; i < entries.size() && i < most_shown; ++i) {
      finding.related.push_back(evidence(entries[i].path, "and here"));
    }
  }

  const Facts& facts_;
  const LibraryGroup& group_;
  Sink& sink_;
  bool packed_ = false;
  bool of_a_system_ = false;
};

void check(const Facts& facts, Sink& sink) {
  const LibraryFacts libraries(facts);
  for (const LibraryGroup& group : library_groups(libraries)) {
    RunPathCheck(facts, group, sink).run();
  }
}

}  // namespace

extern constinit const Rule runpath_absolute{
    .id = "runpath-absolute",
    .title = "library that searches a directory of the machine it was built on, or of its user",
    .rationale =
        "The loader looks into the run path of a library before it looks anywhere else. A "
        "directory of the build machine isn't there on the user's, or it holds something else: "
        "another version of the same libraries is loaded in silence, and where anybody can write "
        "to the directory, anybody's code. Packages of systems (`.deb`, conda) install to fixed "
        "places, "
        "and a library that lies below the prefix of its run path is in its place: absolute paths "
        "of those are not told. A relative path is searched from the folder where the process "
        "happens to be started, and is told everywhere.",
    .example = R"({"path": "libops.so", "run_path": ["$ORIGIN", "/home/me/build/lib"]})",
    .fix = "set the run path relative to `$ORIGIN`, as `patchelf --set-rpath` does, or remove it",
    .severity = Severity::warning,
    .tier = Tier::bytes,
    .inspects = "run path of a library, or what one that lies by itself needs",
    .needs = {Key::libraries},
    .reads = {Key::run_path, Key::rpath, Key::needed},
    .check = check,
};

}  // namespace opseal
