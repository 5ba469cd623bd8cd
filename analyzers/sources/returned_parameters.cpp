#include "analyzers/sources/returned_parameters.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "analyzers/words.h"

namespace opseal {
namespace {

// Tokens of a function that are looked at.
constexpr std::size_t most_tokens = 100'000;
// Places where a function hands on its parameters; more are not looked at.
constexpr std::size_t most_handed = 256;
constexpr std::size_t no_call = static_cast<std::size_t>(-1);

class ReturnReader {
 public:
  ReturnReader(Tokens body, const std::vector<std::string_view>& parameters)
      : body_(body.first(std::min(body.size(), most_tokens))), parameters_(parameters) {}

  std::vector<ReturnedParameter> run() {
    std::size_t lambda_end = 0;
    std::size_t dead_end = 0;
    std::vector<std::size_t> blocks;
    for (std::size_t at = 0; at < body_.size(); ++at) {
      if (body_[at].is('{')) blocks.push_back(at);
      if (body_[at].is('}') && !blocks.empty()) blocks.pop_back();
      if (at >= dead_end && never_goes_on(at)) {
        dead_end = blocks.empty() ? body_.size() : closing_bracket(body_, blocks.back());
      }
      // `x = …`, and `for (auto& x : …)`, which is another thing of the name.
      if (at + 1 < body_.size() && body_[at].is_identifier() &&
          (body_[at + 1].is('=') || body_[at + 1].is(':')) && !is_member(at)) {
        changed_.insert(body_[at].text);
      }
      if ((body_[at].is("tie") || body_[at].is("swap")) && !is_member(at)) note_arguments(at + 1);
      if (names_something(at)) changed_.insert(body_[at].text);
      note_binding(at);
      note_handed(at);
      // What a lambda hands back is its own.
      if (at >= lambda_end && body_[at].is('[') && begins_lambda(at)) {
        lambda_end = std::max(lambda_end, end_of_lambda(at));
      }
      if (at >= lambda_end && at >= dead_end && body_[at].is("return")) read_value(at + 1);
    }
    std::vector<ReturnedParameter> returned;
    for (const auto& [parameter, place] : found_) {
      if (changed_.contains(parameters_[parameter])) continue;
      ReturnedParameter one;
      one.index = parameter;
      for (const Handed& handed : handed_) {
        if (handed.parameter == parameter && handed.place < place) one.handed.push_back(handed.to);
      }
      returned.push_back(std::move(one));
    }
    return returned;
  }

 private:
  struct Handed {
    std::size_t parameter = 0;
    std::size_t place = 0;
    HandedParameter to;
  };

  // `Tensor x(y);`, `std::vector<Tensor> x;`: another thing of the name.
  bool names_something(std::size_t at) const {
    if (at == 0 || at + 1 >= body_.size() || !body_[at].is_identifier()) return false;
    const Token& behind = body_[at + 1];
    if (!behind.is('(') && !behind.is('{') && !behind.is(';')) return false;
    const Token& before = body_[at - 1];
    if (before.is('>')) return true;
    return before.is_identifier() && !before.is("return") && !before.is("else") &&
           !before.is("co_return") && !before.is("throw") && !before.is("do");
  }

  // `auto [x, y] = …`
  void note_binding(std::size_t at) {
    if (!body_[at].is("auto")) return;
    std::size_t open = at + 1;
    while (open < body_.size() && (body_[open].is('&') || body_[open].is("&&"))) ++open;
    if (open >= body_.size() || !body_[open].is('[')) return;
    constexpr std::size_t most_names = 64;
    const std::size_t end = std::min(body_.size(), open + most_names);
    for (std::size_t name = open + 1; name < end && !body_[name].is(']'); ++name) {
      if (body_[name].is_identifier()) changed_.insert(body_[name].text);
    }
  }

  // `x` alone between the brackets and commas of a call that is no part of a `return`.
  void note_handed(std::size_t at) {
    if (body_[at].is("return") && at >= return_end_) return_end_ = end_of_statement(at);
    if (body_[at].is('(')) {
      open_.push_back({at, 0});
    } else if (body_[at].is('{') || body_[at].is('[')) {
      open_.push_back({at, no_call});
    } else if (body_[at].is(')') || body_[at].is('}') || body_[at].is(']')) {
      if (!open_.empty()) open_.pop_back();
    } else if (body_[at].is(',') && !open_.empty() && open_.back().argument != no_call) {
      ++open_.back().argument;
    }
    if (at < return_end_ || open_.empty() || open_.back().argument == no_call) return;
    const std::size_t bracket = open_.back().bracket;
    if (at == 0 || at + 1 >= body_.size() || bracket == 0 || !is_argument(at)) return;
    const auto found = std::find(parameters_.begin(), parameters_.end(), body_[at].text);
    if (found == parameters_.end() || !body_[bracket - 1].is_identifier()) return;
    if (cannot_replace(bracket - 1) || handed_.size() == most_handed) return;
    handed_.push_back({static_cast<std::size_t>(found - parameters_.begin()),
                       at,
                       {body_[bracket - 1].text, open_.back().argument}});
  }

  bool is_argument(std::size_t at) const {
    return body_[at].is_identifier() && (body_[at - 1].is('(') || body_[at - 1].is(',')) &&
           (body_[at + 1].is(')') || body_[at + 1].is(','));
  }

  // Methods of tensors and functions of torch take tensors as they are; what is no function, and
  // macros, too.
  bool cannot_replace(std::size_t called) const {
    const Token& name = body_[called];
    if (is_one_of(name.text, {"if", "while", "for", "switch", "sizeof", "decltype", "move",
                              "forward", "Tensor", "tuple", "make_tuple", "vector"})) {
      return true;
    }
    if (is_member(called)) return true;
    if (called >= 2 && body_[called - 1].is("::") &&
        is_one_of(body_[called - 2].text, {"at", "torch", "c10", "native", "stable"})) {
      return true;
    }
    return std::none_of(name.text.begin(), name.text.end(),
                        [](char letter) { return letter >= 'a' && letter <= 'z'; });
  }

  std::size_t end_of_statement(std::size_t at) const {
    while (at < body_.size() && !body_[at].is(';')) {
      const bool opens = body_[at].is('(') || body_[at].is('{') || body_[at].is('[');
      at = opens ? std::max(at, closing_bracket(body_, at)) + 1 : at + 1;
    }
    return at;
  }

  // `std::tie(x, y) = …`, `std::swap(x, y)`
  void note_arguments(std::size_t open) {
    if (open >= body_.size() || !body_[open].is('(')) return;
    constexpr std::size_t most_arguments = 64;
    const std::size_t end = std::min(body_.size(), open + most_arguments);
    for (std::size_t at = open + 1; at < end && !body_[at].is(')'); ++at) {
      if (body_[at].is_identifier()) changed_.insert(body_[at].text);
    }
  }

  bool is_member(std::size_t at) const {
    return at > 0 && (body_[at - 1].is('.') || body_[at - 1].is("->"));
  }

  // A statement of its own behind which nothing of the block runs: `throw x;`,
  // `TORCH_CHECK(false, "…");`
  bool never_goes_on(std::size_t at) const {
    const bool begins =
        at == 0 || body_[at - 1].is(';') || body_[at - 1].is('{') || body_[at - 1].is('}');
    if (!begins) return false;
    if (body_[at].is("throw") || body_[at].is("AT_ERROR")) return true;
    const bool asks = body_[at].is_identifier() && has_any(body_[at].text, {"CHECK", "ENFORCE"});
    return asks && at + 3 < body_.size() && body_[at + 1].is('(') && body_[at + 2].is("false") &&
           (body_[at + 3].is(',') || body_[at + 3].is(')'));
  }

  // `[&] {`, not `x[i]`.
  bool begins_lambda(std::size_t at) const {
    if (at == 0) return true;
    const Token& before = body_[at - 1];
    if (before.is("return")) return true;
    return !before.is_identifier() && !before.is(']') && !before.is(')');
  }

  std::size_t end_of_lambda(std::size_t at) const {
    std::size_t next = closing_bracket(body_, at) + 1;
    if (next < body_.size() && body_[next].is('(')) next = closing_bracket(body_, next) + 1;
    while (next < body_.size() && !body_[next].is('{') && !body_[next].is(';')) ++next;
    return next < body_.size() && body_[next].is('{') ? closing_bracket(body_, next) : next;
  }

  // `x`, `{x, y}`, `std::make_tuple(x, y)`, `std::tuple<…>{x, y}`.
  void read_value(std::size_t begin) {
    // No tuple is longer.
    constexpr std::size_t longest_value = 1024;
    const Tokens near = body_.first(std::min(body_.size(), begin + longest_value));
    if (begin + 1 >= near.size()) return;
    if (near[begin + 1].is(';')) {
      take(begin);
      return;
    }
    std::size_t open = begin;
    while (open < near.size() && !near[open].is('{') && !near[open].is('(') &&
           !near[open].is(';')) {
      ++open;
    }
    if (open >= near.size() || near[open].is(';')) return;
    const bool named =
        std::any_of(near.begin() + static_cast<std::ptrdiff_t>(begin),
                    near.begin() + static_cast<std::ptrdiff_t>(open),
                    [](const Token& token) { return token.is("make_tuple") || token.is("tuple"); });
    if (open != begin && !named) return;
    if (open == begin && !near[open].is('{')) return;
    const std::size_t close = closing_bracket(near, open);
    if (close + 1 >= near.size() || !near[close + 1].is(';')) return;
    for (std::size_t at = open + 1; at < close; ++at) {
      const bool alone =
          (near[at - 1].is(',') || at == open + 1) && (near[at + 1].is(',') || at + 1 == close);
      if (near[at].is('(') || near[at].is('{') || near[at].is('[')) {
        at = closing_bracket(near, at);
      } else if (alone) {
        take(at);
      }
    }
  }

  void take(std::size_t at) {
    if (!body_[at].is_identifier()) return;
    const auto found = std::find(parameters_.begin(), parameters_.end(), body_[at].text);
    if (found != parameters_.end()) {
      found_.emplace(static_cast<std::size_t>(found - parameters_.begin()), at);
    }
  }

  Tokens body_;
  const std::vector<std::string_view>& parameters_;
  // By parameter, the first place.
  std::map<std::size_t, std::size_t> found_;
  std::set<std::string_view> changed_;
  std::vector<Handed> handed_;
  // Brackets that are open, and the number of the argument.
  struct Open {
    std::size_t bracket = 0;
    std::size_t argument = 0;
  };
  std::vector<Open> open_;
  std::size_t return_end_ = 0;
};

}  // namespace

std::vector<ReturnedParameter> returned_parameters(
    Tokens body, const std::vector<std::string_view>& parameters) {
  return ReturnReader(body, parameters).run();
}

}  // namespace opseal
