#include <algorithm>

#include "opseal/rule.h"
#include "rules/dispatch_kernels.h"

namespace opseal {
namespace {

// Kinds that a finding names; real tables have some twenty.
constexpr std::size_t most_names = 64;

// What the predicate doesn't accept: said outright in a list of refusals, or, where it has none,
// whatever its list of kinds leaves out.
class NotAccepted {
 public:
  explicit NotAccepted(const Fact& dispatch) {
    const Fact predicate = dispatch[Key::predicate];
    has_refusals_ = predicate[Key::refused].is_list();
    refused_.add_all(predicate[Key::refused]);
    refused_.seal();
    accepted_.add_all(predicate[Key::kinds]);
    accepted_.add_members(dispatch[Key::exceptions]);
    accepted_.seal();
  }
  bool has(std::string_view kind) const {
    return !accepted_.may_have(kind) && (!has_refusals_ || refused_.has(kind));
  }

 private:
  KindSet refused_;
  KindSet accepted_;
  bool has_refusals_ = false;
};

void check_record(const Fact& dispatch, DispatchKernels& registry, Sink& sink) {
  const Fact predicate = dispatch[Key::predicate];
  // With a table, `launch-without-claim` compares the two.
  if (dispatch[Key::table].said() || !all_read(predicate[Key::kinds])) return;
  if (predicate[Key::refused].said() && !all_read(predicate[Key::refused])) return;
  const Fact backend = dispatch[Key::backend];
  const DispatchKernels::Taken* taken = registry.find(dispatch);
  if (taken == nullptr || taken->kernels == 0 || !backend.is_text()) return;
  const NotAccepted closed(dispatch);
  std::vector<std::string> names;
  Fact first;
  bool inspected = false;
  for (const Fact op : registry.operators_of(dispatch)) {
    for (const Fact kernel : op[Key::kernels].items()) {
      if (!is_active_kernel(kernel) || kernel[Key::stub].truth()) continue;
      if (!registry.is_of(kernel, backend)) continue;
      const KindSet disowned = disowned_by(kernel);
      for_each_taken(kernel, [&](const Fact& text) {
        inspected = true;
        if (names.size() == most_names || !closed.has(text.text())) return;
        if (disowned.may_have(text.text())) return;
        if (std::find(names.begin(), names.end(), text.text()) != names.end()) return;
        if (names.empty()) first = text;
        names.emplace_back(text.text());
      });
    }
  }
  if (!inspected) return;
  sink.inspected();
  if (names.empty()) return;
  Finding& finding =
      sink.add(dispatch_subject(dispatch),
               "kernel takes " + quote_list(names) + ", which the predicate " +
                   (predicate[Key::refused].is_list() ? "refuses" : "does not accept") +
                   part_site(predicate),
               evidence(first, "taken here"));
  finding.related.push_back(predicate[Key::refused].is_list()
                                ? evidence(predicate[Key::refused], "refusals listed here")
                                : evidence(predicate[Key::kinds], "accepted kinds listed here"));
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    if (manifest[Key::dispatch].size() == 0) continue;
    DispatchKernels registry(manifest);
    for (const Fact dispatch : manifest[Key::dispatch].items()) {
      if (dispatch.is_object()) check_record(dispatch, registry, sink);
    }
  }
}

}  // namespace

extern constinit const Rule predicate_underclaims{
    .id = "predicate-underclaims",
    .title = "support predicate refuses a dtype that a registered kernel takes",
    .rationale =
        "The kernel is there, and the predicate that decides the placement says no, so the work "
        "goes to a slower backend without a message. Results are right, so that only a benchmark "
        "shows it.",
    .example =
        R"({"opseal_manifest": 1, "system": "engine", "operators": [{"name": "mv", "kernels": )"
        R"([{"platform": "cuda", "dtypes": ["f32", "Q4_0"]}]}], "dispatch": [{"operator": "mv", )"
        R"("backend": "cuda", "predicate": {"kinds": ["f32"], "refused": ["Q4_0"]}}]})",
    .fix =
        "let the predicate accept the dtype; better, derive it from the registry; a manifest may "
        "name the dtype under `exceptions`",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .inspects = "predicate beside kernels of its operator and backend that say what they take",
    .needs = {Key::dispatch, Key::predicate, Key::kinds, Key::kernels},
    .check = check,
};

}  // namespace opseal
