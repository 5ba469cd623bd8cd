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
// Texts of one module, and functions that it is handed to.
constexpr std::size_t most_texts = 200000;

// Makers of modules whose name the build gives to the sources (torch.utils.cpp_extension and its
// like); what `Extension` makes may be anything.
constexpr std::array<std::string_view, 8> makers{"CUDAExtension", "CppExtension",  "SYCLExtension",
                                                 "NpuExtension",  "MUSAExtension", "load",
                                                 "load_inline",   "HIPExtension"};

// The text that an expression is; of a name with several values, the one that all of them are.
std::string text_of(const PythonFile& file, SyntaxIndex expression) {
  const PythonConstant constant = file.constants.of(expression);
  if (constant.is_text()) return constant.text;
  if (!file.syntax.is(expression, SyntaxKind::identifier)) return {};
  std::string text;
  const std::string_view name = file.syntax.text_of(expression);
  for (const PythonBinding& binding : file.scopes.find(name, expression)) {
    if (binding.kind != PythonBinding::Kind::value || binding.value == no_syntax) return {};
    const PythonConstant one = file.constants.of(binding.value);
    if (!one.is_text() || (!text.empty() && one.text != text)) return {};
    text = one.text;
  }
  return text;
}

// The maker that a call names, also through a variable: `extension = CUDAExtension if cuda else
// CppExtension`. Empty for anything else.
std::string_view maker_of(const PythonFile& file, SyntaxIndex callee) {
  const PythonSyntax& syntax = file.syntax;
  std::string_view text = syntax.text_of(callee);
  text = text.substr(text.rfind('.') + 1);
  if (is_one_of(text, makers) || text == "Extension" || text == "Pybind11Extension") return text;
  if (!syntax.is(callee, SyntaxKind::identifier)) return {};
  for (const PythonBinding& binding : file.scopes.find(text, callee)) {
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

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

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
      open_by_file_[std::string(file_name(paths[block.place.file]))].push_back(at);
    } else {
      declare(block.name).blocks.insert(at);
    }
  }
}

ExtensionModules::Declared& ExtensionModules::declare(const std::string& name) {
  const auto [at, is_new] = declared_.try_emplace(name);
  if (is_new) {
    at->second.parts = dotted_parts(name);
    if (!at->second.parts.empty()) by_last_[at->second.parts.back()].push_back(name);
  }
  return at->second;
}

// Modules without a name of their own in files that a builder is given.
std::vector<std::size_t> ExtensionModules::modules_in(const std::vector<std::string>& sources,
                                                      std::string_view folder) const {
  std::vector<std::size_t> found;
  for (std::string_view source : sources) {
    while (source.starts_with("./")) source.remove_prefix(2);
    while (source.starts_with("../")) source.remove_prefix(3);
    const auto named = open_by_file_.find(std::string(file_name(source)));
    if (named == open_by_file_.end() || named->second.size() > most_namesakes) continue;
    const std::string there =
        folder.empty() ? std::string(source) : std::string(folder) + "/" + std::string(source);
    for (const std::size_t block : named->second) {
      const std::string& path = paths_[blocks_[block].place.file];
      if (path == there || path.ends_with("/" + std::string(source))) found.push_back(block);
    }
  }
  return found;
}

void ExtensionModules::add_declarations(const PythonFile& file, std::uint32_t number) {
  const PythonSyntax& syntax = file.syntax;
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
      const PythonConstant list_of = file.constants.of(sources);
      decided = list_of.kind == PythonConstant::Kind::list && !list_of.items.empty();
      for (const PythonConstant& item : list_of.items) {
        decided = decided && item.is_text();
        paths.push_back(item.text);
      }
    }
    // A module with that name may be there by itself.
    const auto literal = declared_.find(dotted_parts(text).back());
    if (literal != declared_.end()) {
      const std::set<std::size_t> blocks = literal->second.blocks;
      const bool all_open = literal->second.all_open;
      Declared& declared = declare(text);
      declared.blocks.insert(blocks.begin(), blocks.end());
      declared.all_open = declared.all_open || all_open;
    } else if (decided) {
      const std::vector<std::size_t> blocks = modules_in(paths, folder_of(paths_[number]));
      if (!blocks.empty()) declare(text).blocks.insert(blocks.begin(), blocks.end());
    } else if (known && maker != "load_inline" && !open_modules_.empty()) {
      // The sources of an inline one are texts in Python.
      declare(text).all_open = true;
    }
  }
}

std::set<std::string, std::less<>> ExtensionModules::last_names() const {
  std::set<std::string, std::less<>> names;
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
  const auto namesakes = by_last_.find(parts.back());
  if (namesakes == by_last_.end() || namesakes->second.size() > most_namesakes) return {};
  for (const std::string& name : namesakes->second) {
    const std::vector<std::string>& own = declared_[name].parts;
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
  const std::set<std::size_t> blocks = blocks_of(declared_[found]);
  ExtensionModule& module = modules_[found];
  module = collected(found, blocks);
  module.guessed = open_modules_.size() > 1 && blocks.size() == open_modules_.size() &&
                   std::equal(blocks.begin(), blocks.end(), open_modules_.begin());
  return found;
}

std::set<std::size_t> ExtensionModules::blocks_of(const Declared& declared) const {
  std::set<std::size_t> blocks = declared.blocks;
  if (declared.all_open) blocks.insert(open_modules_.begin(), open_modules_.end());
  return blocks;
}

ExtensionModule ExtensionModules::collected(const std::string& name,
                                            const std::set<std::size_t>& blocks) const {
  ExtensionModule module;
  module.name = name;
  std::set<std::pair<std::size_t, std::string>> seen;
  for (const std::size_t block : blocks) collect(block, "", 0, seen, module);
  return module;
}

std::vector<ExtensionModule> ExtensionModules::others_than(
    const std::vector<ExtensionModule>& told) const {
  std::set<std::size_t> covered;
  for (const ExtensionModule& module : told) {
    const auto declared = declared_.find(module.name);
    if (declared != declared_.end()) covered.merge(blocks_of(declared->second));
  }
  std::vector<std::pair<std::string, const Declared*>> named;
  for (const auto& [name, declared] : declared_) {
    // Of several without a name nobody knows which it is.
    if (!declared.all_open || open_modules_.size() == 1) named.emplace_back(name, &declared);
  }
  std::stable_sort(named.begin(), named.end(), [](const auto& a, const auto& b) {
    return a.second->parts.size() > b.second->parts.size();
  });
  std::vector<ExtensionModule> others;
  const auto add = [&](const std::string& name, const std::set<std::size_t>& blocks) {
    std::set<std::size_t> fresh;
    for (const std::size_t block : blocks) {
      if (covered.insert(block).second) fresh.insert(block);
    }
    if (!fresh.empty()) others.push_back(collected(name, fresh));
  };
  for (const auto& [name, declared] : named) add(name, blocks_of(*declared));
  // The build says their names.
  for (const std::size_t block : open_modules_) add("TORCH_EXTENSION_NAME", {block});
  return others;
}

void ExtensionModules::collect(std::size_t block, const std::string& submodule, std::size_t depth,
                               std::set<std::pair<std::size_t, std::string>>& seen,
                               ExtensionModule& module) const {
  if (!seen.emplace(block, submodule).second) return;
  const ExtensionBlock& from = blocks_[block];
  if (depth > most_depth || module.functions.size() > most_functions ||
      module.texts.size() > most_texts || seen.size() > most_texts) {
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
