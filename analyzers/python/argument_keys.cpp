#include "analyzers/python/argument_keys.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "analyzers/python/constants.h"
#include "analyzers/python/functions.h"
#include "analyzers/python/tuned_writes.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// One file holds some few.
constexpr std::size_t max_functions = 256;
// Of one function.
constexpr std::size_t max_names = 128;
constexpr std::size_t max_decorators = 16;
// Settings of a tuner, and the nodes of what lists them.
constexpr std::size_t max_configs = 512;
constexpr SyntaxIndex max_listed = 20'000;

// The compiler of Triton has options of its own among the settings; those of kernels are constants
// by their names.
bool is_constant_name(std::string_view name) {
  bool letter = false;
  for (const char byte : name) {
    const bool upper = byte >= 'A' && byte <= 'Z';
    if (!upper && byte != '_' && !(byte >= '0' && byte <= '9')) return false;
    letter = letter || upper;
  }
  return letter;
}

class ArgumentReader {
 public:
  explicit ArgumentReader(const ParsedPython& file)
      : syntax_(file.syntax), scopes_(file.scopes), constants_(syntax_, scopes_) {}

  std::vector<PythonCache> run() {
    for (SyntaxIndex at = 0; at < syntax_.nodes.size() && found_.size() < max_functions; ++at) {
      if (syntax_.is(at, SyntaxKind::decorated_definition)) look_at(at);
      if (syntax_.is(at, SyntaxKind::call)) look_at_call(at);
    }
    return std::move(found_);
  }

 private:
  bool is_named(SyntaxIndex expression, std::string_view name) const {
    if (expression == no_syntax) return false;
    const std::vector<std::string> names = scopes_.full_names(expression);
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  SyntaxIndex called(SyntaxIndex expression) const {
    return syntax_.is(expression, SyntaxKind::call)
               ? syntax_.child(expression, SyntaxField::function)
               : expression;
  }

  std::vector<SyntaxIndex> arguments(SyntaxIndex call) const {
    const SyntaxIndex list = syntax_.is(call, SyntaxKind::call)
                                 ? syntax_.child(call, SyntaxField::arguments)
                                 : no_syntax;
    if (!syntax_.is(list, SyntaxKind::argument_list)) return {};
    return syntax_.children(list);
  }

  SyntaxIndex keyword(SyntaxIndex call, std::string_view wanted) const {
    for (const SyntaxIndex given : arguments(call)) {
      if (!syntax_.is(given, SyntaxKind::keyword_argument)) continue;
      const SyntaxIndex name = syntax_.child(given, SyntaxField::name);
      if (name != no_syntax && syntax_.text_of(name) == wanted) {
        return syntax_.child(given, SyntaxField::value);
      }
    }
    return no_syntax;
  }

  SyntaxIndex positional(SyntaxIndex call, std::size_t wanted) const {
    std::size_t position = 0;
    for (const SyntaxIndex given : arguments(call)) {
      if (syntax_.is(given, SyntaxKind::keyword_argument)) continue;
      if (syntax_.is(given, SyntaxKind::list_splat)) return no_syntax;
      if (position++ == wanted) return given;
    }
    return no_syntax;
  }

  // The texts that an expression is, each with its place.
  std::vector<PythonKeyPart> names_in(SyntaxIndex expression) {
    std::vector<PythonKeyPart> names;
    if (expression == no_syntax) return names;
    constants_.restart();
    const PythonConstant all = constants_.of(expression);
    const auto add = [&](const PythonConstant& one) {
      if (!one.is_text() || names.size() >= max_names) return;
      const SyntaxIndex node = one.node == no_syntax ? expression : one.node;
      PythonKeyPart part;
      part.name = one.text;
      part.place = syntax_.place_of(node);
      names.push_back(std::move(part));
    };
    add(all);
    for (const PythonConstant& one : all.items) add(one);
    return names;
  }

  void look_at(SyntaxIndex decorated) {
    std::vector<SyntaxIndex> decorators;
    for (const SyntaxIndex child : syntax_.children(decorated)) {
      if (!syntax_.is(child, SyntaxKind::decorator)) continue;
      const SyntaxIndex what = syntax_.first(child);
      if (what == no_syntax || decorators.size() >= max_decorators) return;
      decorators.push_back(what);
    }
    const SyntaxIndex definition = syntax_.child(decorated, SyntaxField::definition);
    if (decorators.empty() || !syntax_.is(definition, SyntaxKind::function_definition)) return;
    const SyntaxIndex nearest = decorators.back();
    if (is_named(called(nearest), "triton.jit")) {
      decorators.pop_back();
      look_at_kernel(definition, nearest, decorators);
    } else if (is_named(called(nearest), "jax.jit")) {
      look_at_static(python_definition(syntax_, definition), nearest);
    } else if (is_named(called(nearest), "functools.partial") &&
               is_named(positional(nearest, 0), "jax.jit")) {
      look_at_static(python_definition(syntax_, definition), nearest);
    }
  }

  // `fast = jax.jit(slow, static_argnames=…)`
  void look_at_call(SyntaxIndex call) {
    const SyntaxIndex function = syntax_.child(call, SyntaxField::function);
    if (!is_named(function, "jax.jit")) return;
    const SyntaxIndex given = positional(call, 0);
    if (!syntax_.is(given, SyntaxKind::identifier)) return;
    const PythonBinding* bound = scopes_.only(syntax_.text_of(given), given);
    if (bound == nullptr || bound->kind != PythonBinding::Kind::definition) return;
    if (!syntax_.is(bound->value, SyntaxKind::function_definition)) return;
    // What decorates it may take other arguments.
    if (syntax_.is(syntax_[bound->value].parent, SyntaxKind::decorated_definition)) return;
    look_at_static(python_definition(syntax_, bound->value), call);
  }

  void look_at_static(const PythonFunction& function, SyntaxIndex call) {
    std::vector<PythonKeyPart> names = names_in(keyword(call, "static_argnames"));
    if (names.empty()) return;
    add(function, std::move(names), {});
  }

  // From the nearest decorator on, as long as each is Triton's own.
  void look_at_kernel(SyntaxIndex definition, SyntaxIndex jit,
                      const std::vector<SyntaxIndex>& decorators) {
    std::vector<PythonKeyPart> key;
    std::vector<PythonKeyPart> handed;
    // By heuristics: parameters, and options of a launch.
    std::vector<PythonKeyPart> worked_out;
    std::optional<std::uint32_t> tried;
    SyntaxIndex tuner = no_syntax;
    const auto take = [](std::vector<PythonKeyPart>& into, std::vector<PythonKeyPart> names) {
      for (PythonKeyPart& one : names) {
        if (into.size() < max_names) into.push_back(std::move(one));
      }
    };
    take(handed, names_in(keyword(jit, "do_not_specialize")));
    take(handed, names_in(keyword(jit, "do_not_specialize_on_alignment")));
    for (auto at = decorators.rbegin(); at != decorators.rend(); ++at) {
      const SyntaxIndex function = called(*at);
      if (is_named(function, "triton.heuristics")) {
        SyntaxIndex values = keyword(*at, "values");
        if (values == no_syntax) values = positional(*at, 0);
        take(worked_out, keys_of(values));
      } else if (is_named(function, "triton.autotune")) {
        SyntaxIndex named = keyword(*at, "key");
        if (named == no_syntax) named = positional(*at, 1);
        take(key, names_in(named));
        for (const std::string_view list : {"reset_to_zero", "restore_value"}) {
          take(handed, names_in(keyword(*at, list)));
        }
        SyntaxIndex configs = keyword(*at, "configs");
        if (configs == no_syntax) configs = positional(*at, 0);
        if (keyword(*at, "prune_configs_by") == no_syntax) take(handed, settings_in(configs));
        tried = says_what_is_restored(*at) ? tried_of(configs) : std::nullopt;
        tuner = *at;
      } else {
        break;
      }
    }
    const PythonFunction function = python_definition(syntax_, definition);
    std::erase_if(worked_out,
                  [&](const PythonKeyPart& one) { return is_option(one.name, function); });
    take(handed, std::move(worked_out));
    std::vector<PythonKeyPart> changed;
    if (tried.value_or(0) > 1) changed = tuned_writes(syntax_, scopes_, function);
    if (key.empty() && handed.empty() && changed.empty()) return;
    const std::size_t before = found_.size();
    add(function, std::move(key), std::move(handed));
    if (found_.size() == before || !tried) return;
    found_.back().tried = tried;
    found_.back().tried_place = syntax_.place_of(called(tuner));
    found_.back().changed = std::move(changed);
  }

  // Options (`num_warps`) are no parameters, and each backend has its own: whatever is no
  // constant's name and like no parameter's.
  static bool is_option(const std::string& name, const PythonFunction& function) {
    std::vector<std::string_view> parameters;
    for (const PythonParameter& parameter : function.parameters) {
      if (parameter.name == name) return false;
      parameters.push_back(parameter.name);
    }
    return !is_constant_name(name) && nearest_name(name, parameters).empty();
  }

  // A hook may put back anything, and `**settings` may hold one.
  bool says_what_is_restored(SyntaxIndex tuner) {
    for (const SyntaxIndex given : arguments(tuner)) {
      if (syntax_.is(given, SyntaxKind::dictionary_splat)) return false;
      if (syntax_.is(given, SyntaxKind::list_splat)) return false;
    }
    if (keyword(tuner, "pre_hook") != no_syntax || positional(tuner, 3) != no_syntax) return false;
    for (const std::string_view list : {"reset_to_zero", "restore_value"}) {
      const SyntaxIndex names = keyword(tuner, list);
      if (names == no_syntax || syntax_.is(names, SyntaxKind::none)) continue;
      constants_.restart();
      const PythonConstant all = constants_.of(names);
      const bool decided = all.kind == PythonConstant::Kind::list &&
                           std::all_of(all.items.begin(), all.items.end(),
                                       [](const PythonConstant& one) { return one.is_text(); });
      if (!decided) return false;
    }
    return true;
  }

  // Of what a function of the file gives back, the fewest.
  std::optional<std::uint32_t> tried_by(SyntaxIndex call) {
    const SyntaxIndex function = syntax_.child(call, SyntaxField::function);
    if (!syntax_.is(function, SyntaxKind::identifier)) return std::nullopt;
    const PythonBinding* bound = scopes_.only(syntax_.text_of(function), function);
    if (bound == nullptr || bound->kind != PythonBinding::Kind::definition) return std::nullopt;
    const SyntaxIndex made = bound->value;
    if (!syntax_.is(made, SyntaxKind::function_definition) ||
        syntax_.is(syntax_[made].parent, SyntaxKind::decorated_definition) ||
        syntax_[made].next - made > max_listed) {
      return std::nullopt;
    }
    std::optional<std::uint32_t> fewest;
    for (SyntaxIndex at = made; at < syntax_[made].next; ++at) {
      if (!syntax_.is(at, SyntaxKind::return_statement)) continue;
      const SyntaxIndex list = syntax_.first(at);
      // Whatever else it gives back was made elsewhere.
      if (!syntax_.is(list, SyntaxKind::list) &&
          !syntax_.is(list, SyntaxKind::list_comprehension)) {
        return std::nullopt;
      }
      const std::optional<std::uint32_t> one = tried_of(list);
      if (!one) return std::nullopt;
      fewest = std::min(fewest.value_or(*one), *one);
    }
    return fewest;
  }

  // How many settings a list has that is written out, or one that a comprehension makes of lists
  // that are written out.
  std::optional<std::uint32_t> tried_of(SyntaxIndex configs) {
    if (syntax_.is(configs, SyntaxKind::identifier)) {
      const PythonBinding* bound = scopes_.only(syntax_.text_of(configs), configs);
      const bool value = bound != nullptr && bound->kind == PythonBinding::Kind::value;
      configs = value ? bound->value : no_syntax;
    }
    if (syntax_.is(configs, SyntaxKind::call)) return tried_by(configs);
    if (configs == no_syntax || syntax_[configs].next - configs > max_listed) return std::nullopt;
    for (SyntaxIndex at = configs; at < syntax_[configs].next; ++at) {
      if (syntax_.is(at, SyntaxKind::dictionary_splat)) return std::nullopt;
      if (!syntax_.is(at, SyntaxKind::keyword_argument)) continue;
      const SyntaxIndex name = syntax_.child(at, SyntaxField::name);
      if (name != no_syntax && syntax_.text_of(name) == "pre_hook") return std::nullopt;
    }
    std::uint32_t count = 0;
    if (syntax_.is(configs, SyntaxKind::list)) {
      for (const SyntaxIndex one : syntax_.children(configs)) {
        if (!is_named(called(one), "triton.Config") || count >= max_configs) return std::nullopt;
        ++count;
      }
      return count;
    }
    if (!syntax_.is(configs, SyntaxKind::list_comprehension)) return std::nullopt;
    count = 1;
    for (const SyntaxIndex part : syntax_.children(configs)) {
      if (syntax_.is(part, SyntaxKind::call)) {
        if (!is_named(called(part), "triton.Config")) return std::nullopt;
        continue;
      }
      // `if` leaves some out.
      if (!syntax_.is(part, SyntaxKind::for_in_clause)) return std::nullopt;
      constants_.restart();
      const PythonConstant all = constants_.of(syntax_.child(part, SyntaxField::right));
      if (all.kind != PythonConstant::Kind::list || all.items.empty()) return std::nullopt;
      count *= static_cast<std::uint32_t>(std::min(all.items.size(), max_configs));
      if (count > max_configs) return max_configs;
    }
    return count;
  }

  // The keys of a dictionary that is written out.
  std::vector<PythonKeyPart> keys_of(SyntaxIndex dictionary) const {
    std::vector<PythonKeyPart> names;
    if (!syntax_.is(dictionary, SyntaxKind::dictionary)) return names;
    for (const SyntaxIndex pair : syntax_.children(dictionary)) {
      if (!syntax_.is(pair, SyntaxKind::pair) || names.size() >= max_names) continue;
      const SyntaxIndex key = syntax_.child(pair, SyntaxField::key);
      const SyntaxIndex content = key == no_syntax ? no_syntax : text_within(key);
      if (content == no_syntax) continue;
      PythonKeyPart part;
      part.name = syntax_.text_of(content);
      part.place = syntax_.place_of(key);
      names.push_back(std::move(part));
    }
    return names;
  }

  SyntaxIndex text_within(SyntaxIndex text) const {
    if (!syntax_.is(text, SyntaxKind::string)) return no_syntax;
    SyntaxIndex content = no_syntax;
    for (const SyntaxIndex part : syntax_.children(text)) {
      if (syntax_.is(part, SyntaxKind::interpolation)) return no_syntax;
      if (syntax_.is(part, SyntaxKind::string_content)) content = part;
    }
    return content;
  }

  // Of `triton.Config({"BLOCK": 64}, …)`, written out or in a comprehension.
  std::vector<PythonKeyPart> settings_in(SyntaxIndex configs) const {
    std::vector<PythonKeyPart> names;
    if (syntax_.is(configs, SyntaxKind::identifier)) {
      const PythonBinding* bound = scopes_.only(syntax_.text_of(configs), configs);
      const bool value = bound != nullptr && bound->kind == PythonBinding::Kind::value;
      configs = value ? bound->value : no_syntax;
    }
    const bool listed = syntax_.is(configs, SyntaxKind::list) ||
                        syntax_.is(configs, SyntaxKind::list_comprehension);
    if (!listed || syntax_[configs].next - configs > max_listed) return names;
    std::size_t count = 0;
    for (SyntaxIndex at = configs; at < syntax_[configs].next && count < max_configs; ++at) {
      if (!syntax_.is(at, SyntaxKind::call)) continue;
      if (!is_named(syntax_.child(at, SyntaxField::function), "triton.Config")) continue;
      ++count;
      SyntaxIndex settings = positional(at, 0);
      if (settings == no_syntax) settings = keyword(at, "kwargs");
      for (PythonKeyPart& one : keys_of(settings)) {
        const bool known =
            std::any_of(names.begin(), names.end(),
                        [&one](const PythonKeyPart& other) { return other.name == one.name; });
        if (!known && names.size() < max_names && is_constant_name(one.name)) {
          names.push_back(std::move(one));
        }
      }
    }
    return names;
  }

  void add(const PythonFunction& function, std::vector<PythonKeyPart> key,
           std::vector<PythonKeyPart> handed) {
    if (!function.found || function.any_name || function.parameters.empty()) return;
    PythonCache cache;
    cache.name = function.name;
    cache.kind = "memory";
    cache.place = function.place;
    cache.parts = std::move(key);
    cache.parts_known = !cache.parts.empty();
    cache.handed = std::move(handed);
    for (const PythonParameter& parameter : function.parameters) {
      if (!parameter.name.empty()) cache.arguments.push_back(parameter.name);
    }
    found_.push_back(std::move(cache));
  }

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
  PythonConstants constants_;
  std::vector<PythonCache> found_;
};

}  // namespace

bool may_hold_argument_keys(std::string_view text) {
  const auto has = [text](std::string_view word) { return text.find(word) != text.npos; };
  if (has("static_argnames")) return has("jax");
  return has("triton") && (has("autotune") || has("heuristics") || has("do_not_specialize"));
}

std::vector<PythonCache> find_argument_keys(const ParsedPython& file) {
  return ArgumentReader(file).run();
}

}  // namespace opseal
