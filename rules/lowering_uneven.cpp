#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/sources.h"
#include "opseal/text.h"
#include "rules/name_siblings.h"

namespace opseal {
namespace {

// Each is held against each other; packages have tens.
constexpr std::size_t most_primitives = 1000;

constexpr std::array<std::string_view, 3> platforms{"cpu", "cuda", "rocm"};

struct Lowered {
  Fact op;
  std::array<Fact, platforms.size()> on;
};

// The lowerings of a primitive by platform; nothing where one is for all, or for one that isn't
// known.
bool read(const Fact& op, Lowered& lowered) {
  const Fact kernels = op[Key::kernels];
  if (!all_read(kernels) || kernels.size() == 0) return false;
  lowered.op = op;
  for (const Fact kernel : kernels.items()) {
    const Fact platform = kernel[Key::platform];
    if (!platform.is_text() || platform.is("any")) return false;
    for (std::size_t i = 0; i < platforms.size(); ++i) {
      const bool both = platform.is("gpu") && platforms[i] != "cpu";
      if (platform.is(platforms[i]) || both) lowered.on[i] = kernel;
    }
  }
  return true;
}

// The platforms of one, if they are more than those of the other.
std::vector<std::size_t> further(const Lowered& more, const Lowered& less) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < platforms.size(); ++i) {
    if (less.on[i].said() && !more.on[i].said()) return {};
    if (more.on[i].said() && !less.on[i].said()) found.push_back(i);
  }
  return found;
}

void judge(const Fact& manifest, Sink& sink) {
  std::vector<Lowered> all;
  for (const Fact op : manifest[Key::operators].items()) {
    Lowered lowered;
    if (all.size() <= most_primitives && read(op, lowered)) all.push_back(lowered);
  }
  if (all.size() > most_primitives) return;
  for (const Lowered& less : all) {
    for (const Lowered& more : all) {
      if (!are_siblings(less.op[Key::name].text(), more.op[Key::name].text(), false)) continue;
      sink.inspected();
      const std::vector<std::size_t> lacking = further(more, less);
      if (lacking.empty()) continue;
      std::vector<std::string> names;
      for (const std::size_t i : lacking) names.emplace_back(platforms[i]);
      const Fact there = more.on[lacking.front()];
      Finding& finding = sink.add(
          subject_of(manifest, less.op),
          "no lowering for " + quote_list(names) + ", for which its sibling " +
              quote(more.op[Key::name].text()) + " has one",
          evidence(*less.op[Key::kernels].items().begin(), "lowered here" + site_of(less.op)));
      finding.related.push_back(evidence(there, "lowering of the sibling" + site_of(there)));
      break;
    }
  }
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    if (document.settings || !manifest[Key::system].is("jax") || !is_of_sources(manifest)) continue;
    // What isn't given may register the rest.
    if (manifest[Key::tree][Key::partial].truth()) continue;
    judge(manifest, sink);
  }
}

}  // namespace

extern constinit const Rule lowering_uneven{
    .id = "lowering-uneven",
    .title = "primitive without a lowering for a platform that its sibling is lowered for",
    .rationale =
        "Two primitives whose names say that they belong together (`nufft1` and `nufft2`, a `fwd` "
        "and its `bwd`) are lowered for different platforms. On the one that was forgotten the "
        "first works and the second raises \"MLIR translation rule not found\", for a backward in "
        "the first training step.",
    .example =
        R"({"opseal_manifest": 1, "tree": {"files": 1}, "producer": {"name": "sources"}, "system": "jax", )"
        R"("operators": [{"name": "fft1", "kernels": [{"platform": "cpu"}, {"platform": "cuda"}]}, )"
        R"({"name": "fft2", "kernels": [{"platform": "cpu"}]}]})",
    .fix = "register a lowering for that platform too",
    .severity = Severity::warning,
    .inspects = "primitive of JAX, lowered for certain platforms alone, and a sibling by name",
    .needs = {Key::operators, Key::kernels, Key::platform},
    .check = check,
};

}  // namespace opseal
