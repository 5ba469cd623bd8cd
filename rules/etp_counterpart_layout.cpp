#include <optional>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/operator_index.h"

namespace opseal {
namespace {

std::string index_text(const Fact& index) {
  return index.is_count() ? "input " + std::to_string(index.count()) : "no input";
}

// The first place at which two layouts differ.
struct Difference {
  bool found = false;
  std::string message;
  Fact here;
  Fact there;
};

Difference difference(std::string_view what, const Fact& here, const Fact& there) {
  Difference different;
  different.found = true;
  different.message = quote(what) + " is " + index_text(here) + " here and " + index_text(there);
  different.here = here;
  different.there = there;
  return different;
}

// Needs both layouts whole: a part that can't be read may be the very difference.
bool is_whole(const Fact& layout) {
  if (!layout.is_map()) return false;
  // Compared name by name; a layout is a handful of entries, and one of hundreds is none.
  std::uint32_t left = 256;
  for (const auto [parameter, index] : layout.entries()) {
    if (!index.is_count() || --left == 0) return false;
  }
  return true;
}

Difference compare_layouts(const Fact& here, const Fact& there) {
  if (!is_whole(here) || !is_whole(there)) return {};
  for (const auto [parameter, index] : here.entries()) {
    const Fact other = there.at(parameter.text());
    if (!other.said()) return difference(parameter.text(), index, there);
    if (other.count() != index.count()) return difference(parameter.text(), index, other);
  }
  for (const auto [parameter, index] : there.entries()) {
    if (!here.at(parameter.text()).said()) return difference(parameter.text(), here, index);
  }
  return {};
}

Difference compare_index(std::string_view what, const Fact& here, const Fact& there) {
  if (!here.said() || !there.said()) return {};
  if (here.is_null() == there.is_null() && here.count() == there.count()) return {};
  return difference(what, here, there);
}

Difference compare(const Fact& here, const Fact& there) {
  for (const Key layout : {Key::trainables, Key::trainables_without_bias}) {
    const Difference different = compare_layouts(here[layout], there[layout]);
    if (different.found) return different;
  }
  const Difference different = compare_index("x", here[Key::x_index], there[Key::x_index]);
  if (different.found) return different;
  return compare_index("y", here[Key::y_index], there[Key::y_index]);
}

bool comparable(const Fact& here, const Fact& there) {
  return (is_whole(here[Key::trainables]) && is_whole(there[Key::trainables])) ||
         (here[Key::x_index].said() && there[Key::x_index].said());
}

void check(const Facts& facts, Sink& sink) {
  std::optional<OperatorIndex> index;
  for_each_operator(facts, [&](const Fact& manifest, const Fact& op) {
    const Fact etp = op[Key::etp];
    const Fact counterpart = etp[Key::counterpart];
    if (!counterpart.is_text()) return;
    if (!index) index.emplace(facts);
    const std::vector<Fact> found = index->find(manifest, op, counterpart.text());
    if (found.size() != 1) return;
    const Fact other = found.front()[Key::etp];
    if (!other || !comparable(etp, other)) return;
    sink.inspected();
    const Fact batched = other[Key::batched];
    if (batched.is_truth() && !batched.truth()) {
      Finding& finding =
          sink.add(subject_of(manifest, op),
                   "counterpart " + quote(counterpart.text()) + " is unbatched itself",
                   evidence(batched, "said of the counterpart here" + site_of(found.front())));
      finding.related.push_back(evidence(counterpart, "named here" + site_of(op)));
      return;
    }
    const Difference different = compare(etp, other);
    if (!different.found) return;
    Finding& finding = sink.add(subject_of(manifest, op),
                                different.message + " in counterpart " + quote(counterpart.text()),
                                evidence(different.here, "said here" + site_of(op)));
    finding.related.push_back(
        evidence(different.there, "said of the counterpart here" + site_of(found.front())));
  });
}

}  // namespace

extern constinit const Rule etp_counterpart_layout{
    .id = "etp-counterpart-layout",
    .title = "counterpart places its inputs differently, or serves no batch itself",
    .rationale =
        "Under `vmap` the operator is replaced by its counterpart with the same inputs in the same "
        "order, and nothing compares the two registrations. Where they place a parameter or x at "
        "different inputs, a batched model takes one input for another: a weight is trained with "
        "the "
        "gradient of its bias, or not at all, while the unbatched model is right. A counterpart "
        "that is "
        "unbatched itself serves no batch at all.",
    .example =
        R"({"name": "my_mv", "etp": {"trainables": {"weight": 1}, "x_index": 0, "batched": false, "counterpart": "my_mv"}})",
    .fix = "give both the same parameters, indices and order of inputs",
    .severity = Severity::error,
    .inspects =
        "eligibility-trace operator whose counterpart is in the inputs, with both layouts said",
    .needs = {Key::etp, Key::counterpart},
    .check = check,
};

}  // namespace opseal
