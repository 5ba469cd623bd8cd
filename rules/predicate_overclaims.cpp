#include <algorithm>

#include "opseal/rule.h"
#include "rules/dispatch_kernels.h"
#include "rules/last_resort.h"

namespace opseal {
namespace {

constexpr std::string_view at_the_end = "the last of the fallback chain";

// Dtypes that the last resort said yes to and failed on. What another backend fails on is for
// `dtype-rejected` to say.
void check_failures(const Fact& manifest, const Fact& op, DtypeWords& words, ChainEnds& chain_ends,
                    Sink& sink) {
  std::vector<std::string> names;
  Fact first;
  Fact failed_here;
  Fact where;
  for (const Fact kernel : op[Key::kernels].items()) {
    const Fact failed = kernel[Key::failed];
    if (!failed.is_list() || !is_active_kernel(kernel)) continue;
    if (!chain_ends.is_last_resort(manifest, op, kernel) || !says_what_it_takes(kernel)) continue;
    sink.inspected();
    if (failed.size() == 0) continue;
    KindSet broken;
    broken.add_all(failed);
    broken.seal();
    for_each_taken(kernel, [&](const Fact& text) {
      if (!broken.has(text.text())) return;
      if (!first.said()) {
        first = text;
        failed_here = failed;
        where = kernel;
      }
      names.emplace_back(words.read(text).dtype != nullptr ? words.read(text).dtype->name
                                                           : text.text());
    });
  }
  if (names.empty()) return;
  // Signatures name a dtype once for each operand.
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  Finding& finding =
      sink.add(subject_of(manifest, op),
               "kernel " + decision_text(where) + ", " + std::string(at_the_end) + ", claims " +
                   quote_list(names) + " and fails on " + (names.size() == 1 ? "it" : "them"),
               evidence(first, "claimed here" + site_of(where)));
  finding.related.push_back(evidence(failed_here, "failures listed here"));
}

// Kinds that the predicate of the last resort accepts and no kernel takes.
void check_claims(const Fact& manifest, const Fact& dispatch, DispatchKernels& registry,
                  ChainEnds& chain_ends, Sink& sink) {
  const Fact predicate = dispatch[Key::predicate];
  if (dispatch[Key::table].said() || !predicate[Key::kinds].is_list()) return;
  const DispatchKernels::Taken* taken = registry.find(dispatch);
  if (taken == nullptr || !taken->known || taken->kernels == 0) return;
  if (!chain_ends.ends_chain(manifest, taken->op, taken->platform, dispatch[Key::backend])) return;
  sink.inspected();
  KindSet waived;
  waived.add_members(dispatch[Key::exceptions]);
  waived.seal();
  std::vector<std::string> names;
  Fact first;
  for (const Fact kind : predicate[Key::kinds].items()) {
    if (!kind.is_text() || taken->kinds.has(kind.text()) || waived.may_have(kind.text())) {
      continue;
    }
    if (names.empty()) first = kind;
    names.emplace_back(kind.text());
  }
  if (names.empty()) return;
  Finding& finding =
      sink.add(dispatch_subject(dispatch),
               "predicate of " + std::string(at_the_end) + " accepts " + quote_list(names) +
                   ", and no kernel takes " + (names.size() == 1 ? "it" : "them"),
               evidence(first, "claimed here" + part_site(predicate)));
  finding.related.push_back(
      evidence(taken->op[Key::kernels], "kernels registered here" + site_of(taken->op)));
}

// A predicate that accepts what it names nowhere, and kinds that the dispatch has nothing for.
void check_rest(const Fact& dispatch, Sink& sink) {
  const Fact predicate = dispatch[Key::predicate];
  const Fact table = dispatch[Key::table];
  const Fact entries = table[Key::entries];
  if (!predicate[Key::otherwise].truth() || !all_read(dispatch[Key::kinds])) return;
  if (!all_kinds_read(entries) || table[Key::default_].is_text()) return;
  sink.inspected();
  KindSet known;
  known.add_members(entries);
  known.add_members(dispatch[Key::exceptions]);
  // What is named is for `claim-without-launch` to say.
  known.add_all(predicate[Key::kinds]);
  known.add_all(predicate[Key::refused]);
  known.seal();
  std::vector<std::string> names;
  for (const Fact kind : dispatch[Key::kinds].items()) {
    if (kind.is_text() && !known.may_have(kind.text())) names.emplace_back(kind.text());
  }
  if (names.empty()) return;
  Finding& finding =
      sink.add(dispatch_subject(dispatch),
               "predicate accepts whatever it does not name, and the dispatch has "
               "nothing for " +
                   quote_list(names),
               evidence(predicate[Key::otherwise], "accepted here" + part_site(predicate)));
  finding.related.push_back(evidence(entries, "launchers listed here" + part_site(table)));
}

void check(const Facts& facts, Sink& sink) {
  DtypeWords words(facts);
  ChainEnds chain_ends;
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    for (const Fact op : manifest[Key::operators].items()) {
      check_failures(manifest, op, words, chain_ends, sink);
    }
    if (manifest[Key::dispatch].size() == 0) continue;
    DispatchKernels registry(manifest);
    for (const Fact dispatch : manifest[Key::dispatch].items()) {
      if (!dispatch.is_object()) continue;
      check_claims(manifest, dispatch, registry, chain_ends, sink);
      check_rest(dispatch, sink);
    }
  }
}

}  // namespace

extern constinit const Rule predicate_overclaims{
    .id = "predicate-overclaims",
    .title = "last backend of a fallback chain accepts what it cannot compute",
    .rationale =
        "The last backend says yes to everything, because nothing comes after a no. So the "
        "scheduler never learns that a dtype has no code there: the call aborts in the kernel, in "
        "the middle of a run, instead of being refused when the graph is placed.",
    .example =
        R"({"name": "add", "fallback": ["cpu"], "kernels": [{"platform": "cpu", "dtypes": ["f32", "i32"],)"
        R"( "failed": ["i32"]}]})",
    .fix = "let the predicate refuse the dtype, so that the caller gets an error it can handle",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .inspects =
        "kernel or predicate of the last backend of a chain, or predicate that accepts what it "
        "does not name, whose claims and kernels are known",
    .needs = {},
    .check = check,
};

}  // namespace opseal
