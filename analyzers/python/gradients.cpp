#include "analyzers/python/gradients.h"

#include <algorithm>
#include <optional>

#include "analyzers/python/functions.h"
#include "analyzers/python/returns.h"
#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"

namespace opseal {
namespace {

// One file holds some tens.
constexpr std::size_t max_classes = 4096;
// Statements of one class that are looked at.
constexpr std::size_t max_members = 1024;

class GradientReader {
 public:
  explicit GradientReader(const ParsedPython& file)
      : syntax_(file.syntax), scopes_(file.scopes), returns_(syntax_, scopes_) {}

  std::vector<PythonAutograd> classes() {
    std::vector<PythonAutograd> found;
    for (SyntaxIndex index = 0; index < syntax_.nodes.size(); ++index) {
      if (!syntax_.is(index, SyntaxKind::class_definition) || !is_function(index)) continue;
      if (found.size() == max_classes) break;
      if (std::optional<PythonAutograd> one = read(index)) found.push_back(std::move(*one));
    }
    return found;
  }

  std::vector<PythonGradient> registered() {
    std::vector<PythonGradient> found;
    for (SyntaxIndex index = 0; index < syntax_.nodes.size(); ++index) {
      if (!syntax_.is(index, SyntaxKind::call)) continue;
      if (found.size() == max_classes) break;
      if (std::optional<PythonGradient> one = read_call(index)) found.push_back(std::move(*one));
    }
    return found;
  }

 private:
  std::optional<PythonGradient> read_call(SyntaxIndex call) {
    const SyntaxIndex called = syntax_.child(call, SyntaxField::function);
    const SyntaxIndex arguments = syntax_.child(call, SyntaxField::arguments);
    if (called == no_syntax || !syntax_.is(arguments, SyntaxKind::argument_list)) return {};
    const std::string_view text = syntax_.text_of(called);
    const std::string_view name = text.substr(text.rfind('.') + 1);
    PythonGradient one;
    one.none = name == "NotDifferentiable" || name == "NoGradient" || name == "no_gradient";
    if (!one.none && name != "RegisterGradient") return {};
    const SyntaxIndex first = syntax_.first(arguments);
    if (!syntax_.is(first, SyntaxKind::string)) return {};
    for (const SyntaxIndex part : syntax_.children(first)) {
      if (syntax_.is(part, SyntaxKind::interpolation)) return {};
      if (syntax_.is(part, SyntaxKind::string_content)) one.name += syntax_.text_of(part);
    }
    one.place = syntax_.place_of(call);
    if (one.none) return one;
    const SyntaxIndex decorator = syntax_[call].parent;
    if (!syntax_.is(decorator, SyntaxKind::decorator)) return {};
    const SyntaxIndex function = syntax_.child(syntax_[decorator].parent, SyntaxField::definition);
    if (!syntax_.is(function, SyntaxKind::function_definition)) return {};
    const PythonFunction definition = python_definition(syntax_, function);
    one.function = definition.name;
    one.function_place = definition.place;
    one.always = syntax_.is(syntax_[syntax_[decorator].parent].parent, SyntaxKind::module);
    one.returns = returns_.of(function, true, true);
    return one;
  }

  // Its only base is torch's class: another one may bring a forward of its own.
  bool is_function(SyntaxIndex definition) const {
    const SyntaxIndex bases = syntax_.child(definition, SyntaxField::superclasses);
    if (bases == no_syntax) return false;
    const std::vector<SyntaxIndex> list = syntax_.children(bases);
    if (list.size() != 1) return false;
    const std::vector<std::string> names = scopes_.full_names(list.front());
    return std::any_of(names.begin(), names.end(), [](const std::string& name) {
      return name == "torch.autograd.Function" || name == "torch.autograd.function.Function";
    });
  }

  // The functions of the class by name; a name that it has twice counts for none.
  SyntaxIndex method(SyntaxIndex definition, std::string_view name) const {
    const SyntaxIndex body = syntax_.child(definition, SyntaxField::body);
    if (body == no_syntax) return no_syntax;
    SyntaxIndex found = no_syntax;
    std::size_t members = 0;
    for (SyntaxIndex index = body + 1; index < syntax_[body].next; index = syntax_[index].next) {
      if (++members > max_members) return no_syntax;
      SyntaxIndex function = index;
      if (syntax_.is(index, SyntaxKind::decorated_definition)) {
        function = syntax_.child(index, SyntaxField::definition);
      }
      if (!syntax_.is(function, SyntaxKind::function_definition)) continue;
      const SyntaxIndex called = syntax_.child(function, SyntaxField::name);
      if (called == no_syntax || syntax_.text_of(called) != name) continue;
      if (found != no_syntax) return no_syntax;
      found = function;
    }
    return found;
  }

  std::optional<PythonAutograd> read(SyntaxIndex definition) {
    const SyntaxIndex forward = method(definition, "forward");
    const SyntaxIndex backward = method(definition, "backward");
    const SyntaxIndex symbolic = method(definition, "symbolic");
    const SyntaxIndex name = syntax_.child(definition, SyntaxField::name);
    if (forward == no_syntax || name == no_syntax) return {};
    if (backward == no_syntax && symbolic == no_syntax) return {};
    PythonAutograd one;
    one.name = syntax_.text_of(name);
    one.place = syntax_.place_of(name);
    one.forward = python_definition(syntax_, forward);
    if (!one.forward.found) return {};
    if (symbolic != no_syntax) {
      one.symbolic = python_definition(syntax_, symbolic);
      if (is_class_method(symbolic) && !drop_first(one.symbolic)) one.symbolic = {};
    }
    if (is_class_method(forward) && !drop_first(one.forward)) return {};
    one.separated = method(definition, "setup_context") != no_syntax;
    if (!one.separated && !drop_first(one.forward)) return {};
    read_batching(definition, one);
    if (backward == no_syntax) return one;
    one.backward = python_definition(syntax_, backward);
    one.guards = python_gradient_guards(syntax_, backward);
    one.facts =
        python_function_facts(syntax_, scopes_, definition, forward, backward, one.separated);
    one.saved = python_saved_tensors(syntax_, definition, forward, backward);
    one.returns = returns_.of(backward, false);
    if (std::optional<PythonReturn> nothing = returns_.end_of(backward)) {
      one.returns.push_back(*nothing);
    }
    // Of results that are marked so, backward is never asked.
    if (syntax_.text_of(definition).find("mark_non_differentiable") != std::string_view::npos) {
      std::erase_if(one.returns,
                    [](const PythonReturn& given) { return given.without_nones == 0; });
    }
    return one;
  }

  // `def vmap(…)`, `generate_vmap_rule = True`.
  void read_batching(SyntaxIndex definition, PythonAutograd& one) const {
    if (const SyntaxIndex rule = method(definition, "vmap"); rule != no_syntax) {
      one.batching = "vmap";
      one.batching_place = syntax_.place_of(syntax_.child(rule, SyntaxField::name));
      return;
    }
    const SyntaxIndex body = syntax_.child(definition, SyntaxField::body);
    const std::vector<SyntaxIndex> members = syntax_.children(body);
    if (members.size() > max_members) return;
    for (const SyntaxIndex member : members) {
      const SyntaxIndex statement =
          syntax_.is(member, SyntaxKind::expression_statement) ? syntax_.first(member) : no_syntax;
      if (!syntax_.is(statement, SyntaxKind::assignment)) continue;
      const SyntaxIndex left = syntax_.child(statement, SyntaxField::left);
      const SyntaxIndex right = syntax_.child(statement, SyntaxField::right);
      if (left == no_syntax || syntax_.text_of(left) != "generate_vmap_rule") continue;
      if (!syntax_.is(right, SyntaxKind::true_value)) continue;
      one.batching = "generate_vmap_rule";
      one.batching_place = syntax_.place_of(statement);
    }
  }

  bool is_class_method(SyntaxIndex function) const {
    const SyntaxIndex decorated = syntax_[function].parent;
    if (!syntax_.is(decorated, SyntaxKind::decorated_definition)) return false;
    const std::vector<SyntaxIndex> parts = syntax_.children(decorated);
    return std::any_of(parts.begin(), parts.end(), [this](SyntaxIndex part) {
      const SyntaxIndex name = syntax_.first(part);
      return syntax_.is(part, SyntaxKind::decorator) && syntax_.is(name, SyntaxKind::identifier) &&
             syntax_.text_of(name) == "classmethod";
    });
  }

  static bool drop_first(PythonFunction& forward) {
    if (forward.positional == 0) return false;
    if (forward.required > 0) --forward.required;
    --forward.positional;
    forward.parameters.erase(forward.parameters.begin());
    return true;
  }

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
  PythonReturns returns_;
};

}  // namespace

bool may_hold_autograd(std::string_view text) {
  return text.find("autograd") != text.npos &&
         (text.find("def backward") != text.npos || text.find("def symbolic") != text.npos);
}

bool may_hold_gradients(std::string_view text) {
  return text.find("RegisterGradient") != text.npos ||
         text.find("NotDifferentiable") != text.npos || text.find("NoGradient") != text.npos ||
         text.find("no_gradient") != text.npos;
}

std::vector<PythonGradient> find_python_gradients(const ParsedPython& file) {
  return GradientReader(file).registered();
}

std::vector<PythonAutograd> find_python_autograd(const ParsedPython& file) {
  return GradientReader(file).classes();
}

}  // namespace opseal
