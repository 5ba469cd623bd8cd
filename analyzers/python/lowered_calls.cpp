#include "analyzers/python/lowered_calls.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "opseal/text.h"

namespace opseal {
namespace {

// Rules have some tens of nodes.
constexpr SyntaxIndex most_nodes = 20'000;

enum class Said { nothing, fixed, open };

bool is_custom_call(const PythonScopes& scopes, SyntaxIndex function) {
  const std::vector<std::string> names = scopes.full_names(function);
  // One that the file defines itself may do anything.
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return name.ends_with(".custom_call"); });
}

// The only value of a name, and what stands there for anything else.
SyntaxIndex value_of(const PythonSyntax& syntax, const PythonScopes& scopes,
                     SyntaxIndex expression) {
  const SyntaxIndex value = syntax.unwrapped(expression);
  if (!syntax.is(value, SyntaxKind::identifier)) return value;
  const PythonBinding* made = scopes.only(syntax.text_of(value), value);
  if (made == nullptr || made->kind != PythonBinding::Kind::value) return value;
  // `(aval,) = ctx.avals_in` gives it a part of something.
  if (!syntax.is(syntax[made->name].parent, SyntaxKind::assignment)) return value;
  return syntax.unwrapped(made->value);
}

// Of which the layout may be any: a token, and a constant that the rule makes.
bool is_no_array(const PythonSyntax& syntax, const PythonScopes& scopes, SyntaxIndex operand) {
  if (syntax.text_of(operand).find("token") != std::string_view::npos) return true;
  const SyntaxIndex value = value_of(syntax, scopes, operand);
  if (!syntax.is(value, SyntaxKind::call)) return false;
  const SyntaxIndex function = syntax.child(value, SyntaxField::function);
  return function != no_syntax &&
         syntax.text_of(function).find("onstant") != std::string_view::npos;
}

bool has_no_arrays(const PythonSyntax& syntax, const PythonScopes& scopes, SyntaxIndex operands,
                   const std::set<std::string_view>& touched) {
  const SyntaxIndex written = syntax.unwrapped(operands);
  // A list that grows.
  if (touched.contains(syntax.text_of(written))) return false;
  const SyntaxIndex value = value_of(syntax, scopes, written);
  if (!syntax.is(value, SyntaxKind::list) && !syntax.is(value, SyntaxKind::tuple)) return false;
  const std::vector<SyntaxIndex> items = syntax.children(value);
  return std::all_of(items.begin(), items.end(),
                     [&](SyntaxIndex item) { return is_no_array(syntax, scopes, item); });
}

// `assert aval.ndim <= 1`, `(n,) = aval.shape`: what has one axis at most has one layout.
bool asks_for_one_axis(std::string_view body) {
  std::string plain(body);
  std::erase_if(plain, [](char byte) { return byte == ' ' || byte == '\n' || byte == '\t'; });
  for (const std::string_view what : {".ndim", ".rank", ".shape)"}) {
    for (std::size_t at = plain.find(what); at != plain.npos; at = plain.find(what, at + 1)) {
      const std::string_view behind = std::string_view(plain).substr(at + what.size(), 3);
      if (behind.starts_with("<=1") || behind.starts_with("==1") || behind.starts_with("==0") ||
          behind.starts_with("<2") || behind.starts_with("<1")) {
        return true;
      }
    }
  }
  if (plain.find(".shape==()") != plain.npos) return true;
  for (std::size_t at = plain.find(",)="); at != plain.npos; at = plain.find(",)=", at + 1)) {
    const std::string_view rest = std::string_view(plain).substr(at + 3, 64);
    const std::size_t end = rest.find(".shape");
    if (end != rest.npos && std::all_of(rest.begin(), rest.begin() + static_cast<long>(end),
                                        [](char byte) { return is_word_byte(byte); })) {
      return true;
    }
  }
  return false;
}

// Names of a rule whose objects it changes or hands on: `call.attributes[…] = …`, `f(call)`,
// `operands.append(x)`.
std::set<std::string_view> touched_names(const PythonSyntax& syntax, SyntaxIndex body) {
  std::set<std::string_view> names;
  for (SyntaxIndex index = body; index < syntax[body].next; ++index) {
    if (!syntax.is(index, SyntaxKind::identifier)) continue;
    const SyntaxIndex above = syntax[index].parent;
    if (syntax.is(above, SyntaxKind::argument_list)) names.insert(syntax.text_of(index));
    if (!syntax.is(above, SyntaxKind::attribute)) continue;
    const SyntaxIndex attribute = syntax.child(above, SyntaxField::attribute);
    if (attribute == no_syntax || attribute == index) continue;
    const std::string_view word = syntax.text_of(attribute);
    if (word != "results" && word != "result" && word != "type") {
      names.insert(syntax.text_of(index));
    }
  }
  return names;
}

// What the call gives is changed, or handed on as a whole, afterwards.
bool is_touched(const PythonSyntax& syntax, SyntaxIndex call,
                const std::set<std::string_view>& touched) {
  const SyntaxIndex above = syntax[call].parent;
  if (syntax.is(above, SyntaxKind::argument_list)) {
    const SyntaxIndex taker = syntax.child(syntax[above].parent, SyntaxField::function);
    return taker == no_syntax ||
           (syntax.text_of(taker) != "list" && syntax.text_of(taker) != "tuple");
  }
  if (!syntax.is(above, SyntaxKind::assignment)) return false;
  const SyntaxIndex left = syntax.child(above, SyntaxField::left);
  return syntax.is(left, SyntaxKind::identifier) && touched.contains(syntax.text_of(left));
}

Said layouts_of(const PythonSyntax& syntax, const PythonScopes& scopes, SyntaxIndex arguments,
                const std::set<std::string_view>& touched) {
  bool arrays = false;
  for (const SyntaxIndex argument : syntax.children(arguments)) {
    if (syntax.is(argument, SyntaxKind::dictionary_splat)) return Said::nothing;
    if (!syntax.is(argument, SyntaxKind::keyword_argument)) continue;
    const SyntaxIndex keyword = syntax.child(argument, SyntaxField::name);
    const SyntaxIndex value = syntax.child(argument, SyntaxField::value);
    if (keyword == no_syntax || value == no_syntax) return Said::nothing;
    const std::string_view name = syntax.text_of(keyword);
    if (name == "operand_layouts" || name == "result_layouts") return Said::fixed;
    if (name == "operands") arrays = !has_no_arrays(syntax, scopes, value, touched);
    // Attributes may say it, too.
    if (name == "extra_attributes") return Said::nothing;
  }
  return arrays ? Said::open : Said::nothing;
}

}  // namespace

void read_lowered_call(const PythonSyntax& syntax, const PythonScopes& scopes,
                       PythonRegistration& made) {
  const PythonFunction& rule = made.functions.front();
  if (!rule.found || rule.node == no_syntax) return;
  const SyntaxIndex body = syntax.child(rule.node, SyntaxField::body);
  if (body == no_syntax || syntax[body].next - body > most_nodes) return;
  std::optional<std::set<std::string_view>> touched;
  std::optional<bool> one_axis;
  for (SyntaxIndex index = body; index < syntax[body].next; ++index) {
    if (!syntax.is(index, SyntaxKind::call)) continue;
    const SyntaxIndex function = syntax.child(index, SyntaxField::function);
    const SyntaxIndex arguments = syntax.child(index, SyntaxField::arguments);
    if (function == no_syntax || !syntax.is(arguments, SyntaxKind::argument_list)) continue;
    if (!syntax.text_of(function).ends_with("custom_call")) continue;
    if (!is_custom_call(scopes, function)) continue;
    if (!touched) touched = touched_names(syntax, body);
    const Said said = layouts_of(syntax, scopes, arguments, *touched);
    if (said == Said::nothing) continue;
    if (said == Said::open) {
      if (is_touched(syntax, index, *touched)) continue;
      if (!one_axis) one_axis = asks_for_one_axis(syntax.text_of(body));
      if (*one_axis) continue;
    }
    if (said == Said::fixed && made.layouts == PythonLayouts::open) continue;
    made.layouts = said == Said::fixed ? PythonLayouts::fixed : PythonLayouts::open;
    made.layouts_place = syntax.place_of(function);
    if (said == Said::open) return;
  }
}

}  // namespace opseal
