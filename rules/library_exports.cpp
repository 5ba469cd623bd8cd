#include "rules/library_exports.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "opseal/paths.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Near names are looked for among so many; a library that exports more is searched for the exact
// name only.
constexpr std::size_t most_candidates = 4000;
// Each costs a walk over the symbols. After so many, a library is the wrong one altogether.
constexpr std::size_t most_explanations = 16;
// Of libraries that share a name, so many are held against a path; more are told apart by the whole
// path only.
constexpr std::ptrdiff_t most_namesakes = 256;

// Whether a mangled name is that of a function of this name, in any namespace: its length and the
// name stand in it, and the parameters begin behind it.
bool is_mangled(std::string_view symbol, std::string_view name) {
  if (!symbol.starts_with("_Z") || name.empty()) return false;
  const std::string counted = std::to_string(name.size()) + std::string(name);
  const std::size_t at = symbol.find(counted);
  if (at == symbol.npos || at < 2) return false;
  const char before = symbol[at - 1];
  return before < '0' || before > '9';
}

// Number of components, from the last, in which two paths agree.
std::size_t agreement(std::string_view a, std::string_view b) {
  std::size_t count = 0;
  while (!a.empty() && !b.empty() && file_name_of(a) == file_name_of(b)) {
    ++count;
    a.remove_suffix(std::min(a.size(), file_name_of(a).size() + 1));
    b.remove_suffix(std::min(b.size(), file_name_of(b).size() + 1));
  }
  return count;
}

}  // namespace

LibraryExports::LibraryExports(const Fact& content) : content_(content) {
  const auto add = [this](const Fact& item) {
    if (item[Key::name].is_text()) names_.push_back({item[Key::name].text(), item});
  };
  for (const Fact symbol : content[Key::exports].items()) add(symbol);
  bool kernels_read = true;
  for (const Fact image : content[Key::images].items()) {
    if (!image[Key::kernels].said()) kernels_read = false;
    for (const Fact kernel : image[Key::kernels].items()) add(kernel);
  }
  std::sort(names_.begin(), names_.end(),
            [](const Entry& a, const Entry& b) { return a.name < b.name; });
  const Fact format = content[Key::format];
  const bool device_only = format.is("cubin") || format.is("fatbin") || format.is("ptx");
  known_ = device_only ? all_read(content[Key::images]) && kernels_read
                       : all_read(content[Key::exports]);
}

Fact LibraryExports::find(std::string_view name) const {
  const auto at = std::lower_bound(
      names_.begin(), names_.end(), name,
      [](const Entry& entry, std::string_view wanted) { return entry.name < wanted; });
  return at != names_.end() && at->name == name ? at->fact : Fact();
}

Fact LibraryExports::find_prefixed(std::string_view prefix) const {
  const auto at = std::lower_bound(
      names_.begin(), names_.end(), prefix,
      [](const Entry& entry, std::string_view wanted) { return entry.name < wanted; });
  return at != names_.end() && at->name.starts_with(prefix) ? at->fact : Fact();
}

Fact LibraryExports::find_import(std::string_view name) const {
  for (const Fact symbol : content_[Key::imports].items()) {
    if (symbol[Key::name].is(name)) return symbol;
  }
  return {};
}

Fact LibraryExports::find_mangled(std::string_view name) const {
  const auto first = std::lower_bound(
      names_.begin(), names_.end(), std::string_view("_Z"),
      [](const Entry& entry, std::string_view wanted) { return entry.name < wanted; });
  for (auto at = first; at != names_.end() && at->name.starts_with("_Z"); ++at) {
    if (is_mangled(at->name, name)) return at->fact;
  }
  return {};
}

std::string LibraryExports::explain(std::string_view name) {
  if (explained_++ >= most_explanations) return {};
  if (const Fact import = find_import(name)) return "; it is undefined there";
  if (const Fact mangled = find_mangled(name)) {
    return "; there is the C++ function " + quote(mangled[Key::name].text());
  }
  if (names_.empty()) return "; it exports nothing";
  std::size_t unexported = 0;
  for (const Fact handler : content_[Key::handlers].items()) {
    if (handler.is_object() && !handler[Key::symbol].said()) ++unexported;
  }
  std::string text;
  if (names_.size() <= most_candidates) {
    std::vector<std::string_view> candidates;
    for (const Entry& entry : names_) candidates.push_back(entry.name);
    text = did_you_mean(name, candidates);
  }
  if (text.empty() && unexported > 0) {
    text = "; the file holds " + plural(unexported, "handler") + " that it doesn't export";
  }
  return text;
}

std::string LibraryExports::advise(std::string_view name) const {
  if (explained_ > most_explanations) return {};
  if (find_import(name)) {
    return "link the file that defines it into the library; it is declared and used, and no more";
  }
  if (find_mangled(name))
    return "declare it `extern \"C\"`, so that its name stays as it is written";
  return {};
}

NamedLibraries::NamedLibraries(const LibraryFacts& libraries) {
  libraries.for_each(
      [this](const Document&, const Fact& manifest, const Fact& library, const Fact& content) {
        if (!content[Key::exports].said() && !content[Key::images].said() &&
            !content[Key::handlers].said()) {
          return;
        }
        const auto add = [&](std::string_view path) {
          if (!path.empty()) rows_.push_back({file_name_of(path), path, manifest.index(), content});
        };
        add(library[Key::path].text());
        for (const Fact alias : content[Key::aliases].items()) add(alias.text());
      });
  std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
    return std::tuple(a.base, a.path, a.content.index()) <
           std::tuple(b.base, b.path, b.content.index());
  });
}

Fact NamedLibraries::find(const Fact& manifest, std::string_view path) const {
  struct ByBase {
    bool operator()(const Row& row, std::string_view base) const { return row.base < base; }
    bool operator()(std::string_view base, const Row& row) const { return base < row.base; }
  };
  auto [first, end] = std::equal_range(rows_.begin(), rows_.end(), file_name_of(path), ByBase());
  const bool many = end - first > most_namesakes;
  if (many) {
    first = std::lower_bound(first, end, path, [](const Row& row, std::string_view wanted) {
      return row.path < wanted;
    });
  }
  Fact best;
  std::size_t best_score = 0;
  bool unique = true;
  for (; first != end && (!many || first->path == path); ++first) {
    const std::size_t own = first->manifest == manifest.index() ? 1 : 0;
    const std::size_t score = agreement(first->path, path) * 2 + own;
    if (score < best_score) continue;
    unique = score > best_score || best == first->content;
    best = first->content;
    best_score = score;
    if (many && own != 0) break;
  }
  return unique ? best : Fact();
}

}  // namespace opseal
