#include "rules/module_suffixes.h"

#include <algorithm>

namespace opseal {
namespace {

constexpr std::string_view suffix_front = "cpython-";

std::string_view digits_of(std::string_view text) {
  return text.substr(0, std::min(text.find_first_not_of("0123456789"), text.size()));
}

// Of the parts of a tag such as `cp312-cp312-…`. `version`: `312`, `313t`, `37m`.
Finds finds_by_tag(std::string_view tag, std::string_view version) {
  const std::size_t first = tag.find('-');
  const std::size_t second = first == tag.npos ? first : tag.find('-', first + 1);
  if (second == tag.npos) return Finds::some;
  const std::string_view python = tag.substr(0, first);
  const std::string_view abi = tag.substr(first + 1, second - first - 1);
  if (python.starts_with("pp")) return Finds::none;
  if (python.starts_with("py") && abi == "none") {
    // `py311` is for 3.11 and later ones; who names the version of the module means that one.
    return digits_of(python.substr(2)) == digits_of(version) ? Finds::some : Finds::one_of_many;
  }
  if (!python.starts_with("cp")) return Finds::some;
  if (abi == "none") return python.substr(2) == digits_of(version) ? Finds::some : Finds::none;
  if (!abi.starts_with("cp")) return Finds::some;
  return abi.substr(2) == version ? Finds::some : Finds::none;
}

}  // namespace

std::string_view module_stem(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t dot = path.find('.', slash == path.npos ? 0 : slash);
  return path.substr(0, dot);
}

std::string_view module_interpreter(std::string_view path) {
  const std::string_view suffix = path.substr(module_stem(path).size());
  if (!suffix.starts_with('.') || !suffix.substr(1).starts_with(suffix_front)) return {};
  const std::size_t end =
      std::min(suffix.find('-', suffix_front.size() + 1), suffix.find('.', suffix_front.size()));
  return suffix.substr(1, end - 1);
}

Finds finds_module(const Fact& tags, std::string_view interpreter) {
  if (!tags.is_list() || tags.size() == 0 || !interpreter.starts_with(suffix_front))
    return Finds::some;
  const std::string_view version = interpreter.substr(suffix_front.size());
  Finds finds = Finds::none;
  for (const Fact tag : tags.items()) {
    const Finds by_tag = finds_by_tag(tag.text(), version);
    if (by_tag == Finds::some) return by_tag;
    if (by_tag == Finds::one_of_many) finds = by_tag;
  }
  return finds;
}

ModuleFiles::ModuleFiles(const Fact& manifest) {
  for (const Fact library : manifest[Key::libraries].items()) {
    add(library[Key::path].text());
    for (const Fact alias : library[Key::aliases].items()) add(alias.text());
  }
  for (const Fact file : manifest[Key::distribution][Key::files].items()) {
    const std::string_view path = file[Key::path].text();
    constexpr std::string_view package = "/__init__.py";
    if (path.ends_with(package)) {
      files_[path.substr(0, path.size() - package.size())].emplace_back();
    } else if (path.ends_with(".py") || path.ends_with(".so") || path.ends_with(".pyd")) {
      add(path);
    }
  }
}

void ModuleFiles::add(std::string_view path) {
  std::vector<std::string_view>& interpreters = files_[module_stem(path)];
  const std::string_view interpreter = module_interpreter(path);
  if (std::find(interpreters.begin(), interpreters.end(), interpreter) == interpreters.end())
    interpreters.push_back(interpreter);
}

bool ModuleFiles::has_other(std::string_view path, const Fact& tags) const {
  const auto found = files_.find(module_stem(path));
  if (found == files_.end()) return false;
  const std::string_view own = module_interpreter(path);
  return std::any_of(found->second.begin(), found->second.end(), [&](std::string_view other) {
    if (other == own) return false;
    // Modules for several interpreters in one wheel are a choice of them, made on purpose.
    return other.empty() || finds_module(tags, other) != Finds::none;
  });
}

}  // namespace opseal
