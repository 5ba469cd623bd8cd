#include <algorithm>
#include <string>
#include <vector>

#include "opseal/text.h"
#include "rules/cross_dtypes.h"
#include "rules/cross_signature.h"

namespace opseal {
namespace {

struct Dtypes {
  std::vector<PlatformDtypes> platforms;
  // Somebody joined it, so that what is mostly left out on purpose counts too.
  bool stated = false;
  explicit operator bool() const {
    return std::any_of(platforms.begin(), platforms.end(),
                       [](const PlatformDtypes& side) { return !side.taken.empty(); });
  }
};

// Integers are indices here and data there, and each framework has its own default for them;
// 64-bit floats are left out wherever nobody computes with them.
bool is_compared(const Dtype& dtype, bool stated) {
  if (dtype.kind == DtypeKind::block) return true;
  if (dtype.kind != DtypeKind::floating && dtype.kind != DtypeKind::complex) return false;
  const int bits = dtype.kind == DtypeKind::complex ? dtype.bits / 2 : dtype.bits;
  return stated || bits < 64;
}

struct Gap {
  const PlatformDtypes* there = nullptr;
  const PlatformDtypes* here = nullptr;
  std::vector<PlatformDtypes::Taken> dtypes;
};

// `here` serves the platform, says all that it takes there, and this is not among it.
const PlatformDtypes* lacking(const PlatformDtypes& there, const Dtype& dtype, const Dtypes& here) {
  const PlatformDtypes* lacks = nullptr;
  for (const PlatformDtypes& side : here.platforms) {
    if (!platform_reaches(there.platform, side.platform)) continue;
    if (!side.complete || side.takes(dtype) || side.refuses(dtype)) return nullptr;
    if (lacks == nullptr) lacks = &side;
  }
  return lacks;
}

// The first platform on which `b` lacks something that `a` takes, with all that it lacks there.
Gap find_gap(const Dtypes& a, const Dtypes& b) {
  const bool stated = a.stated && b.stated;
  for (const PlatformDtypes& there : a.platforms) {
    Gap gap;
    for (const PlatformDtypes::Taken& taken : there.taken) {
      if (!is_compared(*taken.dtype, stated)) continue;
      const PlatformDtypes* here = lacking(there, *taken.dtype, b);
      if (here == nullptr || here->taken.empty()) continue;
      gap.here = here;
      gap.there = &there;
      gap.dtypes.push_back(taken);
    }
    if (gap.here != nullptr) return gap;
  }
  return {};
}

bool agree(const Dtypes& a, const Dtypes& b) {
  return find_gap(a, b).here == nullptr && find_gap(b, a).here == nullptr;
}

std::string on_platform(const PlatformDtypes& side) {
  return side.written.is_text() ? " on " + quote(side.written.text()) : std::string();
}

void check(const Facts& facts, Sink& sink) {
  DtypeWords words(facts);
  for (const CrossOperator& op : cross_operators(facts)) {
    hold_together(
        op, sink,
        [&words](const CrossColumn& column) {
          if (column.target) return Dtypes();
          return Dtypes{platform_dtypes(column.manifest, column.item, words), column.stated.said()};
        },
        agree,
        [&sink](const CrossColumn& reference, const CrossColumn& other, const Dtypes& expected,
                const Dtypes& found) {
          Gap gap = find_gap(expected, found);
          const bool turned = gap.here == nullptr;
          if (turned) gap = find_gap(found, expected);
          const CrossColumn& lacking = turned ? reference : other;
          const CrossColumn& taking = turned ? other : reference;
          std::vector<std::string> dtypes;
          for (const PlatformDtypes::Taken& taken : gap.dtypes)
            dtypes.emplace_back(taken.text.text());
          Finding& finding =
              sink.add(subject_of(lacking),
                       column_text(lacking) + " does not take " + quote_list(dtypes) +
                           on_platform(*gap.here) + ", " + column_text(taking) + " does" +
                           on_platform(*gap.there),
                       evidence(gap.here->words, "dtypes listed here" + site_of(lacking.item)));
          finding.related.push_back(evidence(gap.dtypes.front().text, "taken here"));
          add_join_evidence(taking, lacking, finding);
          finding.severity = severity_of_decision(reference, other);
        });
  }
}

}  // namespace

extern constinit const Rule cross_dtype_gap{
    .id = "cross-dtype-gap",
    .title = "operator takes a dtype in one system and not in another",
    .rationale =
        "A project that offers one operator in several frameworks promises the same kernels in "
        "each. A dtype that was added in one registration and forgotten in the next makes a model "
        "run in one framework and fail, or fall back to a slow composition, in the other.",
    .example =
        R"({"opseal_manifest": 1, "joins": [["a::rope", "b::rope"]], "operators": [)"
        R"({"name": "rope", "namespace": "a", "kernels": [{"platform": "cuda", "dtypes": ["f32", "bf16"]}]},)"
        R"( {"name": "rope", "namespace": "b", "kernels": [{"platform": "gpu", "dtypes": ["f32"]}]}]})",
    .fix =
        "register the kernel in both systems, or list the dtype under `refused` if it is left out "
        "on purpose",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .inspects = "operator that another system has too, both with stated dtypes",
    .asked_by = Key::joins,
    .check = check,
};

}  // namespace opseal
