#include "analyzers/sources/returned_parameters.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "analyzers/words.h"

namespace opseal {
namespace {

// Tokens of a function that are looked at.
constexpr std::size_t most_tokens = 100'000;

class ReturnReader {
 public:
  ReturnReader(Tokens body, const std::vector<std::string_view>& parameters)
      : body_(body.first(std::min(body.size(), most_tokens))), parameters_(parameters) {}

  std::vector<std::size_t> run() {
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
      // What a lambda hands back is its own.
      if (at >= lambda_end && body_[at].is('[') && begins_lambda(at)) {
        lambda_end = std::max(lambda_end, end_of_lambda(at));
      }
      if (at >= lambda_end && at >= dead_end && body_[at].is("return")) read_value(at + 1);
    }
    std::vector<std::size_t> returned;
    for (const std::size_t parameter : found_) {
      if (!changed_.contains(parameters_[parameter])) returned.push_back(parameter);
    }
    return returned;
  }

 private:
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
    if (begin + 1 >= body_.size()) return;
    if (body_[begin + 1].is(';')) {
      take(begin);
      return;
    }
    std::size_t open = begin;
    while (open < body_.size() && !body_[open].is('{') && !body_[open].is('(') &&
           !body_[open].is(';')) {
      ++open;
    }
    if (open >= body_.size() || body_[open].is(';')) return;
    const bool named =
        std::any_of(body_.begin() + static_cast<std::ptrdiff_t>(begin),
                    body_.begin() + static_cast<std::ptrdiff_t>(open),
                    [](const Token& token) { return token.is("make_tuple") || token.is("tuple"); });
    if (open != begin && !named) return;
    if (open == begin && !body_[open].is('{')) return;
    const std::size_t close = closing_bracket(body_, open);
    if (close + 1 >= body_.size() || !body_[close + 1].is(';')) return;
    for (std::size_t at = open + 1; at < close; ++at) {
      const bool alone =
          (body_[at - 1].is(',') || at == open + 1) && (body_[at + 1].is(',') || at + 1 == close);
      if (body_[at].is('(') || body_[at].is('{') || body_[at].is('[')) {
        at = closing_bracket(body_, at);
      } else if (alone) {
        take(at);
      }
    }
  }

  void take(std::size_t at) {
    if (!body_[at].is_identifier()) return;
    const auto found = std::find(parameters_.begin(), parameters_.end(), body_[at].text);
    if (found != parameters_.end()) {
      found_.insert(static_cast<std::size_t>(found - parameters_.begin()));
    }
  }

  Tokens body_;
  const std::vector<std::string_view>& parameters_;
  std::set<std::size_t> found_;
  std::set<std::string_view> changed_;
};

}  // namespace

std::vector<std::size_t> returned_parameters(Tokens body,
                                             const std::vector<std::string_view>& parameters) {
  return ReturnReader(body, parameters).run();
}

}  // namespace opseal
