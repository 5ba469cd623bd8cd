#include "analyzers/sources/enumerator_run.h"

namespace opseal {
namespace {

void follow(RunOutcome& outcome, const RunOutcome& next) {
  outcome.returned |= next.returned;
  outcome.deeds.insert(next.deeds.begin(), next.deeds.end());
  outcome.aborts = outcome.aborts || next.aborts;
  outcome.breaks = outcome.breaks || next.breaks;
  outcome.continues = outcome.continues || next.continues;
  outcome.falls = next.falls;
}

void join(RunOutcome& outcome, const RunOutcome& other) {
  const bool falls = outcome.falls || other.falls;
  follow(outcome, other);
  outcome.falls = falls;
}

}  // namespace

RunOutcome EnumeratorRun::run(const CodeFunction& function, std::string_view root,
                              const Assumed& assumed) {
  assumed_ = &assumed;
  default_deeds_.clear();
  default_rejects_ = false;
  returned_there_ = 0;
  open_switches_.clear();
  conditions_.emplace();
  label_ = {0, no_token};
  inlined_ = 0;
  met_unknown_ = false;
  steps_ = 0;
  // To begin takes its time, too.
  if (!enumerations_.spend(4)) {
    met_unknown_ = true;
    RunOutcome outcome;
    outcome.returned = is_open;
    return outcome;
  }
  Frame frame;
  if (!root.empty()) frame.locals[root] = "$";
  return call(function, frame);
}

RunOutcome EnumeratorRun::call(const CodeFunction& function, Frame& frame) {
  frame.function = &function;
  followed_.insert(&function);
  return run_block(function.statements, 0, function.statements.size(), frame);
}

RunOutcome EnumeratorRun::run_block(const Block& block, std::size_t from, std::size_t to,
                                    Frame& frame) {
  RunOutcome outcome;
  for (std::size_t at = from; at < to; ++at) {
    if (++steps_ > most_steps) {
      outcome.returned |= is_open;
      return outcome;
    }
    const StatementKind kind = block[at].kind;
    if (kind == StatementKind::branch_if) {
      follow(outcome, run_branches(block, at, to, frame));
    } else if (kind == StatementKind::branch_else) {
      // The flow came into this branch by a label: what the others hold is passed over.
      std::size_t depth = 0;
      while (at < to && !(block[at].kind == StatementKind::branch_end && depth == 0)) {
        if (block[at].kind == StatementKind::branch_if) ++depth;
        if (block[at].kind == StatementKind::branch_end) --depth;
        ++at;
      }
    } else {
      follow(outcome, run_statement(block[at], frame));
    }
    if (!outcome.falls) break;
  }
  return outcome;
}

// From the mark that opens to the one that closes, at which `at` is left.
RunOutcome EnumeratorRun::run_branches(const Block& block, std::size_t& at, std::size_t to,
                                       Frame& frame) {
  RunOutcome outcome;
  outcome.falls = false;
  std::size_t from = at + 1;
  std::size_t depth = 0;
  for (++at; at < to; ++at) {
    const StatementKind kind = block[at].kind;
    if (kind == StatementKind::branch_if) ++depth;
    const bool ends = kind == StatementKind::branch_end;
    if (depth == 0 && (ends || kind == StatementKind::branch_else)) {
      Frame branch = frame;
      join(outcome, run_block(block, from, at, branch));
      from = at + 1;
      if (ends) return outcome;
    }
    if (ends) --depth;
  }
  outcome.falls = true;
  return outcome;
}

RunOutcome EnumeratorRun::run_statement(const Statement& statement, Frame& frame) {
  RunOutcome outcome;
  switch (statement.kind) {
    case StatementKind::expression:
      collect(statement.tokens, frame, outcome);
      assign(statement.tokens, frame);
      if (outcome.aborts) outcome.falls = false;
      break;
    case StatementKind::block:
      return run_block(statement.body, 0, statement.body.size(), frame);
    case StatementKind::returns:
      collect(statement.tokens, frame, outcome);
      collect_value(statement.tokens, frame, outcome);
      if (options_.constants) collect_rows(statement.tokens, frame, outcome, true);
      outcome.falls = false;
      // `return table.at(x);` with nothing there
      if (outcome.aborts) break;
      outcome.returned = statement.tokens.empty() ? is_open : ask(statement.tokens, frame);
      break;
    case StatementKind::breaks:
      outcome.breaks = true;
      outcome.falls = false;
      break;
    case StatementKind::continues:
      outcome.continues = true;
      outcome.falls = false;
      break;
    case StatementKind::throws:
      outcome.aborts = true;
      outcome.falls = false;
      break;
    case StatementKind::if_:
      return run_if(statement, frame);
    case StatementKind::switch_:
      return run_switch(statement, frame);
    case StatementKind::loop:
    case StatementKind::do_loop:
      return run_loop(statement, frame);
    case StatementKind::case_label:
    case StatementKind::default_label:
    case StatementKind::branch_if:
    case StatementKind::branch_else:
    case StatementKind::branch_end:
      break;
  }
  return outcome;
}

RunOutcome EnumeratorRun::run_if(const Statement& statement, Frame& frame) {
  RunOutcome outcome;
  collect(statement.tokens, frame, outcome);
  // `if (auto it = table.find(x); it != table.end())`
  TokenRange condition = statement.tokens;
  for (std::uint32_t at = condition.begin; at < condition.end; ++at) {
    if (token(at, frame).is('(') || token(at, frame).is('{'))
      at = closing(at, condition.end, frame);
    if (!token(at, frame).is(';')) continue;
    assign({condition.begin, at}, frame);
    condition.begin = at + 1;
    break;
  }
  const Truths truths = ask(condition, frame);
  RunOutcome ways;
  ways.falls = false;
  Frame other = frame;
  std::map<std::string_view, Truths> flags;
  const auto add_flags = [&flags](const Frame& end) {
    for (const auto& [name, value] : end.flags) flags[name] |= value;
  };
  if (truths != is_false) {
    Frame taken = frame;
    const RunOutcome way = run_block(statement.body, 0, statement.body.size(), taken);
    join(ways, way);
    if (way.falls || way.breaks) add_flags(taken);
  }
  if (truths != is_true) {
    const RunOutcome way = run_block(statement.otherwise, 0, statement.otherwise.size(), other);
    join(ways, way);
    if (way.falls || way.breaks) add_flags(other);
  }
  frame.flags = std::move(flags);
  follow(outcome, ways);
  return outcome;
}

RunOutcome EnumeratorRun::run_switch(const Statement& statement, Frame& frame) {
  RunOutcome outcome;
  collect(statement.tokens, frame, outcome);
  const std::string expression = written(statement.tokens, frame);
  const std::string_view* value = assumed(expression);
  const Block& body = statement.body;
  // With nothing told of it the pair is left out.
  if (!enumerations_.spend(body.size())) {
    met_unknown_ = true;
    outcome.returned |= is_open;
    return outcome;
  }
  std::size_t start = body.size();
  std::size_t otherwise = body.size();
  std::vector<std::size_t> labels;
  OpenSwitch open{expression, {}};
  for (std::size_t at = 0; at < body.size(); ++at) {
    if (body[at].kind == StatementKind::default_label) {
      otherwise = at;
      labels.push_back(at);
    }
    if (body[at].kind != StatementKind::case_label) continue;
    const std::string_view name = enumerator_in(body[at].tokens, frame);
    if (!name.empty() && name == options_.removed_label) continue;
    if (value != nullptr && enumerations_.of(name) == nullptr) met_unknown_ = true;
    open.labels.push_back(name);
    labels.push_back(at);
    if (value == nullptr || name != *value || start != body.size()) continue;
    start = at;
    // That of the function itself, where there is one, is the one to be shown.
    if (inlined_ == 0 || label_.second == no_token) {
      label_ = {frame.function->file,
                functions_.value_in(frame.function->file, body[at].tokens).end - 1};
    }
  }
  if (value != nullptr) {
    const bool is_default = start == body.size();
    if (is_default) start = otherwise;
    if (start == body.size()) return outcome;
    RunOutcome way = run_block(body, start, body.size(), frame);
    if (!is_default) returned_there_ = way.returned;
    if (is_default && inlined_ == 0) {
      default_deeds_.insert(way.deeds.begin(), way.deeds.end());
      default_rejects_ = way.deeds.empty() && !way.falls && !way.breaks &&
                         (way.aborts || way.returned == is_false);
    }
    way.falls = way.falls || way.breaks;
    way.breaks = false;
    follow(outcome, way);
    return outcome;
  }
  ask(statement.tokens, frame);
  if (expression.find('$') != expression.npos) open_switches_.push_back(std::move(open));
  RunOutcome ways;
  ways.falls = otherwise == body.size();
  std::map<std::string_view, Truths> flags;
  if (ways.falls) flags = frame.flags;
  // Labels that follow each other begin one way.
  for (std::size_t at = 0; at < labels.size(); ++at) {
    if (at > 0 && labels[at] == labels[at - 1] + 1) continue;
    Frame taken = frame;
    RunOutcome way = run_block(body, labels[at], body.size(), taken);
    way.falls = way.falls || way.breaks;
    way.breaks = false;
    join(ways, way);
    if (way.falls) {
      for (const auto& [name, truths] : taken.flags) flags[name] |= truths;
    }
  }
  frame.flags = std::move(flags);
  follow(outcome, ways);
  return outcome;
}

RunOutcome EnumeratorRun::run_loop(const Statement& statement, Frame& frame) {
  RunOutcome outcome;
  collect(statement.tokens, frame, outcome);
  Frame inside = frame;
  RunOutcome way = run_block(statement.body, 0, statement.body.size(), inside);
  for (const auto& [name, truths] : inside.flags) {
    const auto known = frame.flags.find(name);
    if (known != frame.flags.end()) known->second |= truths;
  }
  const bool ends =
      statement.kind == StatementKind::do_loop && !way.falls && !way.breaks && !way.continues;
  way.breaks = false;
  way.continues = false;
  way.falls = !ends;
  follow(outcome, way);
  return outcome;
}

}  // namespace opseal
