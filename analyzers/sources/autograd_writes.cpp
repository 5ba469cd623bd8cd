#include "analyzers/sources/autograd_writes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/sources/cpp_function.h"

namespace opseal {
namespace {

constexpr std::size_t most_parameters = 64;
// Tokens of a body: each parameter is looked for in it.
constexpr std::size_t longest_body = 20'000;

bool writes_memory(std::string_view method) {
  constexpr std::array<std::string_view, 7> others = {
      "requires_grad_", "detach_",    "retain_grad_", "squeeze_",
      "unsqueeze_",     "transpose_", "as_strided_"};
  return method.size() > 2 && method.ends_with('_') && !method.ends_with("__") &&
         std::find(others.begin(), others.end(), method) == others.end();
}

// The name of a parameter that is one tensor, or empty.
std::string_view tensor_name(Tokens parameter) {
  bool tensor = false;
  std::string_view name;
  for (const Token& token : parameter) {
    if (token.is('=')) break;
    if (token.is('<')) return {};
    tensor = tensor || token.is("Tensor") || token.is("Variable");
    if (token.is_identifier()) name = token.text;
  }
  return tensor && name != "Tensor" && name != "Variable" ? name : std::string_view();
}

// A dot or arrow before it makes it something else's member.
bool is_name(Tokens body, std::size_t at, std::string_view name) {
  return body[at].is(name) && (at == 0 || (!body[at - 1].is('.') && !body[at - 1].is("->")));
}

// Where `name.mul_(…)` that stands at `at` ends, behind the bracket; `at` for anything else.
std::size_t end_of_write(Tokens body, std::size_t at) {
  if (at + 3 >= body.size() || !body[at + 1].is('.') || !body[at + 3].is('(')) return at;
  if (!writes_memory(body[at + 2].text)) return at;
  return closing_bracket(body, at + 3) + 1;
}

bool is_written(Tokens body, std::string_view name) {
  for (std::size_t at = 0; at + 1 < body.size(); ++at) {
    if (!is_name(body, at, name)) continue;
    const Token& next = body[at + 1];
    if (next.is("*=") || next.is("+=") || next.is("-=") || next.is("/=")) return true;
    if (end_of_write(body, at) != at) return true;
  }
  return false;
}

// It is given to something else on the way, or the body has a thing of its own by that name.
bool is_rebound(Tokens body, std::string_view name) {
  for (std::size_t at = 0; at + 1 < body.size(); ++at) {
    if (is_name(body, at, name) && body[at + 1].is('=')) return true;
  }
  return false;
}

// `x`, `x.mul_(2)`.
bool hands_back(Tokens item, std::string_view name) {
  if (item.empty() || !item[0].is(name)) return false;
  return item.size() == 1 || end_of_write(item, 0) == item.size();
}

// The place of the `return` that hands it back, or the end.
std::size_t find_return(Tokens body, std::string_view name) {
  for (std::size_t at = 0; at + 2 < body.size(); ++at) {
    if (!body[at].is("return")) continue;
    if (body[at + 1].is('{')) {
      const std::size_t close = closing_bracket(body, at + 1);
      if (close >= body.size()) return body.size();
      const std::vector<Tokens> items = split_call_arguments(body.subspan(at + 2, close - at - 2));
      if (std::any_of(items.begin(), items.end(),
                      [&](Tokens item) { return hands_back(item, name); })) {
        return at;
      }
      at = close;
      continue;
    }
    std::size_t end = at + 1;
    while (end < body.size() && !body[end].is(';')) ++end;
    if (hands_back(body.subspan(at + 1, end - at - 1), name)) return at;
  }
  return body.size();
}

// `torch::Tensor()`, `{}`, `undefined`.
bool is_nothing(Tokens item) {
  if (item.empty() || item.back().is('}')) return true;
  if (item.size() == 1) return false;
  const bool calls = item.back().is(')') && item[item.size() - 2].is('(');
  if (!calls || item.size() < 3) return false;
  const Token& called = item[item.size() - 3];
  return called.is("Tensor") || called.is("Variable");
}

bool has_gradient(Tokens backward, std::size_t input) {
  for (std::size_t at = 0; at + 1 < backward.size(); ++at) {
    if (!backward[at].is("return") || !backward[at + 1].is('{')) continue;
    const std::size_t close = closing_bracket(backward, at + 1);
    if (close >= backward.size()) return false;
    const std::vector<Tokens> items =
        split_call_arguments(backward.subspan(at + 2, close - at - 2));
    if (input < items.size() && !is_nothing(items[input])) return true;
    at = close;
  }
  return false;
}

// The names in `ctx->mark_dirty({x, y})`; nothing where it isn't known which they are, since
// another function gets the context.
std::optional<std::vector<std::string>> marked_in(Tokens body, std::string_view context) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at + 1 < body.size(); ++at) {
    if (!context.empty() && body[at].is(context) &&
        (body[at + 1].is(',') || body[at + 1].is(')') || body[at + 1].is(';'))) {
      return {};
    }
    if (!body[at].is("mark_dirty")) continue;
    if (at + 2 >= body.size() || !body[at + 1].is('(') || !body[at + 2].is('{')) return {};
    const std::size_t close = closing_bracket(body, at + 2);
    if (close >= body.size()) return {};
    for (const Tokens item : split_call_arguments(body.subspan(at + 3, close - at - 3))) {
      if (item.size() != 1 || !item[0].is_identifier()) return {};
      names.emplace_back(item[0].text);
    }
    at = close;
  }
  return names;
}

}  // namespace

void read_autograd_writes(Tokens parameters, Tokens forward, Tokens backward, std::uint32_t file,
                          AutogradFacts& facts) {
  const std::vector<Tokens> list = split_typed(parameters);
  if (list.size() < 2 || list.size() > most_parameters || forward.size() > longest_body) return;
  std::string_view context;
  for (const Token& token : list[0]) {
    if (token.is_identifier()) context = token.text;
  }
  facts.marked = marked_in(forward, context);
  if (!facts.marked) return;
  for (std::size_t i = 1; i < list.size(); ++i) {
    const std::string_view name = tensor_name(list[i]);
    if (name.empty() || !is_written(forward, name) || is_rebound(forward, name)) continue;
    const std::size_t at = find_return(forward, name);
    if (at == forward.size() || !has_gradient(backward, i - 1)) continue;
    facts.writes.push_back({std::string(name), place_of(forward.subspan(at, 2), file)});
  }
}

}  // namespace opseal
