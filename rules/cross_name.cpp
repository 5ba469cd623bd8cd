#include "rules/cross_name.h"

#include <algorithm>
#include <string_view>

namespace opseal {
namespace {

constexpr bool is_separator(char letter) {
  return letter == '_' || letter == '-' || letter == '.' || letter == ':' || letter == '/' ||
         letter == ' ';
}

// Words in which a domain says who publishes it, or what kind of thing it holds.
constexpr std::string_view generic_words[] = {
    "ai",     "com",       "default",    "custom", "customop", "customops", "dev",
    "domain", "extension", "extensions", "ext",    "io",       "kernel",    "kernels",
    "local",  "main",      "net",        "op",     "ops",      "org",       "test",
    "tests",  "testing",   "myop",       "myops",  "contrib",  "library",   "lib"};

// Ends of a target's name that say for whom it is, not what it computes.
constexpr std::string_view target_suffixes[] = {"cpu", "cuda",  "ffi",  "gpu", "handler",
                                                "hip", "metal", "rocm", "xla"};

void fold_letters(std::string_view text, std::string& out) {
  for (const char letter : text) {
    if (is_separator(letter)) continue;
    out += letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
}

void fold(std::string_view text, std::string& out) {
  // A private operator beside a public one.
  if (text.size() > 1 && text.front() == '_') out += '_';
  fold_letters(text, out);
}

bool is_generic(std::string_view word) {
  std::string folded;
  fold(word.substr(0, 32), folded);
  return std::find(std::begin(generic_words), std::end(generic_words), folded) !=
         std::end(generic_words);
}

struct Parts {
  std::string_view space;
  std::string_view base;
};

// Namespace and name, wherever the system writes the namespace.
Parts parts_of(const Fact& manifest, const Fact& item) {
  Parts parts{item[Key::namespace_].text(), item[Key::name].text()};
  if (!parts.space.empty() && parts.base.starts_with(parts.space)) {
    const std::string_view rest = parts.base.substr(parts.space.size());
    if (rest.starts_with("::") && rest.size() > 2) {
      parts.base = rest.substr(2);
    } else if (rest.starts_with(".") && rest.size() > 1) {
      parts.base = rest.substr(1);
    }
    return parts;
  }
  if (!parts.space.empty()) return parts;
  if (const std::size_t colons = parts.base.rfind("::"); colons != parts.base.npos) {
    return {parts.base.substr(0, colons), parts.base.substr(colons + 2)};
  }
  if (manifest[Key::system].is("tvm-ffi")) {
    if (const std::size_t dot = parts.base.find('.'); dot != parts.base.npos)
      return {parts.base.substr(0, dot), parts.base.substr(dot + 1)};
  }
  // The registries of one package.
  if (manifest[Key::system].is("brainevent") || manifest[Key::system].is("braintrace"))
    parts.space = manifest[Key::system].text();
  return parts;
}

// The label of a domain (`ai.mylib.ops`) that names the project, or empty.
std::string_view project_of(std::string_view space, bool& whole) {
  whole = space.find('.') == space.npos;
  while (!space.empty()) {
    const std::size_t dot = space.rfind('.');
    const std::string_view label = dot == space.npos ? space : space.substr(dot + 1);
    if (!label.empty() && !is_generic(label)) return label;
    space = dot == space.npos ? std::string_view() : space.substr(0, dot);
  }
  return {};
}

// `f_cuda_ffi` without `_cuda_ffi`; never the whole name.
std::string_view without_suffixes(std::string_view name) {
  for (std::size_t at = name.find_last_of("_.-"); at != name.npos && at > 0;
       at = name.find_last_of("_.-")) {
    const std::string_view last = name.substr(at + 1);
    if (std::find(std::begin(target_suffixes), std::end(target_suffixes), last) ==
        std::end(target_suffixes)) {
      break;
    }
    name = name.substr(0, at);
  }
  return name;
}

bool has_overloads(const Fact& manifest) {
  return manifest[Key::system].is("torch") || manifest[Key::system].is("executorch");
}

bool has_primitives(const Fact& manifest) {
  const Fact system = manifest[Key::system];
  return system.is("jax") || system.is("brainevent") || system.is("braintrace");
}

// Writes the base with its variant behind it; false where more than separators was dropped.
bool fold_base(const Fact& manifest, std::string_view base, bool target, std::string& key) {
  std::string_view overload;
  bool in_place = false;
  const std::size_t written = base.size();
  if (target) {
    base = without_suffixes(base);
  } else if (has_overloads(manifest)) {
    if (const std::size_t dot = base.find('.'); dot != base.npos) {
      overload = base.substr(dot + 1);
      base = base.substr(0, dot);
    }
    in_place = base.size() > 1 && base.back() == '_';
  } else if (has_primitives(manifest) && base.size() > 2 && base.ends_with("_p")) {
    base.remove_suffix(2);
  }
  const bool exact = has_overloads(manifest) || base.size() == written;
  fold(base, key);
  if (in_place) key += '\1';
  if (!overload.empty() && overload != "default") {
    key += '\2';
    key += overload;
  }
  return exact;
}

}  // namespace

FoldedName fold_name(const Fact& manifest, const Fact& item, bool target, std::string& key) {
  key.clear();
  FoldedName folded;
  const Parts parts = parts_of(manifest, item);
  if (parts.base.empty()) return folded;
  bool whole = true;
  const std::string_view project = project_of(parts.space, whole);
  // A name behind somebody's namespace that isn't a project's stands for no project at all.
  if (project.empty() && !parts.space.empty()) return folded;
  fold(project, key);
  folded.project = !project.empty();
  folded.exact = fold_base(manifest, parts.base, target, key) && whole && folded.project;
  return folded;
}

bool fold_package_name(const Fact& manifest, const Fact& item, std::string& key) {
  key.clear();
  const std::string_view package = item[Key::package].text();
  if (package.empty()) return false;
  fold(package, key);
  fold_base(manifest, parts_of(manifest, item).base, false, key);
  return true;
}

std::string fold_word(std::string_view word) {
  std::string out;
  fold_letters(word, out);
  return out;
}

}  // namespace opseal
