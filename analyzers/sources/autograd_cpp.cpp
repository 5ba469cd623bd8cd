// struct F : public torch::autograd::Function<F> {  // or `Function<F>` after a `using`
//   static … forward(AutogradContext* ctx, …) { … }
//   static … backward(AutogradContext* ctx, …) { … return {…}; }
// };

#include <algorithm>
#include <array>
#include <optional>

#include "analyzers/source/tokens.h"
#include "analyzers/sources/autograd.h"
#include "analyzers/sources/autograd_writes.h"
#include "analyzers/sources/cpp_function.h"

namespace opseal {
namespace {

constexpr std::string_view needle = "Function<";
constexpr std::string_view word = "autograd";
// Tokens between `struct` and the brace.
constexpr std::size_t longest_head = 64;
// Tokens between `return` and the brace.
constexpr std::size_t longest_type = 32;
constexpr std::size_t most_classes = 1024;
// Tokens of all classes that are read: one may stand in another one.
constexpr std::size_t most_steps = 4'000'000;

// Of a parameter that stands for as many inputs as the list that it gets has elements, or for
// which that isn't known.
constexpr std::array<std::string_view, 9> lists{
    "vector",        "List",        "ArrayRef", "TensorList", "ITensorListRef",
    "variable_list", "tensor_list", "...",      "array"};

bool is_list(Tokens parameter) {
  return std::any_of(parameter.begin(), parameter.end(), [](const Token& token) {
    return std::find(lists.begin(), lists.end(), token.text) != lists.end();
  });
}

// `Tensor()`, `{}`, and a name, which may stand for either.
bool may_be_none(Tokens item) {
  if (item.size() == 2 && item[0].is('{') && item[1].is('}')) return true;
  if (item.size() > 2 && item.back().is(')') && item[item.size() - 2].is('(')) {
    item = item.first(item.size() - 2);
  }
  return std::all_of(item.begin(), item.end(),
                     [](const Token& token) { return token.is_identifier() || token.is("::"); });
}

struct ListOfGradients {
  std::uint32_t length = 0;
  // Elements up to the last one that is given a value.
  std::uint32_t filled = 0;
};

// A plain number that could be a length or a place; nothing for anything else.
std::optional<std::uint32_t> number_in(Tokens tokens) {
  constexpr std::size_t most_digits = 3;
  if (tokens.size() != 1 || tokens[0].kind != TokenKind::number) return {};
  if (tokens[0].text.size() > most_digits) return {};
  std::uint32_t number = 0;
  for (const char digit : tokens[0].text) {
    if (digit < '0' || digit > '9') return {};
    number = number * 10 + static_cast<std::uint32_t>(digit - '0');
  }
  return number;
}

// What a local list holds, as far as each use of its name tells: it is made once, and only its
// elements are set, or it is filled one by one in the outermost block. Nothing where anything else
// is done with it.
std::optional<ListOfGradients> read_list(Tokens body, std::string_view name) {
  ListOfGradients list;
  bool made = false;
  bool counted = false;
  bool everywhere = false;
  bool grown = false;
  std::size_t returned = 0;
  std::size_t depth = 0;
  for (std::size_t at = 0; at + 1 < body.size(); ++at) {
    if (body[at].is('{')) ++depth;
    if (body[at].is('}') && depth > 0) --depth;
    if (!body[at].is(name)) continue;
    const bool is_first = at == 0;
    const Token& next = body[at + 1];
    if (!is_first && (body[at - 1].is('.') || body[at - 1].is("->"))) continue;
    if (!is_first && body[at - 1].is("return") && next.is(';')) {
      ++returned;
      continue;
    }
    if (at + 2 >= body.size()) return {};
    const bool opens = next.is('(') || next.is('{') || next.is('[');
    const std::size_t close = opens ? closing_bracket(body, at + 1) : at + 1;
    if (close + 1 >= body.size()) return {};
    const Tokens inside = opens ? body.subspan(at + 2, close - at - 2) : Tokens();
    const bool declares = !is_first && (body[at - 1].is_identifier() || body[at - 1].is('>'));
    if (declares) {
      if (made || depth > 0) return {};
      made = true;
      if (next.is('(')) {
        const std::vector<Tokens> parts = split_call_arguments(inside);
        const std::optional<std::uint32_t> length = number_in(parts.front());
        if (!length) return {};
        list.length = *length;
        // `(3, x)`: all of them.
        list.filled = parts.size() > 1 ? *length : 0;
        counted = true;
      } else if (next.is('{') || (next.is('=') && body[at + 2].is('{'))) {
        // `{a, b}`
        const std::size_t open = next.is('{') ? at + 1 : at + 2;
        const std::size_t end = closing_bracket(body, open);
        if (end >= body.size()) return {};
        std::vector<Tokens> items = split_call_arguments(body.subspan(open + 1, end - open - 1));
        if (!items.empty() && items.back().empty()) items.pop_back();
        if (items.empty() || number_in(items.front())) return {};
        list.length = list.filled = static_cast<std::uint32_t>(items.size());
        at = end;
      } else if (!next.is(';')) {
        return {};
      }
    } else if (!made) {
      return {};
    } else if (next.is('[')) {
      const std::optional<std::uint32_t> place = number_in(inside);
      const bool sets = body[close + 1].is('=');
      if (sets && place) list.filled = std::max(list.filled, *place + 1);
      everywhere = everywhere || (sets && !place);
      at = close;
    } else if (next.is('.') && (body[at + 2].is("push_back") || body[at + 2].is("emplace_back"))) {
      // Behind an `if` or in a loop, how often isn't known.
      const bool is_statement = at > 0 && (body[at - 1].is(';') || body[at - 1].is('}'));
      if (counted || depth > 0 || !is_statement) return {};
      list.filled = ++list.length;
      grown = true;
    } else if (!next.is('.') || (!body[at + 2].is("size") && !body[at + 2].is("reserve"))) {
      return {};
    }
  }
  if (!made || (grown && returned != 1)) return {};
  // Which of them only the run knows: those that are too many may be none.
  if (everywhere) list.filled = 0;
  return list;
}

class AutogradScan {
 public:
  AutogradScan(Tokens tokens, std::uint32_t file) : tokens_(tokens), file_(file) {}

  std::vector<AutogradClass> run() {
    std::vector<AutogradClass> found;
    for (std::size_t at = 0; at + 2 < tokens_.size() && found.size() < most_classes; ++at) {
      if (!tokens_[at].is("struct") && !tokens_[at].is("class")) continue;
      if (std::optional<AutogradClass> one = read_class(at)) found.push_back(std::move(*one));
    }
    return found;
  }

 private:
  std::optional<AutogradClass> read_class(std::size_t at) {
    const std::size_t name = at + 1;
    if (!tokens_[name].is_identifier()) return {};
    std::size_t open = name + 1;
    bool derives = false;
    for (const std::size_t end = std::min(tokens_.size(), at + longest_head); open < end; ++open) {
      if (tokens_[open].is('{') || tokens_[open].is(';')) break;
      derives = derives || is_base(open, tokens_[name].text);
    }
    if (!derives || open >= tokens_.size() || !tokens_[open].is('{')) return {};
    if (steps_ > most_steps) return {};
    const std::size_t close = closing_bracket(tokens_, open);
    steps_ += close - open;
    if (close >= tokens_.size()) return {};
    const Tokens body = tokens_.subspan(open + 1, close - open - 1);
    // Which of two branches counts only a build knows.
    if (std::any_of(body.begin(), body.end(),
                    [](const Token& token) { return token.kind == TokenKind::directive; })) {
      return {};
    }
    AutogradClass one;
    one.name = tokens_[name].text;
    one.place = place_of(tokens_.subspan(name, 1), file_);
    if (!read_members(body, one)) return {};
    return one;
  }

  // `torch::autograd::Function<F>`; `Function<F>` of the class itself, which a `using` made short.
  bool is_base(std::size_t at, std::string_view name) const {
    if (!tokens_[at].is("Function")) return false;
    if (tokens_[at - 1].is("::")) return tokens_[at - 2].is("autograd");
    return at + 2 < tokens_.size() && tokens_[at + 1].is('<') && tokens_[at + 2].is(name);
  }

  bool read_members(Tokens body, AutogradClass& one) {
    bool forward = false;
    bool backward = false;
    Tokens parameters;
    Tokens forward_body;
    Tokens backward_body;
    for (std::size_t at = 0; at + 1 < body.size(); ++at) {
      if (body[at].is('{')) {
        at = closing_bracket(body, at);
        continue;
      }
      const bool is_forward = body[at].is("forward");
      if ((!is_forward && !body[at].is("backward")) || !body[at + 1].is('(')) continue;
      bool& seen = is_forward ? forward : backward;
      if (seen) return false;
      seen = true;
      const std::size_t close = closing_bracket(body, at + 1);
      if (close >= body.size()) return false;
      const Tokens inside = body.subspan(at + 2, close - at - 2);
      const SourcePlace place = place_of(body.subspan(at, close + 1 - at), file_);
      if (is_forward) {
        if (!read_forward(inside, one.forward)) return false;
        one.forward.place = place;
        parameters = inside;
        at = close;
        const std::size_t end = close + 1 < body.size() && body[close + 1].is('{')
                                    ? closing_bracket(body, close + 1)
                                    : 0;
        if (end > 0 && end < body.size()) {
          forward_body = body.subspan(close + 2, end - close - 2);
        }
      } else {
        one.backward = "backward";
        one.backward_place = place;
        if (close + 1 >= body.size() || !body[close + 1].is('{')) return false;
        const std::size_t end = closing_bracket(body, close + 1);
        if (end >= body.size()) return false;
        backward_body = body.subspan(close + 2, end - close - 2);
        if (!read_returns(backward_body, one)) return false;
        at = end;
      }
    }
    read_autograd_writes(parameters, forward_body, backward_body, file_, one.facts);
    return forward && backward;
  }

  static bool read_forward(Tokens inside, SourceFunction& forward) {
    const std::vector<Tokens> parameters = split_typed(inside);
    if (parameters.empty()) return false;
    const bool context =
        std::any_of(parameters[0].begin(), parameters[0].end(),
                    [](const Token& token) { return token.is("AutogradContext"); });
    if (!context) return false;
    for (std::size_t i = 1; i < parameters.size(); ++i) {
      if (is_list(parameters[i])) return false;
      ++forward.positional;
      if (std::none_of(parameters[i].begin(), parameters[i].end(),
                       [](const Token& token) { return token.is('='); })) {
        ++forward.required;
      }
    }
    forward.name = "forward";
    return true;
  }

  bool read_returns(Tokens body, AutogradClass& one) {
    for (std::size_t at = 0; at < body.size(); ++at) {
      // The returns of a lambda are its own.
      if (body[at].is(']') && at + 1 < body.size() &&
          (body[at + 1].is('(') || body[at + 1].is('{'))) {
        return false;
      }
      if (!body[at].is("return")) continue;
      if (at + 2 < body.size() && body[at + 1].is_identifier() && body[at + 2].is(';')) {
        add_list(body, at, one);
        continue;
      }
      std::size_t open = at + 1;
      const std::size_t end = std::min(body.size(), open + longest_type);
      while (open < end && (body[open].is_identifier() || body[open].is("::") ||
                            body[open].is('<') || body[open].is('>'))) {
        ++open;
      }
      if (open >= end || !body[open].is('{')) continue;
      if (steps_ > most_steps) return false;
      const std::size_t close = closing_bracket(body, open);
      steps_ += close - open;
      if (close + 1 >= body.size() || !body[close + 1].is(';')) continue;
      add_return(body.subspan(at, close + 1 - at), body.subspan(open + 1, close - open - 1), one);
      at = close;
    }
    return true;
  }

  // `variable_list grads(3); grads[0] = x; return grads;`
  void add_list(Tokens body, std::size_t at, AutogradClass& one) {
    if (steps_ > most_steps) return;
    steps_ += body.size();
    const std::optional<ListOfGradients> list = read_list(body, body[at + 1].text);
    if (!list || list->length == 0) return;
    one.returns.push_back({place_of(body.subspan(at, 3), file_), list->length, list->filled});
  }

  void add_return(Tokens statement, Tokens inside, AutogradClass& one) const {
    std::vector<Tokens> items = split_call_arguments(inside);
    if (!items.empty() && items.back().empty()) items.pop_back();
    // Behind something that throws, mostly.
    if (items.empty()) return;
    GradientCount given;
    given.place = place_of(statement, file_);
    for (const Tokens item : items) {
      ++given.values;
      if (!may_be_none(item)) given.without_nones = given.values;
    }
    one.returns.push_back(given);
  }

  Tokens tokens_;
  std::uint32_t file_;
  std::size_t steps_ = 0;
};

}  // namespace

std::vector<AutogradClass> autograd_classes(std::string_view bytes, std::uint32_t file) {
  if (bytes.find(needle) == bytes.npos || bytes.find(word) == bytes.npos) return {};
  TextArena arena;
  Lexer lexer(bytes, arena);
  std::vector<Token> tokens;
  bool in_directive = false;
  for (Token token; lexer.next(token);) {
    if (token.kind == TokenKind::directive) {
      in_directive = true;
      tokens.push_back(token);
    }
    if (!in_directive) tokens.push_back(token);
    if (token.kind == TokenKind::end_of_directive) in_directive = false;
  }
  return AutogradScan(tokens, file).run();
}

}  // namespace opseal
