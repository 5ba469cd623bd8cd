// The shapes are those of pybind11 (include/pybind11/pybind11.h) and nanobind
// (include/nanobind/nb_func.h): `m.def("name", function, extras…)`, where extras may be a text, a
// policy, `py::arg("x") = value` or `"x"_a = value`.

#include <algorithm>
#include <array>
#include <map>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/cpp_record.h"
#include "analyzers/sources/extensions.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

// Longer texts are documentation.
constexpr std::size_t longest_name = 200;
// Functions of one block that are kept; the largest seen has some hundred.
constexpr std::size_t most_functions = 20000;
// Tokens of all bodies of a file.
constexpr std::uint64_t most_steps = 8'000'000;
// Tokens of the template arguments of one call.
constexpr std::size_t longest_arguments = 256;
// Braces within braces.
constexpr std::size_t most_depth = 64;

bool is_binder(const Token& token) {
  constexpr std::array<std::string_view, 4> spaces{"py", "pybind11", "nb", "nanobind"};
  return is_one_of(token.text, spaces);
}

// Where a default stands: `py::arg("x") = 1`.
bool assigns(Tokens tokens) {
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (tokens[at].is('=')) return true;
    if (tokens[at].is('(') || tokens[at].is('{') || tokens[at].is('[')) {
      at = closing_bracket(tokens, at);
    }
  }
  return false;
}

bool has_word(Tokens tokens, std::string_view word) {
  return std::any_of(tokens.begin(), tokens.end(),
                     [word](const Token& token) { return token.is(word); });
}

// A name by which a scope knows a module.
struct Variable {
  std::size_t block = 0;
  std::string submodule;
};

class ExtensionReader {
 public:
  ExtensionReader(const SourceUnit& unit, const Invocations& found,
                  std::vector<ExtensionBlock>& out)
      : unit_(unit), found_(found), out_(out) {}

  void run() {
    for (std::uint32_t scope = 0; scope < found_.scopes.size(); ++scope) add_block(scope);
    if (variables_.empty()) return;
    // Of each call the one that its chain of `def` begins with, which stands before it.
    std::vector<std::uint32_t> roots(found_.list.size(), no_token);
    for (std::uint32_t at = 0; at < found_.list.size(); ++at) {
      const Invocation& invocation = found_.list[at];
      if (invocation.form != InvocationForm::member || invocation.name != "def") continue;
      const std::uint32_t previous = invocation.previous;
      roots[at] = previous == no_token ? at : previous < at ? roots[previous] : no_token;
      if (roots[at] != no_token) read_def(invocation, found_.list[roots[at]]);
    }
  }

 private:
  Tokens tokens(TokenRange range) const {
    return Tokens(unit_.tokens).subspan(range.begin, range.end - range.begin);
  }

  void add_block(std::uint32_t index) {
    const Scope& scope = found_.scopes[index];
    ExtensionBlock block;
    std::string_view variable;
    if (scope.kind == ScopeKind::macro_block && scope.invocation != no_token) {
      const Invocation& macro = found_.list[scope.invocation];
      const bool binds = macro.name.starts_with("PYBIND11_") || macro.name == "NB_MODULE";
      if (!binds || macro.arguments.size() < 2) return;
      const Tokens name = macro.arguments[0];
      const Tokens object = macro.arguments[1];
      if (object.size() != 1 || !object.front().is_identifier()) return;
      block.module = true;
      // What is no plain word is known to the build alone.
      if (name.size() == 1 && name.front().is_identifier() &&
          !(is_upper(name.front().text) && name.front().text.size() > 3)) {
        block.name = name.front().text;
      }
      variable = object.front().text;
      block.place = {unit_.file, macro.offset, macro.length};
    } else if (scope.kind == ScopeKind::function) {
      variable = module_parameter(scope);
      if (variable.empty() || scope.name_token == no_token) return;
      block.function = base_of(scope.name);
      block.place = place_of(Tokens(unit_.tokens).subspan(scope.name_token, 1), unit_.file);
    } else {
      return;
    }
    variables_[{index, variable}] = {out_.size(), ""};
    out_.push_back(std::move(block));
    // Bodies within bodies would be read again and again.
    steps_ += scope.body.empty() ? 0 : scope.body.end - scope.body.begin;
    if (steps_ > most_steps) {
      out_.back().open = true;
    } else {
      read_body(index, scope, variable);
    }
  }

  // The name of a parameter of type `py::module_&`.
  std::string_view module_parameter(const Scope& scope) const {
    if (scope.parameters.empty()) return {};
    for (const Tokens parameter : split_typed(tokens(scope.parameters))) {
      if (parameter.size() < 2 || !parameter.back().is_identifier()) continue;
      for (std::size_t at = 0; at + 2 < parameter.size(); ++at) {
        const bool is_module = parameter[at + 2].is("module_") || parameter[at + 2].is("module");
        if (is_binder(parameter[at]) && parameter[at + 1].is("::") && is_module) {
          return parameter.back().text;
        }
      }
    }
    return {};
  }

  // The rest of what happens to the module: submodules, functions that it is handed to, names that
  // are given to it otherwise.
  void read_body(std::uint32_t index, const Scope& scope, std::string_view variable) {
    const std::size_t number = out_.size() - 1;
    const std::vector<Token>& all = unit_.tokens;
    std::map<std::string_view, std::string> modules{{variable, ""}};
    const std::uint32_t end =
        std::min<std::uint32_t>(scope.body.end, static_cast<std::uint32_t>(all.size()));
    std::vector<std::uint32_t> calls;
    for (std::uint32_t at = scope.body.begin; at < end; ++at) {
      const Token& token = all[at];
      if (token.is('(')) calls.push_back(at);
      if (token.is(')') && !calls.empty()) calls.pop_back();
      if (token.is_string()) {
        std::uint32_t last = at + 1;
        while (last < end && all[last].is_string()) ++last;
        add_text(number, string_value(Tokens(all).subspan(at, last - at)));
        if (last > at + 1) add_text(number, string_value(Tokens(all).subspan(at, 1)));
        continue;
      }
      if (!token.is_identifier()) continue;
      if (is_unknown_macro(at, scope.body.begin)) out_[number].open = true;
      const auto module = modules.find(token.text);
      if (module == modules.end()) continue;
      const bool member = at > 0 && (all[at - 1].is('.') || all[at - 1].is("->"));
      if (member) continue;
      if (at + 2 < end && all[at + 1].is('.')) {
        // What stands behind the name is documentation, often that name once more. `read_def` reads
        // the name itself.
        const std::uint32_t close = found_.partners[std::min(at + 3, end - 1)];
        const bool names_function =
            at + 4 < end && all[at + 2].is("def") && all[at + 3].is('(') && all[at + 4].is_string();
        if (names_function && close != no_token && close > at + 3 && close < end) {
          at = close;
          continue;
        }
        if (all[at + 2].is("def_submodule")) {
          add_submodule(index, at, end, module->second, modules);
        }
        continue;
      }
      const auto is_argument = [&](std::uint32_t begin) {
        return begin > 0 && (all[begin - 1].is('(') || all[begin - 1].is(',')) && at + 1 < end &&
               (all[at + 1].is(')') || all[at + 1].is(','));
      };
      if (is_argument(at) && !calls.empty()) add_call(number, calls.back(), at, module->second);
      // Who is handed its address may give it names, too.
      const bool address = at > 0 && all[at - 1].is('&') && is_argument(at - 1);
      if (address) out_[number].open = true;
    }
    if (includes_something(scope)) out_[number].open = true;
  }

  void add_text(std::size_t block, std::string text) {
    if (!text.empty() && text.size() <= longest_name) out_[block].texts.insert(std::move(text));
  }

  // `auto sub = m.def_submodule("ops", …);`
  void add_submodule(std::uint32_t scope, std::uint32_t at, std::uint32_t end,
                     const std::string& outer, std::map<std::string_view, std::string>& modules) {
    const std::vector<Token>& all = unit_.tokens;
    if (at + 4 >= end || !all[at + 3].is('(') || !all[at + 4].is_string()) {
      out_.back().open = true;
      return;
    }
    if (at < 2 || !(all[at - 1].is('=') || all[at - 1].is('(') || all[at - 1].is('{'))) return;
    const Token& name = all[at - 2];
    if (!name.is_identifier()) return;
    const std::string path = outer + string_value(Tokens(all).subspan(at + 4, 1)) + ".";
    if (all[at - 1].is('(') && at >= 3 &&
        (all[at - 3].is(';') || all[at - 3].is('{') || all[at - 3].is('}') ||
         all[at - 3].is("::"))) {
      // `init_ops(m.def_submodule("ops"));`
      out_.back().calls.emplace_back(std::string(name.text), path);
      return;
    }
    modules[name.text] = path;
    variables_[{scope, name.text}] = {out_.size() - 1, path};
  }

  // The module is an argument of the call whose bracket is at `open`.
  void add_call(std::size_t block, std::uint32_t open, std::uint32_t at,
                const std::string& submodule) {
    const std::vector<Token>& all = unit_.tokens;
    std::uint32_t name = open;
    if (name > 0 && all[name - 1].is('>')) {
      std::size_t depth = 0;
      while (name > 0 && open - name < longest_arguments) {
        --name;
        if (all[name].is('>')) ++depth;
        if (all[name].is('<') && --depth == 0) break;
      }
    }
    if (name == 0 || !all[name - 1].is_identifier()) {
      out_[block].open = true;
      return;
    }
    --name;
    // `py::class_<T>(m, "T")`, `py::class_<T> held(m, "T")`: a text gives the name.
    const bool named = at + 2 < all.size() && all[at + 1].is(',') && all[at + 2].is_string();
    const bool own = name >= 2 && all[name - 1].is("::") && is_binder(all[name - 2]);
    const bool declares = name > 0 && (all[name - 1].is('>') || all[name - 1].is_identifier());
    if (named && (own || declares)) {
      add_text(block, submodule + string_value(Tokens(all).subspan(at + 2, 1)));
      return;
    }
    out_[block].calls.emplace_back(std::string(all[name].text), submodule);
  }

  // `BIND_EVERYTHING(float)` at the start of a statement: nobody knows what it stands for.
  bool is_unknown_macro(std::uint32_t at, std::uint32_t begin) const {
    const std::vector<Token>& all = unit_.tokens;
    const Token& token = all[at];
    if (token.text.size() < 4 || !is_upper(token.text) || token.never_expand) return false;
    const bool starts = at == begin || all[at - 1].is(';') || all[at - 1].is('{') ||
                        all[at - 1].is('}') || all[at - 1].is(')');
    if (!starts || at + 1 >= all.size()) return false;
    if (token.text.find("CHECK") != token.text.npos ||
        token.text.find("ASSERT") != token.text.npos) {
      return false;
    }
    return all[at + 1].is('(') || all[at + 1].is(';') || all[at + 1].is_identifier() ||
           all[at + 1].is('}');
  }

  // A header within a body is not read there.
  bool includes_something(const Scope& scope) const {
    const std::vector<Token>& all = unit_.tokens;
    if (scope.body.empty() || scope.body.end > all.size()) return false;
    const std::uint32_t begin = all[scope.body.begin].offset;
    // Up to the brace: what is included may stand behind all else.
    const bool closed = scope.body.end < all.size();
    const Token& last = all[closed ? scope.body.end : scope.body.end - 1];
    const std::uint32_t end = last.offset + (closed ? 0 : last.length);
    if (end <= begin || end > unit_.bytes.size()) return false;
    return unit_.bytes.substr(begin, end - begin).find("#include") != std::string_view::npos;
  }

  const Variable* variable_for(std::uint32_t scope, std::string_view object) const {
    for (std::size_t depth = 0; scope != no_scope && depth < most_depth;
         scope = found_.scopes[scope].parent, ++depth) {
      const auto variable = variables_.find({scope, object});
      if (variable != variables_.end()) return &variable->second;
    }
    return nullptr;
  }

  void read_def(const Invocation& invocation, const Invocation& root) {
    if (root.object.empty()) return;
    const Variable* variable = variable_for(invocation.scope, root.object);
    if (variable == nullptr || invocation.arguments.empty()) return;
    ExtensionBlock& block = out_[variable->block];
    if (block.functions.size() >= most_functions) {
      block.open = true;
      return;
    }
    auto bound = record_at<BoundFunction>(unit_, invocation);
    bound.submodule = variable->submodule;
    const Tokens name = invocation.arguments.front();
    bool only_strings = false;
    bound.name = {string_value(name, &only_strings), place_of(name, unit_.file)};
    if (!only_strings || name.empty() || bound.name.text.empty()) {
      block.open = true;
      return;
    }
    add_text(variable->block, bound.name.text);
    if (invocation.arguments.size() < 2) {
      bound.unclear = true;
    } else {
      const Token* begin = invocation.arguments[1].data();
      const Tokens last = invocation.arguments.back();
      const Tokens rest{begin, static_cast<std::size_t>(last.data() + last.size() - begin)};
      read_function(split_call_arguments(rest), bound);
    }
    block.functions.push_back(std::move(bound));
  }

  void read_function(const std::vector<Tokens>& arguments, BoundFunction& bound) const {
    if (arguments.empty()) return;
    read_bound(arguments.front(), bound);
    for (std::size_t at = 1; at < arguments.size(); ++at) {
      const Tokens extra = arguments[at];
      if (extra.empty()) continue;
      const bool literal = extra.size() >= 2 && extra[0].is_string() && extra[1].is("_a");
      const bool argument = literal ||
                            (extra.size() >= 3 && is_binder(extra[0]) &&
                             (extra[2].is("arg") || extra[2].is("arg_v"))) ||
                            extra[0].is("arg") || extra[0].is("arg_v");
      if (has_word(extra, "kw_only") || has_word(extra, "is_method")) bound.unclear = true;
      if (!argument) {
        // A pack or a macro may be arguments too.
        if (has_word(extra, "...") ||
            (extra.size() == 1 && is_upper(extra[0].text) && extra[0].is_identifier())) {
          bound.unclear = true;
        }
        continue;
      }
      bound.says_arguments = true;
      Tokens text = extra;
      while (!text.empty() && !text.front().is_string()) text = text.subspan(1);
      bound.arguments.push_back(text.empty() ? std::string() : string_value(text.first(1)));
      if (assigns(extra) || has_word(extra, "arg_v")) ++bound.defaults;
    }
  }

  // Calls around a function that leave it what it is.
  static bool is_wrapper(const Token& token) {
    constexpr std::array<std::string_view, 3> words{"wrap_pybind_function",
                                                    "wrap_pybind_function_no_gil", "vectorize"};
    return is_one_of(token.text, words);
  }

  void read_bound(Tokens tokens, BoundFunction& bound) const {
    for (std::size_t at = 0; at + 1 < tokens.size() && at < 4; ++at) {
      if (is_wrapper(tokens[at]) && tokens[at + 1].is('(') && tokens.back().is(')')) {
        tokens = tokens.subspan(at + 2, tokens.size() - at - 3);
        break;
      }
      if (tokens[at].is("overload_cast") && tokens[at + 1].is('<')) {
        read_overload(tokens, at + 1, bound);
        return;
      }
    }
    bound.function = read_kernel_argument(tokens, unit_.file).function;
    if (bound.function.name.empty() && !bound.function.declared) bound.unclear = true;
  }

  // `py::overload_cast<A, B>(&f)`
  void read_overload(Tokens tokens, std::size_t open, BoundFunction& bound) const {
    std::size_t depth = 0;
    for (std::size_t at = open; at < tokens.size(); ++at) {
      if (tokens[at].is('<')) ++depth;
      if (!tokens[at].is('>') || --depth > 0) continue;
      bound.function.place = place_of(tokens, unit_.file);
      bound.function.name = text_of(tokens.subspan(at + 1));
      bound.function.declared =
          read_parameters(tokens.subspan(open + 1, at - open - 1), bound.function);
      return;
    }
    bound.unclear = true;
  }

  const SourceUnit& unit_;
  const Invocations& found_;
  std::vector<ExtensionBlock>& out_;
  std::map<std::pair<std::uint32_t, std::string_view>, Variable> variables_;
  std::uint64_t steps_ = 0;
};

}  // namespace

bool read_module_texts(std::string_view bytes, std::set<std::string>& texts) {
  if (bytes.find("METH_") == bytes.npos && bytes.find("PyModule_Add") == bytes.npos) return false;
  TextArena arena;
  Lexer lexer(bytes, arena);
  for (Token token; lexer.next(token);) {
    if (!token.is_string() || token.text.size() > longest_name) continue;
    std::string text = string_value(Tokens(&token, 1));
    if (!text.empty()) texts.insert(std::move(text));
  }
  return true;
}

void read_extensions_cpp(const SourceUnit& unit, const Invocations& found,
                         std::vector<ExtensionBlock>& blocks) {
  ExtensionReader(unit, found, blocks).run();
}

}  // namespace opseal
