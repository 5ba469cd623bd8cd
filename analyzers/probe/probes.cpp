#include "analyzers/probe/probes.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "analyzers/probe/call_plan.h"
#include "analyzers/probe/child.h"
#include "analyzers/probe/choice.h"
#include "analyzers/probe/derivatives.h"
#include "analyzers/probe/ffi_question.h"
#include "analyzers/probe/handed_child.h"
#include "analyzers/probe/pool.h"
#include "analyzers/probe/probe_result.h"
#include "analyzers/probe/probe_values.h"
#include "analyzers/probe/probe_writer.h"
#include "analyzers/probe/saved_values.h"
#include "analyzers/probe/subjects.h"
#include "analyzers/python_program.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Calls at once in a process that called nothing before.
constexpr std::uint32_t cold_threads = 32;
// Bytes of all their buffers together.
constexpr std::size_t most_thread_bytes = std::size_t{1} << 28;

// Results are compared where they are not larger, in bytes of one probe.
constexpr std::size_t most_kept_bytes = std::size_t{1} << 20;

// Calls that are planned before they are made.
constexpr std::size_t most_pending = 4096;
constexpr std::size_t most_pending_bytes = std::size_t{1} << 28;
constexpr std::size_t most_results = 250000;

class Prober {
 public:
  // `handed`: asks for what modules hand out; no program: there is nothing of that.
  Prober(const ProbeOptions& options, PoolOptions handed, Facts& facts)
      : options_(options), handed_(std::move(handed)), subjects_(find_subjects(facts)) {
    for (const ProbeSubject& subject : subjects_) names_.push_back(identity_of(subject));
  }

  ProbeRun run() {
    ask_metadata();
    ask_signatures();
    can_call_.resize(subjects_.size());
    for (std::size_t at = 0; at < can_call_.size(); ++at) can_call_[at] = usable_[same_[at]];
    asker_ = make_asker();
    saved_.emplace(subjects_, can_call_, asker_);
    ask_calls();
    ask_derivatives();
    run_.probes = results_.size();
    return std::move(run_);
  }

  void write(Facts& facts) const;

 private:
  struct Pending {
    ProbeResult result;
    bool alone = false;
    // Of calls: extents.
    std::string sizes{};
  };

  std::vector<ProbeSubject> find_subjects(Facts& facts) const {
    HandedListing listing;
    if (!handed_.program.empty()) listing = list_handed(handed_);
    if (!listing.problem.empty()) {
      facts.problems.push_back({Location{}, listing.problem, {}, Severity::error});
    } else if (!handed_.program.empty() && listing.handlers.empty()) {
      facts.problems.push_back({Location{},
                                "no module of `--import` hands out a handler of XLA's FFI",
                                {},
                                Severity::note});
    }
    std::vector<ProbeSubject> subjects = find_probe_subjects(facts, listing.handlers);
    std::map<std::string_view, std::uint32_t> files;
    for (ProbeSubject& subject : subjects) {
      if (!subject.handed) continue;
      const auto count = static_cast<std::uint32_t>(facts.files.size());
      const auto [file, fresh] = files.try_emplace(subject.library, count);
      subject.place.file = file->second;
      if (!fresh) continue;
      InputFile library;
      library.path = subject.shown_library;
      library.binary = true;
      facts.files.push_back(std::move(library));
    }
    return subjects;
  }

  // `libx.so:Symbol`, and a number where several kernels stand for it.
  std::string identity_of(const ProbeSubject& subject) {
    std::string name = std::filesystem::path(subject.shown_library).filename().string() + ':' +
                       (subject.symbol.empty() ? subject.name : subject.symbol);
    const std::size_t seen = ++seen_[name];
    if (seen > 1) name += '#' + std::to_string(seen);
    return name;
  }

  bool is_wanted(const std::string& identity) const { return is_chosen(options_.only, identity); }

  ProbeResult start(std::size_t subject, const char* kind) const {
    ProbeResult result;
    result.kind = kind;
    result.identity = names_[subject] + '/' + kind;
    result.subject = subject;
    result.question.library = subjects_[subject].library;
    result.question.symbol = subjects_[subject].symbol;
    result.question.handed = subjects_[subject].handed;
    return result;
  }

  void skip(ProbeResult result, const std::string& why) {
    if (!is_wanted(result.identity)) return;
    result.status = "skipped";
    result.reason = why;
    results_.push_back(std::move(result));
  }

  // Each library has children of its own, so that what one leaves behind hurts no other.
  template <typename Done>
  void ask(std::vector<Pending>& pending, Done done) {
    std::map<std::pair<std::string_view, bool>, std::vector<std::size_t>> libraries;
    for (std::size_t at = 0; at < pending.size(); ++at) {
      const ffi::Question& question = pending[at].result.question;
      libraries[{question.library, question.handed}].push_back(at);
    }
    std::vector<std::pair<bool, ffi::Answer>> answers(pending.size());
    total_ += pending.size();
    for (const auto& [library, places] : libraries) ask_library(places, pending, answers);
    // In the order of the questions, whichever was answered first.
    for (std::size_t at = 0; at < pending.size(); ++at) {
      done(pending[at], answers[at].first, answers[at].second);
    }
  }

  void ask_library(const std::vector<std::size_t>& places, std::vector<Pending>& pending,
                   std::vector<std::pair<bool, ffi::Answer>>& answers) {
    std::vector<PoolRequest> requests;
    for (const std::size_t at : places) {
      requests.push_back({ffi::write_question(pending[at].result.question),
                          options_.time_limit_seconds, pending[at].alone});
    }
    PoolOptions pool;
    if (pending[places.front()].result.question.handed) {
      pool = handed_;
    } else {
      pool.program = options_.program;
      pool.arguments = {std::string(probe_child_argument)};
    }
    pool.workers = options_.workers;
    const PoolReport report =
        run_pool(pool, requests, [&](std::size_t number, PoolOutcome outcome) {
          const std::size_t at = places[number];
          ffi::Answer& answer = answers[at].second;
          answers[at].first = read_outcome(outcome, answer, pending[at].result) &&
                              was_loaded(answer, pending[at].result);
          ++done_;
          if (options_.progress) options_.progress(done_, total_);
        });
    for (const std::string& lack : report.lacks) {
      if (std::find(run_.lacks.begin(), run_.lacks.end(), lack) == run_.lacks.end()) {
        run_.lacks.push_back(lack);
      }
    }
    for (const PoolStray& stray : report.strays) {
      // Which of the calls before did it nobody knows; of what library they were is sure.
      ProbeResult late;
      ffi::Answer none;
      read_outcome(stray.outcome, none, late);
      late.kind = "library";
      late.subject = pending[places[stray.after]].result.subject;
      const std::string& library = subjects_[late.subject].shown_library;
      late.identity = std::filesystem::path(library).filename().string() + "/afterwards";
      late.reason = "some time after it had answered " +
                    pending[places[stray.after]].result.identity + ": " + late.reason;
      late.deviations.clear();
      results_.push_back(std::move(late));
    }
  }

  void finish(Pending& one) { results_.push_back(std::move(one.result)); }

  void ask_metadata() {
    minors_.assign(subjects_.size(), -1);
    usable_.assign(subjects_.size(), false);
    std::vector<Pending> pending;
    std::map<std::pair<std::string, std::string>, std::size_t> first;
    same_.resize(subjects_.size());
    for (std::size_t at = 0; at < subjects_.size(); ++at) {
      const ProbeSubject& subject = subjects_[at];
      same_[at] = at;
      if (!subject.skipped.empty()) {
        skip(start(at, "metadata"), subject.skipped);
        continue;
      }
      if (subject.is_plain()) {
        // It has nothing to say of itself.
        usable_[at] = true;
        continue;
      }
      const auto [known, fresh] = first.try_emplace({subject.library, subject.symbol}, at);
      same_[at] = known->second;
      if (fresh) pending.push_back({start(at, "metadata")});
    }
    ask(pending, [this](Pending& one, bool answered, const ffi::Answer& answer) {
      const std::size_t at = one.result.subject;
      if (answered) {
        judge_metadata(answer, subjects_[at], one.result);
        minors_[at] = answer.metadata.minor;
        // Somebody's word, or the library's bytes, say that it is a handler.
        usable_[at] = true;
      }
      if (is_wanted(one.result.identity)) finish(one);
    });
  }

  void ask_signatures() {
    std::vector<Pending> pending;
    // What a symbol serves beside its first subject may be declared otherwise.
    std::map<std::size_t, std::vector<std::size_t>> served_besides;
    for (std::size_t at = 0; at < subjects_.size(); ++at) {
      if (same_[at] != at) served_besides[same_[at]].push_back(at);
      if (same_[at] != at || !usable_[at] || subjects_[at].is_plain()) continue;
      Pending one{start(at, "signature")};
      if (!is_wanted(one.result.identity)) continue;
      const Fact handler = subjects_[at].handler;
      if (handler.said() && !handler[Key::ambiguous].truth() &&
          handler[Key::arguments].size() + handler[Key::results].size() +
                  handler[Key::attributes].size() ==
              0) {
        skip(std::move(one.result), "it takes nothing, so that every call runs it");
        continue;
      }
      one.result.question.kind = ffi::QuestionKind::signature;
      one.result.question.minor = minors_[at];
      pending.push_back(std::move(one));
    }
    ask(pending, [&](Pending& one, bool answered, const ffi::Answer& answer) {
      const std::size_t first = one.result.subject;
      if (answered) judge_signature(answer, subjects_[first], one.result);
      const double seconds = one.result.seconds;
      finish(one);
      const auto others = served_besides.find(first);
      if (!answered || others == served_besides.end()) return;
      for (const std::size_t at : others->second) {
        Pending other{start(at, "signature")};
        other.result.seconds = seconds;
        judge_signature(answer, subjects_[at], other.result);
        if (other.result.status == "differs" && is_wanted(other.result.identity)) finish(other);
      }
    });
  }

  // The calls of one subject; none, with the reason as a result, where it can't be called.
  CallPlan plan_subject(std::size_t at) {
    const ProbeSubject& subject = subjects_[at];
    if (!subject.skipped.empty() || !usable_[same_[at]]) return {};
    const std::string_view stage = subject.handler[Key::stage].text();
    std::string why = subject.calls_skipped;
    if (why.empty() && !stage.empty() && stage != "execute") return {};
    if (why.empty() && !subject.op.said()) {
      why = "no manifest says which operator it serves, and with which shapes";
    }
    if (why.empty() && results_.size() > most_results) {
      why = "more than " + std::to_string(most_results) + " probes are not made in one run";
    }
    CallPlan plan;
    if (why.empty()) {
      plan = plan_calls(subject, options_.seed);
      why = plan.skipped;
    }
    if (!why.empty()) skip(start(at, "call"), why);
    return plan;
  }

  void ask_calls() {
    operand_names_.resize(subjects_.size());
    std::vector<Pending> pending;
    std::size_t bytes = 0;
    for (std::size_t at = 0; at < subjects_.size(); ++at) {
      CallPlan plan = plan_subject(at);
      operand_names_[at] = std::move(plan.names);
      for (const PlannedCall& call : plan.calls) bytes += ffi::size_of(call.question);
      add_calls(at, plan.calls, pending);
      // What a registry of thousands has is not held in memory at once.
      const bool same_operator =
          at + 1 < subjects_.size() && subjects_[at + 1].op == subjects_[at].op;
      const bool many =
          pending.size() + views_.size() >= most_pending || bytes > most_pending_bytes;
      if (many && !same_operator) {
        make_calls(pending);
        pending.clear();
        bytes = 0;
      }
    }
    make_calls(pending);
  }

  void add_calls(std::size_t at, std::vector<PlannedCall>& calls, std::vector<Pending>& pending) {
    const Fact stability = subjects_[at].kernel[Key::precision][Key::bit_stable];
    // Of the first combination of dtypes the call with the most to do, for many threads at once.
    std::size_t largest = calls.size();
    for (std::size_t number = 0; number < calls.size(); ++number) {
      const PlannedCall& call = calls[number];
      if (!call.declared || call.dtypes != calls.front().dtypes) continue;
      if (ffi::size_of(call.question) * cold_threads > most_thread_bytes) continue;
      if (largest == calls.size() ||
          ffi::size_of(call.question) > ffi::size_of(calls[largest].question))
        largest = number;
    }
    for (std::size_t number = 0; number < calls.size(); ++number) {
      PlannedCall& call = calls[number];
      Pending one{start(at, "call")};
      one.sizes = call.sizes;
      one.result.identity += '/' + call.identity;
      const bool keeps = call.declared && bytes_of(call.question.results) <= most_kept_bytes;
      one.result.question = std::move(call.question);
      one.result.question.minor = minors_[same_[at]];
      one.result.question.keeps_results = keeps;
      one.result.dtypes = std::move(call.dtypes);
      one.result.calls = true;
      one.result.declared = call.declared;
      one.result.bit_stable = stability.truth();
      one.result.varies = stability.is_truth() && !stability.truth();
      add_views(one, call);
      if (number == largest) {
        Pending cold = one;
        cold.result.kind = "threads";
        cold.result.identity = names_[at] + "/threads";
        cold.result.question.kind = ffi::QuestionKind::threads;
        cold.result.question.threads = cold_threads;
        cold.result.question.keeps_results = false;
        cold.alone = true;
        if (is_wanted(cold.result.identity)) pending.push_back(std::move(cold));
      }
      if (is_wanted(one.result.identity)) pending.push_back(std::move(one));
    }
  }

  void make_calls(std::vector<Pending>& pending) {
    const std::size_t begin = results_.size();
    state_saved(pending);
    ProbeValues values;
    ask(pending, [&](Pending& one, bool answered, ffi::Answer& answer) {
      if (answered && one.result.kind == "threads") {
        judge_threads(answer, one.result);
      } else if (answered) {
        judge_call(answer, one.result);
        if (one.result.status == "passed" && !answer.results.empty()) {
          values.keep({results_.size(), one.result.subject, one.sizes, std::move(answer.results),
                       answer.unstable_results.empty()});
        }
      }
      finish(one);
    });
    make_views(begin);
    values.judge(subjects_, results_);
    for (std::size_t at = begin; at < results_.size(); ++at) {
      name_buffers(operand_names_[results_[at].subject], results_[at]);
    }
  }

  DerivativeAsker make_asker() {
    DerivativeAsker asker;
    asker.seed = options_.seed;
    asker.is_wanted = [this](const std::string& identity) { return is_wanted(identity); };
    asker.identity = [this](std::size_t at) -> const std::string& { return names_[at]; };
    asker.minor = [this](std::size_t at) { return minors_[same_[at]]; };
    asker.ask = [this](std::vector<ValueCall>& calls) {
      std::vector<Pending> pending;
      for (ValueCall& call : calls) {
        Pending one;
        one.result.identity = call.identity;
        one.result.subject = call.subject;
        one.result.question = std::move(call.question);
        pending.push_back(std::move(one));
      }
      std::size_t at = 0;
      ask(pending, [&](Pending& one, bool answered, ffi::Answer& answer) {
        ValueCall& call = calls[at++];
        call.answered = answered;
        call.answer = std::move(answer);
        call.result = std::move(one.result);
        call.question = std::move(call.result.question);
      });
    };
    return asker;
  }

  void ask_derivatives() {
    // One that crashes or hangs was told of; where it does so without elements alone, others are
    // asked.
    std::vector<bool> usable = can_call_;
    for (const ProbeResult& result : results_) {
      const bool call = result.kind == "call" || result.kind == "threads";
      if (call && result.has_no_end() && result.question.has_elements()) {
        usable[result.subject] = false;
      }
    }
    for (ProbeResult& result : probe_derivatives(subjects_, usable, asker_)) {
      results_.push_back(std::move(result));
    }
  }

  // States what calls of derivatives are handed; those for which nobody can say are skipped.
  void state_saved(std::vector<Pending>& pending) {
    std::vector<SavedValues::Call> calls;
    for (std::vector<Pending>* list : {&pending, &views_}) {
      for (Pending& one : *list) {
        // What nobody declares is refused, whatever the numbers are.
        const bool stated = one.result.declared;
        calls.push_back({one.result.subject, stated ? &one.result.question : nullptr});
      }
    }
    saved_->fill(calls);
    std::size_t at = 0;
    const auto drop = [&](Pending& one) {
      const std::string& why = calls[at++].skipped;
      if (why.empty()) return false;
      const bool view = one.result.question.kind == ffi::QuestionKind::view;
      if (!view) skip(std::move(one.result), why);
      return true;
    };
    for (std::vector<Pending>* list : {&pending, &views_}) std::erase_if(*list, drop);
  }

  // `begin`: the first result of the calls that were made. A kernel that fails the dense call says
  // nothing of views by failing those, too.
  void make_views(std::size_t begin) {
    std::set<std::string> failed;
    for (std::size_t at = begin; at < results_.size(); ++at) {
      const ProbeResult& result = results_[at];
      if (result.kind == "call" && result.status != "passed") failed.insert(result.identity);
    }
    std::erase_if(views_, [&failed](const Pending& view) {
      const std::string& identity = view.result.identity;
      return failed.contains(identity.substr(0, identity.rfind('/')));
    });
    ask(views_, [this](Pending& one, bool answered, const ffi::Answer& answer) {
      if (answered) judge_call(answer, one.result);
      finish(one);
    });
    views_.clear();
  }

  void add_views(const Pending& dense, const PlannedCall& call) {
    for (const PlannedView& view : call.views) {
      Pending one = dense;
      one.result.identity += '/' + view.identity;
      if (!is_wanted(one.result.identity)) continue;
      ffi::Question& question = one.result.question;
      question.kind = ffi::QuestionKind::view;
      question.keeps_results = false;
      const std::size_t arguments = question.arguments.size();
      (view.operand < arguments ? question.arguments[view.operand]
                                : question.results[view.operand - arguments])
          .strides = view.strides;
      views_.push_back(std::move(one));
    }
  }

  static std::size_t bytes_of(const std::vector<ffi::QuestionOperand>& operands) {
    std::size_t bytes = 0;
    for (const ffi::QuestionOperand& operand : operands) bytes += ffi::size_of(operand);
    return bytes;
  }

  const ProbeOptions& options_;
  PoolOptions handed_;
  std::vector<ProbeSubject> subjects_;
  std::map<std::string, std::size_t> seen_;
  std::vector<std::string> names_;
  // The first subject of the same library and symbol.
  std::vector<std::size_t> same_;
  std::vector<int> minors_;
  std::vector<bool> usable_;
  // Its symbol's first subject is usable.
  std::vector<bool> can_call_;
  DerivativeAsker asker_;
  std::optional<SavedValues> saved_;
  // Of arguments, then of results.
  std::vector<std::vector<std::string>> operand_names_;
  // Calls that are made where those with dense operands pass.
  std::vector<Pending> views_;
  std::vector<ProbeResult> results_;
  std::size_t done_ = 0;
  std::size_t total_ = 0;
  ProbeRun run_;
};

void Prober::write(Facts& facts) const { write_probes(subjects_, results_, options_.seed, facts); }

}  // namespace

ProbeRun run_probes(const ProbeOptions& options, Facts& facts) {
  PoolOptions handed;
  if (!options.imports.empty()) {
    const std::optional<std::string> python = find_python(options.python);
    if (python) {
      handed = handed_pool(options.program, *python, options.imports);
    } else {
      facts.problems.push_back(
          {Location{}, no_python_message(options.python), {}, Severity::error});
    }
  }
  Prober prober(options, std::move(handed), facts);
  ProbeRun run = prober.run();
  prober.write(facts);
  return run;
}

}  // namespace opseal
