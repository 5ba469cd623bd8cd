#include <cstdint>
#include <string>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

void look_at(const Fact& manifest, const Fact& op, Sink& sink) {
  const Fact promised = op[Key::abstract][Key::rank];
  if (!all_read(promised)) return;
  for (const Fact kernel : op[Key::kernels].items()) {
    const Fact computed = kernel[Key::function][Key::rank];
    if (!is_active_kernel(kernel) || !all_read(computed)) continue;
    if (computed.size() != promised.size()) continue;
    sink.inspected();
    std::uint32_t at = 0;
    auto fake = promised.items().begin();
    for (const Fact rank : computed.items()) {
      const Fact said = *fake;
      ++fake;
      ++at;
      if (!rank.is_count() || !said.is_count() || rank.count() == said.count()) continue;
      const std::string result =
          computed.size() == 1 ? std::string("result") : "result " + std::to_string(at);
      Finding& finding = sink.add(subject_of(manifest, op),
                                  result + " of the shape function has " +
                                      plural(said.count(), "dimension", "dimensions") +
                                      ", that of the kernel " + std::to_string(rank.count()),
                                  evidence(said, "this shape function"));
      finding.related.push_back(evidence(rank, "this kernel" + site_of(kernel)));
      return;
    }
  }
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts,
                    [&sink](const Fact& manifest, const Fact& op) { look_at(manifest, op, sink); });
}

}  // namespace

extern constinit const Rule fake_rank{
    .id = "fake-rank",
    .title = "shape function and kernel give the result another number of dimensions",
    .rationale =
        "A compiled model plans what follows an operator by the shape that its shape function "
        "says. Where the kernel hands back a tensor of more or fewer dimensions, the compiled "
        "program indexes it by strides that it doesn't have; eager runs, which never ask the shape "
        "function, work.",
    .example =
        R"({"opseal_manifest": 1, "system": "torch", "operators": [{"name": "lib::pick", "schema": "lib::pick(Tensor x) -> Tensor", )"
        R"("abstract": {"name": "pick_fake", "rank": [1]}, )"
        R"("kernels": [{"platform": "CUDA", "function": {"name": "pick", "rank": [2]}}]}]})",
    .fix = "let the shape function make a tensor of the kernel's shape",
    .severity = Severity::warning,
    .inspects = "kernel whose results' dimensions, and those of the shape function, are counted",
    .needs = {Key::operators, Key::kernels, Key::abstract, Key::rank},
    .check = check,
};

}  // namespace opseal
