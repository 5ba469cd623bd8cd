#include "analyzers/python/foreign.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzers/python/foreign_types.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

constexpr std::size_t most_uses = 8192;
constexpr std::size_t most_names = 16384;
constexpr std::size_t most_depth = 8;
// Expressions that are asked whether they are a library.
constexpr std::size_t most_steps = 1'000'000;

constexpr std::string_view loaders[] = {
    "ctypes.CDLL",
    "ctypes.PyDLL",
    "ctypes.cdll.LoadLibrary",
    "ctypes.pydll.LoadLibrary",
    "numpy.ctypeslib.load_library",
};
// What a function of `ctypes` has itself.
constexpr std::string_view own_words[] = {"argtypes", "restype", "errcheck"};

bool is_name(std::string_view text) {
  return !text.empty() && text.size() < 128 && std::all_of(text.begin(), text.end(), is_word_byte);
}

class Reader {
 public:
  explicit Reader(const ParsedPython& file)
      : syntax_(file.syntax), scopes_(file.scopes), types_(file) {}

  PythonForeignFile run() {
    for (SyntaxIndex index = 0; index < syntax_.nodes.size(); ++index) {
      if (!syntax_.is(index, SyntaxKind::function_definition)) continue;
      const SyntaxIndex name = syntax_.child(index, SyntaxField::name);
      if (name == no_syntax) continue;
      const auto [known, is_new] = functions_.emplace(syntax_.text_of(name), index);
      if (!is_new) known->second = no_syntax;
    }
    for (SyntaxIndex index = 0; index < syntax_.nodes.size(); ++index) {
      if (found_.uses.size() >= most_uses || found_.handed_on.size() >= most_names) {
        found_.open = true;
        break;
      }
      switch (syntax_[index].kind) {
        case SyntaxKind::assignment:
          look_at_assignment(index);
          break;
        case SyntaxKind::call:
          look_at_call(index);
          break;
        case SyntaxKind::attribute:
          look_at_mention(index);
          break;
        case SyntaxKind::string_content:
          if (is_name(syntax_.text_of(index))) found_.handed_on.emplace(syntax_.text_of(index));
          break;
        default:
          break;
      }
    }
    return std::move(found_);
  }

 private:
  std::string_view attribute_of(SyntaxIndex attribute) const {
    const SyntaxIndex name = syntax_.child(attribute, SyntaxField::attribute);
    return name == no_syntax ? std::string_view() : syntax_.text_of(name);
  }

  bool is_library(SyntaxIndex expression, std::size_t depth = 0) {
    if (expression == no_syntax || depth > most_depth || ++steps_ > most_steps) return false;
    if (syntax_.is(expression, SyntaxKind::call)) {
      const SyntaxIndex function = syntax_.child(expression, SyntaxField::function);
      if (function == no_syntax) return false;
      for (const std::string& name : scopes_.full_names(function)) {
        if (is_one_of(name, loaders)) return !is_of_system(expression);
      }
      if (syntax_.is(function, SyntaxKind::attribute)) {
        // `self.load()`.
        const auto method = functions_.find(attribute_of(function));
        return method != functions_.end() && returns_library(method->second, depth + 1);
      }
      if (!syntax_.is(function, SyntaxKind::identifier)) return false;
      const PythonBinding* made = scopes_.only(syntax_.text_of(function), function);
      return made != nullptr && made->kind == PythonBinding::Kind::definition &&
             returns_library(made->value, depth + 1);
    }
    if (syntax_.is(expression, SyntaxKind::identifier)) {
      for (const PythonBinding& one : scopes_.find(syntax_.text_of(expression), expression)) {
        if (one.kind == PythonBinding::Kind::parameter && says_library(one.value)) return true;
        // Beside it may stand what is there without the library.
        if (one.kind == PythonBinding::Kind::value && is_library(one.value, depth + 1)) return true;
      }
      return false;
    }
    if (syntax_.is(expression, SyntaxKind::attribute)) {
      const auto [known, is_new] = libraries_.emplace(syntax_.text_of(expression), false);
      if (!is_new) return known->second;
      bool any = false;
      for (const SyntaxIndex value : scopes_.assigned(syntax_.text_of(expression))) {
        if (syntax_.is(value, SyntaxKind::none)) continue;
        if (!is_library(value, depth + 1)) return false;
        any = true;
      }
      known->second = any;
      return any;
    }
    return false;
  }

  // The dotted name of what another module has; empty where it is none.
  std::string imported_name(SyntaxIndex expression) const {
    if (!syntax_.is(expression, SyntaxKind::identifier)) return {};
    const PythonBinding* binding = scopes_.only(syntax_.text_of(expression), expression);
    if (binding == nullptr || binding->kind != PythonBinding::Kind::import) return {};
    const std::size_t dot = binding->path.rfind('.');
    // A module itself, or a function of the standard library.
    if (dot == std::string::npos || dot + 1 == binding->path.size()) return {};
    const std::string_view path = binding->path;
    if (path.starts_with("ctypes.") || path.starts_with("os.")) return {};
    return std::string(path);
  }

  // `CDLL("libm.so.6")`: a function of the tree that has the name of one there is another one.
  bool is_of_system(SyntaxIndex call) const {
    constexpr std::string_view starts[] = {
        "libc.",  "libm.", "libdl",     "libpthread", "libgcc", "libstdc++", "libcuda",
        "libhip", "libnv", "libamdhip", "msvcrt",     "ucrt",   "kernel32"};
    const SyntaxIndex list = syntax_.child(call, SyntaxField::arguments);
    const SyntaxIndex first =
        syntax_.is(list, SyntaxKind::argument_list) ? syntax_.first(list) : no_syntax;
    if (!syntax_.is(first, SyntaxKind::string)) return false;
    std::string_view name = syntax_.text_of(first);
    name.remove_prefix(std::min(name.find_first_of("'\"") + 1, name.size()));
    name.remove_prefix(name.rfind('/') == name.npos ? 0 : name.rfind('/') + 1);
    return std::any_of(std::begin(starts), std::end(starts),
                       [name](std::string_view start) { return name.starts_with(start); });
  }

  // `libm.cbrt`, where `libm` is loaded by such a name.
  bool is_of_system_library(SyntaxIndex function) const {
    if (!syntax_.is(function, SyntaxKind::attribute)) return false;
    const SyntaxIndex object = syntax_.child(function, SyntaxField::object);
    if (!syntax_.is(object, SyntaxKind::identifier)) return false;
    const std::vector<PythonBinding>& all = scopes_.find(syntax_.text_of(object), object);
    return std::any_of(all.begin(), all.end(), [this](const PythonBinding& one) {
      return one.kind == PythonBinding::Kind::value && syntax_.is(one.value, SyntaxKind::call) &&
             is_of_system(one.value);
    });
  }

  // `lib: ctypes.CDLL`.
  bool says_library(SyntaxIndex parameter) const {
    const SyntaxIndex type = syntax_.child(parameter, SyntaxField::type);
    return type != no_syntax && syntax_.text_of(type).ends_with("CDLL");
  }

  bool returns_library(SyntaxIndex definition, std::size_t depth) {
    if (!syntax_.is(definition, SyntaxKind::function_definition)) return false;
    const SyntaxIndex body = syntax_.child(definition, SyntaxField::body);
    if (body == no_syntax) return false;
    for (const SyntaxIndex index : syntax_.own_nodes(body, 4096)) {
      if (!syntax_.is(index, SyntaxKind::return_statement)) continue;
      if (is_library(syntax_.first(index), depth)) return true;
    }
    return false;
  }

  // The name of the function that an expression is; empty where only the running code knows it.
  std::string function_of(SyntaxIndex expression, std::size_t depth = 0) {
    if (expression == no_syntax || depth > most_depth) return {};
    if (syntax_.is(expression, SyntaxKind::attribute)) {
      const std::string_view name = attribute_of(expression);
      const SyntaxIndex object = syntax_.child(expression, SyntaxField::object);
      if (is_library(object)) return std::string(name);
      // `self.run = lib.engine_run`.
      const std::vector<SyntaxIndex>& values = scopes_.assigned(syntax_.text_of(expression));
      if (values.size() == 1) return function_of(values.front(), depth + 1);
      return values.empty() ? std::string(name) : std::string();
    }
    if (syntax_.is(expression, SyntaxKind::subscript)) {
      return text_in(syntax_.child(expression, SyntaxField::subscript));
    }
    if (syntax_.is(expression, SyntaxKind::call)) {
      const SyntaxIndex function = syntax_.child(expression, SyntaxField::function);
      const SyntaxIndex list = syntax_.child(expression, SyntaxField::arguments);
      if (function == no_syntax || syntax_.text_of(function) != "getattr") return {};
      if (!syntax_.is(list, SyntaxKind::argument_list)) return {};
      const std::vector<SyntaxIndex> values = syntax_.children(list);
      return values.size() < 2 ? std::string() : text_in(values[1]);
    }
    if (syntax_.is(expression, SyntaxKind::identifier)) {
      return function_of(value_before(expression), depth + 1);
    }
    return {};
  }

  std::string text_in(SyntaxIndex expression) const {
    if (!syntax_.is(expression, SyntaxKind::string)) return {};
    const SyntaxIndex first = syntax_.first(expression);
    const std::vector<SyntaxIndex> parts = syntax_.children(expression);
    if (first == no_syntax || parts.size() != 3) return {};
    const std::string_view text = syntax_.text_of(parts[1]);
    return is_name(text) ? std::string(text) : std::string();
  }

  // The value that a name was given last before it is used, where that stands in the same row of
  // statements; else the only one that it has.
  SyntaxIndex value_before(SyntaxIndex identifier) const {
    const std::vector<PythonBinding>& all = scopes_.find(syntax_.text_of(identifier), identifier);
    if (all.size() == 1) {
      return all.front().kind == PythonBinding::Kind::value ? all.front().value : no_syntax;
    }
    constexpr std::size_t most_values = 256;
    if (all.size() > most_values) return no_syntax;
    const PythonBinding* last = nullptr;
    for (const PythonBinding& one : all) {
      if (one.kind != PythonBinding::Kind::value) return no_syntax;
      if (syntax_[one.name].begin < syntax_[identifier].begin) last = &one;
    }
    if (last == nullptr || syntax_[last->name].holder != syntax_[identifier].holder) {
      return no_syntax;
    }
    return last->value;
  }

  void look_at_assignment(SyntaxIndex assignment) {
    const SyntaxIndex left = syntax_.child(assignment, SyntaxField::left);
    const SyntaxIndex right = syntax_.child(assignment, SyntaxField::right);
    if (syntax_.is(left, SyntaxKind::identifier) && right != no_syntax &&
        syntax_.is(scopes_.scope_of(assignment), SyntaxKind::module) && is_library(right)) {
      found_.libraries.emplace(syntax_.text_of(left));
    }
    if (!syntax_.is(left, SyntaxKind::attribute) || right == no_syntax) return;
    const std::string_view word = attribute_of(left);
    if (word != "argtypes" && word != "restype") return;
    if (is_of_system_library(syntax_.child(left, SyntaxField::object))) return;
    PythonForeign use;
    use.name = function_of(syntax_.child(left, SyntaxField::object));
    if (use.name.empty()) {
      found_.open = true;
      return;
    }
    use.place = syntax_.place_of(left);
    // `f.restype = g.restype = c_int`.
    SyntaxIndex value = right;
    for (std::size_t at = 0; at < most_depth && syntax_.is(value, SyntaxKind::assignment); ++at) {
      value = syntax_.child(value, SyntaxField::right);
    }
    if (value == no_syntax) return;
    if (word == "argtypes") {
      use.arguments = types_.of_list(value);
    } else {
      use.result = types_.of(value);
      if (syntax_.is(value, SyntaxKind::none)) use.result = "void";
    }
    found_.uses.push_back(std::move(use));
  }

  void look_at_call(SyntaxIndex call) {
    const SyntaxIndex function = syntax_.child(call, SyntaxField::function);
    const SyntaxIndex list = syntax_.child(call, SyntaxField::arguments);
    if (!syntax_.is(function, SyntaxKind::attribute)) return;
    if (!syntax_.is(list, SyntaxKind::argument_list)) return;
    PythonForeign use;
    use.name = attribute_of(function);
    // Anything may have a method of that name.
    const SyntaxIndex object = syntax_.child(function, SyntaxField::object);
    if (!is_library(object)) {
      use.imported = imported_name(object);
      if (use.imported.empty()) return;
    }
    use.called = true;
    use.place = syntax_.place_of(call);
    use.uses_result = !syntax_.is(syntax_[call].parent, SyntaxKind::expression_statement);
    std::vector<std::string> arguments;
    for (const SyntaxIndex value : syntax_.children(list)) {
      const SyntaxKind kind = syntax_[value].kind;
      if (kind == SyntaxKind::list_splat || kind == SyntaxKind::dictionary_splat ||
          kind == SyntaxKind::keyword_argument || kind == SyntaxKind::error ||
          kind == SyntaxKind::generator_expression) {
        found_.uses.push_back(std::move(use));
        return;
      }
      arguments.push_back(types_.of_argument(value));
    }
    use.arguments = std::move(arguments);
    found_.uses.push_back(std::move(use));
  }

  // `lib.run` that is neither called nor declared nor given a name.
  void look_at_mention(SyntaxIndex attribute) {
    const SyntaxIndex parent = syntax_[attribute].parent;
    if (parent == no_syntax) return;
    const SyntaxKind above = syntax_[parent].kind;
    if (above == SyntaxKind::call && syntax_[attribute].field == SyntaxField::function) return;
    if (above == SyntaxKind::assignment) return;
    if (above == SyntaxKind::attribute && is_one_of(attribute_of(parent), own_words)) return;
    const std::string_view name = attribute_of(attribute);
    if (is_name(name)) found_.handed_on.emplace(name);
  }

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
  ForeignTypes types_;
  // By name; those of which there are several are none.
  std::map<std::string_view, SyntaxIndex> functions_;
  // Attributes that are one, as written.
  std::map<std::string_view, bool> libraries_;
  std::size_t steps_ = 0;
  PythonForeignFile found_;
};

}  // namespace

bool may_hold_foreign(std::string_view text) {
  return text.find("ctypes") != text.npos || text.find(".restype") != text.npos ||
         text.find(".argtypes") != text.npos;
}

PythonForeignFile find_python_foreign(const ParsedPython& file) { return Reader(file).run(); }

}  // namespace opseal
