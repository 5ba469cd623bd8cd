#include <algorithm>
#include <array>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/enumerator_run.h"
#include "analyzers/words.h"
#include "opseal/text.h"

// What expressions tell an `EnumeratorRun`; how statements follow each other is in
// enumerator_run.cpp.

namespace opseal {
namespace {

// What expressions read once locals are put in is cut here: it is compared, no more.
constexpr std::size_t longest_written = 160;

constexpr std::array<std::string_view, 8> known_never_return{
    "abort",       "exit",      "_exit", "terminate", "ggml_abort", "__builtin_unreachable",
    "unreachable", "quick_exit"};

// Words in the names of macros that report, and of those that end the program.
constexpr std::array<std::string_view, 13> report_words{
    "ASSERT", "LOG",    "PRINT", "DEBUG", "TRACE",       "UNUSED",         "printf",
    "CHECK",  "assert", "abort", "error", "unsupported", "not_implemented"};
constexpr std::array<std::string_view, 5> end_words{"ABORT", "FATAL", "UNREACHABLE",
                                                    "NOT_IMPLEMENTED", "THROW"};

constexpr std::array<std::string_view, 12> no_calls{
    "if",     "while",   "for",      "switch",      "sizeof",           "decltype",
    "return", "alignof", "noexcept", "static_cast", "reinterpret_cast", "const_cast"};

template <std::size_t count>
bool is_in(std::string_view name, const std::array<std::string_view, count>& words) {
  return std::find(words.begin(), words.end(), name) != words.end();
}

template <std::size_t count>
bool has_one_of(std::string_view name, const std::array<std::string_view, count>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return name.find(word) != name.npos; });
}

Truths inverse(Truths truths) {
  Truths out = truths & is_open;
  if (truths & is_true) out |= is_false;
  if (truths & is_false) out |= is_true;
  return out;
}

Truths both(Truths left, Truths right) {
  if (left == is_false || right == is_false) return is_false;
  if (left == is_true) return right;
  return right == is_true ? left : is_open;
}

Truths either(Truths left, Truths right) { return inverse(both(inverse(left), inverse(right))); }

}  // namespace

std::string_view EnumeratorRun::enumerator_in(TokenRange range, const Frame& frame) const {
  range = functions_.value_in(frame.function->file, range);
  if (range.empty()) return {};
  const Token& last = token(range.end - 1, frame);
  if (!last.is_identifier()) return {};
  // `A::b`, and nothing but a name.
  for (std::uint32_t at = range.begin; at < range.end; ++at) {
    if (!token(at, frame).is_identifier() && !token(at, frame).is("::")) return {};
  }
  return last.text;
}

// `Kinds::add`, `kAdd`, `ADD_OP`: no variable of the function.
bool EnumeratorRun::is_constant_name(TokenRange range, const Frame& frame) const {
  range = functions_.value_in(frame.function->file, range);
  const std::string_view name = token(range.end - 1, frame).text;
  if (frame.locals.contains(name) || frame.flags.contains(name)) return false;
  if (range.end > range.begin + 1) return true;
  const bool is_k_name = name.size() > 1 && name[0] == 'k' && name[1] >= 'A' && name[1] <= 'Z';
  return is_k_name || (name.size() > 1 && is_upper(name));
}

// `type name = value`, `name = value`, `name |= value`.
void EnumeratorRun::assign(TokenRange tokens, Frame& frame) {
  std::uint32_t equal = tokens.begin;
  for (; equal < tokens.end; ++equal) {
    const Token& here = token(equal, frame);
    if (here.is('=') || here.is("|=") || here.is("&=")) break;
    if (here.is('(') || here.is('[') || here.is('{') || here.is('.') || here.is("->")) {
      equal = tokens.end;
      break;
    }
  }
  if (equal >= tokens.end || equal == tokens.begin) {
    // Handed to somebody, or counted up; reports change nothing.
    if (!tokens.empty() && has_one_of(token(tokens.begin, frame).text, report_words)) return;
    for (std::uint32_t at = tokens.begin; at < tokens.end; ++at) {
      const auto known = frame.flags.find(token(at, frame).text);
      if (known != frame.flags.end()) known->second = is_open;
    }
    return;
  }
  const Token& name = token(equal - 1, frame);
  if (!name.is_identifier()) return;
  const TokenRange value{equal + 1, tokens.end};
  const Truths truths = ask(value, frame);
  const auto known = frame.flags.find(name.text);
  const Truths before = known == frame.flags.end() ? is_open : known->second;
  const bool plain = token(equal, frame).is('=');
  frame.flags[name.text] = plain                          ? truths
                           : token(equal, frame).is("|=") ? either(before, truths)
                                                          : both(before, truths);
  std::string text = plain ? written(value, frame) : std::string();
  if (text.find('$') != text.npos) {
    frame.locals[name.text] = std::move(text);
    return;
  }
  // What is asked about may be a local that is set first: `node = graph->nodes[i]`.
  const auto local = frame.locals.find(name.text);
  if (local != frame.locals.end() && local->second != "$") frame.locals.erase(local);
}

// What it is worth, and put down where it depends on something else than the value. What a function
// that is followed asks is put down there.
Truths EnumeratorRun::ask(TokenRange tokens, Frame& frame) {
  followed_call_ = {0, no_token};
  const Truths truths = evaluate(tokens, frame);
  if ((truths & is_open) == 0 || tokens.empty() || !conditions_) return truths;
  const std::uint32_t open = followed_call_.second;
  const bool is_followed = open != no_token && followed_call_.first == frame.function->file &&
                           open > tokens.begin && open < tokens.end &&
                           closing(open, tokens.end, frame) == tokens.end - 1 &&
                           open <= tokens.begin + 3;
  if (is_followed) return truths;
  std::string text = written(tokens, frame);
  const bool too_much = text.empty() || conditions_->size() >= most_conditions;
  if (too_much) {
    conditions_.reset();
  } else if (text.find('$') != text.npos) {
    conditions_->push_back({std::move(text), {frame.function->file, tokens.begin}});
  }
  return truths;
}

std::vector<RunCondition> EnumeratorRun::asserted_by(const CodeFunction& function,
                                                     std::string_view parameter) {
  const Assumed nothing;
  assumed_ = &nothing;
  conditions_.emplace();
  steps_ = 0;
  Frame frame;
  frame.function = &function;
  frame.locals[parameter] = "$";
  std::vector<RunCondition> asserted;
  for (const Statement& statement : function.statements) {
    // Beyond a branch, who knows of which ways an assertion is on.
    if (statement.kind != StatementKind::expression || statement.tokens.empty()) break;
    const std::uint32_t first = statement.tokens.begin;
    const std::uint32_t open = first + 1;
    const std::string name = lower(token(first, frame).text);
    // Other macros that check look at the status of a call.
    const bool asserts = name.find("assert") != name.npos || name == "torch_check";
    if (!asserts || open >= statement.tokens.end || !token(open, frame).is('(')) {
      assign(statement.tokens, frame);
      continue;
    }
    std::uint32_t end = closing(open, statement.tokens.end, frame);
    for (std::uint32_t at = open + 1; at < end; ++at) {
      if (token(at, frame).is('(')) at = closing(at, end, frame);
      if (token(at, frame).is(',')) end = at;
    }
    std::string text = written({open + 1, end}, frame);
    if (text.find('$') == text.npos) continue;
    asserted.push_back({std::move(text), {function.file, open + 1}});
  }
  assumed_ = nullptr;
  return asserted;
}

void EnumeratorRun::collect(TokenRange tokens, const Frame& frame, RunOutcome& outcome) {
  for (std::uint32_t at = tokens.begin; at + 1 < tokens.end; ++at) {
    const Token& name = token(at, frame);
    if (!name.is_identifier() || !token(at + 1, frame).is('(')) continue;
    if (is_in(name.text, no_calls)) continue;
    const std::uint32_t close = closing(at + 1, tokens.end, frame);
    const CodeFunction* callee = functions_.find(name.text, frame.function->file);
    if (is_in(name.text, known_never_return) || options_.never_return.contains(name.text) ||
        (is_upper(name.text) && has_one_of(name.text, end_words)) ||
        (callee != nullptr && callee->never_returns)) {
      outcome.aborts = true;
      at = close;
    } else if (has_one_of(name.text, report_words)) {
      // `ASSERT(false && "…")` ends the program.
      const bool is_assert = lower(name.text).find("assert") != std::string::npos;
      if (is_assert && at + 2 < tokens.end &&
          (token(at + 2, frame).is("false") || token(at + 2, frame).is("0"))) {
        outcome.aborts = true;
      }
      at = close;
    } else {
      outcome.deeds.emplace(CodePlace{frame.function->file, at}, name.text);
    }
  }
  collect_rows(tokens, frame, outcome, false);
  // `launch = kernel;`
  if (tokens.end >= tokens.begin + 3 && token(tokens.end - 2, frame).is('=')) {
    collect_value({tokens.end - 1, tokens.end}, frame, outcome);
  }
}

// One name that is given back or stored.
void EnumeratorRun::collect_value(TokenRange tokens, const Frame& frame,
                                  RunOutcome& outcome) const {
  if (tokens.empty()) return;
  if (enumerator_in(tokens, frame).empty()) {
    if (options_.constants) collect_constant(tokens, frame, outcome);
    return;
  }
  const Token& name = token(tokens.end - 1, frame);
  if (name.is("true") || name.is("false") || name.is("nullptr") || name.is("NULL")) return;
  // What the flow itself found out is no deed.
  if (frame.flags.contains(name.text) || frame.locals.contains(name.text)) return;
  outcome.deeds.emplace(CodePlace{frame.function->file, tokens.end - 1}, name.text);
}

// `"scale_f32"`, `&scale`, `scale<float>`, `Scale::run<float>`
void EnumeratorRun::collect_constant(TokenRange tokens, const Frame& frame,
                                     RunOutcome& outcome) const {
  const Token& first = token(tokens.begin, frame);
  const std::uint32_t count = tokens.end - tokens.begin;
  if (first.is_string()) {
    // An empty text names nothing.
    if (count == 1 && first.text.size() > 2) {
      outcome.deeds.emplace(CodePlace{frame.function->file, tokens.begin}, first.text);
    }
    return;
  }
  std::uint32_t at = tokens.begin + (first.is('&') ? 1 : 0);
  std::uint32_t name = tokens.end;
  while (at < tokens.end && token(at, frame).is_identifier()) {
    name = at++;
    if (at >= tokens.end || !token(at, frame).is("::")) break;
    ++at;
  }
  if (name == tokens.end) return;
  const bool is_whole = at == tokens.end;
  const bool is_template =
      at < tokens.end && token(at, frame).is('<') && token(tokens.end - 1, frame).is('>');
  if (!is_whole && !is_template) return;
  outcome.deeds.emplace(CodePlace{frame.function->file, name}, token(name, frame).text);
}

std::uint32_t EnumeratorRun::closing(std::uint32_t at, std::uint32_t end,
                                     const Frame& frame) const {
  const std::uint32_t close = functions_.files()[frame.function->file]->partners[at];
  return close == no_token || close <= at || close >= end ? end - 1 : close;
}

Truths EnumeratorRun::evaluate(TokenRange range, Frame& frame, unsigned depth) {
  if (range.empty() || depth > most_expression_depth) return is_open;
  const Token& first = token(range.begin, frame);
  if (first.is('(') && closing(range.begin, range.end, frame) == range.end - 1) {
    return evaluate({range.begin + 1, range.end - 1}, frame, depth + 1);
  }
  // The operator that binds least: `?`, `||`, `&&`, `==`.
  std::uint32_t split = range.end;
  int rank = 0;
  bool compares = false;
  for (std::uint32_t at = range.begin; at < range.end; ++at) {
    const Token& here = token(at, frame);
    if (here.is('(') || here.is('[') || here.is('{')) {
      at = closing(at, range.end, frame);
      continue;
    }
    const int here_rank = here.is('?')                     ? 4
                          : here.is("||")                  ? 3
                          : here.is("&&")                  ? 2
                          : here.is("==") || here.is("!=") ? 1
                                                           : 0;
    compares = compares || here.is('<') || here.is('>') || here.is("<=") || here.is(">=");
    if (here_rank > rank) {
      rank = here_rank;
      split = at;
    }
  }
  const TokenRange left{range.begin, split};
  const TokenRange right{split + 1, range.end};
  if (rank == 4) {
    std::uint32_t colon = split + 1;
    std::size_t open = 0;
    for (; colon < range.end; ++colon) {
      if (token(colon, frame).is('(')) colon = closing(colon, range.end, frame);
      if (token(colon, frame).is('?')) ++open;
      if (token(colon, frame).is(':') && open-- == 0) break;
    }
    if (colon >= range.end) return is_open;
    const Truths condition = evaluate(left, frame, depth + 1);
    Truths truths = 0;
    if (condition != is_false) truths |= evaluate({split + 1, colon}, frame, depth + 1);
    if (condition != is_true) truths |= evaluate({colon + 1, range.end}, frame, depth + 1);
    return truths;
  }
  if (rank == 3) return either(evaluate(left, frame, depth + 1), evaluate(right, frame, depth + 1));
  if (rank == 2) return both(evaluate(left, frame, depth + 1), evaluate(right, frame, depth + 1));
  if (rank == 1) return evaluate_comparison(left, right, token(split, frame).is("=="), frame);
  if (compares) return evaluate_lookup(written(range, frame), frame);
  if (first.is('!')) return inverse(evaluate({range.begin + 1, range.end}, frame, depth + 1));
  if (range.end == range.begin + 1) {
    if (first.is("true") || first.is("1")) return is_true;
    if (first.is("false") || first.is("0") || first.is("nullptr")) return is_false;
    const auto flag = frame.flags.find(first.text);
    return flag == frame.flags.end() || flag->second == 0 ? is_open : flag->second;
  }
  return evaluate_call(range, frame);
}

Truths EnumeratorRun::evaluate_comparison(TokenRange left, TokenRange right, bool equal,
                                          Frame& frame) {
  for (int side = 0; side < 2; ++side) {
    const std::string_view name = enumerator_in(right, frame);
    const std::string_view* value = name.empty() ? nullptr : assumed(written(left, frame));
    if (value != nullptr && !name.empty() && enumerations_.of(name) == nullptr &&
        is_constant_name(right, frame)) {
      met_unknown_ = true;
    }
    if (value != nullptr && enumerations_.of(name) != nullptr) {
      const bool is_same = name == *value && name != options_.removed_label;
      return is_same == equal ? is_true : is_false;
    }
    std::swap(left, right);
  }
  std::string left_text = written(left, frame);
  std::string right_text = written(right, frame);
  if (right_text.find('$') != right_text.npos) left_text.swap(right_text);
  return evaluate_found(left_text, right_text, equal, frame);
}

// `helper(x->op)`, `helper(x)` with a body in the tree.
Truths EnumeratorRun::evaluate_call(TokenRange range, Frame& frame) {
  std::uint32_t open = range.begin;
  while (open < range.end && (token(open, frame).is_identifier() || token(open, frame).is("::"))) {
    ++open;
  }
  const bool is_call = open < range.end && open > range.begin && token(open, frame).is('(') &&
                       closing(open, range.end, frame) == range.end - 1;
  if (!is_call) return evaluate_lookup(written(range, frame), frame);
  if (inlined_ >= most_inlined) return is_open;
  const CodeFunction* callee = functions_.find(token(open - 1, frame).text, frame.function->file);
  if (callee == nullptr) return evaluate_lookup(written(range, frame), frame);
  const Tokens tokens = functions_.tokens_of(*frame.function);
  const std::vector<Tokens> arguments =
      split_call_arguments(tokens.subspan(open + 1, range.end - open - 2));
  Frame inner;
  bool hands_on = false;
  for (std::size_t at = 0; at < arguments.size() && at < callee->parameters.size(); ++at) {
    if (arguments[at].empty() || callee->parameters[at].empty()) continue;
    const auto begin = static_cast<std::uint32_t>(arguments[at].data() - tokens.data());
    std::string text =
        written({begin, begin + static_cast<std::uint32_t>(arguments[at].size())}, frame);
    if (text == "$" || assumed(text) != nullptr) hands_on = true;
    if (text.find('$') != text.npos) inner.locals[callee->parameters[at]] = std::move(text);
  }
  if (!hands_on) return is_open;
  ++inlined_;
  const RunOutcome outcome = call(*callee, inner);
  --inlined_;
  followed_call_ = {frame.function->file, open};
  return outcome.returned == 0 ? is_open : outcome.returned;
}

// The expression without space, brackets around it and casts, locals replaced by what they are.
std::string EnumeratorRun::written(TokenRange range, const Frame& frame) const {
  range = functions_.value_in(frame.function->file, range);
  while (!range.empty() && token(range.begin, frame).is('(')) {
    const std::uint32_t close = closing(range.begin, range.end, frame);
    if (close == range.end - 1) {
      range = {range.begin + 1, range.end - 1};
    } else if (close + 1 < range.end && token(close + 1, frame).is_identifier()) {
      // `(type) value`
      range.begin = close + 1;
    } else {
      break;
    }
  }
  std::string text;
  for (std::uint32_t at = range.begin; at < range.end && text.size() < longest_written; ++at) {
    const Token& here = token(at, frame);
    const bool is_member =
        at > range.begin && (token(at - 1, frame).is('.') || token(at - 1, frame).is("->"));
    const auto local =
        here.is_identifier() && !is_member ? frame.locals.find(here.text) : frame.locals.end();
    if (local != frame.locals.end()) {
      text += local->second;
    } else {
      text += here.is('.') ? "->" : here.text;
    }
  }
  if (text.size() >= longest_written) text.clear();
  return text;
}

const std::string_view* EnumeratorRun::assumed(const std::string& text) const {
  for (const auto& [expression, value] : *assumed_) {
    if (expression == text) return &value;
  }
  return nullptr;
}

}  // namespace opseal
