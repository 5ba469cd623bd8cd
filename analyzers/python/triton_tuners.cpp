#include "analyzers/python/triton_tuners.h"

#include <algorithm>
#include <string_view>

#include "analyzers/python/bound_call.h"

namespace opseal {
namespace {

// Of one list of configurations.
constexpr SyntaxIndex most_nodes = 20'000;
constexpr std::size_t most_names = 64;

void add(std::string_view name, std::vector<std::string>& names) {
  if (names.size() < most_names && std::find(names.begin(), names.end(), name) == names.end()) {
    names.emplace_back(name);
  }
}

}  // namespace

bool TritonTuning::may_give(const PythonParameter& parameter) const {
  if (gives_any || std::find(given.begin(), given.end(), parameter.name) != given.end()) {
    return true;
  }
  return gives_constants && parameter.annotation.find("constexpr") != std::string::npos;
}

bool TritonTuners::is_name(SyntaxIndex expression, std::string_view name) const {
  const std::vector<std::string> names = scopes_.full_names(expression);
  return std::any_of(names.begin(), names.end(), [name](const std::string& full) {
    // Projects have a module of their own through which Triton comes: `from pkg import triton`.
    return full == name || (full.ends_with(name) && full[full.size() - name.size() - 1] == '.');
  });
}

TritonTuning TritonTuners::of(SyntaxIndex decorated) const {
  TritonTuning tuning;
  for (const SyntaxIndex part : syntax_.children(decorated)) {
    if (!syntax_.is(part, SyntaxKind::decorator)) continue;
    SyntaxIndex called = syntax_.first(part);
    SyntaxIndex arguments = no_syntax;
    if (syntax_.is(called, SyntaxKind::call)) {
      arguments = syntax_.child(called, SyntaxField::arguments);
      called = syntax_.child(called, SyntaxField::function);
    }
    if (called == no_syntax) return {};
    // `@partial(triton.jit, …)`
    const SyntaxIndex first = arguments == no_syntax ? no_syntax : syntax_.first(arguments);
    if (first != no_syntax &&
        (is_name(called, "functools.partial") || is_name(called, "partial")) &&
        is_name(first, "triton.jit")) {
      tuning.compiled = true;
    } else if (is_name(called, "triton.jit")) {
      tuning.compiled = true;
    } else if (arguments != no_syntax && is_name(called, "triton.autotune")) {
      add_tuner(arguments, tuning);
    } else if (arguments != no_syntax && is_name(called, "triton.heuristics")) {
      add_heuristics(arguments, tuning);
    } else {
      tuning.known = false;
    }
  }
  return tuning;
}

void TritonTuners::add_tuner(SyntaxIndex arguments, TritonTuning& tuning) const {
  const BoundCall bound = bind_call(syntax_, arguments, "configs:configs key");
  const SyntaxIndex configs = bound.in("configs");
  std::vector<std::string> names;
  const bool whole = configs != no_syntax && add_configs(configs, names);
  if (!whole) tuning.gives_constants = true;
  for (const std::string& name : names) add(name, tuning.given);
  if (!whole) return;
  for (const std::string& name : names) add(name, tuning.tuned);
  // A configuration has these, said or not.
  for (const std::string_view name : {"num_warps", "num_stages", "num_ctas"}) {
    add(name, tuning.tuned);
  }
}

void TritonTuners::add_heuristics(SyntaxIndex arguments, TritonTuning& tuning) const {
  const SyntaxIndex values = bind_call(syntax_, arguments, "values:values").in("values");
  const SyntaxIndex value = values == no_syntax ? no_syntax : syntax_.unwrapped(values);
  if (!syntax_.is(value, SyntaxKind::dictionary) || !add_keys(value, tuning.given)) {
    tuning.gives_any = true;
  }
}

bool TritonTuners::add_keys(SyntaxIndex dictionary, std::vector<std::string>& names) const {
  for (const SyntaxIndex item : syntax_.children(dictionary)) {
    if (!syntax_.is(item, SyntaxKind::pair)) return false;
    const SyntaxIndex key = syntax_.child(item, SyntaxField::key);
    if (!syntax_.is(key, SyntaxKind::string)) return false;
    std::string_view text = syntax_.text_of(key);
    if (text.size() < 2 || (text.front() != '"' && text.front() != '\'')) return false;
    text.remove_prefix(1);
    text.remove_suffix(1);
    add(text, names);
  }
  return true;
}

bool TritonTuners::add_configs(SyntaxIndex expression, std::vector<std::string>& names) const {
  SyntaxIndex value = syntax_.unwrapped(expression);
  if (syntax_.is(value, SyntaxKind::identifier)) {
    const PythonBinding* binding = scopes_.only(syntax_.text_of(value), value);
    if (binding == nullptr || binding->kind != PythonBinding::Kind::value) return false;
    value = syntax_.unwrapped(binding->value);
  }
  if (!syntax_.is(value, SyntaxKind::list) && !syntax_.is(value, SyntaxKind::list_comprehension)) {
    return false;
  }
  if (syntax_[value].next - value > most_nodes) return false;
  std::size_t configs = 0;
  // What a list holds, and what a comprehension makes.
  for (const SyntaxIndex item : syntax_.children(value)) {
    if (syntax_.is(item, SyntaxKind::for_in_clause) || syntax_.is(item, SyntaxKind::list_splat)) {
      if (syntax_.is(item, SyntaxKind::list_splat)) return false;
      continue;
    }
    if (!syntax_.is(item, SyntaxKind::call)) {
      if (syntax_.is(value, SyntaxKind::list)) return false;
      continue;
    }
    const SyntaxIndex called = syntax_.child(item, SyntaxField::function);
    const SyntaxIndex arguments = syntax_.child(item, SyntaxField::arguments);
    if (called == no_syntax || !is_name(called, "triton.Config")) {
      if (syntax_.is(value, SyntaxKind::list)) return false;
      continue;
    }
    if (!syntax_.is(arguments, SyntaxKind::argument_list)) return false;
    const SyntaxIndex first = bind_call(syntax_, arguments, "kwargs:kwargs").in("kwargs");
    const SyntaxIndex constants = first == no_syntax ? no_syntax : syntax_.unwrapped(first);
    if (!syntax_.is(constants, SyntaxKind::dictionary)) return false;
    if (!add_keys(constants, names)) return false;
    ++configs;
  }
  return configs > 0;
}

}  // namespace opseal
