#include "analyzers/sources/extension_uses.h"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "analyzers/words.h"

namespace opseal {
namespace {

class UseReader {
 public:
  UseReader(const PythonFile& file, std::uint32_t number, ExtensionPaths& names,
            ExtensionModules& modules, std::vector<ExtensionUse>& uses)
      : file_(file),
        syntax_(file.syntax),
        number_(number),
        names_(names),
        modules_(modules),
        uses_(uses) {}

  void run(std::size_t most) {
    for (SyntaxIndex at = 0; at < syntax_.nodes.size() && uses_.size() < most; ++at) {
      switch (syntax_[at].kind) {
        case SyntaxKind::attribute:
        case SyntaxKind::identifier:
          read_name(at);
          break;
        case SyntaxKind::import_from_statement:
          read_import(at);
          break;
        case SyntaxKind::call:
          read_call(at);
          break;
        default:
          break;
      }
    }
  }

 private:
  SourcePlace place(SyntaxIndex at) const {
    return {number_, syntax_[at].begin, syntax_[at].end - syntax_[at].begin};
  }

  // `_C.f`, and `f` behind `from ._C import f`.
  void read_name(SyntaxIndex at) {
    const SyntaxNode& node = syntax_[at];
    if (node.parent == no_syntax) return;
    const SyntaxKind above = syntax_[node.parent].kind;
    if (above == SyntaxKind::attribute || above == SyntaxKind::dotted_name ||
        above == SyntaxKind::aliased_import || above == SyntaxKind::parameters ||
        (above == SyntaxKind::keyword_argument && node.field == SyntaxField::name)) {
      return;
    }
    const bool is_called = above == SyntaxKind::call && node.field == SyntaxField::function;
    // A function by its own name is told of where it is imported; only a call says more.
    if (node.kind == SyntaxKind::identifier && !is_called) return;
    const std::vector<ExtensionName> meant = names_.of(number_, at);
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
                                   ? syntax_.child(at, SyntaxField::attribute)
                                   : at;
      use.name.place = place(last == no_syntax ? at : last);
      use.place = place(at);
      if (is_of_another(at)) continue;
      use.asks_whether = is_guarded(at, false);
      if (is_called && whole && one) read_arguments(node.parent, use);
      uses_.push_back(std::move(use));
    }
  }

  void read_arguments(SyntaxIndex call, ExtensionUse& use) {
    const SyntaxIndex list = syntax_.child(call, SyntaxField::arguments);
    if (list == no_syntax) return;
    if (!syntax_.is(list, SyntaxKind::argument_list)) {
      // `f(x for x in y)`
      use.open_ended = true;
    } else {
      for (const SyntaxIndex argument : syntax_.children(list)) {
        const SyntaxKind kind = syntax_[argument].kind;
        if (kind == SyntaxKind::list_splat || kind == SyntaxKind::dictionary_splat ||
            kind == SyntaxKind::error) {
          use.open_ended = true;
        } else if (kind == SyntaxKind::keyword_argument) {
          const SyntaxIndex name = syntax_.child(argument, SyntaxField::name);
          if (name != no_syntax) use.names.emplace_back(syntax_.text_of(name));
        } else {
          ++use.positional;
        }
      }
    }
    use.called = true;
    use.place = place(call);
  }

  // `from ._C import f`
  void read_import(SyntaxIndex at) {
    const SyntaxIndex module = syntax_.child(at, SyntaxField::module_name);
    if (module == no_syntax) return;
    for (SyntaxIndex name : syntax_.children(at)) {
      if (name == module) continue;
      if (syntax_.is(name, SyntaxKind::aliased_import))
        name = syntax_.child(name, SyntaxField::name);
      if (name == no_syntax || !syntax_.is(name, SyntaxKind::dotted_name)) continue;
      std::string path(syntax_.text_of(module));
      if (path.empty() || path.back() != '.') path += '.';
      path += syntax_.text_of(name);
      for (const ExtensionName& found : names_.of_import(number_, path)) {
        ExtensionUse use;
        if (found.rest.empty() || !start(found, found.rest, use)) continue;
        use.name.place = place(name);
        use.place = use.name.place;
        use.asks_whether = is_guarded(at, true);
        uses_.push_back(std::move(use));
      }
    }
  }

  // `getattr(_C, "f")`, `hasattr(_C, "f")`, `load_ext("_ext", ["f", "g"])`
  void read_call(SyntaxIndex at) {
    const SyntaxIndex callee = syntax_.child(at, SyntaxField::function);
    const SyntaxIndex list = syntax_.child(at, SyntaxField::arguments);
    if (callee == no_syntax || !syntax_.is(list, SyntaxKind::argument_list)) return;
    const std::string_view text = syntax_.text_of(callee);
    const std::vector<SyntaxIndex> arguments = syntax_.children(list);
    if (text == "setattr" && !arguments.empty()) {
      for (const ExtensionName& name : names_.of(number_, arguments[0])) modules_.leave_open(name);
      return;
    }
    const bool asks = text == "hasattr";
    if (arguments.size() < 2) return;
    if (asks || text == "getattr") {
      const PythonConstant name = file_.constants.of(arguments[1]);
      const std::vector<ExtensionName> owners = names_.of(number_, arguments[0]);
      for (const ExtensionName& owner : owners) {
        if (!owner.rest.empty()) continue;
        if (!name.is_text()) {
          // Of a name that comes from elsewhere nothing is said.
          read_lazy(at, arguments[1], owner);
          continue;
        }
        ExtensionUse use;
        if (!start(owner, name.text, use)) continue;
        use.name.place = place(arguments[1]);
        use.place = place(at);
        use.asks_whether = asks || arguments.size() > 2 || is_guarded(at, false);
        if (use.asks_whether) modules_.give(owner, use.name.text);
        uses_.push_back(std::move(use));
      }
      return;
    }
    if (!(text == "load_ext" || text.ends_with(".load_ext"))) return;
    const PythonConstant module = file_.constants.of(arguments[0]);
    const PythonConstant asked = file_.constants.of(arguments[1]);
    if (!module.is_text() || asked.kind != PythonConstant::Kind::list) return;
    for (const ExtensionName& owner : names_.of_loaded(module.text)) {
      for (const PythonConstant& item : asked.items) {
        ExtensionUse use;
        if (!item.is_text() || !start(owner, item.text, use)) continue;
        use.name.place = place(item.node == no_syntax ? at : item.node);
        use.place = use.name.place;
        uses_.push_back(std::move(use));
      }
    }
  }

  // `def make(name): … getattr(_C, name)` where the same file says `make("f")`.
  void read_lazy(SyntaxIndex at, SyntaxIndex parameter, const ExtensionName& owner) {
    const SyntaxIndex maker = maker_with(at, parameter);
    // What a maker asks twice is asked once.
    if (maker == no_syntax || !lazy_.emplace(maker, owner.module).second) return;
    // Handed on as they come.
    const bool passes = syntax_.text_of(maker).find("(*args, **kwargs)") != std::string_view::npos;
    for (const SyntaxIndex call : calls_of(maker)) {
      const SyntaxIndex given = syntax_.child(call, SyntaxField::arguments);
      if (!syntax_.is(given, SyntaxKind::argument_list)) continue;
      const std::vector<SyntaxIndex> arguments = syntax_.children(given);
      if (arguments.empty()) continue;
      const PythonConstant asked = file_.constants.of(arguments[0]);
      ExtensionUse use;
      if (!asked.is_text() || !start(owner, asked.text, use)) continue;
      use.name.place = place(arguments[0]);
      use.place = place(call);
      const SyntaxIndex above = syntax_[call].parent;
      if (passes && syntax_.is(above, SyntaxKind::call) &&
          syntax_[call].field == SyntaxField::function) {
        read_arguments(above, use);
      }
      uses_.push_back(std::move(use));
    }
  }

  // The function around a place whose first parameter a name is.
  SyntaxIndex maker_with(SyntaxIndex at, SyntaxIndex parameter) {
    if (!syntax_.is(parameter, SyntaxKind::identifier)) return no_syntax;
    const PythonBinding* binding = file_.scopes.only(syntax_.text_of(parameter), parameter);
    if (binding == nullptr || binding->kind != PythonBinding::Kind::parameter) return no_syntax;
    const SyntaxIndex maker = file_.scopes.scope_of(binding->name);
    if (!syntax_.is(maker, SyntaxKind::function_definition) || !file_.scopes.within(at, maker)) {
      return no_syntax;
    }
    const auto [known, is_new] = first_parameters_.try_emplace(maker, no_syntax);
    if (is_new) known->second = first_parameter(maker);
    const SyntaxIndex first = known->second;
    const bool is_first =
        first != no_syntax && (first == binding->name || file_.scopes.within(binding->name, first));
    return is_first ? maker : no_syntax;
  }

  SyntaxIndex first_parameter(SyntaxIndex function) const {
    const SyntaxIndex list = syntax_.child(function, SyntaxField::parameters);
    const std::vector<SyntaxIndex> parameters =
        list == no_syntax ? std::vector<SyntaxIndex>() : syntax_.children(list);
    return parameters.empty() ? no_syntax : parameters[0];
  }

  // The calls of a function by its name.
  const std::vector<SyntaxIndex>& calls_of(SyntaxIndex maker) {
    if (!calls_read_) {
      calls_read_ = true;
      for (SyntaxIndex call = 0; call < syntax_.nodes.size(); ++call) {
        if (!syntax_.is(call, SyntaxKind::call)) continue;
        const SyntaxIndex callee = syntax_.child(call, SyntaxField::function);
        if (!syntax_.is(callee, SyntaxKind::identifier)) continue;
        const PythonBinding* meant = file_.scopes.only(syntax_.text_of(callee), callee);
        if (meant != nullptr && meant->value != no_syntax) calls_[meant->value].push_back(call);
      }
    }
    return calls_[maker];
  }

  bool start(const ExtensionName& name, const std::string& asked, ExtensionUse& use) {
    use.module = name.module;
    use.name.text = modules_.asked_name(name, asked);
    // Every module has these.
    return !use.name.text.empty() && !use.name.text.starts_with("__");
  }

  // `if torch.__version__ == "other":`: what stands there is for another project of that name.
  bool is_of_another(SyntaxIndex at) {
    for (std::size_t depth = 0; depth < PythonScopes::max_depth && at != no_syntax && at != 0;
         ++depth) {
      const SyntaxIndex above = syntax_[at].parent;
      if (syntax_.is(above, SyntaxKind::if_statement) &&
          syntax_[at].field == SyntaxField::consequence) {
        const auto [known, is_new] = of_another_.try_emplace(above, false);
        if (is_new) known->second = asks_for_another(above);
        if (known->second) return true;
      }
      at = above;
    }
    return false;
  }

  bool asks_for_another(SyntaxIndex statement) const {
    const SyntaxIndex condition = syntax_.child(statement, SyntaxField::condition);
    if (condition == no_syntax) return false;
    const std::string_view text = syntax_.text_of(condition);
    return text.find("__version__ == ") != text.npos &&
           text.find_first_of("0123456789") == text.npos;
  }

  // Within a `try` whose handler takes what a missing name raises.
  bool is_guarded(SyntaxIndex at, bool is_import) {
    for (std::size_t depth = 0; depth < PythonScopes::max_depth && at != no_syntax && at != 0;
         ++depth) {
      const SyntaxIndex above = syntax_[at].parent;
      if (above == no_syntax) return false;
      if (syntax_.is(above, SyntaxKind::try_statement) && syntax_[at].field == SyntaxField::body) {
        const auto [known, is_new] = handled_.try_emplace(above, Handled());
        if (is_new) known->second = handled_by(above);
        if (known->second.attributes || (is_import && known->second.imports)) return true;
      }
      at = above;
    }
    return false;
  }

  // What the handlers of a `try` take.
  struct Handled {
    bool attributes = false;
    bool imports = false;
  };

  Handled handled_by(SyntaxIndex statement) const {
    Handled handled;
    for (const SyntaxIndex part : syntax_.children(statement)) {
      if (!syntax_.is(part, SyntaxKind::except_clause)) continue;
      std::string_view text = syntax_.text_of(part);
      text = text.substr(0, text.find(':'));
      const bool all = trimmed(text) == "except" || text.find("Exception") != text.npos ||
                       text.find("AttributeError") != text.npos;
      handled.attributes = handled.attributes || all;
      handled.imports = handled.imports || text.find("ImportError") != text.npos ||
                        text.find("ModuleNotFound") != text.npos;
    }
    return handled;
  }

  const PythonFile& file_;
  const PythonSyntax& syntax_;
  std::uint32_t number_;
  ExtensionPaths& names_;
  ExtensionModules& modules_;
  std::vector<ExtensionUse>& uses_;
  // Makers that were read, and for which module.
  std::set<std::pair<SyntaxIndex, std::string>> lazy_;
  // By the function that is called.
  std::unordered_map<SyntaxIndex, std::vector<SyntaxIndex>> calls_;
  bool calls_read_ = false;
  std::unordered_map<SyntaxIndex, SyntaxIndex> first_parameters_;
  // By statement.
  std::unordered_map<SyntaxIndex, bool> of_another_;
  std::unordered_map<SyntaxIndex, Handled> handled_;
};

}  // namespace

void read_extension_uses(const PythonFile& file, std::uint32_t number, ExtensionPaths& names,
                         ExtensionModules& modules, std::size_t most,
                         std::vector<ExtensionUse>& uses) {
  UseReader(file, number, names, modules, uses).run(most);
}

}  // namespace opseal
