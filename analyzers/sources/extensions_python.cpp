// Which of the names that Python imports are modules of C++, and what is asked of them. A name is
// followed through imports, through the files of the tree that hand a module on (`from ._backend
// import _C`), and through `load(name="…")`.

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "analyzers/sources/extension_modules.h"
#include "analyzers/sources/extension_paths.h"
#include "analyzers/sources/extensions.h"
#include "analyzers/words.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Files of Python that are parsed for one tree, and their bytes.
constexpr std::size_t most_files = 4000;
constexpr std::size_t most_bytes = std::size_t{128} << 20;
// Files that hand a module on to others that hand it on.
constexpr int most_rounds = 3;
constexpr std::size_t most_uses = 200000;

class UseFinder {
 public:
  UseFinder(const std::vector<ExtensionBlock>& blocks, const std::set<std::string>& others,
            const std::vector<std::string>& paths, const ReadFileNumbered& read)
      : others_(others), paths_(paths), read_(read), files_(paths, read), modules_(blocks, paths) {}

  ExtensionTree run() {
    for (std::uint32_t file = 0; file < paths_.size(); ++file) {
      if (paths_[file].ends_with(".py")) python_.push_back(file);
    }
    if (modules_.wants_declarations()) find_declarations();
    std::set<std::string> words = modules_.last_names();
    std::set<std::string> known;
    for (int round = 0; round < most_rounds && !words.empty(); ++round) {
      const std::vector<std::uint32_t> fresh = files_with(words);
      known.insert(words.begin(), words.end());
      std::set<std::string> aliases;
      for (const std::uint32_t file : fresh) {
        asking_.push_back(file);
        ExtensionPaths names(files_, modules_);
        for (const std::string& alias : names.handed_on(file)) {
          if (known.count(alias) == 0) aliases.insert(alias);
        }
      }
      words = std::move(aliases);
    }
    std::sort(asking_.begin(), asking_.end());
    for (const std::uint32_t file : asking_) read_uses(file);
    return finish();
  }

 private:
  void find_declarations() {
    std::string bytes;
    for (const std::uint32_t file : python_) {
      if (!read_(file, bytes)) continue;
      if (bytes.find("Extension(") == bytes.npos && bytes.find("cpp_extension") == bytes.npos) {
        continue;
      }
      if (const PythonFile* parsed = files_.parsed(file)) modules_.add_declarations(*parsed, file);
    }
  }

  // Of those that were not taken yet.
  std::vector<std::uint32_t> files_with(const std::set<std::string>& words) {
    std::vector<std::uint32_t> found;
    std::string bytes;
    for (const std::uint32_t file : python_) {
      if (taken_.count(file) > 0 || taken_.size() >= most_files || bytes_ > most_bytes) continue;
      if (!read_(file, bytes)) continue;
      const bool mentions = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
        return has_word(bytes, word);
      });
      if (!mentions) continue;
      taken_.insert(file);
      files_.take(file);
      bytes_ += bytes.size();
      if (files_.parsed(file) != nullptr) found.push_back(file);
    }
    return found;
  }

  void read_uses(std::uint32_t number) {
    const PythonFile* file = files_.parsed(number);
    if (file == nullptr) return;
    const PythonSyntax& syntax = *file->syntax;
    ExtensionPaths names(files_, modules_);
    for (SyntaxIndex at = 0; at < syntax.nodes.size() && uses_.size() < most_uses; ++at) {
      switch (syntax[at].kind) {
        case SyntaxKind::attribute:
        case SyntaxKind::identifier:
          read_name(*file, number, at, names);
          break;
        case SyntaxKind::import_from_statement:
          read_import(*file, number, at, names);
          break;
        case SyntaxKind::call:
          read_call(*file, number, at, names);
          break;
        default:
          break;
      }
    }
  }

  static SourcePlace place(const PythonSyntax& syntax, SyntaxIndex at, std::uint32_t file) {
    return {file, syntax[at].begin, syntax[at].end - syntax[at].begin};
  }

  // `_C.f`, and `f` behind `from ._C import f`.
  void read_name(const PythonFile& file, std::uint32_t number, SyntaxIndex at,
                 ExtensionPaths& names) {
    const PythonSyntax& syntax = *file.syntax;
    const SyntaxNode& node = syntax[at];
    if (node.parent == no_syntax) return;
    const SyntaxKind above = syntax[node.parent].kind;
    if (above == SyntaxKind::attribute || above == SyntaxKind::dotted_name ||
        above == SyntaxKind::aliased_import || above == SyntaxKind::parameters ||
        (above == SyntaxKind::keyword_argument && node.field == SyntaxField::name)) {
      return;
    }
    const bool is_called = above == SyntaxKind::call && node.field == SyntaxField::function;
    // A function by its own name is told of where it is imported; only a call says more.
    if (node.kind == SyntaxKind::identifier && !is_called) return;
    const std::vector<ExtensionName> meant = names.of(number, at);
    // `f = _C.a` in one branch and `f = _C.b` in another: each call is of one of them.
    const bool one = std::all_of(meant.begin(), meant.end(), [&](const ExtensionName& name) {
      return name.rest == meant.front().rest;
    });
    for (const ExtensionName& name : meant) {
      if (name.rest.empty()) continue;
      if (above == SyntaxKind::assignment && node.field == SyntaxField::left) {
        modules_.give(name, name.rest);
        continue;
      }
      ExtensionUse use;
      if (!start(name, name.rest, use)) continue;
      const bool whole = use.name.text == name.rest;
      const SyntaxIndex last = node.kind == SyntaxKind::attribute && whole
                                   ? syntax.child(at, SyntaxField::attribute)
                                   : at;
      use.name.place = place(syntax, last == no_syntax ? at : last, number);
      use.place = place(syntax, at, number);
      if (is_of_another(syntax, at)) continue;
      use.asks_whether = is_guarded(syntax, at, false);
      if (is_called && whole && one) read_arguments(syntax, node.parent, number, use);
      uses_.push_back(std::move(use));
    }
  }

  void read_arguments(const PythonSyntax& syntax, SyntaxIndex call, std::uint32_t number,
                      ExtensionUse& use) {
    const SyntaxIndex list = syntax.child(call, SyntaxField::arguments);
    if (list == no_syntax) return;
    if (!syntax.is(list, SyntaxKind::argument_list)) {
      // `f(x for x in y)`
      use.open_ended = true;
    } else {
      for (const SyntaxIndex argument : syntax.children(list)) {
        const SyntaxKind kind = syntax[argument].kind;
        if (kind == SyntaxKind::list_splat || kind == SyntaxKind::dictionary_splat ||
            kind == SyntaxKind::error) {
          use.open_ended = true;
        } else if (kind == SyntaxKind::keyword_argument) {
          const SyntaxIndex name = syntax.child(argument, SyntaxField::name);
          if (name != no_syntax) use.names.emplace_back(syntax.text_of(name));
        } else {
          ++use.positional;
        }
      }
    }
    use.called = true;
    use.place = place(syntax, call, number);
  }

  // `from ._C import f`
  void read_import(const PythonFile& file, std::uint32_t number, SyntaxIndex at,
                   ExtensionPaths& names) {
    const PythonSyntax& syntax = *file.syntax;
    const SyntaxIndex module = syntax.child(at, SyntaxField::module_name);
    if (module == no_syntax) return;
    for (SyntaxIndex name : syntax.children(at)) {
      if (name == module) continue;
      if (syntax.is(name, SyntaxKind::aliased_import)) name = syntax.child(name, SyntaxField::name);
      if (name == no_syntax || !syntax.is(name, SyntaxKind::dotted_name)) continue;
      std::string path(syntax.text_of(module));
      if (path.empty() || path.back() != '.') path += '.';
      path += syntax.text_of(name);
      for (const ExtensionName& found : names.of_import(number, path)) {
        ExtensionUse use;
        if (found.rest.empty() || !start(found, found.rest, use)) continue;
        use.name.place = place(syntax, name, number);
        use.place = use.name.place;
        use.asks_whether = is_guarded(syntax, at, true);
        uses_.push_back(std::move(use));
      }
    }
  }

  // `getattr(_C, "f")`, `hasattr(_C, "f")`, `load_ext("_ext", ["f", "g"])`
  void read_call(const PythonFile& file, std::uint32_t number, SyntaxIndex at,
                 ExtensionPaths& names) {
    const PythonSyntax& syntax = *file.syntax;
    const SyntaxIndex callee = syntax.child(at, SyntaxField::function);
    const SyntaxIndex list = syntax.child(at, SyntaxField::arguments);
    if (callee == no_syntax || !syntax.is(list, SyntaxKind::argument_list)) return;
    const std::string_view text = syntax.text_of(callee);
    const std::vector<SyntaxIndex> arguments = syntax.children(list);
    if (text == "setattr" && !arguments.empty()) {
      for (const ExtensionName& name : names.of(number, arguments[0])) modules_.leave_open(name);
      return;
    }
    const bool asks = text == "hasattr";
    if (arguments.size() < 2) return;
    if (asks || text == "getattr") {
      const PythonConstant name = file.constants->of(arguments[1]);
      const std::vector<ExtensionName> owners = names.of(number, arguments[0]);
      for (const ExtensionName& owner : owners) {
        if (!owner.rest.empty()) continue;
        if (!name.is_text()) {
          // Of a name that comes from elsewhere nothing is said.
          read_lazy(file, number, at, arguments[1], owner);
          continue;
        }
        ExtensionUse use;
        if (!start(owner, name.text, use)) continue;
        use.name.place = place(syntax, arguments[1], number);
        use.place = place(syntax, at, number);
        use.asks_whether = asks || arguments.size() > 2 || is_guarded(syntax, at, false);
        if (use.asks_whether) modules_.give(owner, use.name.text);
        uses_.push_back(std::move(use));
      }
      return;
    }
    if (!(text == "load_ext" || text.ends_with(".load_ext"))) return;
    const PythonConstant module = file.constants->of(arguments[0]);
    const PythonConstant asked = file.constants->of(arguments[1]);
    if (!module.is_text() || asked.kind != PythonConstant::Kind::list) return;
    for (const ExtensionName& owner : names.of_loaded(module.text)) {
      for (const PythonConstant& item : asked.items) {
        ExtensionUse use;
        if (!item.is_text() || !start(owner, item.text, use)) continue;
        use.name.place = place(syntax, item.node == no_syntax ? at : item.node, number);
        use.place = use.name.place;
        uses_.push_back(std::move(use));
      }
    }
  }

  // `def make(name): … getattr(_C, name)` where the same file says `make("f")`.
  void read_lazy(const PythonFile& file, std::uint32_t number, SyntaxIndex at,
                 SyntaxIndex parameter, const ExtensionName& owner) {
    const PythonSyntax& syntax = *file.syntax;
    if (!syntax.is(parameter, SyntaxKind::identifier)) return;
    const PythonBinding* binding = file.scopes->only(syntax.text_of(parameter), parameter);
    if (binding == nullptr || binding->kind != PythonBinding::Kind::parameter) return;
    const SyntaxIndex maker = file.scopes->scope_of(binding->name);
    if (!syntax.is(maker, SyntaxKind::function_definition) || !file.scopes->within(at, maker))
      return;
    const SyntaxIndex name = syntax.child(maker, SyntaxField::name);
    const SyntaxIndex list = syntax.child(maker, SyntaxField::parameters);
    if (name == no_syntax || list == no_syntax) return;
    const std::vector<SyntaxIndex> parameters = syntax.children(list);
    if (parameters.empty() || !file.scopes->within(binding->name, list) ||
        !(parameters[0] == binding->name || file.scopes->within(binding->name, parameters[0]))) {
      return;
    }
    // Handed on as they come.
    const bool passes = syntax.text_of(maker).find("(*args, **kwargs)") != std::string_view::npos;
    for (SyntaxIndex call = 0; call < syntax.nodes.size(); ++call) {
      if (!syntax.is(call, SyntaxKind::call)) continue;
      const SyntaxIndex callee = syntax.child(call, SyntaxField::function);
      if (!syntax.is(callee, SyntaxKind::identifier)) continue;
      if (syntax.text_of(callee) != syntax.text_of(name)) continue;
      const PythonBinding* meant = file.scopes->only(syntax.text_of(callee), callee);
      if (meant == nullptr || meant->value != maker) continue;
      const SyntaxIndex given = syntax.child(call, SyntaxField::arguments);
      if (!syntax.is(given, SyntaxKind::argument_list)) continue;
      const std::vector<SyntaxIndex> arguments = syntax.children(given);
      if (arguments.empty()) continue;
      const PythonConstant asked = file.constants->of(arguments[0]);
      ExtensionUse use;
      if (!asked.is_text() || !start(owner, asked.text, use)) continue;
      use.name.place = place(syntax, arguments[0], number);
      use.place = place(syntax, call, number);
      const SyntaxIndex above = syntax[call].parent;
      if (passes && syntax.is(above, SyntaxKind::call) &&
          syntax[call].field == SyntaxField::function) {
        read_arguments(syntax, above, number, use);
      }
      uses_.push_back(std::move(use));
    }
  }

  bool start(const ExtensionName& name, const std::string& asked, ExtensionUse& use) {
    use.module = name.module;
    use.name.text = modules_.asked_name(name, asked);
    // Every module has these.
    return !use.name.text.empty() && !use.name.text.starts_with("__");
  }

  // `if torch.__version__ == "other":`: what stands there is for another project of that name.
  static bool is_of_another(const PythonSyntax& syntax, SyntaxIndex at) {
    for (std::size_t depth = 0; depth < PythonScopes::max_depth && at != no_syntax && at != 0;
         ++depth) {
      const SyntaxIndex above = syntax[at].parent;
      if (syntax.is(above, SyntaxKind::if_statement) &&
          syntax[at].field == SyntaxField::consequence) {
        const SyntaxIndex condition = syntax.child(above, SyntaxField::condition);
        const std::string_view text =
            condition == no_syntax ? std::string_view() : syntax.text_of(condition);
        const bool asks = text.find("__version__ == ") != text.npos;
        if (asks && text.find_first_of("0123456789") == text.npos) return true;
      }
      at = above;
    }
    return false;
  }

  // Within a `try` whose handler takes what a missing name raises.
  static bool is_guarded(const PythonSyntax& syntax, SyntaxIndex at, bool is_import) {
    for (std::size_t depth = 0; depth < PythonScopes::max_depth && at != no_syntax && at != 0;
         ++depth) {
      const SyntaxIndex above = syntax[at].parent;
      if (above == no_syntax) return false;
      if (syntax.is(above, SyntaxKind::try_statement) && syntax[at].field == SyntaxField::body) {
        for (const SyntaxIndex part : syntax.children(above)) {
          if (!syntax.is(part, SyntaxKind::except_clause)) continue;
          std::string_view text = syntax.text_of(part);
          text = text.substr(0, text.find(':'));
          const bool all = trimmed(text) == "except" || text.find("Exception") != text.npos ||
                           text.find("AttributeError") != text.npos;
          const bool of_import = is_import && (text.find("ImportError") != text.npos ||
                                               text.find("ModuleNotFound") != text.npos);
          if (all || of_import) return true;
        }
      }
      at = above;
    }
    return false;
  }

  ExtensionTree finish() {
    ExtensionTree tree;
    leave_one_meaning();
    std::map<std::string, std::vector<ExtensionUse>> by_module;
    for (ExtensionUse& use : uses_) by_module[use.module].push_back(std::move(use));
    for (auto& [name, uses] : by_module) {
      const ExtensionModule& module = modules_.module(name);
      if (keep_known(module, uses)) tree.modules.push_back(module);
      for (ExtensionUse& use : uses) tree.uses.push_back(std::move(use));
    }
    return tree;
  }

  // A name that may be one of several modules (built beforehand, or when it is imported) asks for
  // what any of them has; where they differ, nothing is told of the call.
  void leave_one_meaning() {
    const auto key = [](const ExtensionUse& use) {
      return std::tuple(use.place.file, use.name.place.offset, std::string_view(use.name.text));
    };
    std::stable_sort(uses_.begin(), uses_.end(),
                     [&](const ExtensionUse& a, const ExtensionUse& b) { return key(a) < key(b); });
    std::vector<ExtensionUse> kept;
    for (std::size_t at = 0; at < uses_.size();) {
      std::size_t end = at;
      std::vector<const BoundFunction*> first;
      std::size_t chosen = at;
      bool differ = false;
      bool open = false;
      for (; end < uses_.size() && key(uses_[end]) == key(uses_[at]); ++end) {
        const ExtensionModule& module = modules_.module(uses_[end].module);
        std::vector<const BoundFunction*> bound;
        for (const ExtensionFunction& function : module.functions) {
          if (function.name == uses_[end].name.text) bound.push_back(function.bound);
        }
        open = open || module.open || module.texts.count(uses_[end].name.text) > 0;
        if (end == at) {
          first = bound;
        } else if (bound != first) {
          differ = true;
          if (first.empty()) chosen = end;
          if (first.empty()) first = bound;
        }
      }
      const bool several = end > at + 1;
      if (!(several && first.empty() && open)) {
        kept.push_back(std::move(uses_[chosen]));
        if (differ) kept.back().called = false;
      }
      at = end;
    }
    uses_ = std::move(kept);
  }

  // Leaves what can be told from what is there: a name that is missing counts only where the module
  // is whole and surely the one that is meant.
  bool keep_known(const ExtensionModule& module, std::vector<ExtensionUse>& uses) const {
    std::set<std::string_view> names;
    for (const ExtensionFunction& function : module.functions) names.insert(function.name);
    // Copies, since the uses move.
    std::set<std::string, std::less<>> found;
    std::set<std::string, std::less<>> missing;
    for (const ExtensionUse& use : uses) {
      (is_known(module, names, use) ? found : missing).insert(use.name.text);
    }
    // Functions that nobody asks for.
    std::vector<std::string_view> left;
    for (const std::string_view name : names) {
      if (found.count(name) == 0) left.push_back(name);
    }
    // Where most of what is asked for isn't there, another module is meant.
    const bool most = module.guessed ? found.size() > 2 && missing.size() * 4 <= found.size()
                                     : missing.size() * 2 <= found.size() + 1;
    const bool sure = !module.open && others_.empty() && most;
    std::erase_if(uses, [&](const ExtensionUse& use) {
      if (names.count(use.name.text) > 0) return false;
      if (missing.count(use.name.text) == 0 || use.asks_whether) return true;
      return !sure && !is_misspelt(use.name.text, left);
    });
    return !uses.empty();
  }

  bool is_known(const ExtensionModule& module, const std::set<std::string_view>& names,
                const ExtensionUse& use) const {
    return names.count(use.name.text) > 0 || module.texts.count(use.name.text) > 0 ||
           others_.count(use.name.text) > 0;
  }

  // A function that nobody asks for is nearly of that name.
  static bool is_misspelt(std::string_view name, const std::vector<std::string_view>& left) {
    constexpr std::size_t shortest = 6;
    constexpr std::size_t most_compared = 2000;
    if (name.size() < shortest || left.size() > most_compared) return false;
    return std::any_of(left.begin(), left.end(), [name](std::string_view other) {
      return other.size() + 2 >= name.size() && name.size() + 2 >= other.size() &&
             edit_distance(name, other) <= (name.size() < 12 ? 1 : 2);
    });
  }

  const std::set<std::string>& others_;
  const std::vector<std::string>& paths_;
  const ReadFileNumbered& read_;
  PythonFiles files_;
  ExtensionModules modules_;
  std::vector<std::uint32_t> python_;
  std::unordered_set<std::uint32_t> taken_;
  std::size_t bytes_ = 0;
  std::vector<std::uint32_t> asking_;
  std::vector<ExtensionUse> uses_;
};

}  // namespace

ExtensionTree find_extension_uses(const std::vector<ExtensionBlock>& blocks,
                                  const std::set<std::string>& others,
                                  const std::vector<std::string>& paths,
                                  const ReadFileNumbered& read) {
  const bool any = std::any_of(blocks.begin(), blocks.end(),
                               [](const ExtensionBlock& block) { return block.module; });
  if (!any) return {};
  return UseFinder(blocks, others, paths, read).run();
}

}  // namespace opseal
