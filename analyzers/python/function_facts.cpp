#include "analyzers/python/function_facts.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "analyzers/python/functions.h"
#include "analyzers/python/writes.h"

namespace opseal {
namespace {

// Parts of one function that are looked at.
constexpr SyntaxIndex max_nodes = 100'000;
constexpr std::size_t max_depth = 16;
constexpr std::size_t max_steps = 200'000;
constexpr std::size_t max_returns = 64;

class FactsReader {
 public:
  FactsReader(const PythonSyntax& syntax, const PythonScopes& scopes, SyntaxIndex forward,
              SyntaxIndex backward, bool separated)
      : syntax_(syntax),
        scopes_(scopes),
        forward_(forward),
        backward_(backward),
        parameters_(python_definition(syntax, forward)),
        forward_nodes_(own_nodes(syntax, forward)),
        backward_nodes_(own_nodes(syntax, backward)) {
    if (separated || parameters_.parameters.empty()) return;
    context_ = parameters_.parameters.front().name;
    parameters_.parameters.erase(parameters_.parameters.begin());
  }

  PythonFunctionFacts run(SyntaxIndex definition) {
    PythonFunctionFacts facts;
    returns_ = returned_by(forward_nodes_);
    if (returns_.empty() || returns_.size() > max_returns) return facts;
    read_writes(facts);
    if (!facts.writes.empty()) facts.marked = marked(definition);
    read_results(facts);
    read_asked(facts);
    return facts;
  }

 private:
  struct Return {
    SyntaxIndex statement = no_syntax;
    std::vector<SyntaxIndex> values;
    // Each value stands there for itself.
    bool written_out = true;
    bool tuple = false;
  };

  static std::vector<SyntaxIndex> own_nodes(const PythonSyntax& syntax, SyntaxIndex function) {
    const SyntaxIndex body = syntax.child(function, SyntaxField::body);
    return body == no_syntax ? std::vector<SyntaxIndex>() : syntax.own_nodes(body, max_nodes);
  }

  std::vector<Return> returned_by(const std::vector<SyntaxIndex>& nodes) const {
    std::vector<Return> found;
    for (const SyntaxIndex index : nodes) {
      if (!syntax_.is(index, SyntaxKind::return_statement)) continue;
      Return one;
      one.statement = index;
      const SyntaxIndex first = syntax_.first(index);
      const SyntaxIndex value = first == no_syntax ? no_syntax : syntax_.unwrapped(first);
      one.tuple =
          syntax_.is(value, SyntaxKind::tuple) || syntax_.is(value, SyntaxKind::expression_list);
      if (one.tuple) {
        one.values = syntax_.children(value);
      } else if (value != no_syntax) {
        one.values.push_back(value);
      }
      one.written_out =
          std::none_of(one.values.begin(), one.values.end(), [this](SyntaxIndex part) {
            // Without brackets the grammar takes the star of `*f(x)` for a part of the call.
            return syntax_.is(part, SyntaxKind::error) || syntax_.text_of(part).starts_with('*');
          });
      found.push_back(std::move(one));
    }
    return found;
  }

  bool is_parameter(std::string_view name) const {
    return std::any_of(parameters_.parameters.begin(), parameters_.parameters.end(),
                       [&](const PythonParameter& one) { return one.name == name; });
  }

  // The parameter whose memory an expression surely is, or nothing: `x`, `x.mul_(2)`,
  // `torch.relu_(x)`, `F.relu(x, inplace=True)`, `torch.add(x, y, out=x)`, a name of such.
  std::string_view memory_of(SyntaxIndex expression, std::size_t depth) {
    if (expression == no_syntax || depth > max_depth || ++steps_ > max_steps) return {};
    const SyntaxIndex index = syntax_.unwrapped(expression);
    if (syntax_.is(index, SyntaxKind::identifier)) return memory_of_name(index, depth);
    if (!syntax_.is(index, SyntaxKind::call)) return {};
    const SyntaxIndex called = syntax_.child(index, SyntaxField::function);
    const SyntaxIndex arguments = syntax_.child(index, SyntaxField::arguments);
    if (!syntax_.is(called, SyntaxKind::attribute)) return {};
    if (!syntax_.is(arguments, SyntaxKind::argument_list)) return {};
    const std::vector<std::string> names = scopes_.full_names(called);
    const bool of_torch = !names.empty() && names.front().starts_with("torch.");
    const std::string_view method = syntax_.text_of(syntax_.child(called, SyntaxField::attribute));
    const bool in_place = method.ends_with('_') && !method.ends_with("__");
    if (in_place && !of_torch) {
      return memory_of(syntax_.child(called, SyntaxField::object), depth + 1);
    }
    if (!of_torch) return {};
    const std::vector<SyntaxIndex> given = syntax_.children(arguments);
    for (const SyntaxIndex argument : given) {
      if (!syntax_.is(argument, SyntaxKind::keyword_argument)) continue;
      const SyntaxIndex keyword = syntax_.child(argument, SyntaxField::name);
      const SyntaxIndex value = syntax_.child(argument, SyntaxField::value);
      if (keyword == no_syntax || value == no_syntax) continue;
      if (syntax_.text_of(keyword) == "out") return memory_of(value, depth + 1);
      if (syntax_.text_of(keyword) == "inplace" && syntax_.is(value, SyntaxKind::true_value)) {
        return memory_of(given.front(), depth + 1);
      }
    }
    return in_place && !given.empty() ? memory_of(given.front(), depth + 1) : std::string_view();
  }

  std::string_view memory_of_name(SyntaxIndex name, std::size_t depth) {
    const std::string_view text = syntax_.text_of(name);
    const std::vector<PythonBinding>& bindings = scopes_.find(text, name);
    steps_ += bindings.size();
    if (!is_parameter(text)) {
      if (bindings.size() != 1 || bindings.front().kind != PythonBinding::Kind::value) return {};
      if (bindings.front().name > name) return {};
      return memory_of(bindings.front().value, depth + 1);
    }
    for (const PythonBinding& binding : bindings) {
      if (binding.kind == PythonBinding::Kind::parameter) continue;
      // `x += y` leaves it the tensor that it was.
      if (syntax_.is(syntax_[binding.name].parent, SyntaxKind::augmented_assignment)) continue;
      // A name of its own result would go round.
      if (binding.kind != PythonBinding::Kind::value || depth > 2) return {};
      if (!is_own(binding.value, text)) return {};
    }
    return text;
  }

  // `x.mul_(2).add_(y)` for `x`.
  bool is_own(SyntaxIndex value, std::string_view name) {
    SyntaxIndex index = syntax_.unwrapped(value);
    for (std::size_t depth = 0; depth < max_depth; ++depth) {
      if (syntax_.is(index, SyntaxKind::identifier)) return syntax_.text_of(index) == name;
      if (!syntax_.is(index, SyntaxKind::call)) return false;
      const SyntaxIndex called = syntax_.child(index, SyntaxField::function);
      if (!syntax_.is(called, SyntaxKind::attribute)) return false;
      const std::string_view method =
          syntax_.text_of(syntax_.child(called, SyntaxField::attribute));
      if (!method.ends_with('_') || method.ends_with("__")) return false;
      index = syntax_.unwrapped(syntax_.child(called, SyntaxField::object));
    }
    return false;
  }

  // Some `return` of the backward has something else than `None` for that input.
  bool has_gradient(std::size_t input) const {
    for (const Return& one : returned_by(backward_nodes_)) {
      if (!one.written_out || input >= one.values.size()) continue;
      if (!syntax_.is(syntax_.unwrapped(one.values[input]), SyntaxKind::none)) return true;
    }
    return false;
  }

  void read_writes(PythonFunctionFacts& facts) {
    PythonFunction function = parameters_;
    for (PythonParameter& parameter : function.parameters) {
      if (parameter.annotation.empty()) parameter.annotation = "Tensor";
    }
    std::vector<std::string> written = python_writes(syntax_, scopes_, function);
    for (const std::string& name : written_by_function()) written.push_back(name);
    for (const Return& one : returns_) {
      for (const SyntaxIndex value : one.values) {
        const std::string_view name = memory_of(value, 0);
        if (name.empty() || std::find(written.begin(), written.end(), name) == written.end()) {
          continue;
        }
        const bool seen = std::any_of(facts.writes.begin(), facts.writes.end(),
                                      [&](const auto& other) { return other.name == name; });
        if (seen || !has_gradient(place_in_parameters(name))) continue;
        facts.writes.push_back({std::string(name), syntax_.place_of(one.statement)});
      }
    }
  }

  // What functions of torch write: `torch.relu_(x)`, `F.relu(x, inplace=True)`.
  std::vector<std::string> written_by_function() {
    std::vector<std::string> written;
    for (const SyntaxIndex index : forward_nodes_) {
      if (!syntax_.is(index, SyntaxKind::call)) continue;
      const std::string_view name = memory_of(index, 0);
      if (!name.empty() && !writes_nothing(index)) written.emplace_back(name);
    }
    return written;
  }

  // `x.requires_grad_()` and its like.
  bool writes_nothing(SyntaxIndex call) const {
    constexpr std::array<std::string_view, 9> others = {
        "requires_grad_", "share_memory_", "rename_",    "detach_",    "retain_grad_",
        "squeeze_",       "unsqueeze_",    "transpose_", "as_strided_"};
    const SyntaxIndex called = syntax_.child(call, SyntaxField::function);
    const std::string_view method = syntax_.text_of(syntax_.child(called, SyntaxField::attribute));
    return std::find(others.begin(), others.end(), method) != others.end();
  }

  std::size_t place_in_parameters(std::string_view name) const {
    std::size_t place = 0;
    for (const PythonParameter& one : parameters_.parameters) {
      if (one.name == name) break;
      ++place;
    }
    return place;
  }

  // Nothing where another function may do it, or it isn't known of what.
  std::optional<std::vector<std::string>> marked(SyntaxIndex definition) {
    std::vector<std::string> names;
    std::size_t calls = 0;
    for (const SyntaxIndex index : forward_nodes_) {
      if (is_context_handed_on(index)) return {};
      if (!syntax_.is(index, SyntaxKind::call)) continue;
      const SyntaxIndex called = syntax_.child(index, SyntaxField::function);
      if (called == no_syntax || !syntax_.text_of(called).ends_with("mark_dirty")) continue;
      ++calls;
      const SyntaxIndex arguments = syntax_.child(index, SyntaxField::arguments);
      if (!syntax_.is(arguments, SyntaxKind::argument_list)) return {};
      for (const SyntaxIndex argument : syntax_.children(arguments)) {
        const std::string_view name = memory_of(argument, 0);
        if (name.empty()) return {};
        names.emplace_back(name);
      }
    }
    const bool elsewhere =
        calls == 0 && syntax_.text_of(definition).find("mark_dirty") != std::string_view::npos;
    if (elsewhere) return {};
    return names;
  }

  bool is_context_handed_on(SyntaxIndex index) const {
    if (!syntax_.is(index, SyntaxKind::identifier) || context_.empty()) return false;
    if (syntax_.text_of(index) != context_) return false;
    const SyntaxIndex above = syntax_[index].parent;
    return syntax_.is(above, SyntaxKind::argument_list) ||
           syntax_.is(above, SyntaxKind::keyword_argument) ||
           syntax_.is(above, SyntaxKind::assignment);
  }

  // A decorator that is known to hand arguments and results on as they are.
  bool is_plain(SyntaxIndex function) const {
    const SyntaxIndex decorated = syntax_[function].parent;
    if (!syntax_.is(decorated, SyntaxKind::decorated_definition)) return true;
    for (const SyntaxIndex part : syntax_.children(decorated)) {
      if (!syntax_.is(part, SyntaxKind::decorator)) continue;
      constexpr std::array<std::string_view, 6> known = {
          "staticmethod", "once_differentiable", "custom_fwd", "custom_bwd", "no_grad", "disable"};
      const std::string_view text = syntax_.text_of(part);
      if (std::none_of(known.begin(), known.end(),
                       [&](std::string_view word) { return text.find(word) != text.npos; })) {
        return false;
      }
    }
    return true;
  }

  void read_results(PythonFunctionFacts& facts) const {
    if (!is_plain(forward_) || !is_plain(backward_)) return;
    // One that only raises is there to say that there is no gradient.
    const std::vector<Return> given = returned_by(backward_nodes_);
    if (std::all_of(given.begin(), given.end(),
                    [](const Return& one) { return one.values.empty(); })) {
      return;
    }
    const std::size_t number = returns_.front().values.size();
    for (const Return& one : returns_) {
      if (!one.tuple || !one.written_out || one.values.size() != number) return;
    }
    if (number < 2) return;
    facts.results = static_cast<std::uint32_t>(number);
  }

  // What `ctx.save_for_backward(…)` hands over, where there is one such call.
  std::vector<SyntaxIndex> saved() const {
    std::vector<SyntaxIndex> found;
    std::size_t calls = 0;
    for (const SyntaxIndex index : forward_nodes_) {
      if (!syntax_.is(index, SyntaxKind::call)) continue;
      const SyntaxIndex called = syntax_.child(index, SyntaxField::function);
      const SyntaxIndex arguments = syntax_.child(index, SyntaxField::arguments);
      if (called == no_syntax || !syntax_.text_of(called).ends_with(".save_for_backward")) continue;
      if (++calls > 1 || !syntax_.is(arguments, SyntaxKind::argument_list)) return {};
      found = syntax_.children(arguments);
    }
    for (const SyntaxIndex one : found) {
      if (syntax_.text_of(one).starts_with('*')) return {};
    }
    return found;
  }

  // The forward computes it: it has no history there, and a copy forgets that of the input.
  bool is_made(SyntaxIndex saved) const {
    const SyntaxIndex index = syntax_.unwrapped(saved);
    if (!syntax_.is(index, SyntaxKind::identifier)) return makes(index, 0);
    const std::string_view name = syntax_.text_of(index);
    const std::vector<PythonBinding>& bindings = scopes_.find(name, index);
    return !is_returned(name) &&
           std::any_of(bindings.begin(), bindings.end(), [&](const PythonBinding& binding) {
             return binding.kind == PythonBinding::Kind::value && binding.name < index &&
                    makes(binding.value, 0);
           });
  }

  bool makes(SyntaxIndex expression, std::size_t depth) const {
    if (expression == no_syntax || depth > max_depth) return false;
    const SyntaxIndex index = syntax_.unwrapped(expression);
    if (syntax_.is(index, SyntaxKind::call) || syntax_.is(index, SyntaxKind::binary_operator)) {
      return true;
    }
    if (!syntax_.is(index, SyntaxKind::conditional_expression)) return false;
    const std::vector<SyntaxIndex> parts = syntax_.children(index);
    return std::any_of(parts.begin(), parts.end(),
                       [&](SyntaxIndex part) { return makes(part, depth + 1); });
  }

  // Torch gives a result that was saved its history back.
  bool is_returned(std::string_view name) const {
    return std::any_of(returns_.begin(), returns_.end(), [&](const Return& one) {
      return std::any_of(one.values.begin(), one.values.end(), [&](SyntaxIndex value) {
        const SyntaxIndex index = syntax_.unwrapped(value);
        return syntax_.is(index, SyntaxKind::identifier) && syntax_.text_of(index) == name;
      });
    });
  }

  void read_asked(PythonFunctionFacts& facts) {
    // What is made with gradients, or told that it needs one, may well say so.
    const std::string_view text = syntax_.text_of(forward_);
    if (text.find("enable_grad") != text.npos || text.find("requires_grad") != text.npos) return;
    const std::string_view later = syntax_.text_of(backward_);
    if (later.find(".requires_grad") == later.npos) return;
    const std::vector<SyntaxIndex> handed = saved();
    const std::vector<SyntaxIndex> taken = unpacked();
    if (handed.empty() || handed.size() != taken.size()) return;
    // Name -> whether the forward made it.
    std::map<std::string_view, bool> names;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      if (!syntax_.is(taken[i], SyntaxKind::identifier)) continue;
      if (scopes_.find(syntax_.text_of(taken[i]), taken[i]).size() != 1) continue;
      names.emplace(syntax_.text_of(taken[i]), is_made(handed[i]));
    }
    for (const SyntaxIndex index : backward_nodes_) {
      if (!syntax_.is(index, SyntaxKind::attribute)) continue;
      const SyntaxIndex object = syntax_.child(index, SyntaxField::object);
      const SyntaxIndex attribute = syntax_.child(index, SyntaxField::attribute);
      if (!syntax_.is(object, SyntaxKind::identifier) || attribute == no_syntax) continue;
      if (syntax_.text_of(attribute) != "requires_grad" || !decides(index)) continue;
      const auto name = names.find(syntax_.text_of(object));
      if (name == names.end()) continue;
      facts.asked.push_back({std::string(name->first), syntax_.place_of(index)});
      if (name->second) facts.made.emplace_back(name->first);
      names.erase(name);
    }
  }

  // The names of `a, b = ctx.saved_tensors`, where that stands once.
  std::vector<SyntaxIndex> unpacked() const {
    std::vector<SyntaxIndex> found;
    std::size_t times = 0;
    for (const SyntaxIndex index : backward_nodes_) {
      if (!syntax_.is(index, SyntaxKind::assignment)) continue;
      const SyntaxIndex left = syntax_.child(index, SyntaxField::left);
      const SyntaxIndex right = syntax_.child(index, SyntaxField::right);
      if (left == no_syntax || right == no_syntax) continue;
      const std::string_view text = syntax_.text_of(right);
      if (!text.ends_with(".saved_tensors")) continue;
      if (++times > 1) return {};
      if (syntax_.is(left, SyntaxKind::pattern_list) ||
          syntax_.is(left, SyntaxKind::tuple_pattern) ||
          syntax_.is(left, SyntaxKind::list_pattern)) {
        found = syntax_.children(left);
      }
    }
    return found;
  }

  // It stands in a condition.
  bool decides(SyntaxIndex index) const {
    SyntaxIndex below = index;
    for (std::size_t depth = 0; depth < max_depth; ++depth) {
      const SyntaxIndex above = syntax_[below].parent;
      if (above == no_syntax || above == backward_) return false;
      if (syntax_.is(above, SyntaxKind::if_statement) ||
          syntax_.is(above, SyntaxKind::elif_clause)) {
        return syntax_.child(above, SyntaxField::condition) == below;
      }
      if (syntax_.is(above, SyntaxKind::conditional_expression)) {
        const std::vector<SyntaxIndex> parts = syntax_.children(above);
        return parts.size() == 3 && parts[1] == below;
      }
      // `a and b`, `not a`, brackets.
      if (!syntax_.is(above, SyntaxKind::other) && !syntax_.is(above, SyntaxKind::unary_operator) &&
          !syntax_.is(above, SyntaxKind::parenthesized_expression)) {
        return false;
      }
      below = above;
    }
    return false;
  }

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
  SyntaxIndex forward_;
  SyntaxIndex backward_;
  std::string context_;
  // Of the forward, without the context.
  PythonFunction parameters_;
  std::vector<SyntaxIndex> forward_nodes_;
  std::vector<SyntaxIndex> backward_nodes_;
  std::vector<Return> returns_;
  std::size_t steps_ = 0;
};

}  // namespace

PythonFunctionFacts python_function_facts(const PythonSyntax& syntax, const PythonScopes& scopes,
                                          SyntaxIndex definition, SyntaxIndex forward,
                                          SyntaxIndex backward, bool separated) {
  return FactsReader(syntax, scopes, forward, backward, separated).run(definition);
}

}  // namespace opseal
