#include "analyzers/sources/extension_paths.h"

#include <algorithm>
#include <array>

#include "analyzers/input_error.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

// Bytes of all files that are kept parsed.
constexpr std::size_t most_bytes = std::size_t{32} << 20;
// Names that stand for names.
constexpr std::size_t most_depth = 6;
constexpr std::size_t most_parts = 12;
constexpr std::size_t most_meanings = 8;
// Files of one name among which the nearest is looked for.
constexpr std::size_t most_namesakes = 512;

std::vector<std::string> folders(std::string_view path) {
  std::vector<std::string> parts;
  for (std::size_t slash = path.find('/'); slash != path.npos; slash = path.find('/')) {
    parts.emplace_back(path.substr(0, slash));
    path.remove_prefix(slash + 1);
  }
  return parts;
}

// `b` of `a/b.py` and of `a/b/__init__.py`
std::string_view module_name(std::string_view path) {
  path.remove_suffix(3);
  constexpr std::string_view package = "/__init__";
  if (path.ends_with(package)) path.remove_suffix(package.size());
  return path.substr(path.rfind('/') + 1);
}

std::size_t shared_bytes(std::string_view a, std::string_view b) {
  std::size_t at = 0;
  while (at < a.size() && at < b.size() && a[at] == b[at]) ++at;
  return at;
}

void add(std::vector<ExtensionName>& names, ExtensionName name) {
  for (const ExtensionName& one : names) {
    if (one.module == name.module && one.rest == name.rest) return;
  }
  if (names.size() < most_meanings) names.push_back(std::move(name));
}

}  // namespace

PythonFiles::PythonFiles(const std::vector<std::string>& paths, const SourceTexts& texts)
    : paths_(paths), texts_(texts) {
  for (std::uint32_t file = 0; file < paths.size(); ++file) {
    if (!paths[file].ends_with(".py")) continue;
    by_name_[std::string(module_name(paths[file]))].push_back(file);
    const std::string& path = paths[file];
    for (std::size_t slash = path.rfind('/'); slash != path.npos && slash > 0;
         slash = path.rfind('/', slash - 1)) {
      std::string folder = "/" + path.substr(0, slash);
      const std::size_t last = folder.rfind('/');
      const std::string name = folder.substr(last + 1);
      if (!folders_.insert(folder).second) break;
      folders_by_name_[name].push_back(std::move(folder));
    }
  }
}

bool PythonFiles::has_folder(const std::vector<std::string>& parts, bool in_tree) const {
  if (parts.empty()) return false;
  std::string path;
  for (const std::string& part : parts) path += "/" + part;
  if (in_tree) return folders_.count(path) > 0;
  const auto named = folders_by_name_.find(parts.back());
  if (named == folders_by_name_.end() || named->second.size() > most_namesakes) return false;
  const std::string shorter = parts.size() > 2 ? path.substr(parts.front().size() + 1) : path;
  return std::any_of(named->second.begin(), named->second.end(), [&](const std::string& folder) {
    return folder.ends_with(path) || folder.ends_with(shorter);
  });
}

bool PythonFiles::has_namesake(const std::vector<std::string>& parts) const {
  if (parts.size() < 2) return false;
  const auto named = by_name_.find(parts.back());
  if (named == by_name_.end()) return false;
  if (named->second.size() > most_namesakes) return true;
  const std::string folder = "/" + parts[parts.size() - 2] + "/" + parts.back();
  return std::any_of(named->second.begin(), named->second.end(), [&](const std::uint32_t file) {
    const std::string path = "/" + paths_[file];
    return path.ends_with(folder + ".py") || path.ends_with(folder + "/__init__.py");
  });
}

const PythonFile* PythonFiles::parsed(std::uint32_t file) {
  const auto [at, is_new] = files_.try_emplace(file);
  if (!is_new) return at->second.get();
  std::string bytes;
  if (!texts_.read(file, bytes) || bytes_ + bytes.size() > most_bytes) return nullptr;
  bytes_ += bytes.size();
  try {
    at->second = std::make_unique<PythonFile>(std::move(bytes));
  } catch (const InputError&) {
    // Told where registrations are read.
  }
  return at->second.get();
}

std::uint32_t PythonFiles::find(const std::vector<std::string>& parts, bool in_tree,
                                std::uint32_t asking) const {
  if (parts.empty()) return none;
  std::string path;
  for (const std::string& part : parts) path += (path.empty() ? "" : "/") + part;
  const std::array<std::string, 2> wanted{path + ".py", path + "/__init__.py"};
  if (in_tree) {
    for (const std::string& one : wanted) {
      const auto found = std::lower_bound(paths_.begin(), paths_.end(), one);
      if (found != paths_.end() && *found == one) {
        return static_cast<std::uint32_t>(found - paths_.begin());
      }
    }
    return none;
  }
  const auto named = by_name_.find(parts.back());
  if (named == by_name_.end() || named->second.size() > most_namesakes) return none;
  std::uint32_t nearest = none;
  std::size_t shared = 0;
  for (const std::uint32_t file : named->second) {
    const bool fits = std::any_of(wanted.begin(), wanted.end(), [&](const std::string& one) {
      return paths_[file] == one || paths_[file].ends_with("/" + one);
    });
    if (!fits) continue;
    const std::size_t common = shared_bytes(paths_[file], paths_[asking]);
    if (nearest != none && common <= shared) continue;
    nearest = file;
    shared = common;
  }
  return nearest;
}

std::vector<ExtensionName> ExtensionPaths::of_import(std::uint32_t file, std::string_view path,
                                                     std::size_t depth) {
  if (depth > most_depth) return {};
  std::size_t dots = 0;
  while (dots < path.size() && path[dots] == '.') ++dots;
  std::vector<std::string> parts;
  if (dots > 0) {
    parts = folders(files_.path(file));
    if (dots - 1 > parts.size()) return {};
    parts.resize(parts.size() - (dots - 1));
  }
  for (std::string& part : dotted_parts(path.substr(dots))) parts.push_back(std::move(part));
  return settle(file, parts, dots > 0, depth);
}

std::vector<ExtensionName> ExtensionPaths::of_loaded(std::string_view name) {
  const std::vector<std::string> parts = dotted_parts(name);
  const std::string module = modules_.find(parts, true, true);
  if (module.empty()) return {};
  return {{module, ""}};
}

std::vector<ExtensionName> ExtensionPaths::settle(std::uint32_t asking,
                                                  const std::vector<std::string>& parts,
                                                  bool in_tree, std::size_t depth) {
  if (depth > most_depth || parts.empty() || parts.size() > 64) return {};
  std::vector<std::string> prefix;
  bool own_root = in_tree;
  for (std::size_t at = 0; at < parts.size(); ++at) {
    own_root = in_tree || (at > 0 && files_.has_folder(prefix, false));
    prefix.push_back(parts[at]);
    const std::uint32_t file = files_.find(prefix, in_tree, asking);
    if (file == PythonFiles::none) {
      // A folder is a package even without a file that says so.
      const bool folder = (in_tree || at > 0) && files_.has_folder(prefix, in_tree);
      if (folder || (!in_tree && files_.has_namesake(prefix))) continue;
      const std::string module = modules_.find(prefix, in_tree, own_root);
      if (module.empty()) continue;
      std::string rest;
      for (std::size_t next = at + 1; next < parts.size(); ++next) {
        rest += (rest.empty() ? "" : ".") + parts[next];
      }
      return {{module, rest}};
    }
    if (at + 1 == parts.size()) return {};
    const PythonFile* parsed = files_.is_taken(file) ? files_.parsed(file) : nullptr;
    const std::vector<PythonBinding> none;
    const std::vector<PythonBinding>& bindings =
        parsed == nullptr ? none : parsed->scopes.find(parts[at + 1], 0);
    std::vector<ExtensionName> names = of_bindings(file, bindings, depth + 1);
    for (ExtensionName& name : names) {
      for (std::size_t next = at + 2; next < parts.size(); ++next) {
        name.rest += (name.rest.empty() ? "" : ".") + parts[next];
      }
    }
    if (!names.empty()) return names;
    // Below a file that is no package there is no module, whatever is called like one; in a package
    // a function hides the module of its name.
    const bool hidden =
        std::any_of(bindings.begin(), bindings.end(), [](const PythonBinding& binding) {
          return binding.kind == PythonBinding::Kind::definition;
        });
    if (hidden || !files_.path(file).ends_with("__init__.py")) return {};
  }
  return {};
}

std::vector<ExtensionName> ExtensionPaths::of_bindings(std::uint32_t file,
                                                       const std::vector<PythonBinding>& bindings,
                                                       std::size_t depth) {
  if (depth > most_depth || bindings.size() > most_meanings) return {};
  std::vector<ExtensionName> names;
  for (const PythonBinding& binding : bindings) {
    std::vector<ExtensionName> some;
    if (binding.kind == PythonBinding::Kind::import) {
      some = of_import(file, binding.path, depth + 1);
    } else if (binding.kind == PythonBinding::Kind::value) {
      // What something else is bound to in its stead (`None`, a builder) says nothing.
      if (binding.value != no_syntax) some = of(file, binding.value, depth + 1);
    } else {
      return {};
    }
    for (ExtensionName& name : some) add(names, std::move(name));
  }
  return names;
}

std::vector<ExtensionName> ExtensionPaths::of(std::uint32_t number, SyntaxIndex expression,
                                              std::size_t depth) {
  const PythonFile* file = files_.parsed(number);
  if (file == nullptr || depth > most_depth || ++steps_ > most_steps) return {};
  const PythonSyntax& syntax = file->syntax;
  std::vector<std::string_view> parts;
  SyntaxIndex at = syntax.unwrapped(expression);
  while (syntax.is(at, SyntaxKind::attribute)) {
    const SyntaxIndex name = syntax.child(at, SyntaxField::attribute);
    if (name == no_syntax || parts.size() == most_parts) return {};
    parts.push_back(syntax.text_of(name));
    at = syntax.child(at, SyntaxField::object);
  }
  std::vector<ExtensionName> names;
  if (syntax.is(at, SyntaxKind::call)) {
    names = of_call(number, at, depth);
  } else if (syntax.is(at, SyntaxKind::identifier)) {
    const std::vector<PythonBinding>& bindings = file->scopes.find(syntax.text_of(at), at);
    if (bindings.empty()) return {};
    const bool is_package = bindings.front().kind == PythonBinding::Kind::import &&
                            bindings.size() == 1 && !parts.empty();
    if (is_package) {
      // `import a.b._C` binds `a`, which means nothing by itself.
      std::string path = bindings.front().path;
      for (std::size_t part = parts.size(); part > 0; --part) {
        path.append(path.empty() || path.back() == '.' ? "" : ".").append(parts[part - 1]);
      }
      return of_import(number, path, depth);
    }
    const auto known = known_.find(&bindings);
    if (known != known_.end()) {
      names = known->second;
    } else {
      names = of_bindings(number, bindings, depth);
      if (depth == 0) known_[&bindings] = names;
    }
  }
  for (ExtensionName& name : names) {
    for (std::size_t part = parts.size(); part > 0; --part) {
      name.rest.append(name.rest.empty() ? "" : ".").append(parts[part - 1]);
    }
  }
  return names;
}

// `load(name="x", …)`, `importlib.import_module("pkg._C")`, `load_ext("_ext", [names])`
std::vector<ExtensionName> ExtensionPaths::of_call(std::uint32_t number, SyntaxIndex call,
                                                   std::size_t depth) {
  const PythonFile* file = files_.parsed(number);
  const PythonSyntax& syntax = file->syntax;
  const SyntaxIndex callee = syntax.child(call, SyntaxField::function);
  const SyntaxIndex list = syntax.child(call, SyntaxField::arguments);
  if (callee == no_syntax || !syntax.is(list, SyntaxKind::argument_list)) return {};
  std::string_view text = syntax.text_of(callee);
  text = text.substr(text.rfind('.') + 1);
  constexpr std::array<std::string_view, 5> loaders{"load", "load_inline", "load_ext",
                                                    "import_module", "__import__"};
  if (!is_one_of(text, loaders)) return {};
  SyntaxIndex name = no_syntax;
  for (const SyntaxIndex argument : syntax.children(list)) {
    if (!syntax.is(argument, SyntaxKind::keyword_argument)) {
      if (name == no_syntax) name = argument;
      continue;
    }
    const SyntaxIndex word = syntax.child(argument, SyntaxField::name);
    if (word != no_syntax && syntax.text_of(word) == "name") {
      name = syntax.child(argument, SyntaxField::value);
    }
  }
  if (name == no_syntax) return {};
  const PythonConstant constant = file->constants.of(name);
  if (!constant.is_text() || constant.text.empty()) return {};
  if (text == "load_ext") return of_loaded(constant.text);
  if (text == "import_module" || text == "__import__") {
    return of_import(number, constant.text, depth + 1);
  }
  const std::string module = modules_.find(dotted_parts(constant.text), false, false);
  if (module.empty()) return {};
  return {{module, ""}};
}

std::vector<std::string> ExtensionPaths::handed_on(std::uint32_t number) {
  const PythonFile* file = files_.parsed(number);
  std::vector<std::string> names;
  if (file == nullptr) return names;
  const PythonSyntax& syntax = file->syntax;
  for (SyntaxIndex at = 0; at < syntax.nodes.size(); ++at) {
    if (!syntax.is(at, SyntaxKind::identifier)) continue;
    const std::string_view text = syntax.text_of(at);
    const std::vector<PythonBinding>& bindings = file->scopes.find(text, 0);
    if (bindings.empty() || bindings.front().name != at) continue;
    const std::vector<ExtensionName> meant = of_bindings(number, bindings, 1);
    const bool is_module = std::any_of(meant.begin(), meant.end(),
                                       [](const ExtensionName& name) { return name.rest.empty(); });
    if (is_module) names.emplace_back(text);
  }
  return names;
}

}  // namespace opseal
