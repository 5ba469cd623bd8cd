#include "analyzers/python/alternatives.h"

#include <algorithm>
#include <optional>
#include <set>

#include "analyzers/python/functions.h"
#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"
#include "analyzers/source/needles.h"

namespace opseal {
namespace {

constexpr std::size_t most_functions = 4096;
constexpr std::size_t largest_function = 20'000;
constexpr std::size_t most_parameters = 64;

// Arguments that say how something is computed and not what.
bool only_tunes(std::string_view name) {
  for (const std::string_view word :
       {"block",  "warp",  "stage",   "stream",    "workspace", "tile",     "chunk",  "config",
        "tune",   "debug", "inplace", "backend",   "impl",      "kernel",   "buffer", "cache",
        "sms",    "group", "use_",    "enable",    "verbose",   "determin", "handle", "max_",
        "layout", "shard", "scratch", "num_split", "plan",      "fast",     "device", "name"}) {
    if (name.find(word) != name.npos) return true;
  }
  return name.starts_with('_') || name == "out" || name.starts_with("out_") || name == "self" ||
         name == "cls" || name == "ctx";
}

class AlternativeReader {
 public:
  explicit AlternativeReader(const ParsedPython& file)
      : syntax_(file.syntax), scopes_(file.scopes) {}

  std::vector<PythonAlternatives> read() {
    std::size_t functions = 0;
    for (SyntaxIndex at = 0; at < syntax_.nodes.size(); ++at) {
      if (!syntax_.is(at, SyntaxKind::function_definition)) continue;
      if (syntax_[at].next - at > largest_function || ++functions > most_functions) continue;
      read_function(at);
    }
    return std::move(found_);
  }

 private:
  using Names = std::set<std::string, std::less<>>;
  struct Range {
    SyntaxIndex begin = no_syntax;
    SyntaxIndex end = no_syntax;
  };

  // Its own parameters, if it takes no others.
  std::vector<std::string> parameters_of(SyntaxIndex function) const {
    const PythonFunction definition = python_definition(syntax_, function);
    std::vector<std::string> names;
    for (const PythonParameter& one : definition.parameters) {
      if (names.size() < most_parameters) names.push_back(one.name);
    }
    return names;
  }

  // Names that are read in a stretch; those of keyword arguments are none.
  Names read_in(Range range) const {
    Names names;
    for (SyntaxIndex at = range.begin; at < range.end; ++at) {
      if (!syntax_.is(at, SyntaxKind::identifier)) continue;
      const SyntaxIndex parent = syntax_[at].parent;
      const bool is_keyword = syntax_.is(parent, SyntaxKind::keyword_argument) &&
                              syntax_[at].field == SyntaxField::name;
      const bool is_member =
          syntax_.is(parent, SyntaxKind::attribute) && syntax_[at].field == SyntaxField::attribute;
      if (!is_keyword && !is_member) names.emplace(syntax_.text_of(at));
    }
    return names;
  }

  // A name of the module that an `except` gives its other meaning: `fast = None`, `HAS_FAST =
  // False`.
  bool says_availability(SyntaxIndex condition) const {
    for (SyntaxIndex at = condition; at < syntax_[condition].next; ++at) {
      if (!syntax_.is(at, SyntaxKind::identifier)) continue;
      const std::string_view name = syntax_.text_of(at);
      const PythonBinding* only = scopes_.only(name, at);
      if (only != nullptr && only->kind == PythonBinding::Kind::parameter) continue;
      if (name.ends_with("_available") || name.ends_with("_AVAILABLE") ||
          name.find("HAS_") != name.npos || name.starts_with("HAVE_")) {
        return true;
      }
      const std::vector<PythonBinding>& bindings = scopes_.find(name, at);
      if (bindings.size() < 2) continue;
      for (const PythonBinding& one : bindings) {
        if (one.kind == PythonBinding::Kind::value && scopes_.scope_of(one.name) == 0 &&
            is_below_except(one.name)) {
          return true;
        }
      }
    }
    return false;
  }

  bool is_below_except(SyntaxIndex at) const {
    std::size_t steps = 0;
    for (; at != no_syntax && ++steps < PythonScopes::max_depth; at = syntax_[at].parent) {
      if (syntax_.is(at, SyntaxKind::except_clause)) return true;
      if (syntax_.is(at, SyntaxKind::function_definition)) return false;
    }
    return false;
  }

  // `name is None`, `not HAS_FAST`: the branch is that of the slow way.
  bool is_denied(SyntaxIndex condition) const {
    const std::string_view text = syntax_.text_of(condition);
    return text.starts_with("not ") || text.find(" is None") != text.npos ||
           text.find("not HA") != text.npos;
  }

  void read_function(SyntaxIndex function) {
    const SyntaxIndex body = syntax_.child(function, SyntaxField::body);
    if (body == no_syntax) return;
    const std::vector<std::string> parameters = parameters_of(function);
    if (parameters.size() < 2) return;
    const std::vector<SyntaxIndex> statements = syntax_.children(body);
    for (const SyntaxIndex statement : statements) {
      if (syntax_.is(statement, SyntaxKind::if_statement)) {
        read_branches(function, body, statement, parameters);
      }
    }
  }

  bool ends_in_return(SyntaxIndex block) const {
    const std::vector<SyntaxIndex> list = syntax_.children(block);
    return !list.empty() && syntax_.is(list.back(), SyntaxKind::return_statement);
  }

  void read_branches(SyntaxIndex function, SyntaxIndex body, SyntaxIndex statement,
                     const std::vector<std::string>& parameters) {
    const SyntaxIndex condition = syntax_.child(statement, SyntaxField::condition);
    const SyntaxIndex first = syntax_.child(statement, SyntaxField::consequence);
    if (condition == no_syntax || first == no_syntax || !says_availability(condition)) return;
    std::vector<SyntaxIndex> others;
    for (const SyntaxIndex part : syntax_.children(statement)) {
      if (syntax_.is(part, SyntaxKind::elif_clause)) return;
      if (syntax_.is(part, SyntaxKind::else_clause)) others.push_back(part);
    }
    Range taken{first, syntax_[first].next};
    Range other;
    SyntaxIndex rest = syntax_[statement].next;
    if (others.size() == 1) {
      other = {others.front(), syntax_[others.front()].next};
    } else if (others.empty() && ends_in_return(first)) {
      other = {rest, syntax_[body].next};
      rest = syntax_[body].next;
    } else {
      return;
    }
    if (other.begin >= other.end) return;
    const bool denied = is_denied(condition);
    const Range fast = denied ? other : taken;
    const Range slow = denied ? taken : other;
    if (!computes(slow) || !computes(fast) || !make_the_same(slow, fast)) return;
    // What is asked or made ready on the way to both is honoured by both.
    Names elsewhere = read_in({body, statement});
    for (const std::string& name : read_in({condition, syntax_[condition].next})) {
      elsewhere.insert(name);
    }
    for (const std::string& name : read_in({rest, syntax_[body].next})) elsewhere.insert(name);
    add(function, parameters, fast, slow, elsewhere);
  }

  // Names that a stretch gives a value.
  Names set_in(Range range) const {
    Names names;
    for (SyntaxIndex at = range.begin; at < range.end; ++at) {
      if (!syntax_.is(at, SyntaxKind::assignment)) continue;
      const SyntaxIndex left = syntax_.child(at, SyntaxField::left);
      if (left != no_syntax) names.emplace(syntax_.text_of(left));
    }
    return names;
  }

  bool returns(Range range) const {
    for (SyntaxIndex at = range.begin; at < range.end; ++at) {
      if (syntax_.is(at, SyntaxKind::return_statement) && syntax_.first(at) != no_syntax) {
        return true;
      }
    }
    return false;
  }

  // Two ways to one result: both give it back, or both keep it under one name.
  bool make_the_same(Range left, Range right) const {
    if (returns(left) && returns(right)) return true;
    const Names ours = set_in(left);
    for (const std::string& name : set_in(right)) {
      if (ours.contains(name)) return true;
    }
    return false;
  }

  // It calls something, gives up nowhere, and warns of nothing.
  bool computes(Range range) const {
    bool calls = false;
    for (SyntaxIndex at = range.begin; at < range.end; ++at) {
      if (syntax_.is(at, SyntaxKind::call)) calls = true;
      if (syntax_[at].kind == SyntaxKind::other && syntax_.text_of(at).starts_with("raise")) {
        return false;
      }
      if (!syntax_.is(at, SyntaxKind::call)) continue;
      const std::string_view text = syntax_.text_of(at);
      if (text.starts_with("warn") || text.starts_with("log")) return false;
    }
    return calls;
  }

  // Parameters that a call of the stretch gets as they are.
  Names handed_over(Range range) const {
    Names names;
    for (SyntaxIndex at = range.begin; at < range.end; ++at) {
      if (!syntax_.is(at, SyntaxKind::identifier)) continue;
      const SyntaxIndex parent = syntax_[at].parent;
      const bool is_value = syntax_.is(parent, SyntaxKind::keyword_argument) &&
                            syntax_[at].field == SyntaxField::value;
      if (is_value || syntax_.is(parent, SyntaxKind::argument_list)) {
        names.emplace(syntax_.text_of(at));
      }
    }
    return names;
  }

  // The names that the calls of a stretch get and the functions of this file don't read.
  Names ignored_in(Range range) const {
    Names ignored;
    for (SyntaxIndex at = range.begin; at < range.end; ++at) {
      if (!syntax_.is(at, SyntaxKind::call)) continue;
      const SyntaxIndex called = syntax_.child(at, SyntaxField::function);
      const SyntaxIndex arguments = syntax_.child(at, SyntaxField::arguments);
      if (!syntax_.is(called, SyntaxKind::identifier) || arguments == no_syntax) continue;
      const PythonBinding* binding = scopes_.only(syntax_.text_of(called), called);
      if (binding == nullptr || binding->kind != PythonBinding::Kind::definition) continue;
      if (!syntax_.is(binding->value, SyntaxKind::function_definition)) continue;
      add_ignored(binding->value, arguments, ignored);
    }
    return ignored;
  }

  void add_ignored(SyntaxIndex function, SyntaxIndex arguments, Names& ignored) const {
    const SyntaxIndex body = syntax_.child(function, SyntaxField::body);
    if (body == no_syntax || syntax_[function].next - function > largest_function) return;
    if (!computes({body, syntax_[body].next}) ||
        syntax_.text_of(body).find("locals()") != std::string_view::npos) {
      return;
    }
    const std::vector<std::string> parameters = parameters_of(function);
    const Names read = read_in({body, syntax_[body].next});
    std::size_t position = 0;
    for (const SyntaxIndex argument : syntax_.children(arguments)) {
      std::string_view parameter;
      SyntaxIndex value = argument;
      if (syntax_.is(argument, SyntaxKind::keyword_argument)) {
        const SyntaxIndex name = syntax_.child(argument, SyntaxField::name);
        value = syntax_.child(argument, SyntaxField::value);
        if (name != no_syntax) parameter = syntax_.text_of(name);
      } else if (syntax_.is(argument, SyntaxKind::list_splat) ||
                 syntax_.is(argument, SyntaxKind::dictionary_splat)) {
        return;
      } else if (position < parameters.size()) {
        parameter = parameters[position++];
      }
      const bool is_known =
          std::find(parameters.begin(), parameters.end(), parameter) != parameters.end();
      if (!is_known || read.contains(parameter) || !syntax_.is(value, SyntaxKind::identifier)) {
        continue;
      }
      if (!parameter.starts_with('_')) ignored.emplace(syntax_.text_of(value));
    }
  }

  // What a stretch calls first with one of the parameters.
  std::string called_in(Range range) const {
    for (SyntaxIndex at = range.begin; at < range.end; ++at) {
      if (!syntax_.is(at, SyntaxKind::call)) continue;
      const SyntaxIndex called = syntax_.child(at, SyntaxField::function);
      if (called != no_syntax) return std::string(syntax_.text_of(called).substr(0, 80));
    }
    return {};
  }

  void add(SyntaxIndex function, const std::vector<std::string>& parameters, Range fast, Range slow,
           const Names& elsewhere) {
    const Names handed = handed_over(fast);
    const Names read = read_in(slow);
    const Names ignored = ignored_in(slow);
    const Names ignored_by_fast = ignored_in(fast);
    PythonAlternatives one;
    for (const std::string& name : parameters) {
      if (only_tunes(name)) continue;
      const bool by_both = elsewhere.contains(name);
      const bool by_fast = handed.contains(name) && !ignored_by_fast.contains(name);
      if (!by_both && !by_fast) continue;
      one.fast.uses.push_back(name);
      if (by_both || (read.contains(name) && !ignored.contains(name))) {
        one.slow.uses.push_back(name);
      }
    }
    if (one.slow.uses.empty()) return;
    const SyntaxIndex name = syntax_.child(function, SyntaxField::name);
    one.function = name == no_syntax ? "" : std::string(syntax_.text_of(name));
    one.place = syntax_.place_of(name == no_syntax ? function : name);
    one.fast.name = called_in(fast);
    one.slow.name = called_in(slow);
    one.fast.place = syntax_.place_of(fast.begin);
    one.slow.place = syntax_.place_of(slow.begin);
    // The line where it begins is enough.
    constexpr std::uint32_t longest_place = 40;
    one.fast.place.length = std::min(one.fast.place.length, longest_place);
    one.slow.place.length = std::min(one.slow.place.length, longest_place);
    found_.push_back(std::move(one));
  }

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
  std::vector<PythonAlternatives> found_;
};

}  // namespace

bool may_hold_alternatives(std::string_view text) {
  static const Needles guards({"except ImportError", "except ModuleNotFoundError",
                               "except Exception", "_available", "HAS_", "_AVAILABLE", "HAVE_"});
  return guards.occur_in(text) && text.find("    if ") != text.npos &&
         text.find("def ") != text.npos;
}

std::vector<PythonAlternatives> find_python_alternatives(const ParsedPython& file) {
  return AlternativeReader(file).read();
}

}  // namespace opseal
