#include <algorithm>
#include <optional>

#include "opseal/rule.h"
#include "rules/backend_limits.h"
#include "rules/dispatch_kernels.h"

namespace opseal {
namespace {

constexpr std::size_t most_names = 64;

void judge(const Fact& manifest, const Fact& op, const Fact& kernel, const BackendLimit& limit,
           DtypeWords& words, Sink& sink) {
  std::vector<std::string> names;
  Fact first;
  std::optional<KindSet> disowned;
  bool claims = false;
  for_each_taken(kernel, [&](const Fact& text) {
    const Dtype* dtype = words.read(text).dtype;
    if (dtype == nullptr) return;
    claims = true;
    if (!cannot_take(limit, *dtype) || names.size() == most_names) return;
    if (std::find(names.begin(), names.end(), text.text()) != names.end()) return;
    if (!disowned) disowned = disowned_by(kernel);
    if (disowned->may_have(text.text())) return;
    if (names.empty()) first = text;
    names.emplace_back(text.text());
  });
  if (!claims) return;
  sink.inspected();
  if (names.empty()) return;
  Finding& finding = sink.add(subject_of(manifest, op),
                              "kernel " + decision_text(kernel) + " claims " + quote_list(names) +
                                  ", which " + quote(limit.backend) + " has no type for",
                              evidence(first, "claimed here" + site_of(kernel)));
  const bool by_backend = lower(kernel[Key::backend].text()) == limit.backend;
  finding.related.push_back(
      evidence(kernel[by_backend ? Key::backend : Key::platform], "backend stated here"));
}

void check(const Facts& facts, Sink& sink) {
  DtypeWords words(facts);
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    PlatformNames names(manifest);
    for (const Fact op : manifest[Key::operators].items()) {
      for (const Fact kernel : op[Key::kernels].items()) {
        if (!is_active_kernel(kernel) || kernel[Key::stub].truth()) continue;
        const std::optional<BackendLimit> limit = limit_of(manifest, kernel, names);
        if (limit) judge(manifest, op, kernel, *limit, words, sink);
      }
    }
  }
}

}  // namespace

extern constinit const Rule dtype_backend_unsupported{
    .id = "dtype-backend-unsupported",
    .title = "kernel claims a dtype for which its backend has no type",
    .rationale =
        "The claim was copied from another backend's list. On this one no kernel for the dtype can "
        "even be written: the first call fails while the kernel is compiled or the buffer is "
        "wrapped, with a message about types that names neither the operator nor its registration.",
    .example = R"({"name": "mv", "kernels": [{"platform": "metal", "dtypes": ["f32", "f64"]}]})",
    .fix = "drop the dtype from the claim, or convert to one that the backend has",
    .severity = Severity::error,
    .inspects = "kernel with stated dtypes on a backend whose types are known",
    .needs = {Key::operators, Key::kernels},
    .check = check,
};

}  // namespace opseal
