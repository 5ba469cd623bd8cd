#include "analyzers/sources/pair_comparison.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analyzers/sources/accepted_labels.h"
#include "analyzers/sources/cpp_function.h"

namespace opseal {
namespace {

// ggml: they change how a tensor is looked at, and nothing is computed (ggml_op_is_empty).
constexpr std::array<std::string_view, 5> ggml_views{
    "GGML_OP_NONE", "GGML_OP_RESHAPE", "GGML_OP_VIEW", "GGML_OP_PERMUTE", "GGML_OP_TRANSPOSE"};

bool sounds_like_counter(std::string_view enumerator) {
  for (const std::string_view end : {"_COUNT", "_MAX", "_NUM", "_LAST", "_END"}) {
    if (enumerator.ends_with(end)) return true;
  }
  return enumerator == "COUNT" || enumerator == "MAX" || enumerator == "Count";
}

// Counts the values and is none: no value comes after it, as one does after `OP_SOFT_MAX`.
bool is_counter(const CodeEnumeration& enumeration, std::string_view enumerator) {
  // Several counters stand at the end, and names of the first and the last of each group.
  constexpr std::size_t most_at_end = 256;
  if (!sounds_like_counter(enumerator)) return false;
  std::size_t steps = 0;
  for (std::size_t at = enumeration.enumerators.size(); at-- > 0 && steps < most_at_end; ++steps) {
    const std::string_view last = enumeration.enumerators[at];
    if (!sounds_like_counter(last) && !enumeration.is_alias[at]) return false;
    if (last == enumerator) return sounds_like_counter(last);
  }
  return false;
}

}  // namespace

void PairComparison::heed(const PairDescription& described) {
  noop_ = {described.noop.begin(), described.noop.end()};
  run_options_.never_return = {described.never_return.begin(), described.never_return.end()};
}

std::optional<DispatchPair> PairComparison::compare(
    const CodeFunction& predicate, const std::vector<const CodeFunction*>& dispatches,
    const std::string& backend) {
  Compared all;
  all.asked = find_predicate_subject(code_, enumerations_, predicate);
  // A predicate may ask for a dtype first, and for what the dispatch decides by within.
  const SwitchSubject first = find_subject(code_, enumerations_, *dispatches.front(), nullptr);
  if (first.enumeration != nullptr && first.enumeration != all.asked.enumeration) {
    const SwitchSubject inner =
        find_predicate_subject(code_, enumerations_, predicate, first.enumeration);
    if (inner.enumeration != nullptr) all.asked = inner;
  }
  if (all.asked.enumeration == nullptr) return {};
  for (const CodeFunction* dispatch : dispatches) {
    all.dispatches.push_back(find_subject(code_, enumerations_, *dispatch, all.asked.enumeration));
    if (all.dispatches.back().enumeration == nullptr) return {};
  }
  all.pair.enumeration = all.asked.enumeration->name;
  all.pair.backend = backend;
  all.pair.predicate = place_of_function(predicate);
  all.pair.table = place_of_function(*dispatches.front());
  run_kinds(all);
  if (met_unknown_) return {};
  all.pair.accepts_the_rest = all.accepts_the_rest;
  find_accepted_labels(code_, enumerations_, *all.asked.function, all.asked.enumeration,
                       all.pair.tested);
  return std::move(all.pair);
}

bool PairComparison::needs_no_kernel(std::string_view value) const {
  const CodeEnumeration* const enumeration = enumerations_.of(value);
  return (enumeration != nullptr && is_counter(*enumeration, value)) || noop_.contains(value) ||
         std::find(ggml_views.begin(), ggml_views.end(), value) != ggml_views.end();
}

// `followed` gets the functions that are asked on the way.
std::set<std::string_view> PairComparison::accepted_by(
    const SwitchSubject& asked, std::set<const CodeFunction*>& followed) const {
  EnumeratorRun run(code_, enumerations_, run_options_);
  std::set<std::string_view> accepted;
  for (const std::string_view value : asked.enumeration->enumerators) {
    const RunOutcome outcome = run.run(*asked.function, asked.root, {{asked.expression, value}});
    if (outcome.returned != is_false && !needs_no_kernel(value)) accepted.insert(value);
  }
  followed = run.followed();
  return accepted;
}

std::set<std::string_view> PairComparison::arms_of(const SwitchSubject& subject) const {
  EnumeratorRun run(code_, enumerations_, run_options_);
  const RunOutcome baseline =
      run.run(*subject.function, subject.root, {{subject.expression, no_enumerator}});
  std::set<std::string_view> arms;
  for (const std::string_view value : subject.enumeration->enumerators) {
    const Served served = serve(run, subject, {{subject.expression, value}}, baseline, value);
    if (served.handled && (served.calls || served.gives) && !needs_no_kernel(value))
      arms.insert(value);
  }
  return arms;
}

std::set<std::string_view> PairComparison::named_by(const SwitchSubject& subject) const {
  EnumeratorRun run(code_, enumerations_, run_options_);
  std::set<std::string_view> named;
  for (const std::string_view value : subject.enumeration->enumerators) {
    run.run(*subject.function, subject.root, {{subject.expression, value}});
    if (named_label(run, value).second != no_token) named.insert(value);
  }
  return named;
}

bool PairComparison::rejects_the_rest(const SwitchSubject& subject) const {
  EnumeratorRun run(code_, enumerations_, run_options_);
  const RunOutcome rest =
      run.run(*subject.function, subject.root, {{subject.expression, no_enumerator}});
  return !rest.falls && (rest.returned == 0 ? rest.aborts : rest.returned == is_false);
}

std::vector<KindName> PairComparison::told(const std::vector<RunCondition>& conditions) const {
  std::vector<KindName> texts;
  for (const RunCondition& one : conditions) {
    const bool is_known = std::any_of(texts.begin(), texts.end(),
                                      [&](const KindName& text) { return text.name == one.text; });
    if (!is_known) texts.push_back({one.text, place_of_token(one.place)});
  }
  return texts;
}

// What the functions assert that get what is asked about as it is.
std::vector<KindName> PairComparison::asserted(const SwitchSubject& subject,
                                               const std::vector<CodePlace>& calls) const {
  std::vector<RunCondition> asserted;
  EnumeratorRun run(code_, enumerations_, run_options_);
  for (const CodePlace& place : calls) {
    if (!is_call(place) || place.first != subject.function->file) continue;
    const CodeFile& file = *code_.files()[place.first];
    const Tokens tokens = file.unit.tokens;
    const CodeFunction* callee = code_.find(tokens[place.second].text, place.first);
    const std::uint32_t close = file.partners[place.second + 1];
    if (callee == nullptr || close == no_token || close <= place.second + 1) continue;
    const std::vector<Tokens> arguments =
        split_call_arguments(tokens.subspan(place.second + 2, close - place.second - 2));
    for (std::size_t at = 0; at < arguments.size() && at < callee->parameters.size(); ++at) {
      const bool is_subject = arguments[at].size() == 1 && arguments[at].front().is(subject.root);
      if (!is_subject || callee->parameters[at].empty()) continue;
      for (RunCondition& one : run.asserted_by(*callee, callee->parameters[at])) {
        asserted.push_back(std::move(one));
      }
    }
  }
  return told(asserted);
}

bool PairComparison::is_call(CodePlace place) const {
  const std::vector<Token>& tokens = code_.files()[place.first]->unit.tokens;
  if (place.second + 1 >= tokens.size()) return false;
  // A row of a table of functions: `{A, f}`, `[A] = f`.
  const Token& next = tokens[place.second + 1];
  return next.is('(') || next.is(',') || next.is(']');
}

// A text, or what may be the name of a function: a value of another enumeration or a constant is
// what a conversion gives.
bool PairComparison::is_constant(std::string_view name) const {
  if (name.starts_with('"')) return true;
  const bool has_lower =
      std::any_of(name.begin(), name.end(), [](char byte) { return byte >= 'a' && byte <= 'z'; });
  const bool is_k_name = name.size() > 1 && name[0] == 'k' && name[1] >= 'A' && name[1] <= 'Z';
  return has_lower && !is_k_name && enumerations_.of(name) == nullptr;
}

PairComparison::Served PairComparison::serve(EnumeratorRun& run, const SwitchSubject& subject,
                                             const Assumed& assumed, const RunOutcome& baseline,
                                             std::string_view value) const {
  Served served;
  const RunOutcome outcome = run.run(*subject.function, subject.root, assumed);
  const CodePlace label = run.label();
  if (label.second != no_token && code_.files()[label.first]->unit.tokens[label.second].is(value)) {
    served.named = true;
    served.label = label;
  }
  // What is asked before the switch is asked for all.
  const bool is_certain =
      run.conditions() && std::none_of(run.conditions()->begin(), run.conditions()->end(),
                                       [&](const RunCondition& one) { return one.place > label; });
  for (const auto& [place, name] : outcome.deeds) {
    if (baseline.deeds.contains(place)) continue;
    if (is_certain) served.certain.push_back(place);
    if (!served.handled) served.kernel = name;
    served.calls = served.calls || (is_call(place) && !name.starts_with('"'));
    served.gives = served.gives || (run_options_.constants && is_constant(name));
    served.handled = true;
  }
  served.rejected = !served.handled &&
                    ((outcome.aborts && !outcome.falls && outcome.returned == baseline.returned) ||
                     outcome.returned == is_false);
  return served;
}

SourcePlace PairComparison::place_of_token(CodePlace place) const {
  const CodeFile& file = *code_.files()[place.first];
  if (place.second == no_token || place.second >= file.unit.tokens.size()) {
    return {file.number, 0, 0};
  }
  const Token& token = file.unit.tokens[place.second];
  return {file.number, token.offset, token.length};
}

KindName PairComparison::place_of_function(const CodeFunction& function) const {
  return {function.name, place_of_token({function.file, function.name_token})};
}

EnumeratorRun PairComparison::dispatch_run() const { return {code_, enumerations_, removing_}; }

void PairComparison::run_kinds(Compared& all) {
  removing_ = run_options_;
  removing_.removed_label = removed_label_;
  EnumeratorRun predicate(code_, enumerations_, run_options_);
  const RunOutcome nothing =
      predicate.run(*all.asked.function, all.asked.root, {{all.asked.expression, no_enumerator}});
  all.accepts_the_rest = nothing.returned != is_false;
  std::vector<RunOutcome> baselines;
  for (const SwitchSubject& dispatch : all.dispatches) {
    EnumeratorRun run = dispatch_run();
    baselines.push_back(
        run.run(*dispatch.function, dispatch.root, {{dispatch.expression, no_enumerator}}));
    for (const auto& [place, name] : run.default_deeds()) {
      if (is_call(place) && !baselines.back().aborts && baselines.back().returned != is_false) {
        all.pair.otherwise = name;
        break;
      }
    }
  }
  for (const std::string_view value : all.asked.enumeration->enumerators) {
    if (!is_counter(*all.asked.enumeration, value)) run_kind(all, value, predicate, baselines);
  }
}

void PairComparison::run_kind(Compared& all, std::string_view value, EnumeratorRun& predicate,
                              const std::vector<RunOutcome>& baselines) {
  const Assumed asked{{all.asked.expression, value}};
  const RunOutcome outcome = predicate.run(*all.asked.function, all.asked.root, asked);
  met_unknown_ = met_unknown_ || predicate.met_unknown();
  const CodePlace label = named_label(predicate, value);
  const bool always = label.second != no_token && predicate.returned_there() == is_true;
  const std::vector<OpenSwitch> asked_further = predicate.open_switches();
  Served served;
  std::vector<OpenSwitch> served_further;
  for (std::size_t at = 0; at < all.dispatches.size(); ++at) {
    EnumeratorRun run = dispatch_run();
    const Served one = serve(run, all.dispatches[at], {{all.dispatches[at].expression, value}},
                             baselines[at], value);
    met_unknown_ = met_unknown_ || run.met_unknown();
    if (one.handled || (one.named && !served.handled)) served = one;
    const std::vector<OpenSwitch>& open = run.open_switches();
    served_further.insert(served_further.end(), open.begin(), open.end());
  }
  const bool yes = outcome.returned != is_false;
  if (yes && served.handled && all.dispatches.size() == 1) {
    for (const OpenSwitch& open : asked_further) {
      if (run_further(all, value, open, served_further, predicate)) return;
    }
  }
  const std::size_t entries = all.pair.entries.size();
  put_down(all, std::string(value), value, outcome, label, served, !all.accepts_the_rest, always);
  if (yes && all.pair.entries.size() > entries && all.dispatches.size() == 1) {
    put_down_conditions(all.pair, all.dispatches.front(), predicate, served.certain);
  }
}

// Of the entry that was put down last.
void PairComparison::put_down_conditions(DispatchPair& pair, const SwitchSubject& dispatch,
                                         const EnumeratorRun& predicate,
                                         const std::vector<CodePlace>& calls) {
  DispatchEntry& entry = pair.entries.back();
  entry.asserts = asserted(dispatch, calls);
  if (entry.asserts.empty() || !predicate.conditions()) return;
  pair.conditions[entry.kind.name] = told(*predicate.conditions());
}

CodePlace PairComparison::named_label(const EnumeratorRun& run, std::string_view value) const {
  const CodePlace label = run.label();
  const bool is_named =
      label.second != no_token && code_.files()[label.first]->unit.tokens[label.second].is(value);
  return is_named ? label : CodePlace{0, no_token};
}

const CodeEnumeration* PairComparison::enumeration_of(const OpenSwitch& open) const {
  const CodeEnumeration* found = nullptr;
  for (const std::string_view label : open.labels) {
    const CodeEnumeration* one = enumerations_.of(label);
    if (one == nullptr || (found != nullptr && one != found)) return nullptr;
    found = one;
  }
  return found;
}

// A second switch that both sides have over the same thing: what is claimed are pairs.
bool PairComparison::run_further(Compared& all, std::string_view value, const OpenSwitch& asked,
                                 const std::vector<OpenSwitch>& served, EnumeratorRun& predicate) {
  const CodeEnumeration* enumeration = enumeration_of(asked);
  if (enumeration == nullptr || enumeration == all.asked.enumeration) return false;
  const bool has_both = std::any_of(served.begin(), served.end(), [&](const OpenSwitch& open) {
    return open.expression == asked.expression && enumeration_of(open) == enumeration;
  });
  if (!has_both) return false;
  const SwitchSubject& dispatch = all.dispatches.front();
  const Assumed rest_asked{{all.asked.expression, value}, {asked.expression, no_enumerator}};
  const bool rest_accepted =
      predicate.run(*all.asked.function, all.asked.root, rest_asked).returned != is_false;
  EnumeratorRun run = dispatch_run();
  const Assumed rest{{dispatch.expression, value}, {asked.expression, no_enumerator}};
  const RunOutcome baseline = run.run(*dispatch.function, dispatch.root, rest);
  // Where no arm turns the rest away, what comes before or behind may serve it.
  const bool may_serve_rest = !run.default_rejects();
  for (const std::string_view further : enumeration->enumerators) {
    if (is_counter(*enumeration, further)) continue;
    const RunOutcome outcome =
        predicate.run(*all.asked.function, all.asked.root,
                      {{all.asked.expression, value}, {asked.expression, further}});
    const CodePlace label = named_label(predicate, further);
    Served one = serve(run, dispatch, {{dispatch.expression, value}, {asked.expression, further}},
                       baseline, further);
    if (!one.named && may_serve_rest) {
      // Not known: as if it were served where it is claimed, and else not.
      one.handled = outcome.returned != is_false;
    }
    put_down(all, std::string(value) + "/" + std::string(further), further, outcome, label, one,
             !rest_accepted, label.second != no_token && predicate.returned_there() == is_true);
  }
  return true;
}

// `refuses_the_rest`: what the predicate doesn't name it refuses, so that an answer is meant.
void PairComparison::put_down(Compared& all, std::string name, std::string_view value,
                              const RunOutcome& outcome, CodePlace label, const Served& served,
                              bool refuses_the_rest, bool always) {
  DispatchPair& pair = all.pair;
  KindName kind{std::move(name), pair.predicate.place};
  if (label.second != no_token) kind.place = place_of_token(label);
  if (outcome.returned == is_false) {
    pair.refused.push_back(kind);
  } else if (label.second != no_token || refuses_the_rest) {
    pair.accepted.push_back(kind);
    if (always) pair.always.push_back(kind);
  }
  KindName at{kind.name, pair.table.place};
  if (served.named) at.place = place_of_token(served.label);
  if (served.handled) {
    pair.entries.push_back({at, served.kernel.empty() ? "default" : served.kernel, {}});
  } else if (served.named && !served.rejected) {
    pair.exceptions.emplace_back(at, "the dispatch names it and has nothing to do");
  } else if (noop_.contains(value)) {
    pair.exceptions.emplace_back(at, "needs no kernel, as the configuration says");
  } else if (std::find(ggml_views.begin(), ggml_views.end(), value) != ggml_views.end()) {
    pair.exceptions.emplace_back(at, "another view of a tensor, for which nothing is computed");
  }
  pair.kinds.push_back({kind.name, pair.predicate.place});
}

}  // namespace opseal
