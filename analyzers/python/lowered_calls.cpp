#include "analyzers/python/lowered_calls.h"

#include <algorithm>
#include <string_view>

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

// Arrays of which the layout may be any: none, and tokens.
bool has_no_arrays(const PythonSyntax& syntax, SyntaxIndex operands) {
  const SyntaxIndex value = syntax.unwrapped(operands);
  if (!syntax.is(value, SyntaxKind::list) && !syntax.is(value, SyntaxKind::tuple)) return false;
  const std::vector<SyntaxIndex> items = syntax.children(value);
  return std::all_of(items.begin(), items.end(), [&syntax](SyntaxIndex item) {
    return syntax.text_of(item).find("token") != std::string_view::npos;
  });
}

Said layouts_of(const PythonSyntax& syntax, SyntaxIndex arguments) {
  bool arrays = false;
  for (const SyntaxIndex argument : syntax.children(arguments)) {
    if (syntax.is(argument, SyntaxKind::dictionary_splat)) return Said::nothing;
    if (!syntax.is(argument, SyntaxKind::keyword_argument)) continue;
    const SyntaxIndex keyword = syntax.child(argument, SyntaxField::name);
    const SyntaxIndex value = syntax.child(argument, SyntaxField::value);
    if (keyword == no_syntax || value == no_syntax) return Said::nothing;
    const std::string_view name = syntax.text_of(keyword);
    if (name == "operand_layouts" || name == "result_layouts") return Said::fixed;
    if (name == "operands") arrays = !has_no_arrays(syntax, value);
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
  for (SyntaxIndex index = body; index < syntax[body].next; ++index) {
    if (!syntax.is(index, SyntaxKind::call)) continue;
    const SyntaxIndex function = syntax.child(index, SyntaxField::function);
    const SyntaxIndex arguments = syntax.child(index, SyntaxField::arguments);
    if (function == no_syntax || !syntax.is(arguments, SyntaxKind::argument_list)) continue;
    if (!syntax.text_of(function).ends_with("custom_call")) continue;
    if (!is_custom_call(scopes, function)) continue;
    const Said said = layouts_of(syntax, arguments);
    if (said == Said::nothing) continue;
    if (said == Said::fixed && made.layouts == PythonLayouts::open) continue;
    made.layouts = said == Said::fixed ? PythonLayouts::fixed : PythonLayouts::open;
    made.layouts_place = syntax.place_of(function);
    if (said == Said::open) return;
  }
}

}  // namespace opseal
