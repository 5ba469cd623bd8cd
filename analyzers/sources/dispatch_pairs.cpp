#include "analyzers/sources/dispatch_pairs.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

#include "analyzers/sources/accepted_labels.h"
#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/enumerator_run.h"
#include "analyzers/sources/switch_subject.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// A function with fewer arms that do something is no dispatch.
constexpr std::size_t fewest_arms = 2;
// A dispatch that nobody names shares at least so many of a hundred values with its predicate: a
// function that only sets parameters for some of them is none.
constexpr std::size_t least_alike = 70;

constexpr std::array<std::string_view, 2> predicate_fields{"supports_op", "is_supported"};

// ggml: they change how a tensor is looked at, and nothing is computed (ggml_op_is_empty).
constexpr std::array<std::string_view, 5> ggml_views{
    "GGML_OP_NONE", "GGML_OP_RESHAPE", "GGML_OP_VIEW", "GGML_OP_PERMUTE", "GGML_OP_TRANSPOSE"};

bool names_predicate(std::string_view field) {
  return std::any_of(predicate_fields.begin(), predicate_fields.end(),
                     [&](std::string_view word) { return field.find(word) != field.npos; });
}

// Counts the values and is none.
bool is_counter(std::string_view enumerator) {
  for (const std::string_view end : {"_COUNT", "_MAX", "_NUM", "_LAST", "_END"}) {
    if (enumerator.ends_with(end)) return true;
  }
  return enumerator == "COUNT" || enumerator == "MAX" || enumerator == "Count";
}

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? std::string_view() : path.substr(0, slash);
}

// What one value does in a dispatch.
struct Served {
  bool named = false;
  bool handled = false;
  bool rejected = false;
  CodePlace label{0, no_token};
  std::string kernel;
  // Something is called, not only given back or stored.
  bool calls = false;
};

class PairReader {
 public:
  PairReader(const CodeFunctions& code, const CodeFunctions& others, const PairOptions& options)
      : code_(code), enumerations_(code, others), options_(options) {}

  std::vector<DispatchPair> read() {
    for (const PairDescription& described : options_.described) read_described(described);
    read_directives();
    find_assigned();
    for (const CodeFunction* predicate : assigned_) {
      if (!done_.contains(predicate)) read_assigned(*predicate);
    }
    return std::move(pairs_);
  }

 private:
  // --- Which functions ---

  // `path:function` or `function`.
  const CodeFunction* named(std::string_view text) const {
    const std::size_t colon = text.rfind(':');
    const bool has_path = colon != text.npos && colon > 0 && text[colon - 1] != ':';
    const std::string_view name = has_path ? text.substr(colon + 1) : text;
    const std::string_view path = has_path ? text.substr(0, colon) : std::string_view();
    for (const auto& function : code_.functions()) {
      if (function->name != name && base_of(function->name) != name) continue;
      if (code_.files()[function->file]->path.ends_with(path)) return function.get();
    }
    return nullptr;
  }

  void read_described(const PairDescription& described) {
    const CodeFunction* predicate = named(described.predicate);
    std::vector<const CodeFunction*> dispatches;
    for (const std::string& text : described.dispatch) {
      if (const CodeFunction* dispatch = named(text)) dispatches.push_back(dispatch);
    }
    if (predicate == nullptr || dispatches.size() != described.dispatch.size()) return;
    noop_ = {described.noop.begin(), described.noop.end()};
    run_options_.never_return = {described.never_return.begin(), described.never_return.end()};
    compare(*predicate, dispatches, described.name);
    noop_.clear();
    run_options_.never_return.clear();
  }

  void read_directives() {
    std::map<std::string, std::vector<const CodeFunction*>> dispatches;
    for (const auto& function : code_.functions()) {
      for (const std::string& name : function->dispatch_of) {
        dispatches[name].push_back(function.get());
      }
    }
    for (const auto& function : code_.functions()) {
      for (const std::string& name : function->predicate_of) {
        const auto found = dispatches.find(name);
        if (found != dispatches.end()) compare(*function, found->second, name);
      }
    }
  }

  // `.supports_op = name`, also where the field is a comment: `/* .supports_op = */ name`.
  void find_assigned() {
    for (std::uint32_t number = 0; number < code_.files().size(); ++number) {
      const CodeFile& file = *code_.files()[number];
      const std::vector<Token>& tokens = file.unit.tokens;
      for (std::size_t at = 0; at + 4 < tokens.size(); ++at) {
        if ((tokens[at].is('.') || tokens[at].is("->")) && tokens[at + 1].is_identifier() &&
            tokens[at + 2].is('=') && names_predicate(tokens[at + 1].text)) {
          add_assigned(tokens, at + 3, number);
        }
      }
      for (const SourceComment& comment : file.unit.comments) {
        if (names_predicate(comment.text) && comment.text.ends_with('=')) {
          add_assigned(tokens, comment.next_token, number);
        }
      }
    }
  }

  void add_assigned(const std::vector<Token>& tokens, std::size_t at, std::uint32_t file) {
    if (at + 1 < tokens.size() && tokens[at].is('&')) ++at;
    if (at + 1 >= tokens.size() || !tokens[at].is_identifier()) return;
    const Token& next = tokens[at + 1];
    if (!next.is(',') && !next.is(';') && !next.is('}')) return;
    const CodeFunction* function = code_.find(tokens[at].text, file);
    if (function != nullptr &&
        std::find(assigned_.begin(), assigned_.end(), function) == assigned_.end()) {
      assigned_.push_back(function);
    }
  }

  // Next to the function whose arms do something for nearly those values that it accepts.
  void read_assigned(const CodeFunction& predicate) {
    const SwitchSubject asked = find_predicate_subject(code_, enumerations_, predicate);
    if (asked.enumeration == nullptr) return;
    std::set<const CodeFunction*> asking;
    const std::set<std::string_view> accepted = accepted_by(asked, asking);
    if (accepted.size() < fewest_arms) return;
    const CodeFunction* best = nullptr;
    std::size_t most = 0;
    for (const auto& function : code_.functions()) {
      if (asking.contains(function.get()) || is_predicate(*function)) continue;
      const std::size_t alike = likeness(accepted, arms_of(*function, asked.enumeration));
      // Of two that are as like, the one of the same file.
      if (alike > most || (alike == most && best != nullptr && best->file != predicate.file &&
                           function->file == predicate.file)) {
        most = alike;
        best = function.get();
      }
    }
    if (best != nullptr && most >= least_alike) {
      compare(predicate, {best}, backend_of(predicate));
    }
  }

  bool is_predicate(const CodeFunction& function) const {
    return std::find(assigned_.begin(), assigned_.end(), &function) != assigned_.end() ||
           names_predicate(function.name);
  }

  bool needs_no_kernel(std::string_view value) const {
    return is_counter(value) || noop_.contains(value) ||
           std::find(ggml_views.begin(), ggml_views.end(), value) != ggml_views.end();
  }

  // `followed` gets the functions that are asked on the way.
  std::set<std::string_view> accepted_by(const SwitchSubject& asked,
                                         std::set<const CodeFunction*>& followed) const {
    EnumeratorRun run(code_, enumerations_, run_options_);
    std::set<std::string_view> accepted;
    for (const std::string_view value : asked.enumeration->enumerators) {
      const RunOutcome outcome = run.run(*asked.function, asked.root, {{asked.expression, value}});
      if (outcome.returned != is_false && !needs_no_kernel(value)) accepted.insert(value);
    }
    followed = run.followed();
    return accepted;
  }

  // Values whose arm calls something; computed once, since a folder may have many predicates.
  const std::set<std::string_view>& arms_of(const CodeFunction& function,
                                            const CodeEnumeration* enumeration) {
    const auto [place, fresh] = arms_.try_emplace({&function, enumeration});
    if (!fresh) return place->second;
    const SwitchSubject subject = find_subject(code_, enumerations_, function, enumeration);
    if (subject.enumeration != nullptr && subject.labels >= fewest_arms) {
      place->second = find_arms(subject);
    }
    return place->second;
  }

  std::set<std::string_view> find_arms(const SwitchSubject& subject) const {
    EnumeratorRun run(code_, enumerations_, run_options_);
    const RunOutcome baseline =
        run.run(*subject.function, subject.root, {{subject.expression, no_enumerator}});
    std::set<std::string_view> arms;
    for (const std::string_view value : subject.enumeration->enumerators) {
      const Served served = serve(run, subject, {{subject.expression, value}}, baseline, value);
      if (served.handled && served.calls && !needs_no_kernel(value)) arms.insert(value);
    }
    return arms;
  }

  // How many of a hundred two sets share.
  static std::size_t likeness(const std::set<std::string_view>& left,
                              const std::set<std::string_view>& right) {
    if (left.empty() || right.empty()) return 0;
    std::size_t shared = 0;
    for (const std::string_view value : left) shared += right.contains(value) ? 1 : 0;
    return shared * 200 / (left.size() + right.size());
  }

  // The folder, unless it is one that many share; then the file.
  std::string backend_of(const CodeFunction& predicate) const {
    const std::string_view path = code_.files()[predicate.file]->path;
    const std::string_view folder = folder_of(path);
    std::size_t here = 0;
    for (const CodeFunction* other : assigned_) {
      if (folder_of(code_.files()[other->file]->path) == folder) ++here;
    }
    std::string_view name = here > 1 || folder.empty() ? path : folder;
    name.remove_prefix(name.rfind('/') == name.npos ? 0 : name.rfind('/') + 1);
    if (here > 1 || folder.empty()) name = name.substr(0, name.find('.'));
    return std::string(name);
  }

  // --- What they say ---

  bool is_call(CodePlace place) const {
    const std::vector<Token>& tokens = code_.files()[place.first]->unit.tokens;
    return place.second + 1 < tokens.size() && tokens[place.second + 1].is('(');
  }

  Served serve(EnumeratorRun& run, const SwitchSubject& subject, const Assumed& assumed,
               const RunOutcome& baseline, std::string_view value) const {
    Served served;
    const RunOutcome outcome = run.run(*subject.function, subject.root, assumed);
    const CodePlace label = run.label();
    if (label.second != no_token &&
        code_.files()[label.first]->unit.tokens[label.second].is(value)) {
      served.named = true;
      served.label = label;
    }
    for (const auto& [place, name] : outcome.deeds) {
      if (baseline.deeds.contains(place)) continue;
      if (!served.handled) served.kernel = name;
      served.calls = served.calls || is_call(place);
      served.handled = true;
    }
    served.rejected =
        !served.handled &&
        ((outcome.aborts && !outcome.falls && outcome.returned == baseline.returned) ||
         outcome.returned == is_false);
    return served;
  }

  SourcePlace place_of_token(CodePlace place) const {
    const CodeFile& file = *code_.files()[place.first];
    if (place.second == no_token || place.second >= file.unit.tokens.size()) {
      return {file.number, 0, 0};
    }
    const Token& token = file.unit.tokens[place.second];
    return {file.number, token.offset, token.length};
  }

  KindName place_of_function(const CodeFunction& function) const {
    return {function.name, place_of_token({function.file, function.name_token})};
  }

  // One predicate, the functions that dispatch, and what is put down of them.
  struct Comparison {
    SwitchSubject asked;
    std::vector<SwitchSubject> dispatches;
    DispatchPair pair;
    bool accepts_the_rest = false;
  };

  void compare(const CodeFunction& predicate, const std::vector<const CodeFunction*>& dispatches,
               std::string backend) {
    done_.insert(&predicate);
    Comparison all;
    all.asked = find_predicate_subject(code_, enumerations_, predicate);
    if (all.asked.enumeration == nullptr) return;
    for (const CodeFunction* dispatch : dispatches) {
      all.dispatches.push_back(
          find_subject(code_, enumerations_, *dispatch, all.asked.enumeration));
      if (all.dispatches.back().enumeration == nullptr) return;
    }
    all.pair.enumeration = all.asked.enumeration->name;
    all.pair.backend = std::move(backend);
    all.pair.predicate = place_of_function(predicate);
    all.pair.table = place_of_function(*dispatches.front());
    run_kinds(all);
    all.pair.accepts_the_rest = all.accepts_the_rest;
    find_accepted_labels(code_, enumerations_, *all.asked.function, all.asked.enumeration,
                         all.pair.tested);
    pairs_.push_back(std::move(all.pair));
  }

  EnumeratorRun dispatch_run() const { return {code_, enumerations_, removing_}; }

  void run_kinds(Comparison& all) {
    removing_ = run_options_;
    removing_.removed_label = options_.removed_label;
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
      if (!is_counter(value)) run_kind(all, value, predicate, baselines);
    }
  }

  void run_kind(Comparison& all, std::string_view value, EnumeratorRun& predicate,
                const std::vector<RunOutcome>& baselines) {
    const Assumed asked{{all.asked.expression, value}};
    const RunOutcome outcome = predicate.run(*all.asked.function, all.asked.root, asked);
    const CodePlace label = named_label(predicate, value);
    const bool always = label.second != no_token && predicate.returned_there() == is_true;
    const std::vector<OpenSwitch> asked_further = predicate.open_switches();
    Served served;
    std::vector<OpenSwitch> served_further;
    for (std::size_t at = 0; at < all.dispatches.size(); ++at) {
      EnumeratorRun run = dispatch_run();
      const Served one = serve(run, all.dispatches[at], {{all.dispatches[at].expression, value}},
                               baselines[at], value);
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
    put_down(all, std::string(value), value, outcome, label, served, !all.accepts_the_rest, always);
  }

  CodePlace named_label(const EnumeratorRun& run, std::string_view value) const {
    const CodePlace label = run.label();
    const bool is_named =
        label.second != no_token && code_.files()[label.first]->unit.tokens[label.second].is(value);
    return is_named ? label : CodePlace{0, no_token};
  }

  const CodeEnumeration* enumeration_of(const OpenSwitch& open) const {
    const CodeEnumeration* found = nullptr;
    for (const std::string_view label : open.labels) {
      const CodeEnumeration* one = enumerations_.of(label);
      if (one == nullptr || (found != nullptr && one != found)) return nullptr;
      found = one;
    }
    return found;
  }

  // A second switch that both sides have over the same thing: what is claimed are pairs.
  bool run_further(Comparison& all, std::string_view value, const OpenSwitch& asked,
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
      if (is_counter(further)) continue;
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
  void put_down(Comparison& all, std::string name, std::string_view value,
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
      pair.entries.push_back({at, served.kernel.empty() ? "default" : served.kernel});
    } else if (served.named && !served.rejected) {
      pair.exceptions.emplace_back(at, "the dispatch names it and has nothing to do");
    } else if (noop_.contains(value)) {
      pair.exceptions.emplace_back(at, "needs no kernel, as the configuration says");
    } else if (std::find(ggml_views.begin(), ggml_views.end(), value) != ggml_views.end()) {
      pair.exceptions.emplace_back(at, "another view of a tensor, for which nothing is computed");
    }
    pair.kinds.push_back({kind.name, pair.predicate.place});
  }

  const CodeFunctions& code_;
  const Enumerations enumerations_;
  const PairOptions& options_;
  EnumeratorRun::Options run_options_;
  EnumeratorRun::Options removing_;
  std::set<std::string, std::less<>> noop_;
  std::vector<const CodeFunction*> assigned_;
  std::map<std::pair<const CodeFunction*, const CodeEnumeration*>, std::set<std::string_view>>
      arms_;
  std::set<const CodeFunction*> done_;
  std::vector<DispatchPair> pairs_;
};

}  // namespace

std::vector<DispatchPair> find_dispatch_pairs(const CodeFunctions& code,
                                              const CodeFunctions& enumerations,
                                              const PairOptions& options) {
  return PairReader(code, enumerations, options).read();
}

std::vector<std::string> predicate_needles(const std::vector<PairDescription>& described) {
  std::vector<std::string> needles{"supports_op", "is_supported", "opseal: predicate",
                                   "opseal: dispatch"};
  for (const PairDescription& pair : described) {
    const std::size_t colon = pair.predicate.rfind(':');
    needles.push_back(colon == std::string::npos ? pair.predicate
                                                 : pair.predicate.substr(colon + 1));
  }
  return needles;
}

}  // namespace opseal
