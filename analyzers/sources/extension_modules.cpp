#include "analyzers/sources/extension_modules.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analyzers/words.h"

namespace opseal {
namespace {

// Functions that hand a module on to functions.
constexpr std::size_t most_depth = 8;
constexpr std::size_t most_functions = 20000;

// Makers of modules whose name the build gives to the sources (torch.utils.cpp_extension and its
// like); what `Extension` makes may be anything.
constexpr std::array<std::string_view, 8> makers{"CUDAExtension", "CppExtension",  "SYCLExtension",
                                                 "NpuExtension",  "MUSAExtension", "load",
                                                 "load_inline",   "HIPExtension"};

// The text that an expression is; of a name with several values, the one that all of them are.
std::string text_of(const PythonFile& file, SyntaxIndex expression) {
  const PythonConstant constant = file.constants->of(expression);
  if (constant.is_text()) return constant.text;
  if (!file.syntax->is(expression, SyntaxKind::identifier)) return {};
  std::string text;
  const std::string_view name = file.syntax->text_of(expression);
  for (const PythonBinding& binding : file.scopes->find(name, expression)) {
    if (binding.kind != PythonBinding::Kind::value || binding.value == no_syntax) return {};
    const PythonConstant one = file.constants->of(binding.value);
    if (!one.is_text() || (!text.empty() && one.text != text)) return {};
    text = one.text;
  }
  return text;
}

// The maker that a call names, also through a variable: `extension = CUDAExtension if cuda else
// CppExtension`. Empty for anything else.
std::string_view maker_of(const PythonFile& file, SyntaxIndex callee) {
  const PythonSyntax& syntax = *file.syntax;
  std::string_view text = syntax.text_of(callee);
  text = text.substr(text.rfind('.') + 1);
  if (is_one_of(text, makers) || text == "Extension" || text == "Pybind11Extension") return text;
  if (!syntax.is(callee, SyntaxKind::identifier)) return {};
  for (const PythonBinding& binding : file.scopes->find(text, callee)) {
    if (binding.kind != PythonBinding::Kind::value || binding.value == no_syntax) continue;
    std::string_view value = syntax.text_of(binding.value);
    // Of a choice, its first part.
    value = value.substr(0, value.find(' '));
    value = value.substr(value.rfind('.') + 1);
    for (const std::string_view maker : makers) {
      if (value == maker && maker.ends_with("Extension")) return maker;
    }
  }
  return {};
}

// Whether `end` is what `parts` end with.
bool ends_with(const std::vector<std::string>& parts, const std::vector<std::string>& end) {
  return parts.size() >= end.size() &&
         std::equal(end.begin(), end.end(), parts.end() - static_cast<std::ptrdiff_t>(end.size()));
}

}  // namespace

std::vector<std::string> dotted_parts(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    if (dot != 0) parts.emplace_back(path.substr(0, dot));
    if (dot == path.npos) break;
    path.remove_prefix(dot + 1);
  }
  return parts;
}

ExtensionModules::ExtensionModules(const std::vector<ExtensionBlock>& blocks,
                                   const std::vector<std::string>& paths)
    : blocks_(blocks), paths_(paths) {
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    const ExtensionBlock& block = blocks[at];
    if (!block.module) {
      functions_.emplace(block.function, at);
    } else if (block.name.empty()) {
      open_modules_.push_back(at);
    } else {
      add(block.name, {at});
    }
  }
}

void ExtensionModules::add(const std::string& name, std::vector<std::size_t> blocks) {
  Declared& declared = declared_[name];
  declared.parts = dotted_parts(name);
  for (const std::size_t block : blocks) {
    if (std::find(declared.blocks.begin(), declared.blocks.end(), block) == declared.blocks.end()) {
      declared.blocks.push_back(block);
    }
  }
}

// Modules without a name of their own in files that a builder is given.
std::vector<std::size_t> ExtensionModules::modules_in(const std::vector<std::string>& sources,
                                                      std::string_view folder) const {
  std::vector<std::size_t> found;
  for (const std::size_t block : open_modules_) {
    const std::string& path = paths_[blocks_[block].place.file];
    for (std::string_view source : sources) {
      while (source.starts_with("./")) source.remove_prefix(2);
      while (source.starts_with("../")) source.remove_prefix(3);
      const std::string there =
          folder.empty() ? std::string(source) : std::string(folder) + "/" + std::string(source);
      if (path == there || path.ends_with("/" + std::string(source))) {
        found.push_back(block);
        break;
      }
    }
  }
  return found;
}

void ExtensionModules::add_declarations(const PythonFile& file, std::uint32_t number) {
  const PythonSyntax& syntax = *file.syntax;
  const bool has_loader = file.text.find("cpp_extension") != std::string::npos;
  for (SyntaxIndex call = 0; call < syntax.nodes.size(); ++call) {
    if (!syntax.is(call, SyntaxKind::call)) continue;
    const SyntaxIndex callee = syntax.child(call, SyntaxField::function);
    const SyntaxIndex list = syntax.child(call, SyntaxField::arguments);
    if (callee == no_syntax || !syntax.is(list, SyntaxKind::argument_list)) continue;
    const std::string_view maker = maker_of(file, callee);
    if (maker.empty() || (maker.starts_with("load") && !has_loader)) continue;
    const bool known = is_one_of(maker, makers);
    SyntaxIndex name = no_syntax;
    SyntaxIndex sources = no_syntax;
    std::size_t position = 0;
    for (const SyntaxIndex argument : syntax.children(list)) {
      if (syntax.is(argument, SyntaxKind::keyword_argument)) {
        const SyntaxIndex word = syntax.child(argument, SyntaxField::name);
        const SyntaxIndex value = syntax.child(argument, SyntaxField::value);
        if (word == no_syntax) continue;
        if (syntax.text_of(word) == "name") name = value;
        if (syntax.text_of(word) == "sources") sources = value;
      } else {
        if (position == 0) name = argument;
        if (position == 1) sources = argument;
        ++position;
      }
    }
    if (name == no_syntax) continue;
    const std::string text = text_of(file, name);
    if (text.empty() || dotted_parts(text).empty()) continue;
    std::vector<std::string> paths;
    bool decided = false;
    if (sources != no_syntax) {
      const PythonConstant list_of = file.constants->of(sources);
      decided = list_of.kind == PythonConstant::Kind::list && !list_of.items.empty();
      for (const PythonConstant& item : list_of.items) {
        decided = decided && item.is_text();
        paths.push_back(item.text);
      }
    }
    // A module with that name may be there by itself.
    std::vector<std::size_t> blocks;
    const auto literal = declared_.find(dotted_parts(text).back());
    if (literal != declared_.end()) {
      blocks = literal->second.blocks;
    } else if (decided) {
      blocks = modules_in(paths, folder_of(paths_[number]));
    } else if (known && maker != "load_inline") {
      // The sources of an inline one are texts in Python.
      blocks = open_modules_;
    }
    if (!blocks.empty()) add(text, blocks);
  }
}

std::set<std::string> ExtensionModules::last_names() const {
  std::set<std::string> names;
  for (const auto& [name, declared] : declared_) {
    if (!declared.parts.empty()) names.insert(declared.parts.back());
  }
  return names;
}

std::string ExtensionModules::find(const std::vector<std::string>& parts, bool in_tree,
                                   bool own_root) {
  if (parts.empty()) return {};
  std::string found;
  std::size_t length = 0;
  for (const auto& [name, declared] : declared_) {
    const std::vector<std::string>& own = declared.parts;
    if (own.empty() || own.back() != parts.back()) continue;
    bool fits = own == parts;
    if (in_tree) {
      fits = fits || ends_with(parts, own) || ends_with(own, parts);
    } else {
      // `import a._C` of somebody else's `a`.
      fits = fits || (own.size() == 1 && own_root);
    }
    if (!fits || own.size() <= length) continue;
    found = name;
    length = own.size();
  }
  if (found.empty() || modules_.count(found) > 0) return found;
  ExtensionModule& module = modules_[found];
  module.name = found;
  module.guessed = open_modules_.size() > 1 && declared_[found].blocks == open_modules_;
  std::set<std::pair<std::size_t, std::string>> seen;
  for (const std::size_t block : declared_[found].blocks) collect(block, "", 0, seen, module);
  return found;
}

void ExtensionModules::collect(std::size_t block, const std::string& submodule, std::size_t depth,
                               std::set<std::pair<std::size_t, std::string>>& seen,
                               ExtensionModule& module) const {
  if (!seen.emplace(block, submodule).second) return;
  const ExtensionBlock& from = blocks_[block];
  if (depth > most_depth || module.functions.size() > most_functions) {
    module.open = true;
    return;
  }
  module.open = module.open || from.open;
  if (!submodule.empty()) module.submodules.insert(submodule);
  for (const BoundFunction& function : from.functions) {
    const std::string path = submodule + function.submodule;
    if (!path.empty()) module.submodules.insert(path);
    module.functions.push_back({path + function.name.text, &function});
  }
  for (const std::string& text : from.texts) module.texts.insert(submodule + text);
  for (const auto& [callee, path] : from.calls) {
    const auto [first, last] = functions_.equal_range(callee);
    if (first == last) module.open = true;
    for (auto at = first; at != last; ++at) {
      collect(at->second, submodule + path, depth + 1, seen, module);
    }
  }
}

std::string ExtensionModules::asked_name(const ExtensionName& owner, const std::string& rest) {
  const ExtensionModule& module = modules_[owner.module];
  std::size_t end = 0;
  while (true) {
    const std::size_t dot = rest.find('.', end);
    if (dot == rest.npos) {
      return module.submodules.count(rest + ".") > 0 ? std::string() : rest;
    }
    if (module.submodules.count(rest.substr(0, dot + 1)) == 0) return rest.substr(0, dot);
    end = dot + 1;
  }
}

}  // namespace opseal
