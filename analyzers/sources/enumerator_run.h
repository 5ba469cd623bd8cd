#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzers/sources/code_functions.h"
#include "analyzers/sources/switch_subject.h"

namespace opseal {

// What an expression, or the value that a function returns, may be.
using Truths = std::uint8_t;
constexpr Truths is_true = 1;
constexpr Truths is_false = 2;
// It depends on what isn't known here: a shape, a device.
constexpr Truths is_open = 4;

// A place in the code: file of `CodeFunctions`, token.
using CodePlace = std::pair<std::uint32_t, std::uint32_t>;

// What a function does where the subject has one value.
struct RunOutcome {
  Truths returned = 0;
  // What is called, or given back or stored as a name, by its place.
  std::map<CodePlace, std::string_view> deeds;
  bool falls = true;
  bool breaks = false;
  bool continues = false;
  // A path ends in an abort or an exception.
  bool aborts = false;
};

// The values that are assumed: what an expression reads once locals are put in, `$` standing for
// the thing that is asked about, and the enumerator that it has.
using Assumed = std::vector<std::pair<std::string, std::string_view>>;

// An enumerator that no label names.
constexpr std::string_view no_enumerator = "(none)";

// A `switch` over something of the subject that nothing is assumed of, as it was met.
struct OpenSwitch {
  std::string expression;
  std::vector<std::string_view> labels;
};

// What a function asks, locals put in.
struct RunCondition {
  std::string text;
  CodePlace place;
};

// Follows functions with a subject of one value: a switch over it takes one way, what depends on
// something else takes all. Nothing is executed; loops run once or not at all, and functions that
// get the subject handed on are followed where the tree has their body.
class EnumeratorRun {
 public:
  struct Options {
    // Functions that never return, besides those that are known.
    std::set<std::string, std::less<>> never_return;
    // A label that counts as if it weren't there.
    std::string_view removed_label;
    // What is given back or stored counts as a deed also where it is a text, the name of a kernel,
    // or no plain name: `&f`, `f<float>`.
    bool constants = false;
  };

  EnumeratorRun(const CodeFunctions& functions, const Enumerations& enumerations,
                const Options& options)
      : functions_(functions), enumerations_(enumerations), options_(options) {}

  // `root` is the name of the parameter or local that `$` stands for.
  RunOutcome run(const CodeFunction& function, std::string_view root, const Assumed& assumed);

  // The last label that named an assumed value in the function that was asked; no_token where none
  // did.
  CodePlace label() const { return label_; }
  // What the arm of that label gives back.
  Truths returned_there() const { return returned_there_; }
  // What the arm `default` of a switch over the subject does.
  const std::map<CodePlace, std::string_view>& default_deeds() const { return default_deeds_; }
  // Whether that arm does nothing but end in an abort or with `false`.
  bool default_rejects() const { return default_rejects_; }
  const std::vector<OpenSwitch>& open_switches() const { return open_switches_; }
  // What was asked of the subject besides its value, on any way; none where that is too much to be
  // told.
  const std::optional<std::vector<RunCondition>>& conditions() const { return conditions_; }
  // The value was held against something that may be an enumerator, and nothing tells which.
  bool met_unknown() const { return met_unknown_; }
  // Functions that were followed.
  const std::set<const CodeFunction*>& followed() const { return followed_; }

  // What a function asserts of a parameter, `$`, before it does anything that may end it.
  std::vector<RunCondition> asserted_by(const CodeFunction& function, std::string_view parameter);

 private:
  struct Frame {
    const CodeFunction* function = nullptr;
    // What locals stand for, and what is known of those that are flags.
    std::map<std::string_view, std::string> locals;
    std::map<std::string_view, Truths> flags;
  };
  using Block = std::vector<Statement>;
  // The row that a table has for the assumed value.
  struct Lookup {
    const EnumeratorTable* table = nullptr;
    const EnumeratorRow* row = nullptr;
    // What stands behind.
    std::string_view rest;
    // `find`: what it gives back is held against the end.
    bool finds = false;
    bool indexed = false;
  };

  static constexpr std::size_t most_conditions = 48;
  static constexpr unsigned most_inlined = 4;
  static constexpr unsigned most_expression_depth = 60;
  // Statements of one run.
  static constexpr std::uint64_t most_steps = 400'000;

  RunOutcome call(const CodeFunction& function, Frame& frame);
  RunOutcome run_block(const Block& block, std::size_t from, std::size_t to, Frame& frame);
  RunOutcome run_branches(const Block& block, std::size_t& at, std::size_t to, Frame& frame);
  RunOutcome run_statement(const Statement& statement, Frame& frame);
  RunOutcome run_if(const Statement& statement, Frame& frame);
  RunOutcome run_switch(const Statement& statement, Frame& frame);
  RunOutcome run_loop(const Statement& statement, Frame& frame);
  void assign(TokenRange tokens, Frame& frame);
  Truths ask(TokenRange tokens, Frame& frame);
  void collect(TokenRange tokens, const Frame& frame, RunOutcome& outcome);
  void collect_value(TokenRange tokens, const Frame& frame, RunOutcome& outcome) const;
  Truths evaluate(TokenRange range, Frame& frame, unsigned depth = 0);
  Truths evaluate_comparison(TokenRange left, TokenRange right, bool equal, Frame& frame);
  Truths evaluate_call(TokenRange range, Frame& frame);
  Lookup lookup_in(std::string_view text, const Frame& frame);
  Truths evaluate_lookup(std::string_view text, const Frame& frame);
  Truths evaluate_found(std::string_view left, std::string_view right, bool equal,
                        const Frame& frame);
  void name_row(const Lookup& lookup);
  void collect_rows(TokenRange tokens, const Frame& frame, RunOutcome& outcome, bool texts);
  void collect_constant(TokenRange tokens, const Frame& frame, RunOutcome& outcome) const;
  std::string written(TokenRange range, const Frame& frame) const;
  const std::string_view* assumed(const std::string& text) const;
  const Token& token(std::uint32_t at, const Frame& frame) const {
    return functions_.tokens_of(*frame.function)[at];
  }
  std::uint32_t closing(std::uint32_t at, std::uint32_t end, const Frame& frame) const;
  std::string_view enumerator_in(TokenRange range, const Frame& frame) const;
  bool is_constant_name(TokenRange range, const Frame& frame) const;

  const CodeFunctions& functions_;
  const Enumerations& enumerations_;
  const Options& options_;
  const Assumed* assumed_ = nullptr;
  std::map<CodePlace, std::string_view> default_deeds_;
  bool default_rejects_ = false;
  bool met_unknown_ = false;
  Truths returned_there_ = 0;
  std::vector<OpenSwitch> open_switches_;
  std::optional<std::vector<RunCondition>> conditions_;
  // The last call that was followed.
  CodePlace followed_call_{0, no_token};
  std::set<const CodeFunction*> followed_;
  CodePlace label_{0, no_token};
  unsigned inlined_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace opseal
