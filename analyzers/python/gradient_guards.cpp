#include "analyzers/python/gradient_guards.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace opseal {
namespace {

constexpr std::size_t max_depth = 32;
constexpr SyntaxIndex max_nodes = 100'000;
// Guards of one backward; each is held against the gradients.
constexpr std::size_t max_guards = 64;
constexpr std::size_t max_gradients = 256;
constexpr std::size_t max_steps = 2'000'000;

std::optional<std::uint32_t> number_of(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > 10'000) return {};
  return value;
}

// One gradient that a `return` hands back: the name that it has, if any.
struct Gradient {
  std::string_view name;
  std::uint32_t place = 0;
  // `*grads`, `+ tuple(grads)`: it and all behind it.
  bool rest = false;
};

class GuardReader {
 public:
  GuardReader(const PythonSyntax& syntax, SyntaxIndex function)
      : syntax_(syntax), function_(function), body_(syntax.child(function, SyntaxField::body)) {}

  std::vector<PythonGradientGuard> run() {
    const SyntaxIndex parameters = syntax_.child(function_, SyntaxField::parameters);
    if (body_ == no_syntax || parameters == no_syntax) return {};
    const SyntaxIndex first = syntax_.first(parameters);
    if (!syntax_.is(first, SyntaxKind::identifier)) return {};
    context_ = syntax_.text_of(first);
    for (const SyntaxIndex index : syntax_.own_nodes(body_, max_nodes)) {
      const SyntaxKind kind = syntax_[index].kind;
      if (kind == SyntaxKind::subscript) {
        look_at_subscript(index);
      } else if (kind == SyntaxKind::return_statement) {
        look_at_return(index);
      } else if (kind == SyntaxKind::assignment || kind == SyntaxKind::augmented_assignment ||
                 kind == SyntaxKind::named_expression || kind == SyntaxKind::for_statement) {
        look_at_assignment(index);
      }
    }
    judge();
    return std::move(guards_);
  }

 private:
  struct Given {
    // Under these, `no_guard` for anywhere else.
    std::set<std::size_t> guards;
    bool alone = true;
  };

  // `ctx.needs_input_grad[2]`, `ctx.needs_input_grad[3:]`.
  void look_at_subscript(SyntaxIndex subscript) {
    const SyntaxIndex value = syntax_.child(subscript, SyntaxField::value);
    const SyntaxIndex part = syntax_.child(subscript, SyntaxField::subscript);
    if (value == no_syntax || part == no_syntax || guards_.size() == max_guards) return;
    if (syntax_.text_of(value) != std::string(context_) + ".needs_input_grad") return;
    PythonGradientGuard guard;
    guard.offset = syntax_[subscript].begin;
    guard.length = syntax_[subscript].end - syntax_[subscript].begin;
    std::string_view text = syntax_.text_of(part);
    if (text.ends_with(':')) {
      guard.open_ended = true;
      text.remove_suffix(1);
    }
    const std::optional<std::uint32_t> number = number_of(text);
    if (!number) return;
    guard.input = *number;
    by_node_.emplace(subscript, guards_.size());
    guards_.push_back(guard);
  }

  // The guards that a condition asks, if it says nothing else but what must hold besides.
  void add_guards(SyntaxIndex condition, std::vector<std::size_t>& found) const {
    const SyntaxIndex end = std::min(syntax_[condition].next, condition + max_nodes);
    for (SyntaxIndex index = condition; index < end; ++index) {
      if (const auto guard = by_node_.find(index); guard != by_node_.end()) {
        found.push_back(guard->second);
      }
    }
  }

  static constexpr std::size_t no_guard = static_cast<std::size_t>(-1);

  // The one guard that a statement stands under, by the nearest `if` that asks.
  std::size_t guard_of(SyntaxIndex index) const {
    SyntaxIndex below = index;
    for (std::size_t depth = 0; depth < max_depth; ++depth) {
      const SyntaxIndex above = syntax_[below].parent;
      if (above == no_syntax || above == function_) return no_guard;
      const bool asks =
          syntax_.is(above, SyntaxKind::if_statement) || syntax_.is(above, SyntaxKind::elif_clause);
      if (asks && syntax_.child(above, SyntaxField::consequence) == below) {
        const SyntaxIndex condition = syntax_.child(above, SyntaxField::condition);
        if (condition == no_syntax) return no_guard;
        steps_ += syntax_[condition].next - condition;
        if (steps_ > max_steps) return no_guard;
        std::vector<std::size_t> found;
        add_guards(condition, found);
        if (found.size() == 1) return plain(condition) ? found.front() : no_guard;
        if (!found.empty()) return no_guard;
        if (syntax_.text_of(condition).find("needs") != std::string_view::npos) return no_guard;
      }
      below = above;
    }
    return no_guard;
  }

  // Neither `or` nor `not`, and of a comprehension nothing is known.
  bool plain(SyntaxIndex condition) const {
    const std::string_view text = syntax_.text_of(condition);
    return text.find(" or ") == text.npos && text.find("not ") == text.npos &&
           text.find(" for ") == text.npos && text.find('|') == text.npos;
  }

  // What a name is given, and under which guard.
  void look_at_assignment(SyntaxIndex statement) {
    SyntaxIndex target = syntax_.child(statement, SyntaxField::left);
    if (target == no_syntax) target = syntax_.child(statement, SyntaxField::name);
    if (target == no_syntax) return;
    const SyntaxIndex value = syntax_.child(statement, SyntaxField::right);
    if (syntax_.is(statement, SyntaxKind::assignment) && is_nothing(value, 0)) return;
    const std::size_t guard = guard_of(statement);
    const SyntaxIndex end = std::min(syntax_[target].next, target + max_nodes);
    const bool alone =
        syntax_.is(target, SyntaxKind::identifier) && syntax_.is(statement, SyntaxKind::assignment);
    for (SyntaxIndex index = target; index < end; ++index) {
      if (!syntax_.is(index, SyntaxKind::identifier)) continue;
      Given& given = given_[syntax_.text_of(index)];
      given.alone = given.alone && alone;
      given.guards.insert(guard);
    }
  }

  // `None`, `a = b = None`, `[None] * 3`, `None, None`: what stands where there is no gradient.
  bool is_nothing(SyntaxIndex value, std::size_t depth) const {
    value = value == no_syntax ? no_syntax : syntax_.unwrapped(value);
    if (value == no_syntax || depth > max_depth || ++steps_ > max_steps) return false;
    if (syntax_.is(value, SyntaxKind::none)) return true;
    if (syntax_.is(value, SyntaxKind::assignment)) {
      return is_nothing(syntax_.child(value, SyntaxField::right), depth + 1);
    }
    if (syntax_.is(value, SyntaxKind::binary_operator)) {
      return is_nothing(syntax_.child(value, SyntaxField::left), depth + 1);
    }
    if (!syntax_.is(value, SyntaxKind::tuple) && !syntax_.is(value, SyntaxKind::list) &&
        !syntax_.is(value, SyntaxKind::expression_list)) {
      return false;
    }
    const std::vector<SyntaxIndex> parts = syntax_.children(value);
    return std::all_of(parts.begin(), parts.end(),
                       [&](SyntaxIndex part) { return is_nothing(part, depth + 1); });
  }

  void look_at_return(SyntaxIndex statement) {
    const SyntaxIndex value = syntax_.first(statement);
    if (value == no_syntax) return;
    ++returns_;
    std::uint32_t place = 0;
    if (!add_gradients(value, place, 0)) understood_ = false;
  }

  // False where it isn't known how many there are before the end.
  bool add_gradients(SyntaxIndex expression, std::uint32_t& place, std::size_t depth) {
    const SyntaxIndex value = syntax_.unwrapped(expression);
    if (value == no_syntax || depth > max_depth || closed_) return false;
    if (syntax_.is(value, SyntaxKind::binary_operator)) {
      const SyntaxIndex sign = syntax_.child(value, SyntaxField::operator_sign);
      if (sign == no_syntax || syntax_.text_of(sign) != "+") return false;
      return add_gradients(syntax_.child(value, SyntaxField::left), place, depth + 1) &&
             add_rest(syntax_.child(value, SyntaxField::right), place, depth + 1);
    }
    if (!syntax_.is(value, SyntaxKind::tuple) && !syntax_.is(value, SyntaxKind::expression_list)) {
      if (depth > 0) return false;
      return add_one(value, place);
    }
    for (const SyntaxIndex part : syntax_.children(value)) {
      if (syntax_.is(part, SyntaxKind::list_splat)) {
        if (!add_rest(syntax_.first(part), place, depth + 1)) return false;
      } else if (syntax_.text_of(part).starts_with('*') || !add_one(part, place)) {
        return false;
      }
    }
    return true;
  }

  bool add_one(SyntaxIndex expression, std::uint32_t& place) {
    if (gradients_.size() == max_gradients || closed_) return false;
    const SyntaxIndex value = syntax_.unwrapped(expression);
    Gradient one;
    one.place = place++;
    if (syntax_.is(value, SyntaxKind::identifier)) one.name = syntax_.text_of(value);
    gradients_.push_back(one);
    return true;
  }

  // `tuple(grads)`, `grads`, or a tuple that is written out.
  bool add_rest(SyntaxIndex expression, std::uint32_t& place, std::size_t depth) {
    SyntaxIndex value = expression == no_syntax ? no_syntax : syntax_.unwrapped(expression);
    if (value == no_syntax || closed_) return false;
    if (syntax_.is(value, SyntaxKind::tuple)) return add_gradients(value, place, depth + 1);
    if (syntax_.is(value, SyntaxKind::call)) {
      const SyntaxIndex called = syntax_.child(value, SyntaxField::function);
      const SyntaxIndex arguments = syntax_.child(value, SyntaxField::arguments);
      if (called == no_syntax || syntax_.text_of(called) != "tuple") return false;
      if (!syntax_.is(arguments, SyntaxKind::argument_list)) return false;
      value = syntax_.first(arguments);
    }
    if (value == no_syntax || !syntax_.is(value, SyntaxKind::identifier)) return false;
    gradients_.push_back({syntax_.text_of(value), place, true});
    closed_ = true;
    return true;
  }

  // Another place that asks for the same input counts too.
  bool is_under(const Given& given, const PythonGradientGuard& guard) const {
    return std::any_of(given.guards.begin(), given.guards.end(), [&](std::size_t at) {
      return at != no_guard && guards_[at].input == guard.input &&
             guards_[at].open_ended == guard.open_ended;
    });
  }

  void judge() {
    // With several `return`s, or one that isn't written out, places aren't known.
    if (returns_ != 1 || !understood_) return;
    for (std::size_t at = 0; at < guards_.size(); ++at) judge(at);
  }

  // All that is made under the guard, and nowhere else, is handed back for other inputs.
  void judge(std::size_t at) {
    PythonGradientGuard& guard = guards_[at];
    std::optional<std::uint32_t> place;
    for (const auto& [name, given] : given_) {
      if (!is_under(given, guard)) continue;
      std::size_t times = 0;
      for (const Gradient& gradient : gradients_) {
        if (gradient.name != name) continue;
        ++times;
        if (gradient.rest ? guard.open_ended && gradient.place == guard.input
                          : gradient.place == guard.input ||
                                (guard.open_ended && gradient.place > guard.input)) {
          return;
        }
        if (!given.guards.contains(at)) continue;
        // Made elsewhere too, together with others, or in a row where one input is asked for.
        if (given.guards.size() != 1 || !given.alone || gradient.rest != guard.open_ended) return;
        if (place) return;
        place = gradient.place;
      }
      if (times > 1) return;
    }
    guard.output = place;
  }

  const PythonSyntax& syntax_;
  SyntaxIndex function_;
  SyntaxIndex body_;
  std::string_view context_;
  std::vector<PythonGradientGuard> guards_;
  std::map<SyntaxIndex, std::size_t> by_node_;
  std::map<std::string_view, Given> given_;
  std::vector<Gradient> gradients_;
  std::size_t returns_ = 0;
  bool understood_ = true;
  // Parts that were looked at: conditions and values are, for each assignment that has to do with
  // them.
  mutable std::size_t steps_ = 0;
  // Behind a row of any length no place is known.
  bool closed_ = false;
};

}  // namespace

std::vector<PythonGradientGuard> python_gradient_guards(const PythonSyntax& syntax,
                                                        SyntaxIndex function) {
  return GuardReader(syntax, function).run();
}

}  // namespace opseal
