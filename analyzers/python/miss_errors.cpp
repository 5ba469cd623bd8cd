#include "analyzers/python/miss_errors.h"

#include <algorithm>
#include <array>
#include <optional>

#include "analyzers/python/functions.h"
#include "analyzers/words.h"
#include "opseal/text.h"

namespace opseal {
namespace {

constexpr std::size_t max_found = 256;
constexpr int max_depth = 32;
constexpr SyntaxIndex max_nodes = 20'000;
constexpr std::size_t max_text = 200;
// Nodes that are looked at for all errors of a file.
constexpr std::size_t max_steps = 4'000'000;

constexpr std::array<std::string_view, 4> list_words{"available", "registered", "known",
                                                     "candidate"};
constexpr std::array<std::string_view, 8> empty_forms{"[]",     "()",     "{}",          "set()",
                                                      "list()", "dict()", "frozenset()", "tuple()"};

// `backend` of `available_backends`; empty for `available`; nothing for another word.
std::optional<std::string> listed_kind(std::string_view name) {
  std::string word = lower(name);
  for (const std::string_view known : list_words) {
    if (!word.starts_with(known)) continue;
    word.erase(0, known.size());
    while (word.starts_with('_')) word.erase(0, 1);
    while (word.ends_with('s')) word.pop_back();
    return word;
  }
  return {};
}

class MissReader {
 public:
  explicit MissReader(const ParsedPython& file) : syntax_(file.syntax), scopes_(file.scopes) {}

  std::vector<PythonMissError> run() {
    for (SyntaxIndex at = 0; at < syntax_.nodes.size() && found_.size() < max_found; ++at) {
      if (syntax_.is(at, SyntaxKind::other) && syntax_.text_of(at).starts_with("raise ")) {
        look_at(at);
      }
    }
    return std::move(found_);
  }

 private:
  struct Miss {
    std::string_view registry;
    std::string_view key;
  };

  void look_at(SyntaxIndex raised) {
    const SyntaxIndex call = syntax_.unwrapped(syntax_.first(raised));
    if (!syntax_.is(call, SyntaxKind::call) || syntax_[call].next - call > max_nodes) return;
    const SyntaxIndex block = syntax_[raised].parent;
    steps_ += (syntax_[call].next - call) + (raised - block);
    if (steps_ > max_steps) return;
    const std::optional<Miss> miss = miss_before(raised);
    if (!miss) return;
    PythonMissError error;
    error.error = syntax_.text_of(syntax_.child(call, SyntaxField::function)).substr(0, max_text);
    error.registry = miss->registry.substr(0, max_text);
    error.place = syntax_.place_of(raised);
    const SyntaxIndex function = function_of(raised);
    if (function != no_syntax) {
      error.within = syntax_.text_of(syntax_.child(function, SyntaxField::name));
    }
    if (!is_of_kernels(error)) return;
    for (SyntaxIndex at = call; at < syntax_[call].next; ++at) {
      SyntaxIndex value = list_at(at, miss->key);
      if (value == no_syntax && !syntax_.is(at, SyntaxKind::keyword_argument) &&
          syntax_[at].parent == syntax_.child(call, SyntaxField::arguments)) {
        value = list_in_order(call, at, miss->key);
      }
      if (value == no_syntax) continue;
      error.list_place = syntax_.place_of(value);
      error.listed = is_never_filled(value, function) ? std::string_view()
                                                      : syntax_.text_of(value).substr(0, max_text);
      found_.push_back(std::move(error));
      return;
    }
  }

  // Registries of other things are nobody's business here.
  static bool is_of_kernels(const PythonMissError& error) {
    const std::string all = lower(error.error + " " + error.within + " " + error.registry);
    constexpr std::array<std::string_view, 10> words{"kernel",   "backend", "operator", "registry",
                                                     "dispatch", "impl",    "platform", "device",
                                                     "provider", "lowering"};
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return all.find(word) != all.npos; });
  }

  // `available_backends=…`, `"available": …`, of things that the key names.
  SyntaxIndex list_at(SyntaxIndex at, std::string_view key) const {
    std::string_view name;
    SyntaxIndex value = no_syntax;
    if (syntax_.is(at, SyntaxKind::keyword_argument)) {
      name = syntax_.text_of(syntax_.child(at, SyntaxField::name));
      value = syntax_.child(at, SyntaxField::value);
    } else if (syntax_.is(at, SyntaxKind::pair)) {
      name = syntax_.text_of(syntax_.child(at, SyntaxField::key));
      if (name.size() > 2) name = name.substr(1, name.size() - 2);
      value = syntax_.child(at, SyntaxField::value);
    } else if (syntax_.is(at, SyntaxKind::interpolation)) {
      return said_in_text(at, key) ? list_within(syntax_.first(at)) : no_syntax;
    }
    if (value == no_syntax) return value;
    const std::optional<std::string> kind = listed_kind(name);
    return kind && names(key, *kind) ? list_within(value) : no_syntax;
  }

  // What the class of the file calls the parameter: `raise Missing(op, [])`.
  SyntaxIndex list_in_order(SyntaxIndex call, SyntaxIndex argument, std::string_view key) const {
    const SyntaxIndex called = syntax_.child(call, SyntaxField::function);
    if (!syntax_.is(called, SyntaxKind::identifier)) return no_syntax;
    const PythonBinding* binding = scopes_.only(syntax_.text_of(called), called);
    if (binding == nullptr || !syntax_.is(binding->value, SyntaxKind::class_definition)) {
      return no_syntax;
    }
    const SyntaxIndex body = syntax_.child(binding->value, SyntaxField::body);
    if (body == no_syntax) return no_syntax;
    std::size_t place = 0;
    for (const SyntaxIndex one : syntax_.children(syntax_[argument].parent)) {
      if (one == argument) break;
      if (syntax_.text_of(one).starts_with('*')) return no_syntax;
      ++place;
    }
    for (const SyntaxIndex method : syntax_.children(body)) {
      if (!syntax_.is(method, SyntaxKind::function_definition)) continue;
      if (syntax_.text_of(syntax_.child(method, SyntaxField::name)) != "__init__") continue;
      const PythonFunction made = python_definition(syntax_, method);
      if (place + 1 >= made.parameters.size() || made.parameters[place + 1].keyword_only) break;
      const std::optional<std::string> kind = listed_kind(made.parameters[place + 1].name);
      return kind && names(key, *kind) ? list_within(argument) : no_syntax;
    }
    return no_syntax;
  }

  static bool names(std::string_view key, const std::string& kind) {
    return kind.empty() || lower(key).find(kind) != std::string::npos;
  }

  // `f"… available backends: {names}"`
  bool said_in_text(SyntaxIndex interpolation, std::string_view key) const {
    const std::uint32_t end = syntax_[interpolation].begin;
    const SyntaxIndex string = syntax_[interpolation].parent;
    const std::uint32_t begin = std::max(syntax_[string].begin, end < 48 ? 0u : end - 48);
    const std::string before = lower(syntax_.text.substr(begin, end - begin));
    for (const std::string_view word : list_words) {
      const std::size_t at = before.rfind(word);
      if (at == before.npos) continue;
      std::string_view rest = std::string_view(before).substr(at + word.size());
      rest = trimmed(rest.substr(0, rest.find_first_of(":(={")));
      while (rest.ends_with('s')) rest.remove_suffix(1);
      return rest.find(' ') == rest.npos && names(key, std::string(rest));
    }
    return false;
  }

  // `x` of `sorted(x)`, `", ".join(sorted(x))`, `list(x)`.
  SyntaxIndex list_within(SyntaxIndex value) const {
    for (int depth = 0; depth < 4; ++depth) {
      value = syntax_.unwrapped(value);
      if (!syntax_.is(value, SyntaxKind::call)) return value;
      const std::string_view called = syntax_.text_of(syntax_.child(value, SyntaxField::function));
      const bool wraps = called == "sorted" || called == "list" || called == "tuple" ||
                         called == "repr" || called == "str" || called.ends_with(".join");
      const SyntaxIndex arguments = syntax_.child(value, SyntaxField::arguments);
      if (!wraps || !syntax_.is(arguments, SyntaxKind::argument_list)) return value;
      const std::vector<SyntaxIndex> given = syntax_.children(arguments);
      if (given.empty()) return value;
      value = given[0];
    }
    return value;
  }

  static bool is_empty(std::string_view text) {
    return std::find(empty_forms.begin(), empty_forms.end(), text) != empty_forms.end();
  }

  // Empty as it stands there, or a name that is bound to such and only read from then on.
  bool is_never_filled(SyntaxIndex value, SyntaxIndex function) {
    if (is_empty(syntax_.text_of(value))) return true;
    if (!syntax_.is(value, SyntaxKind::identifier) || function == no_syntax) return false;
    const std::string_view name = syntax_.text_of(value);
    const PythonBinding* binding = scopes_.only(name, value);
    if (binding == nullptr || binding->kind != PythonBinding::Kind::value ||
        scopes_.scope_of(binding->name) != function) {
      return false;
    }
    if (!is_empty(syntax_.text_of(binding->value))) return false;
    if (syntax_[function].next - function > max_nodes) return false;
    steps_ += syntax_[function].next - function;
    if (steps_ > max_steps) return false;
    for (SyntaxIndex at = function; at < syntax_[function].next; ++at) {
      if (!syntax_.is(at, SyntaxKind::identifier) || syntax_.text_of(at) != name) continue;
      if (at != binding->name && !is_read(at)) return false;
    }
    return true;
  }

  // It is shown, and nobody can put anything in: `{x}`, `sorted(x)`, `", ".join(x)`.
  bool is_read(SyntaxIndex use) const {
    const SyntaxIndex parent = syntax_[use].parent;
    if (syntax_.is(parent, SyntaxKind::interpolation)) return true;
    if (syntax_.is(parent, SyntaxKind::keyword_argument)) return true;
    if (syntax_.is(parent, SyntaxKind::pair)) return true;
    if (!syntax_.is(parent, SyntaxKind::argument_list)) return false;
    const SyntaxIndex call = syntax_[parent].parent;
    return syntax_.is(call, SyntaxKind::call) && list_within(call) == use;
  }

  SyntaxIndex function_of(SyntaxIndex node) const {
    const SyntaxIndex scope = scopes_.scope_of(node);
    return syntax_.is(scope, SyntaxKind::function_definition) ? scope : no_syntax;
  }

  // What was asked for and isn't there, by the nearest condition or exception around.
  std::optional<Miss> miss_before(SyntaxIndex raised) const {
    SyntaxIndex below = raised;
    for (int depth = 0; depth < max_depth; ++depth) {
      const SyntaxIndex above = syntax_[below].parent;
      if (above == no_syntax) return {};
      if (syntax_.is(above, SyntaxKind::function_definition)) return answered_before(raised);
      if (syntax_.is(above, SyntaxKind::if_statement) ||
          syntax_.is(above, SyntaxKind::elif_clause)) {
        if (syntax_[below].field != SyntaxField::consequence) return {};
        return asked_by(syntax_.child(above, SyntaxField::condition));
      }
      if (syntax_.is(above, SyntaxKind::except_clause)) return caught_by(above);
      if (!syntax_.is(above, SyntaxKind::block)) return {};
      below = above;
    }
    return {};
  }

  // The statement before it answers what is there: `if key in registry: return registry[key]`,
  // `for entry in registry: if entry.fits(key): return entry`.
  std::optional<Miss> answered_before(SyntaxIndex raised) const {
    const SyntaxIndex block = syntax_[raised].parent;
    if (!syntax_.is(block, SyntaxKind::block)) return {};
    SyntaxIndex before = no_syntax;
    for (const SyntaxIndex statement : syntax_.children(block)) {
      if (statement == raised) break;
      before = statement;
    }
    if (before == no_syntax || syntax_[before].next - before > max_nodes) return {};
    bool answers = false;
    for (SyntaxIndex at = before; at < syntax_[before].next; ++at) {
      answers = answers || syntax_.is(at, SyntaxKind::return_statement);
    }
    if (!answers) return {};
    if (syntax_.is(before, SyntaxKind::for_statement)) {
      const SyntaxIndex from = syntax_.child(before, SyntaxField::right);
      const SyntaxIndex body = syntax_.child(before, SyntaxField::body);
      if (from == no_syntax || body == no_syntax) return {};
      return Miss{syntax_.text_of(from), syntax_.text_of(body).substr(0, max_text)};
    }
    if (!syntax_.is(before, SyntaxKind::if_statement)) return {};
    // Another branch may raise for another reason.
    for (const SyntaxIndex part : syntax_.children(before)) {
      if (syntax_.is(part, SyntaxKind::elif_clause) || syntax_.is(part, SyntaxKind::else_clause)) {
        return {};
      }
    }
    const SyntaxIndex condition = syntax_.unwrapped(syntax_.child(before, SyntaxField::condition));
    if (condition == no_syntax) return {};
    std::string_view text = syntax_.text_of(condition);
    if (text.size() > max_text || text.find(" and ") != text.npos ||
        text.find(" or ") != text.npos || text.starts_with("not ") ||
        text.find(" not in ") != text.npos) {
      return {};
    }
    if (const std::size_t in = text.find(" in "); in != text.npos) {
      return Miss{trimmed(text.substr(in + 4)), trimmed(text.substr(0, in))};
    }
    if (text.ends_with(" is not None")) text.remove_suffix(12);
    return gotten_by(trimmed(text), condition);
  }

  // `key not in registry`, `entry is None`, `not entry`.
  std::optional<Miss> asked_by(SyntaxIndex condition) const {
    condition = syntax_.unwrapped(condition);
    if (condition == no_syntax) return {};
    std::string_view text = syntax_.text_of(condition);
    if (text.size() > max_text || text.find(" and ") != text.npos ||
        text.find(" or ") != text.npos) {
      return {};
    }
    if (const std::size_t in = text.find(" not in "); in != text.npos) {
      return Miss{trimmed(text.substr(in + 8)), trimmed(text.substr(0, in))};
    }
    if (text.ends_with(" is None")) {
      text.remove_suffix(8);
    } else if (text.starts_with("not ")) {
      text.remove_prefix(4);
    } else {
      return {};
    }
    return gotten_by(trimmed(text), condition);
  }

  // `entry = registry.get(key)`
  std::optional<Miss> gotten_by(std::string_view name, SyntaxIndex from) const {
    const PythonBinding* binding = scopes_.only(name, from);
    if (binding == nullptr || binding->kind != PythonBinding::Kind::value) return {};
    const SyntaxIndex call = syntax_.unwrapped(binding->value);
    if (!syntax_.is(call, SyntaxKind::call)) return {};
    const SyntaxIndex function = syntax_.child(call, SyntaxField::function);
    const SyntaxIndex arguments = syntax_.child(call, SyntaxField::arguments);
    if (!syntax_.is(function, SyntaxKind::attribute) ||
        !syntax_.is(arguments, SyntaxKind::argument_list)) {
      return {};
    }
    const SyntaxIndex method = syntax_.child(function, SyntaxField::attribute);
    const std::vector<SyntaxIndex> given = syntax_.children(arguments);
    if (method == no_syntax || syntax_.text_of(method) != "get" || given.empty()) return {};
    return Miss{syntax_.text_of(syntax_.child(function, SyntaxField::object)),
                syntax_.text_of(given[0])};
  }

  // `try: return registry[key]`, `except KeyError:`
  std::optional<Miss> caught_by(SyntaxIndex clause) const {
    const std::string_view head = syntax_.text_of(clause).substr(0, 40);
    if (!head.starts_with("except KeyError")) return {};
    const SyntaxIndex tried = syntax_[clause].parent;
    if (!syntax_.is(tried, SyntaxKind::try_statement)) return {};
    const SyntaxIndex body = syntax_.child(tried, SyntaxField::body);
    if (body == no_syntax || syntax_[body].next - body > max_nodes) return {};
    std::optional<Miss> only;
    for (SyntaxIndex at = body; at < syntax_[body].next; ++at) {
      if (!syntax_.is(at, SyntaxKind::subscript)) continue;
      const std::vector<SyntaxIndex> parts = syntax_.children(at);
      if (only || parts.size() != 2) return {};
      only = Miss{syntax_.text_of(parts[0]), syntax_.text_of(parts[1])};
    }
    return only;
  }

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
  std::vector<PythonMissError> found_;
  std::size_t steps_ = 0;
};

}  // namespace

bool may_hold_miss_errors(std::string_view text) {
  if (text.find("raise ") == text.npos) return false;
  for (const std::string_view word : list_words) {
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
      std::size_t end = at;
      while (end < text.size() && is_word_byte(text[end])) ++end;
      while (end < text.size() && (text[end] == '"' || text[end] == '\'' || text[end] == ' ' ||
                                   text[end] == ':' || text[end] == '=')) {
        ++end;
      }
      for (const std::string_view form : empty_forms) {
        if (text.substr(end).starts_with(form)) return true;
      }
    }
  }
  return false;
}

std::vector<PythonMissError> find_miss_errors(const ParsedPython& file) {
  return MissReader(file).run();
}

}  // namespace opseal
