#include "analyzers/python/batch_axes.h"

#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace opseal {
namespace {

// Rules have some tens of nodes.
constexpr SyntaxIndex most_nodes = 20'000;
constexpr std::size_t most_depth = 64;

class AxesReader {
 public:
  AxesReader(const PythonSyntax& syntax, const PythonScopes& scopes, std::string_view operands,
             std::string_view axes, SyntaxIndex body)
      : syntax_(syntax), scopes_(scopes), operands_(operands), axes_(axes), body_(body) {}

  void run(PythonRegistration& made) {
    if (syntax_[body_].next - body_ > most_nodes) return;
    read_returned(made);
    // Whoever names these knows of operands that aren't mapped; `try` may be how it finds out.
    const std::string_view text = syntax_.text_of(body_);
    for (const std::string_view word : {"None", "mapped", "Mapped", "try:", "assert_"}) {
      if (text.find(word) != text.npos) return;
    }
    for (SyntaxIndex index = body_; index < syntax_[body_].next; ++index) look_at(index);
    if (!known_) return;
    for (SyntaxIndex index = body_; index < syntax_[body_].next && known_; ++index) {
      if (is_axis(index) && !is_part(index)) use(index);
    }
    if (!known_) return;
    if (each_ != no_syntax) {
      set(PythonAxesUse::each, each_, made);
    } else if (used_.size() > 1) {
      set(PythonAxesUse::several, used_.begin()->second, made);
    } else if (!all_used_ && places_.size() == 1) {
      const SyntaxIndex moved = moved_by(*places_.begin());
      if (moved != no_syntax) set(PythonAxesUse::first, moved, made);
    }
  }

 private:
  // `return p.bind(x, y), axes`, the axes being those that were handed over.
  void read_returned(PythonRegistration& made) const {
    const std::vector<PythonBinding>& bound = scopes_.find(axes_, body_);
    if (bound.size() != 1 || bound[0].kind != PythonBinding::Kind::parameter) return;
    for (const SyntaxIndex index : syntax_.own_nodes(body_, most_nodes)) {
      if (!syntax_.is(index, SyntaxKind::return_statement)) continue;
      const SyntaxIndex value = syntax_.unwrapped(syntax_.first(index));
      if (!syntax_.is(value, SyntaxKind::expression_list) &&
          !syntax_.is(value, SyntaxKind::tuple)) {
        continue;
      }
      const std::vector<SyntaxIndex> parts = syntax_.children(value);
      if (parts.size() != 2 || !names_all(parts[1])) continue;
      // Several results have several axes.
      const SyntaxIndex result = syntax_.unwrapped(parts[0]);
      if (!syntax_.is(result, SyntaxKind::call) && !syntax_.is(result, SyntaxKind::identifier)) {
        continue;
      }
      made.axes_returned = syntax_.place_of(parts[1]);
      return;
    }
  }

  // The first place at which an operand is moved, or flattened, as one at another place is mapped.
  SyntaxIndex moved_by(std::size_t place) const {
    std::map<std::string_view, std::size_t> operands;
    std::set<std::string_view> from_it;
    std::set<std::string_view> sizes;
    for (const auto& [name, at] : names_) {
      if (at == place) sizes.insert(name);
    }
    for (SyntaxIndex index = body_; index < syntax_[body_].next; ++index) {
      if (syntax_.is(index, SyntaxKind::assignment)) {
        follow(index, place, operands, from_it, sizes);
      } else if (syntax_.is(index, SyntaxKind::call) &&
                 moves_another(index, place, operands, sizes)) {
        return index;
      }
    }
    return no_syntax;
  }

  // Names of operands by their places, what comes from the one at `place`, and what is the size of
  // its batch: a product of its sizes, those that `*batch` takes.
  void follow(SyntaxIndex assignment, std::size_t place,
              std::map<std::string_view, std::size_t>& operands,
              std::set<std::string_view>& from_it, std::set<std::string_view>& sizes) const {
    const SyntaxIndex left = syntax_.child(assignment, SyntaxField::left);
    const SyntaxIndex right = syntax_.child(assignment, SyntaxField::right);
    if (left == no_syntax || right == no_syntax) return;
    const SyntaxIndex value = syntax_.unwrapped(right);
    if (is_row(left) && syntax_.is(value, SyntaxKind::identifier) &&
        syntax_.text_of(value) == operands_) {
      std::size_t at = 0;
      for (const SyntaxIndex target : syntax_.children(left)) {
        if (!syntax_.is(target, SyntaxKind::identifier)) return;
        if (at == place) from_it.insert(syntax_.text_of(target));
        operands.emplace(syntax_.text_of(target), at++);
      }
      return;
    }
    const std::string_view text = syntax_.text_of(right);
    if (!mentions(right, from_it)) return;
    const bool product = text.find("prod(") != text.npos || text.find(" * ") != text.npos ||
                         text.find("mul") != text.npos;
    for (SyntaxIndex index = left; index < syntax_[left].next; ++index) {
      if (!syntax_.is(index, SyntaxKind::identifier)) continue;
      const std::string_view name = syntax_.text_of(index);
      // An operand that gets another form is still that operand.
      if (operands.contains(name)) continue;
      from_it.insert(name);
      const bool starred = syntax_.is(syntax_[index].parent, SyntaxKind::list_splat_pattern);
      if (product || starred) sizes.insert(name);
    }
  }

  bool mentions(SyntaxIndex expression, const std::set<std::string_view>& names) const {
    for (SyntaxIndex index = expression; index < syntax_[expression].next; ++index) {
      if (syntax_.is(index, SyntaxKind::identifier) && names.contains(syntax_.text_of(index))) {
        return true;
      }
    }
    return false;
  }

  // `jnp.reshape(key, (batch, …))`, `key.reshape(batch, …)`, `jnp.moveaxis(key, axis, 0)`.
  bool moves_another(SyntaxIndex call, std::size_t place,
                     const std::map<std::string_view, std::size_t>& operands,
                     const std::set<std::string_view>& sizes) const {
    const SyntaxIndex function = syntax_.child(call, SyntaxField::function);
    const SyntaxIndex arguments = syntax_.child(call, SyntaxField::arguments);
    if (!syntax_.is(function, SyntaxKind::attribute) ||
        !syntax_.is(arguments, SyntaxKind::argument_list)) {
      return false;
    }
    const std::string_view name = syntax_.text_of(syntax_[function].next - 1);
    if (name != "reshape" && name != "moveaxis" && name != "swapaxes") return false;
    const SyntaxIndex object = syntax_.child(function, SyntaxField::object);
    const std::vector<SyntaxIndex> given = syntax_.children(arguments);
    for (const SyntaxIndex operand : {object, given.empty() ? no_syntax : given.front()}) {
      const SyntaxIndex moved = syntax_.unwrapped(operand);
      if (!syntax_.is(moved, SyntaxKind::identifier)) continue;
      const auto found = operands.find(syntax_.text_of(moved));
      if (found == operands.end() || found->second == place) continue;
      for (const SyntaxIndex one : given) {
        if (one != operand && mentions(one, sizes)) return true;
      }
    }
    return false;
  }

  void set(PythonAxesUse use, SyntaxIndex where, PythonRegistration& made) const {
    made.axes_use = use;
    made.axes_place = syntax_.place_of(where);
  }

  bool names_all(SyntaxIndex expression) const {
    const SyntaxIndex value = syntax_.unwrapped(expression);
    return syntax_.is(value, SyntaxKind::identifier) && syntax_.text_of(value) == axes_;
  }

  // Names that stand for one of the axes.
  void look_at(SyntaxIndex index) {
    if (syntax_.is(index, SyntaxKind::assignment)) {
      look_at_assignment(index);
    } else if (syntax_.is(index, SyntaxKind::for_in_clause) ||
               syntax_.is(index, SyntaxKind::for_statement)) {
      look_at_loop(index);
    }
  }

  void look_at_assignment(SyntaxIndex assignment) {
    const SyntaxIndex left = syntax_.child(assignment, SyntaxField::left);
    const SyntaxIndex right = syntax_.child(assignment, SyntaxField::right);
    if (left == no_syntax || right == no_syntax) return;
    if (is_row(left)) {
      const std::vector<SyntaxIndex> targets = syntax_.children(left);
      const SyntaxIndex value = syntax_.unwrapped(right);
      if (names_all(value)) {
        // One operand, which is mapped or the rule wouldn't be asked.
        if (targets.size() < 2) known_ = false;
        add_all(targets);
      } else if (syntax_.is(value, SyntaxKind::expression_list) ||
                 syntax_.is(value, SyntaxKind::tuple)) {
        const std::vector<SyntaxIndex> values = syntax_.children(value);
        for (std::size_t i = 0; i < targets.size() && i < values.size(); ++i) {
          if (const std::optional<std::size_t> place = element(values[i])) {
            if (syntax_.is(targets[i], SyntaxKind::identifier)) {
              names_[syntax_.text_of(targets[i])] = *place;
            }
            continue;
          }
          if (!names_all(values[i])) continue;
          if (!is_row(targets[i])) {
            known_ = false;
            return;
          }
          const std::vector<SyntaxIndex> inner = syntax_.children(targets[i]);
          if (inner.size() < 2) known_ = false;
          add_all(inner);
        }
      }
      return;
    }
    if (!syntax_.is(left, SyntaxKind::identifier)) return;
    // Another name for all of them.
    if (names_all(right)) known_ = false;
    if (const std::optional<std::size_t> place = element(right)) {
      names_[syntax_.text_of(left)] = *place;
    }
  }

  void add_all(const std::vector<SyntaxIndex>& targets) {
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (syntax_.is(targets[i], SyntaxKind::identifier)) names_[syntax_.text_of(targets[i])] = i;
    }
  }

  // `for a, d in zip(operands, axes)`
  void look_at_loop(SyntaxIndex loop) {
    const SyntaxIndex left = syntax_.child(loop, SyntaxField::left);
    const SyntaxIndex right = syntax_.child(loop, SyntaxField::right);
    if (left == no_syntax || right == no_syntax) return;
    if (names_all(right) && syntax_.is(left, SyntaxKind::identifier)) {
      names_[syntax_.text_of(left)] = any_place;
      return;
    }
    const SyntaxIndex value = syntax_.unwrapped(right);
    if (!syntax_.is(value, SyntaxKind::call) || !is_row(left)) return;
    const SyntaxIndex function = syntax_.child(value, SyntaxField::function);
    const SyntaxIndex arguments = syntax_.child(value, SyntaxField::arguments);
    if (function == no_syntax || !syntax_.is(arguments, SyntaxKind::argument_list)) return;
    const std::string_view name = syntax_.text_of(function);
    if (name != "zip" && name != "safe_zip" && !name.ends_with(".safe_zip")) return;
    const std::vector<SyntaxIndex> rows = syntax_.children(arguments);
    const std::vector<SyntaxIndex> targets = syntax_.children(left);
    for (std::size_t i = 0; i < rows.size() && i < targets.size(); ++i) {
      if (!names_all(rows[i]) || !syntax_.is(targets[i], SyntaxKind::identifier)) continue;
      names_[syntax_.text_of(targets[i])] = any_place;
    }
  }

  bool is_row(SyntaxIndex index) const {
    return syntax_.is(index, SyntaxKind::pattern_list) ||
           syntax_.is(index, SyntaxKind::tuple_pattern) ||
           syntax_.is(index, SyntaxKind::list_pattern);
  }

  // The place of the operand whose axis an expression is: `axes[1]`, a name for it.
  std::optional<std::size_t> element(SyntaxIndex expression) const {
    const SyntaxIndex value = syntax_.unwrapped(expression);
    if (syntax_.is(value, SyntaxKind::identifier)) {
      const auto found = names_.find(syntax_.text_of(value));
      return found == names_.end() ? std::optional<std::size_t>() : found->second;
    }
    if (!syntax_.is(value, SyntaxKind::subscript)) return {};
    const SyntaxIndex object = syntax_.child(value, SyntaxField::value);
    const SyntaxIndex index = syntax_.child(value, SyntaxField::subscript);
    if (object == no_syntax || !names_all(object) || !syntax_.is(index, SyntaxKind::integer)) {
      return {};
    }
    std::size_t place = 0;
    const std::string_view digits = syntax_.text_of(index);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), place);
    return error == std::errc() && end == digits.data() + digits.size()
               ? std::optional<std::size_t>(place)
               : std::optional<std::size_t>();
  }

  bool is_axis(SyntaxIndex index) const {
    if (syntax_.is(index, SyntaxKind::identifier)) {
      // `x.d`, `f(d=…)`
      if (syntax_[index].field == SyntaxField::attribute) return false;
      if (syntax_[index].field == SyntaxField::name) return false;
    }
    return element(index).has_value() ||
           (syntax_.is(index, SyntaxKind::identifier) && syntax_.text_of(index) == axes_);
  }

  // `axes` of `axes[0]`, which is looked at as a whole; a name where it is bound.
  bool is_part(SyntaxIndex index) const {
    const SyntaxIndex parent = syntax_[index].parent;
    if (syntax_.is(parent, SyntaxKind::subscript) && element(parent).has_value()) return true;
    SyntaxIndex at = index;
    for (std::size_t depth = 0; depth < most_depth && at != body_ && at != no_syntax; ++depth) {
      if (syntax_[at].field == SyntaxField::left &&
          (syntax_.is(syntax_[at].parent, SyntaxKind::assignment) ||
           syntax_.is(syntax_[at].parent, SyntaxKind::for_in_clause) ||
           syntax_.is(syntax_[at].parent, SyntaxKind::for_statement))) {
        return true;
      }
      at = syntax_[at].parent;
    }
    return false;
  }

  // What a use of an axis says: a question, or a call that may ask, and nothing is known any more.
  void use(SyntaxIndex index) {
    if (asks(index)) {
      known_ = false;
      return;
    }
    const std::optional<std::size_t> place = element(index);
    const SyntaxIndex parent = syntax_[index].parent;
    if (is_check(index)) return;
    if (place && *place != any_place) {
      places_.insert(*place);
    } else {
      all_used_ = true;
    }
    // `x.shape[d]`
    if (syntax_.is(parent, SyntaxKind::subscript) &&
        syntax_[index].field == SyntaxField::subscript) {
      const SyntaxIndex object = syntax_.child(parent, SyntaxField::value);
      if (place && object != no_syntax && syntax_.text_of(object).ends_with(".shape")) {
        add_use(*place, parent);
      }
      return;
    }
    if (!syntax_.is(parent, SyntaxKind::argument_list)) {
      // Right of an assignment, and in a loop's head, it was taken up under a name.
      const bool taken = syntax_[index].field == SyntaxField::right ||
                         syntax_.is(parent, SyntaxKind::return_statement) ||
                         syntax_.is(parent, SyntaxKind::expression_list) ||
                         syntax_.is(parent, SyntaxKind::tuple);
      if (!taken) known_ = false;
      return;
    }
    const SyntaxIndex call = syntax_[parent].parent;
    const SyntaxIndex function =
        syntax_.is(call, SyntaxKind::call) ? syntax_.child(call, SyntaxField::function) : no_syntax;
    if (function == no_syntax) return;
    const std::string_view name = syntax_.text_of(function);
    if (name == "zip" || name == "len" || name == "enumerate" || name.ends_with("safe_zip")) return;
    const std::vector<std::string> full = scopes_.full_names(function);
    const bool moves =
        full.size() == 1 && (full[0] == "jax.numpy.moveaxis" || full[0] == "numpy.moveaxis" ||
                             full[0] == "jax.numpy.swapaxes" || full[0] == "numpy.swapaxes" ||
                             full[0] == "jax.numpy.rollaxis");
    if (moves && place) {
      add_use(*place, call);
    } else {
      known_ = false;
    }
  }

  // `check(axes)`, of which nothing comes but an exception, and which lets `None` pass.
  bool is_check(SyntaxIndex index) const {
    const SyntaxIndex arguments = syntax_[index].parent;
    if (!syntax_.is(arguments, SyntaxKind::argument_list)) return false;
    const SyntaxIndex call = syntax_[arguments].parent;
    if (!syntax_.is(call, SyntaxKind::call) ||
        !syntax_.is(syntax_[call].parent, SyntaxKind::expression_statement)) {
      return false;
    }
    const SyntaxIndex function = syntax_.child(call, SyntaxField::function);
    if (!syntax_.is(function, SyntaxKind::identifier)) return false;
    const PythonBinding* bound = scopes_.only(syntax_.text_of(function), function);
    if (bound == nullptr || bound->kind != PythonBinding::Kind::definition) return false;
    const SyntaxIndex end = syntax_[bound->value].next;
    if (end - bound->value > most_nodes) return false;
    for (SyntaxIndex at = bound->value; at < end; ++at) {
      const SyntaxKind kind = syntax_[syntax_[at].parent].kind;
      if (syntax_.is(at, SyntaxKind::none) &&
          (kind == SyntaxKind::list || kind == SyntaxKind::tuple || kind == SyntaxKind::set)) {
        return true;
      }
    }
    return false;
  }

  void add_use(std::size_t place, SyntaxIndex where) {
    if (place == any_place) {
      if (each_ == no_syntax) each_ = where;
    } else {
      used_.emplace(place, where);
    }
  }

  // It stands in a comparison, an assertion, or the condition of something.
  bool asks(SyntaxIndex index) const {
    SyntaxIndex at = index;
    for (std::size_t depth = 0; at != body_; ++depth) {
      if (depth == most_depth) return true;
      const SyntaxField field = syntax_[at].field;
      at = syntax_[at].parent;
      if (at == no_syntax) return true;
      if (syntax_.is(at, SyntaxKind::other)) return true;
      if (syntax_.is(at, SyntaxKind::conditional_expression)) return true;
      if (field == SyntaxField::condition) return true;
    }
    return false;
  }

  static constexpr std::size_t any_place = static_cast<std::size_t>(-1);

  const PythonSyntax& syntax_;
  const PythonScopes& scopes_;
  std::string_view operands_;
  std::string_view axes_;
  SyntaxIndex body_;
  bool known_ = true;
  // All of them are used at once.
  bool all_used_ = false;
  // Those of which the axis is used anywhere.
  std::set<std::size_t> places_;
  // Names for axes, by the place of their operand.
  std::map<std::string_view, std::size_t> names_;
  SyntaxIndex each_ = no_syntax;
  std::map<std::size_t, SyntaxIndex> used_;
};

}  // namespace

void read_axes(const PythonSyntax& syntax, const PythonScopes& scopes, const PythonFunction& rule,
               PythonRegistration& made) {
  if (!rule.found || rule.node == no_syntax || rule.parameters.size() < 2) return;
  const SyntaxIndex body = syntax.child(rule.node, SyntaxField::body);
  if (body == no_syntax || syntax.is(rule.node, SyntaxKind::lambda)) return;
  AxesReader(syntax, scopes, rule.parameters[0].name, rule.parameters[1].name, body).run(made);
}

}  // namespace opseal
