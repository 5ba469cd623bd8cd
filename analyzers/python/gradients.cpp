#include "analyzers/python/gradients.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "analyzers/python/functions.h"
#include "analyzers/python/scopes.h"
#include "analyzers/python/syntax.h"

namespace opseal {
namespace {

// One file holds some tens.
constexpr std::size_t max_classes = 4096;
// Statements of one class that are looked at.
constexpr std::size_t max_members = 1024;
// Brackets and operations within each other.
constexpr std::size_t max_depth = 8;
// Parts of the functions of a file that are looked at: one may have many names, or be in another.
constexpr std::size_t max_steps = 20'000'000;

PythonPlace place_of(const PythonSyntax& syntax, SyntaxIndex index) {
  return {syntax[index].begin, syntax[index].end - syntax[index].begin};
}

class GradientReader {
 public:
  explicit GradientReader(std::string_view text) : syntax_(text), scopes_(syntax_) {}

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
    one.place = place_of(syntax_, call);
    if (one.none) return one;
    const SyntaxIndex decorator = syntax_[call].parent;
    if (!syntax_.is(decorator, SyntaxKind::decorator)) return {};
    const SyntaxIndex function = syntax_.child(syntax_[decorator].parent, SyntaxField::definition);
    if (!syntax_.is(function, SyntaxKind::function_definition)) return {};
    const PythonFunction definition = python_definition(syntax_, function);
    one.function = definition.name;
    one.function_place = definition.place;
    one.returns = returns_of(function, true);
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
    const SyntaxIndex name = syntax_.child(definition, SyntaxField::name);
    if (forward == no_syntax || backward == no_syntax || name == no_syntax) return {};
    PythonAutograd one;
    one.name = syntax_.text_of(name);
    one.place = place_of(syntax_, name);
    one.forward = python_definition(syntax_, forward);
    one.backward = python_definition(syntax_, backward);
    if (!one.forward.found) return {};
    if (is_class_method(forward) && !drop_first(one.forward)) return {};
    if (method(definition, "setup_context") == no_syntax && !drop_first(one.forward)) return {};
    one.returns = returns_of(backward, false);
    if (std::optional<PythonReturn> nothing = read_end(backward)) one.returns.push_back(*nothing);
    // Of results that are marked so, backward is never asked.
    if (syntax_.text_of(definition).find("mark_non_differentiable") != std::string_view::npos) {
      std::erase_if(one.returns,
                    [](const PythonReturn& given) { return given.without_nones == 0; });
    }
    return one;
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

  // `lists`: a list counts as a tuple does.
  std::vector<PythonReturn> returns_of(SyntaxIndex function, bool lists) {
    std::vector<PythonReturn> found;
    const SyntaxIndex body = syntax_.child(function, SyntaxField::body);
    if (body == no_syntax) return found;
    steps_ += syntax_[body].next - body;
    if (steps_ > max_steps) return found;
    for (SyntaxIndex index = body; index < syntax_[body].next; ++index) {
      const SyntaxKind kind = syntax_[index].kind;
      // What stands in another function is its own.
      if (kind == SyntaxKind::function_definition || kind == SyntaxKind::class_definition ||
          kind == SyntaxKind::lambda) {
        index = syntax_[index].next - 1;
      } else if (kind == SyntaxKind::return_statement) {
        if (std::optional<PythonReturn> one = read_return(index, lists)) found.push_back(*one);
      }
    }
    return found;
  }

  // What is written out; anything else may stand for any number.
  std::optional<PythonReturn> read_return(SyntaxIndex statement, bool lists) const {
    const SyntaxIndex value = syntax_.unwrapped(syntax_.first(statement));
    // In torch a list is one value, and the wrong one.
    if (syntax_.is(value, SyntaxKind::list) && !lists) return {};
    std::optional<PythonReturn> one = read_values(value, 0);
    if (!one && lists && syntax_.is(value, SyntaxKind::call)) {
      const SyntaxIndex called = syntax_.child(value, SyntaxField::function);
      one.emplace().called = syntax_.text_of(called);
    }
    if (one) one->place = place_of(syntax_, statement);
    return one;
  }

  // A backward that computes something, names it, and ends without a `return`: it hands back one
  // `None`. Where no `return` is written, it may be meant to be never called, and does nothing.
  std::optional<PythonReturn> read_end(SyntaxIndex function) const {
    const SyntaxIndex body = syntax_.child(function, SyntaxField::body);
    if (body == no_syntax) return {};
    bool names = false;
    for (SyntaxIndex index = body; index < syntax_[body].next; ++index) {
      const SyntaxKind kind = syntax_[index].kind;
      const bool leaves =
          kind == SyntaxKind::other && (syntax_.text_of(index).starts_with("raise") ||
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
    one.place = place_of(syntax_, name);
    return one;
  }

  // `(a, None)`, `a, *[None] * 2`, `(a,) + (None,) * 2`.
  std::optional<PythonReturn> read_values(SyntaxIndex expression, std::size_t depth) const {
    const SyntaxIndex value = syntax_.unwrapped(expression);
    if (value == no_syntax || depth == max_depth) return {};
    const SyntaxKind kind = syntax_[value].kind;
    if (kind == SyntaxKind::binary_operator) return read_operation(value, depth);
    if (kind != SyntaxKind::tuple && kind != SyntaxKind::expression_list &&
        kind != SyntaxKind::list) {
      return {};
    }
    PythonReturn all;
    for (const SyntaxIndex item : syntax_.children(value)) {
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

  std::optional<PythonReturn> read_operation(SyntaxIndex operation, std::size_t depth) const {
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
    if (error != std::errc() || end != digits.data() + digits.size() || times > max_members) {
      return {};
    }
    PythonReturn all;
    for (std::uint32_t i = 0; i < times; ++i) append(*first, all);
    return all;
  }

  static void append(const PythonReturn& one, PythonReturn& all) {
    if (one.without_nones > 0) all.without_nones = all.values + one.without_nones;
    // No function has so many.
    all.values = std::min(all.values + one.values, 1u << 20);
  }

  PythonSyntax syntax_;
  PythonScopes scopes_;
  std::size_t steps_ = 0;
};

}  // namespace

bool may_hold_autograd(std::string_view text) {
  return text.find("autograd") != text.npos && text.find("def backward") != text.npos;
}

bool may_hold_gradients(std::string_view text) {
  return text.find("RegisterGradient") != text.npos ||
         text.find("NotDifferentiable") != text.npos || text.find("NoGradient") != text.npos ||
         text.find("no_gradient") != text.npos;
}

std::vector<PythonGradient> find_python_gradients(std::string_view text) {
  return GradientReader(text).registered();
}

std::vector<PythonAutograd> find_python_autograd(std::string_view text) {
  return GradientReader(text).classes();
}

}  // namespace opseal
