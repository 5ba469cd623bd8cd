#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "opseal/rule.h"
#include "rules/cache_keys.h"

namespace opseal {
namespace {

// What is longer is no path that a compiler opens.
constexpr std::size_t longest_path = 1024;

// Without `.`, empty parts and `x/..`; `/` for `\`.
std::string plain_path(std::string_view path) {
  std::vector<std::string_view> parts;
  const std::string text = [&] {
    std::string slashed(path.substr(0, longest_path));
    for (char& byte : slashed) byte = byte == '\\' ? '/' : byte;
    return slashed;
  }();
  const bool absolute = text.starts_with('/');
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    rest.remove_prefix(slash == rest.npos ? rest.size() : slash + 1);
    if (part.empty() || part == ".") continue;
    if (part == ".." && !parts.empty() && parts.back() != "..") {
      parts.pop_back();
    } else {
      parts.push_back(part);
    }
  }
  std::string out = absolute ? "/" : "";
  for (std::size_t at = 0; at < parts.size(); ++at) {
    if (at > 0) out += '/';
    out += parts[at];
  }
  return out;
}

bool is_absolute(std::string_view path) {
  return path.starts_with('/') || (path.size() > 1 && path[1] == ':');
}

// The compiler, the system and installed packages bring headers that their versions stand for.
bool is_versioned(const Fact& cache, std::string_view path) {
  for (const std::string_view root : {"/usr/", "/opt/", "/Library/", "/Applications/", "/nix/"}) {
    if (path.starts_with(root)) return true;
  }
  const bool installed =
      path.find("site-packages/") != path.npos || path.find("dist-packages/") != path.npos;
  return installed && (list_has(cache[Key::inputs], "package_version") ||
                       list_has(cache[Key::inputs], "framework_version"));
}

bool is_header(std::string_view path) {
  for (const std::string_view suffix : {".h", ".hh", ".hpp", ".hxx", ".cuh", ".inc", ".inl"}) {
    if (path.ends_with(suffix)) return true;
  }
  return false;
}

class Directories {
 public:
  explicit Directories(const Fact& list) {
    for (const Fact directory : list.items()) {
      std::string path = plain_path(directory.text());
      (is_absolute(path) ? absolute_ : relative_) = true;
      paths_.insert(std::move(path));
    }
  }

  // Paths from a root and paths from the manifest can't be held against each other.
  bool comparable(std::string_view path) const {
    return is_absolute(path) ? absolute_ && !relative_ : relative_ && !absolute_;
  }
  bool hold(std::string_view path) const {
    // The manifest's own folder.
    if (paths_.contains(std::string()) && !path.starts_with("..")) return true;
    for (std::size_t slash = path.rfind('/'); slash != path.npos && slash > 0;
         slash = path.rfind('/', slash - 1)) {
      if (paths_.contains(std::string(path.substr(0, slash)))) return true;
    }
    return false;
  }

 private:
  std::unordered_set<std::string> paths_;
  bool absolute_ = false;
  bool relative_ = false;
};

class CacheCheck {
 public:
  CacheCheck(const Fact& cache, Sink& sink)
      : cache_(cache), directories_(cache[Key::headers][Key::directories]), sink_(sink) {}

  void look_at(const Fact& header) {
    if (!header.is_text() || header.text().size() > longest_path) return;
    const std::string path = plain_path(header.text());
    if (is_versioned(cache_, path) || !directories_.comparable(path)) return;
    sink_.inspected();
    if (directories_.hold(path)) return;
    if (missing_.empty()) first_ = header;
    missing_.emplace_back(header.text());
  }

  void report() {
    if (missing_.empty()) return;
    Finding& finding =
        sink_.add(cache_subject(cache_),
                  (missing_.size() == 1 ? "header " + quote_list(missing_) + " is"
                                        : "headers " + quote_list(missing_) + " are") +
                      " read by builds and under none of the hashed directories",
                  evidence(first_, "read by a build"));
    finding.related.push_back(
        evidence(cache_[Key::headers][Key::directories], "hashed directories" + key_site(cache_)));
  }

 private:
  const Fact& cache_;
  Directories directories_;
  Sink& sink_;
  std::vector<std::string> missing_;
  Fact first_;
};

// Directories are hashed, and they are all that is.
bool hashes_directories(const Fact& cache) {
  const Fact headers = cache[Key::headers];
  if (!all_read(headers[Key::directories])) return false;
  if (headers[Key::method].is("none")) return false;
  const Fact covered = headers[Key::covered];
  return !covered.said() || (all_read(covered) && !list_has(covered, "transitive"));
}

void check_manifest(const Fact& manifest, Sink& sink) {
  std::unordered_map<Name, std::vector<Fact>> libraries;
  for (const Fact library : manifest[Key::libraries].items()) {
    if (library[Key::cache].is_text() && library[Key::source_files].is_list()) {
      libraries[library[Key::cache].name()].push_back(library);
    }
  }
  for (const Fact cache : manifest[Key::caches].items()) {
    if (!hashes_directories(cache)) continue;
    CacheCheck check(cache, sink);
    for (const Fact header : cache[Key::headers][Key::included].items()) check.look_at(header);
    // Two caches of one name share no libraries: the first takes them.
    const auto found = libraries.find(cache[Key::name].name());
    if (found != libraries.end()) {
      for (const Fact& library : found->second) {
        for (const Fact source : library[Key::source_files].items()) {
          if (is_header(source.text())) check.look_at(source);
        }
      }
      libraries.erase(found);
    }
    check.report();
  }
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) check_manifest(facts.root(document), sink);
}

}  // namespace

extern constinit const Rule cache_header_uncovered{
    .id = "cache-header-uncovered",
    .title = "header that builds read and the cache key does not cover",
    .rationale =
        "The key hashes the headers under some directories. A header that a source includes from "
        "elsewhere, as `../common.h` does, can change without the key changing: the build is "
        "answered with the library of the old header.",
    .example = R"({"name": "kernels", "headers": {"directories": ["kernels/include"],)"
               R"( "included": ["kernels/include/tile.h", "common/half.h"]}})",
    .fix = "hash the headers that the compiler lists (`-MMD`), or add their directory",
    .severity = Severity::error,
    .inspects = "header that a build reads, where the hashed directories are known",
    .needs = {Key::caches, Key::headers, Key::directories},
    .check = check,
};

}  // namespace opseal
