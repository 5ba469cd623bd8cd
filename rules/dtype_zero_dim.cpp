#include "opseal/rule.h"
#include "rules/backend_limits.h"

namespace opseal {
namespace {

// The first input or output that always has no axis, or not said.
Fact zero_dim_operand(const Fact& op, bool& any_rank) {
  Fact found;
  for (const Key key : {Key::inputs, Key::outputs}) {
    for (const Fact operand : op[key].items()) {
      const Fact rank = operand[Key::rank];
      const Fact shape = operand[Key::shape];
      any_rank = any_rank || rank.is_count() || shape.is_list();
      const bool none = rank.is_count() ? rank.count() == 0 : shape.is_list() && shape.size() == 0;
      if (none && !found.said()) found = rank.is_count() ? rank : shape;
    }
  }
  return found;
}

// Unnamed operands are only "an operand".
std::string operand_name(const Fact& op, const Fact& place) {
  for (const Key key : {Key::inputs, Key::outputs}) {
    for (const Fact operand : op[key].items()) {
      if (operand[Key::rank] == place || operand[Key::shape] == place) {
        return operand[Key::name].is_text() ? "operand " + quote(operand[Key::name].text())
                                            : std::string("an operand");
      }
    }
  }
  return "an operand";
}

void check(const Facts& facts, Sink& sink) {
  const auto said = [&facts](Key key) { return facts.said[static_cast<std::size_t>(key)]; };
  if (!said(Key::rank) && !said(Key::shape)) return;
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    PlatformNames names(manifest);
    for (const Fact op : manifest[Key::operators].items()) {
      if (!op[Key::inputs].is_list() && !op[Key::outputs].is_list()) continue;
      bool any_rank = false;
      const Fact place = zero_dim_operand(op, any_rank);
      if (!any_rank) continue;
      for (const Fact kernel : op[Key::kernels].items()) {
        if (!is_active_kernel(kernel) || kernel[Key::stub].truth()) continue;
        const std::optional<BackendLimit> limit = limit_of(manifest, kernel, names);
        if (!limit || !limit->refuses_zero_dim) continue;
        sink.inspected();
        if (!place.said()) continue;
        Finding& finding = sink.add(subject_of(manifest, op),
                                    operand_name(op, place) + " has 0 axes, and kernel " +
                                        decision_text(kernel) + " takes arrays of 1 axis or more",
                                    evidence(place, "0 axes stated here" + site_of(op)));
        finding.related.push_back(
            evidence(kernel[Key::backend], "backend without 0-d arrays" + site_of(kernel)));
      }
    }
  }
}

}  // namespace

extern constinit const Rule dtype_zero_dim{
    .id = "dtype-zero-dim",
    .title = "scalar operand on a backend without 0-d arrays",
    .rationale =
        "A scalar is an array without axes. This backend wraps buffers as arrays of one axis or "
        "more and refuses it, so that the call fails there and works on every other backend.",
    .example =
        R"({"opseal_manifest": 1, "system": "jax", "operators": [{"name": "scale", "inputs": )"
        R"([{"name": "x", "rank": 1}, {"name": "alpha", "rank": 0}], "kernels": )"
        R"([{"platform": "gpu", "backend": "warp"}]}]})",
    .fix = "pass the scalar as an attribute or as an array of one element",
    .severity = Severity::warning,
    .inspects = "kernel of an operator with stated ranks, on a backend without 0-d arrays",
    .needs = {Key::operators, Key::kernels, Key::backend},
    .check = check,
};

}  // namespace opseal
