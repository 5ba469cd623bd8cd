#include <algorithm>
#include <string>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/sources.h"
#include "opseal/text.h"
#include "rules/name_siblings.h"
#include "rules/odd_one_out.h"

namespace opseal {
namespace {

// The fact that says that the operator is meant to be batched, or not said. `methods`: some kernel
// says how it is batched.
Fact batching_promise(const Fact& op, bool methods) {
  const Fact kernels = methods ? op[Key::kernels] : Fact();
  for (const Fact kernel : kernels.items()) {
    const Fact method = kernel[Key::launch][Key::vmap_method];
    if (is_active_kernel(kernel) && method.is_text() && !method.is("none")) return method;
  }
  for (const Fact tag : op[Key::tags].items()) {
    if (tag.is("vmap") || tag.is("vmapped") || tag.is("batchable")) return tag;
  }
  return {};
}

// Operators that siblings are looked for among; each is held against each other.
constexpr std::size_t most_siblings = 1000;

// In sources of few primitives no neighbour is the rule, but one whose name says that it belongs to
// this one tells.
void judge_siblings(const Fact& manifest, Sink& sink) {
  std::vector<Fact> with;
  std::vector<Fact> without;
  for (const Fact op : manifest[Key::operators].items()) {
    const Fact batching = op[Key::batching];
    if (batching[Key::kind].is("custom")) with.push_back(op);
    // What nothing lowers is never batched either.
    if (batching.said() && !batching && op[Key::kernels].size() > 0) without.push_back(op);
  }
  if (with.size() > most_siblings || without.size() > most_siblings) return;
  for (const Fact& op : without) {
    sink.inspected();
    const auto sibling = std::find_if(with.begin(), with.end(), [&op](const Fact& other) {
      return are_siblings(op[Key::name].text(), other[Key::name].text(), true);
    });
    if (sibling == with.end()) continue;
    Finding& finding = sink.add(
        subject_of(manifest, op),
        "no batching rule, where its sibling " + quote((*sibling)[Key::name].text()) + " has one",
        evidence(op[Key::batching], "made here, and no rule registered" + site_of(op)));
    finding.related.push_back(
        evidence((*sibling)[Key::batching], "rule of the sibling" + site_of(*sibling)));
  }
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    if (!document.settings && manifest[Key::system].is("jax") && is_of_sources(manifest)) {
      judge_siblings(manifest, sink);
    }
  }
  OddOneOut peers;
  const bool methods = facts.said[static_cast<std::size_t>(Key::vmap_method)];
  for_each_operator(facts, [&](const Fact& manifest, const Fact& op) {
    const Fact batching = op[Key::batching];
    if (!batching.said() || (manifest[Key::system].is("jax") && is_of_sources(manifest))) return;
    const Fact promise = batching_promise(op, methods);
    if (!promise.said()) {
      peers.count(manifest, op, batching.present());
      return;
    }
    sink.inspected();
    if (batching) return;
    Finding& finding = sink.add(
        subject_of(manifest, op),
        "no batching rule for an operator that is to be batched (" + quote(promise.text()) + ")",
        evidence(batching, "said to be absent here"));
    finding.related.push_back(evidence(promise, "batching expected here" + site_of(op)));
  });
  sink.inspected(peers.judged_keeping());
  peers.for_each_lacking([&sink](const OddOneOut::Lacking& lacking) {
    sink.inspected();
    if (!lacking.is_odd()) return;
    sink.add(subject_of(lacking.manifest, lacking.op),
             "no batching rule, where " + std::to_string(lacking.keeping) + " of " +
                 plural(lacking.peers, "operator") +
                 " of the same namespace and platforms have one",
             evidence(lacking.op[Key::batching], "said to be absent here" + site_of(lacking.op)));
  });
}

}  // namespace

extern constinit const Rule batch_missing{
    .id = "batch-missing",
    .title = "operator that is to be batched has no batching rule",
    .rationale =
        "`vmap` rewrites each operator by its batching rule. This one has none although its kernel "
        "says how it is to be batched, or although nearly all of its neighbours, or in sources the "
        "one whose name is nearly the same, have a rule: the "
        "first user who maps over it, often through a library that does so inside, gets an error.",
    .example =
        R"({"name": "scan", "batching": null, "kernels": [{"platform": "gpu", "launch": {"vmap_method": "sequential"}}]})",
    .fix = "register a batching rule; one that loops over the batch is right for every operator",
    .severity = Severity::warning,
    .inspects = "operator whose batching rule is said, and that is to be batched or has peers",
    .needs = {Key::operators, Key::batching},
    .check = check,
};

}  // namespace opseal
