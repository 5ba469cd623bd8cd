#include "cli/audit.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include "analyzers/analyzers.h"
#include "analyzers/artifacts.h"
#include "analyzers/caches.h"
#include "analyzers/hidden_symbols.h"
#include "analyzers/join.h"
#include "analyzers/probe/frameworks.h"
#include "analyzers/probe/orphans.h"
#include "analyzers/probe/probes.h"
#include "analyzers/sources/load.h"
#include "cli/comments.h"
#include "cli/discover.h"
#include "cli/macro_uses.h"
#include "cli/place_names.h"
#include "opseal/digest.h"
#include "opseal/side_by_side.h"
#include "opseal/text.h"
#include "rules/probe_verdicts.h"
#include "rules/rules.h"

namespace fs = std::filesystem;

namespace opseal {
namespace {

unsigned thread_count(const Options& options) {
  if (options.threads != 0) return options.threads;
  return std::max(1u, std::thread::hardware_concurrency());
}

// Reads files side by side and joins them in the order of their paths. Trees of sources that
// register nothing were no inputs; gives the number of their files.
std::uint64_t read_files(Discovered& found, const Settings& settings, unsigned threads,
                         Audit& audit) {
  Facts& facts = audit.facts;
  TypedOutcome outcome;
  const TypedOptions typed{.wanted = settings.typed,
                           .program = "/proc/self/exe",
                           .cache = settings.own_cache,
                           .outcome = &outcome};
  std::vector<Facts> parts(found.inputs.size());
  std::vector<MacroUses> macro_uses(found.inputs.size());
  // A single library is read on all threads, and of many each on one.
  const auto inputs = static_cast<unsigned>(std::min<std::size_t>(parts.size(), threads));
  const unsigned inner = inputs == 0 ? 1 : std::max(1u, threads / inputs);
  side_by_side(threads, parts.size(), [&](std::size_t at) {
    Discovered::Input& input = found.inputs[at];
    if (!input.sources.files.empty()) {
      parts[at] = load_sources(input.sources, inner, settings.macros, &macro_uses[at], typed);
      return;
    }
    parts[at] = input.cache ? load_cache(input.cache, std::move(input.file))
                            : load_file(*input.analyzer, std::move(input.file), inner);
  });
  std::uint64_t silent = 0;
  for (std::size_t at = 0; at < parts.size(); ++at) {
    const bool sources = !found.inputs[at].sources.files.empty();
    const bool empty = parts[at].documents.empty();
    if (sources && empty) --audit.inputs;
    if (sources && empty) silent += found.inputs[at].sources.files.size();
    if (sources && !empty) ++audit.source_trees;
    for (Document& document : parts[at].documents) document.group = found.inputs[at].group;
    facts.append(std::move(parts[at]));
  }
  // Where single files were given, or releases are compared, not every macro is met.
  bool whole = false;
  MacroUses uses;
  for (std::size_t at = 0; at < parts.size(); ++at) {
    const SourceFolder& folder = found.inputs[at].sources;
    whole = whole || (!folder.files.empty() && !folder.partial && !settings.compares);
    for (auto& [macro, use] : macro_uses[at]) {
      MacroUse& known = uses[macro];
      known.fits = known.fits || use.fits;
      if (!known.misfit) known.misfit = std::move(use.misfit);
    }
  }
  tell_macro_uses(settings, uses, whole, facts);
  if (!outcome.reason().empty()) {
    const std::string skipped = "typed tier (" + outcome.reason() + ')';
    audit.settings.remarks.push_back(skipped + " skipped: sources were read as text alone");
    if (settings.strict) audit.unheard.push_back(skipped);
  }
  return silent;
}

// A library that a manifest names.
Facts read_library(const std::string& path, const std::string& root, unsigned threads) {
  InputFile file;
  file.path = shown_path(path, root);
  file.open_path = path;
  std::error_code error;
  file.size = fs::file_size(path, error);
  std::string problem;
  const Analyzer* analyzer = find_analyzer(file, problem);
  if (analyzer == nullptr || analyzer->load_bytes == nullptr) return {};
  return load_file(*analyzer, std::move(file), threads);
}

void add_problems(Discovered& found, Facts& facts) {
  Facts part;
  part.files = std::move(found.problem_files);
  part.problems = std::move(found.problems);
  facts.append(std::move(part));
}

std::uint64_t count_listed(const Facts& facts, Key key) {
  std::uint64_t listed = 0;
  for (const Document& document : facts.documents) listed += facts.root(document)[key].size();
  return listed;
}

void count_content(Audit& audit) {
  audit.operators = count_listed(audit.facts, Key::operators);
  audit.bound_functions = count_listed(audit.facts, Key::functions);
}

std::uint64_t count_libraries(const Facts& facts) {
  std::uint64_t libraries = 0;
  for (const Document& document : facts.documents) {
    for (const Fact library : facts.root(document)[Key::libraries].items()) {
      if (library[Key::format].said()) ++libraries;
    }
  }
  return libraries;
}

void sort_findings(Audit& audit) {
  const auto key = [](const Finding& finding) {
    const Location& where = finding.evidence.where;
    return std::make_tuple(where.file, where.offset, finding.rule->id);
  };
  std::stable_sort(audit.findings.begin(), audit.findings.end(),
                   [&key](const Finding& a, const Finding& b) { return key(a) < key(b); });
}

// Equal findings (the same rule about the same subject at the same kind of place) are told apart by
// their order.
void set_fingerprints(Audit& audit) {
  std::map<std::string, int> seen;
  PlaceNames names(audit.facts);
  for (Finding& finding : audit.findings) {
    Digest digest;
    digest.add("rule", finding.rule->id).add("subject", finding.subject);
    digest.add("evidence", names.stable(finding.evidence.where));
    for (const Evidence& other : finding.related) {
      digest.add("related", names.stable(other.where));
    }
    std::string hex = digest.hex();
    const int before = seen[hex]++;
    if (before > 0) hex = digest.add("repeat", std::to_string(before)).hex();
    finding.fingerprint = "opseal1:" + hex;
  }
}

void count(Audit& audit) {
  for (const Finding& finding : audit.findings) {
    if (finding.silenced_by == "baseline") {
      ++audit.baselined;
    } else if (!finding.silenced_by.empty()) {
      ++audit.suppressed;
    } else if (finding.severity == Severity::error) {
      ++audit.counts.errors;
    } else if (finding.severity == Severity::warning) {
      ++audit.counts.warnings;
    } else {
      ++audit.counts.notes;
    }
  }
  for (const Change& change : audit.changes.list) {
    if (change.silenced()) ++audit.suppressed;
  }
}

// What had no effect is told where problems are told, in every format; it makes no run incomplete.
void add_remarks(Audit& audit) {
  for (const std::string& remark : audit.settings.remarks) {
    audit.facts.problems.push_back({Location{}, remark, {}, Severity::note});
  }
}

// What a manifest says of itself, for example that it is partial, belongs to what is said of it.
void tell_manifest_remarks(Facts& facts) {
  constexpr std::uint32_t most_told = 5;
  for (const Document& document : facts.documents) {
    const Fact remarks = facts.root(document)[Key::remarks];
    std::string start = "remark of the manifest";
    if (document.side != Side::alone) {
      start += document.side == Side::before ? " before" : " after";
    }
    std::uint32_t told = 0;
    for (const Fact remark : remarks.items()) {
      if (!remark.is_text()) continue;
      std::string message = start + ": " + std::string(remark.text());
      if (++told == most_told && remarks.size() > most_told) {
        message += "; " + plural(remarks.size() - most_told, "further remark") + " not shown";
      }
      facts.problems.push_back({remark.where(), std::move(message), {}, Severity::note});
      if (told == most_told) break;
    }
  }
}

bool fails_by_impact(const Audit& audit) {
  const Impact least = audit.settings.fail_on_impact;
  return std::any_of(audit.changes.list.begin(), audit.changes.list.end(),
                     [least](const Change& change) {
                       return !change.silenced() && change.impact >= least;
                     }) ||
         std::any_of(audit.findings.begin(), audit.findings.end(), [least](const Finding& finding) {
           return finding.silenced_by.empty() && impact_of(finding.severity) >= least;
         });
}

bool fails(const Audit& audit) {
  if (audit.settings.never_fail) return false;
  if (audit.settings.compares) return fails_by_impact(audit);
  return std::any_of(
      audit.findings.begin(), audit.findings.end(), [&audit](const Finding& finding) {
        return finding.silenced_by.empty() && finding.severity >= audit.settings.fail_on;
      });
}

// Who selects a rule, or states the fleet that it is about, asks for it. A profile has rules for
// every kind of input, and no input holds them all: of those only the ones count that lack nothing
// but what the command line states.
bool is_asked_for(const Settings& settings, const RuleRun& run) {
  if (!settings.select.empty() || settings.states(run.rule->asked_by)) return true;
  return run.missing != Key::none && run.missing == run.rule->asked_by;
}

bool has_probe_verdict(const Facts& facts) {
  bool any = false;
  bool operators = false;
  for (const Document& document : facts.documents) {
    if (!document.settings) continue;
    for (const Fact probe : facts.root(document)[Key::probes].items()) {
      const Fact status = probe[Key::status];
      const bool of_operator = probe[Key::kind].is("framework") && probe[Key::operator_].is_text();
      const bool says = !status.is("skipped") && !(of_operator && status.is("no_answer")) &&
                        !(of_operator && status.is("refused"));
      if (says && (of_operator || !probe[Key::kind].is("framework"))) return true;
      any = any || says;
      operators = operators || of_operator;
    }
  }
  // What a framework does besides is no answer to who asked for operators.
  return any && !operators;
}

void conclude(Audit& audit, bool allow_empty) {
  const bool unread =
      std::any_of(audit.facts.problems.begin(), audit.facts.problems.end(),
                  [](const Problem& problem) { return problem.severity == Severity::error; });
  for (const RuleRun& run : audit.runs) {
    if (!audit.settings.strict || !run.skipped || !is_asked_for(audit.settings, run)) continue;
    audit.unheard.push_back(std::string(run.rule->id) + " (" + run.reason + ')');
  }
  // Inputs without anything that a rule looks at are as good as none; but sources in which a
  // registration was read were looked at as a whole, and are sound where nothing is found.
  const bool sources = audit.source_trees > 0 && audit.settings.select.empty();
  const bool ran = audit.settings.compares
                       ? has_two_dumps(audit.facts)
                       : sources || std::any_of(audit.runs.begin(), audit.runs.end(),
                                                [](const RuleRun& run) { return !run.skipped; });
  audit.complete = !unread && audit.unheard.empty();
  // Who asked for calls and got none has learned nothing.
  const bool called = audit.command != "probe" || has_probe_verdict(audit.facts);
  if (fails(audit)) {
    audit.exit_code = exit_code::findings;
  } else if (!(ran && called) && !unread) {
    audit.exit_code = allow_empty ? exit_code::clean : exit_code::nothing;
  } else {
    audit.exit_code = audit.complete ? exit_code::clean : exit_code::incomplete;
  }
}

void read_paths(const Options& options, Audit& audit) {
  Discovered found = discover(options, audit.settings);
  audit.inputs += found.inputs.size();
  audit.other_files += found.other_files;
  audit.excluded_files += found.excluded_files;
  for (std::string& remark : found.remarks) audit.settings.remarks.push_back(std::move(remark));
  const std::uint64_t silent = read_files(found, audit.settings, thread_count(options), audit);
  if (audit.inputs == 0 && silent > 0) {
    audit.settings.remarks.push_back(
        plural(silent, "source") + " read, and nothing found there that opseal knows to register");
  }
  if (audit.source_trees > 0 && found.aside_sources > 0) {
    audit.settings.remarks.push_back(plural(found.aside_sources, "source") +
                                     " of tests, examples, tools and vendored projects left out; "
                                     "name their folder to read them");
  }
  add_problems(found, audit.facts);
}

bool any_looks_at(const std::vector<const Rule*>& rules, Key key) {
  return std::any_of(rules.begin(), rules.end(), [key](const Rule* rule) {
    return std::find(rule->needs.begin(), rule->needs.end(), key) != rule->needs.end() ||
           std::find(rule->reads.begin(), rule->reads.end(), key) != rule->reads.end();
  });
}

// Libraries are large: they are looked for and read only where a chosen rule asks about them.
void look_at_libraries(const Options& options, const std::vector<const Rule*>& rules,
                       Facts& facts) {
  constexpr Key contents[] = {Key::exports,    Key::imports, Key::images,  Key::handlers,
                              Key::registrars, Key::needed,  Key::run_path};
  const bool read = std::any_of(std::begin(contents), std::end(contents),
                                [&rules](Key key) { return any_looks_at(rules, key); });
  if (!read && !any_looks_at(rules, Key::path)) return;
  ReadLibrary reader;
  if (read) {
    const std::string root = find_root(fs::current_path().string());
    const unsigned threads = thread_count(options);
    reader = [root, threads](const std::string& path) { return read_library(path, root, threads); };
  }
  state_artifacts(reader, facts);
  if (any_looks_at(rules, Key::needed)) state_hidden_symbols(facts, has_no_package_symbols);
}

void prepare(const Options& options, const std::vector<const Rule*>& rules, Audit& audit) {
  look_at_libraries(options, rules, audit.facts);
  state_settings(audit.settings.stated, audit.facts);
  state_settings(audit.settings.also_stated, audit.facts);
  remark_lost_joins(audit.facts);
}

// A line that is written over and over, and gone in the end.
void show_progress(std::size_t done, std::size_t total) {
  constexpr std::size_t step = 64;
  // Of many; few take long.
  if (total > step && done % step != 0 && done != total) return;
  std::cerr << '\r'
            << (done == total ? "\033[K"
                              : "probes: " + std::to_string(done) + " of " + std::to_string(total))
            << std::flush;
}

void judge(const Options& options, const std::vector<const Rule*>& rules, Audit& audit) {
  audit.libraries = count_libraries(audit.facts);
  // From here on facts are const.
  audit.runs = run_rules(rules, audit.facts, thread_count(options), audit.findings);
  if (audit.probes > 0) audit.refuted = apply_probe_verdicts(audit.facts, audit.findings);
  sort_findings(audit);
  settle_findings(audit.settings, rules, audit.findings, audit.changes.list);
  settle_comments(rules, audit.facts, audit.findings);
  set_fingerprints(audit);
  // From here on findings are const.
  count(audit);
  tell_manifest_remarks(audit.facts);
  add_remarks(audit);
  conclude(audit, options.allow_empty);
}

}  // namespace

Impact impact_of(Severity severity) {
  if (severity == Severity::error) return Impact::breaking;
  return severity == Severity::warning ? Impact::numerics : Impact::additive;
}

Audit read_inputs(const Options& options) {
  Audit audit;
  audit.arguments = options.arguments;
  audit.settings = make_settings(options);
  // Whoever asks a framework or a module alone names no path, and does not mean the working
  // directory.
  const bool asks_python = !options.frameworks.empty() || !options.imports.empty();
  if (!asks_python || !options.paths.empty()) read_paths(options, audit);
  count_content(audit);
  return audit;
}

Audit run_diff(const Options& options) {
  if (std::count(options.paths.begin(), options.paths.end(), "-") > 1)
    throw UsageError("both dumps are `-`, expected standard input for one of them at most");
  Audit audit;
  audit.command = "diff";
  audit.arguments = options.arguments;
  audit.settings = make_settings(options);
  Options one = options;
  std::size_t read = 0;
  for (std::size_t side = 0; side < options.paths.size(); ++side) {
    one.paths = {options.paths[side]};
    read_paths(one, audit);
    for (; read < audit.facts.documents.size(); ++read) {
      audit.facts.documents[read].side = side == 0 ? Side::before : Side::after;
    }
  }
  compare_dumps(options, audit);
  return audit;
}

void compare_dumps(const Options& options, Audit& audit) {
  const std::vector<const Rule*> rules = choose_rules(audit.settings);
  count_content(audit);
  if (has_two_dumps(audit.facts)) audit.changes = find_changes(audit.facts);
  judge(options, rules, audit);
}

Audit run_audit(const Options& options) {
  Audit audit = read_inputs(options);
  const std::vector<const Rule*> rules = choose_rules(audit.settings);
  prepare(options, rules, audit);
  judge(options, rules, audit);
  return audit;
}

Audit run_probe(const Options& options) {
  Audit audit = read_inputs(options);
  audit.command = "probe";
  const std::vector<const Rule*> rules = choose_rules(audit.settings);
  prepare(options, rules, audit);
  ProbeOptions probe;
  probe.program = "/proc/self/exe";
  probe.workers = options.threads;
  probe.seed = options.seed;
  probe.time_limit_seconds = options.probe_limit.value_or(probe.time_limit_seconds);
  probe.only = options.only;
  probe.python = options.python;
  // Beside a framework they are what makes its operators.
  if (options.frameworks.empty()) probe.imports = options.imports;
  if (::isatty(STDERR_FILENO) == 1) probe.progress = show_progress;
  adopt_orphans();
  ProbeRun run = run_probes(probe, audit.facts);
  audit.probes = run.probes;
  audit.sandbox_lacks = std::move(run.lacks);
  if (!options.frameworks.empty()) {
    FrameworkOptions asked;
    asked.program = probe.program;
    asked.python = options.python;
    asked.frameworks = options.frameworks;
    asked.imports = options.imports;
    asked.seed = options.seed;
    asked.workers = options.threads;
    asked.time_limit_seconds = options.probe_limit.value_or(asked.time_limit_seconds);
    asked.only = options.only;
    asked.progress = probe.progress;
    ProbeRun heard = run_framework_probes(asked, audit.facts);
    audit.probes += heard.probes;
    for (std::string& lack : heard.lacks) {
      const auto known = std::find(audit.sandbox_lacks.begin(), audit.sandbox_lacks.end(), lack);
      if (known == audit.sandbox_lacks.end()) audit.sandbox_lacks.push_back(std::move(lack));
    }
  }
  const std::size_t left = end_orphans();
  if (left > 0) {
    audit.sandbox_lacks.push_back(plural(left, "process", "processes") +
                                  " that went on by themselves were ended after all probes");
  }
  judge(options, rules, audit);
  return audit;
}

}  // namespace opseal
