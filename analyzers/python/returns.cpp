#include "analyzers/python/returns.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace opseal {
namespace {

// Brackets and operations within each other.
constexpr std::size_t max_depth = 8;
constexpr std::size_t max_steps = 20'000'000;
// Of a file; backwards have some tens.
constexpr std::size_t max_values = 200'000;
// Of a name that is given an array on several ways.
constexpr std::size_t most_bindings = 4;
// Copies of one tuple.
constexpr std::uint32_t max_times = 1024;
// No function has so many.
constexpr std::uint32_t most_values = 1u << 20;

// Functions of `jax.numpy` that give one array, however they are called.
bool makes_array(std::string_view name) {
  constexpr std::array<std::string_view, 44> words{
      "abs",        "add",       "asarray",  "broadcast_to", "clip",    "concatenate", "conj",
      "cos",        "cumsum",    "divide",   "dot",          "einsum",  "exp",         "expm1",
      "full_like",  "log",       "log1p",    "matmul",       "maximum", "mean",        "minimum",
      "moveaxis",   "multiply",  "negative", "ones_like",    "outer",   "power",       "prod",
      "reciprocal", "reshape",   "sign",     "sin",          "sqrt",    "square",      "stack",
      "subtract",   "sum",       "swapaxes", "tan",          "tanh",    "tensordot",   "tile",
      "transpose",  "zeros_like"};
  return std::find(words.begin(), words.end(), name) != words.end();
}

// Methods that arrays have, and tuples don't.
bool is_array_method(std::string_view name) {
  constexpr std::array<std::string_view, 7> words{"astype",  "conj",  "mean", "reshape",
                                                  "squeeze", "ravel", "sum"};
  return std::find(words.begin(), words.end(), name) != words.end();
}

// Nothing after it in its block runs.
bool always_leaves(const PythonSyntax& syntax, SyntaxIndex statement) {
  if (syntax.is(statement, SyntaxKind::return_statement)) return true;
  if (!syntax.is(statement, SyntaxKind::other)) return false;
  const std::string_view text = syntax.text_of(statement);
  const std::string_view word = text.substr(0, text.find_first_of(" (\n\t"));
  if (word == "raise") return true;
  if (word != "assert") return false;
  const std::size_t begin = text.find_first_not_of(" (\t", word.size());
  const std::string_view test = begin == text.npos ? std::string_view() : text.substr(begin);
  const std::string_view value = test.substr(0, test.find_first_of(" ,)\n"));
  return value == "False" || value == "0";
}

void append(const PythonReturn& one, PythonReturn& all) {
  if (one.without_nones > 0) all.without_nones = all.values + one.without_nones;
  all.values = std::min(all.values + one.values, most_values);
}

}  // namespace

template <typename Read>
std::vector<PythonReturn> PythonReturns::each(SyntaxIndex function, const Read& read) {
  std::vector<PythonReturn> found;
  const SyntaxIndex body = syntax_.child(function, SyntaxField::body);
  if (body == no_syntax) return found;
  steps_ += syntax_[body].next - body;
  if (steps_ > max_steps) return found;
  const auto add = [&](SyntaxIndex statement, SyntaxIndex expression) {
    std::optional<PythonReturn> one = read(expression);
    if (!one) return;
    one->place = syntax_.place_of(statement);
    found.push_back(*one);
  };
  if (syntax_.is(function, SyntaxKind::lambda)) {
    add(body, body);
    return found;
  }
  for (const SyntaxIndex index : syntax_.own_nodes(body)) {
    if (!syntax_.is(index, SyntaxKind::return_statement) || !is_reached(index, body)) continue;
    add(index, syntax_.first(index));
  }
  return found;
}

bool PythonReturns::is_reached(SyntaxIndex statement, SyntaxIndex body) {
  for (SyntaxIndex at = statement; at != body && at != no_syntax; at = syntax_[at].parent) {
    const SyntaxIndex block = syntax_[at].parent;
    if (block == no_syntax) break;
    for (SyntaxIndex before = block + 1; before < at; before = syntax_[before].next) {
      if (++steps_ > max_steps) return true;
      if (always_leaves(syntax_, before)) return false;
    }
  }
  return true;
}

std::vector<PythonReturn> PythonReturns::of(SyntaxIndex function, bool lists, bool calls) {
  return each(function,
              [&](SyntaxIndex expression) { return read_return(expression, lists, calls); });
}

std::vector<PythonReturn> PythonReturns::of_jax(SyntaxIndex function) {
  return each(function,
              [&](SyntaxIndex expression) { return read_jax_return(expression, function); });
}

std::optional<PythonReturn> PythonReturns::read_jax_return(SyntaxIndex expression,
                                                           SyntaxIndex function) const {
  if (std::optional<PythonReturn> one = read_values(expression, 0)) return one;
  PythonReturn single;
  single.values = 1;
  single.without_nones = 1;
  if (is_array(expression, 0)) {
    single.bare = true;
    return single;
  }
  const SyntaxIndex value = syntax_.unwrapped(expression);
  if (value == no_syntax || !is_plain_parameter(value)) return {};
  const SyntaxIndex parameters = syntax_.child(function, SyntaxField::parameters);
  if (parameters == no_syntax) return {};
  const std::vector<SyntaxIndex> all = syntax_.children(parameters);
  const PythonBinding* binding = scopes_.only(syntax_.text_of(value), value);
  if (all.empty() || binding == nullptr || binding->value != all.back()) return {};
  single.handed_on = true;
  return single;
}

// What is written out; anything else may stand for any number.
std::optional<PythonReturn> PythonReturns::read_return(SyntaxIndex expression, bool lists,
                                                       bool calls) const {
  const SyntaxIndex value = syntax_.unwrapped(expression);
  // In torch a list is one value, and the wrong one.
  if (syntax_.is(value, SyntaxKind::list) && !lists) return {};
  std::optional<PythonReturn> one = read_values(value, 0);
  if (!one && is_single(value, 0)) {
    one.emplace();
    one->values = 1;
    one->without_nones = 1;
  }
  if (!one && calls && syntax_.is(value, SyntaxKind::call)) {
    one.emplace().called = syntax_.text_of(syntax_.child(value, SyntaxField::function));
  }
  return one;
}

std::optional<PythonReturn> PythonReturns::end_of(SyntaxIndex function) const {
  const SyntaxIndex body = syntax_.child(function, SyntaxField::body);
  if (body == no_syntax) return {};
  bool names = false;
  for (SyntaxIndex index = body; index < syntax_[body].next; ++index) {
    const SyntaxKind kind = syntax_[index].kind;
    const bool leaves = kind == SyntaxKind::other && (syntax_.text_of(index).starts_with("raise") ||
                                                      syntax_.text_of(index).starts_with("yield"));
    if (leaves || kind == SyntaxKind::return_statement || kind == SyntaxKind::error) return {};
    const SyntaxIndex left =
        kind == SyntaxKind::assignment ? syntax_.child(index, SyntaxField::left) : no_syntax;
    names = names || (syntax_.is(left, SyntaxKind::identifier) &&
                      syntax_.text_of(left).find("grad") != std::string_view::npos);
  }
  if (!names) return {};
  const SyntaxIndex name = syntax_.child(function, SyntaxField::name);
  PythonReturn one;
  one.values = 1;
  one.place = syntax_.place_of(name);
  return one;
}

// `(a, None)`, `a, *[None] * 2`, `(a,) + (None,) * 2`, the name of such a tuple.
std::optional<PythonReturn> PythonReturns::read_values(SyntaxIndex expression,
                                                       std::size_t depth) const {
  const SyntaxIndex value = syntax_.unwrapped(expression);
  if (value == no_syntax || depth == max_depth || ++values_ > max_values) return {};
  const SyntaxKind kind = syntax_[value].kind;
  if (kind == SyntaxKind::binary_operator) return read_operation(value, depth);
  if (kind == SyntaxKind::identifier) return read_name(value, depth);
  if (kind != SyntaxKind::tuple && kind != SyntaxKind::expression_list &&
      kind != SyntaxKind::list) {
    return {};
  }
  PythonReturn all;
  const std::vector<SyntaxIndex> items = syntax_.children(value);
  // One tuple may be returned at many places.
  values_ += items.size();
  if (values_ > max_values) return {};
  for (const SyntaxIndex item : items) {
    if (syntax_.is(item, SyntaxKind::error)) return {};
    PythonReturn one;
    if (syntax_.is(item, SyntaxKind::list_splat)) {
      const std::optional<PythonReturn> spread = read_values(syntax_.first(item), depth + 1);
      if (!spread) return {};
      one = *spread;
    } else if (syntax_.text_of(item).starts_with('*')) {
      // Without brackets the grammar takes the star of `*f(x)` for a part of the call.
      return {};
    } else {
      one.values = 1;
      one.without_nones = syntax_.is(syntax_.unwrapped(item), SyntaxKind::none) ? 0 : 1;
    }
    append(one, all);
  }
  return all;
}

std::optional<PythonReturn> PythonReturns::read_operation(SyntaxIndex operation,
                                                          std::size_t depth) const {
  const SyntaxIndex sign = syntax_.child(operation, SyntaxField::operator_sign);
  const SyntaxIndex left = syntax_.child(operation, SyntaxField::left);
  const SyntaxIndex right = syntax_.child(operation, SyntaxField::right);
  if (sign == no_syntax || left == no_syntax || right == no_syntax) return {};
  std::optional<PythonReturn> first = read_values(left, depth + 1);
  if (!first) return {};
  if (syntax_.text_of(sign) == "+") {
    const std::optional<PythonReturn> second = read_values(right, depth + 1);
    if (!second) return {};
    append(*second, *first);
    return first;
  }
  std::uint32_t times = 0;
  if (syntax_.text_of(sign) != "*" || !syntax_.is(right, SyntaxKind::integer)) return {};
  const std::string_view digits = syntax_.text_of(right);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), times);
  if (error != std::errc() || end != digits.data() + digits.size() || times > max_times) return {};
  PythonReturn all;
  for (std::uint32_t i = 0; i < times; ++i) append(*first, all);
  return all;
}

// A name that is bound once, and to a tuple: a list may grow until it is returned.
std::optional<PythonReturn> PythonReturns::read_name(SyntaxIndex name, std::size_t depth) const {
  const PythonBinding* binding = scopes_.only(syntax_.text_of(name), name);
  if (binding == nullptr || binding->kind != PythonBinding::Kind::value) return {};
  const SyntaxIndex value = syntax_.unwrapped(binding->value);
  const bool immutable =
      syntax_.is(value, SyntaxKind::tuple) || syntax_.is(value, SyntaxKind::expression_list);
  if (!immutable || value > name) return {};
  return read_values(value, depth + 1);
}

// What surely is one array: arithmetic, a function of `jax.numpy` that gives one, a method that
// only arrays have, or a name of such.
bool PythonReturns::is_array(SyntaxIndex expression, std::size_t depth) const {
  const SyntaxIndex value = syntax_.unwrapped(expression);
  if (value == no_syntax || depth == max_depth || ++values_ > max_values) return false;
  if (syntax_.is(value, SyntaxKind::identifier)) {
    const std::vector<PythonBinding>& bindings = scopes_.find(syntax_.text_of(value), value);
    return !bindings.empty() && bindings.size() <= most_bindings &&
           std::all_of(bindings.begin(), bindings.end(), [&](const PythonBinding& binding) {
             return binding.kind == PythonBinding::Kind::value &&
                    syntax_.is(syntax_[binding.name].parent, SyntaxKind::assignment) &&
                    is_array(binding.value, depth + 1);
           });
  }
  if (syntax_.is(value, SyntaxKind::call)) {
    const SyntaxIndex function = syntax_.child(value, SyntaxField::function);
    if (!syntax_.is(function, SyntaxKind::attribute)) return false;
    const std::vector<std::string> names = scopes_.full_names(function);
    if (names.size() == 1) {
      const std::string_view name = names[0];
      if (name.starts_with("jax.numpy.")) return makes_array(name.substr(10));
      if (name.starts_with("jax.") || name.starts_with("numpy.")) return false;
    }
    const SyntaxIndex method = syntax_.child(function, SyntaxField::attribute);
    return method != no_syntax && is_array_method(syntax_.text_of(method));
  }
  if (syntax_.is(value, SyntaxKind::unary_operator)) return is_single(value, depth);
  if (!syntax_.is(value, SyntaxKind::binary_operator)) return false;
  if (is_single(value, depth)) return true;
  // An array with anything is one, and so is what a fraction is added to.
  const SyntaxIndex left = syntax_.child(value, SyntaxField::left);
  const SyntaxIndex right = syntax_.child(value, SyntaxField::right);
  if (syntax_.is(left, SyntaxKind::floating) || syntax_.is(right, SyntaxKind::floating)) {
    return true;
  }
  return (left != no_syntax && is_array(left, depth + 1)) ||
         (right != no_syntax && is_array(right, depth + 1));
}

// A parameter, which for a backward is the gradient of one result, or arithmetic with one: a tensor
// and no tuple.
bool PythonReturns::is_single(SyntaxIndex expression, std::size_t depth) const {
  const SyntaxIndex value = syntax_.unwrapped(expression);
  if (value == no_syntax || depth == max_depth) return false;
  if (is_plain_parameter(value)) return true;
  if (syntax_.is(value, SyntaxKind::unary_operator)) {
    const SyntaxIndex operand =
        syntax_.children(value).empty() ? no_syntax : syntax_.children(value).back();
    return is_single(operand, depth + 1);
  }
  if (!syntax_.is(value, SyntaxKind::binary_operator)) return false;
  const SyntaxIndex sign = syntax_.child(value, SyntaxField::operator_sign);
  const SyntaxIndex left = syntax_.child(value, SyntaxField::left);
  const SyntaxIndex right = syntax_.child(value, SyntaxField::right);
  if (sign == no_syntax || left == no_syntax || right == no_syntax) return false;
  const std::string_view text = syntax_.text_of(sign);
  // `+` and a number of times are for tuples too.
  if (text != "*" && text != "/" && text != "-" && text != "@") return false;
  if (text == "*" &&
      (syntax_.is(right, SyntaxKind::integer) || syntax_.is(left, SyntaxKind::integer))) {
    return false;
  }
  return is_single(left, depth + 1) || is_single(right, depth + 1);
}

bool PythonReturns::is_plain_parameter(SyntaxIndex expression) const {
  if (!syntax_.is(expression, SyntaxKind::identifier)) return false;
  const PythonBinding* binding = scopes_.only(syntax_.text_of(expression), expression);
  if (binding == nullptr || binding->kind != PythonBinding::Kind::parameter) return false;
  // Not `*grads`, nor what an annotation calls a tuple.
  const std::string_view written = syntax_.text_of(binding->value);
  return !written.starts_with('*') && written.find("uple") == written.npos &&
         written.find("ist") == written.npos && written.find("Any") == written.npos;
}

}  // namespace opseal
