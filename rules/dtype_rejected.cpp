#include <algorithm>
#include <iterator>

#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/dtype_words.h"
#include "rules/last_resort.h"

namespace opseal {
namespace {

struct Bridge {
  std::string_view backend;
  // In words, for messages.
  std::string_view meaning;
  // Beside `carried_by_numba`.
  bool bfloat16;
};

// The bridge between XLA's buffers and numba turns XLA's dtype number into a NumPy dtype and
// refuses all that NumPy lacks: floats of 8 bits and less, integers below 8 bits. Source: the
// accept and reject tables of brainevent's `numba_ffi`, and its CUDA half, which has no bfloat16.
constexpr std::string_view carried_by_numba[] = {"bool", "i8",  "i16",  "i32", "i64",
                                                 "u8",   "u16", "u32",  "u64", "f16",
                                                 "f32",  "f64", "bf16", "c64", "c128"};
constexpr Bridge bridges[] = {
    {"numba", "numba's bridge to XLA", true},
    {"numba_cuda", "numba's CUDA bridge to XLA", false},
};

const Bridge* bridge_of(const Fact& kernel) {
  for (const Bridge& bridge : bridges) {
    if (kernel[Key::backend].is(bridge.backend)) return &bridge;
  }
  return nullptr;
}

bool carries(const Bridge& bridge, const Dtype& dtype) {
  if (dtype.kind == DtypeKind::opaque || !dtype.first.empty()) return true;
  if (dtype.name == "bf16") return bridge.bfloat16;
  return std::find(std::begin(carried_by_numba), std::end(carried_by_numba), dtype.name) !=
         std::end(carried_by_numba);
}

struct Claim {
  std::string_view dtype;
  Fact text;
};

class KernelCheck {
 public:
  KernelCheck(DtypeWords& words, Sink& sink) : words_(words), sink_(sink) {}

  // To be called before the kernels of each manifest.
  void enter(const Fact& manifest) {
    // An engine of its own may pass bytes to numba under any name; XLA's bridge can't.
    xla_ = registers_with_xla(manifest);
  }

  void judge(const Fact& manifest, const Fact& op, const Fact& kernel) {
    const Fact refused = kernel[Key::refused];
    Fact failed = kernel[Key::failed];
    if (failed.said() && chain_ends_.is_last_resort(manifest, op, kernel)) failed = {};
    const Bridge* bridge = xla_ ? bridge_of(kernel) : nullptr;
    if (!refused.said() && !failed.said() && bridge == nullptr) return;
    collect_claims(kernel);
    if (claims_.empty()) return;
    sink_.inspected();
    report_listed(manifest, op, kernel, refused, "refuses", "refused here");
    report_listed(manifest, op, kernel, failed, "fails on", "failed here");
    if (bridge != nullptr) report_bridge(manifest, op, kernel, *bridge);
  }

 private:
  // What a word stands for; a word of two meanings stands for itself alone.
  std::string_view meaning(const Fact& text) {
    const Dtype* dtype = words_.read(text).dtype;
    return dtype == nullptr || !dtype->first.empty() ? text.text() : dtype->name;
  }

  void collect_claims(const Fact& kernel) {
    claims_.clear();
    for (const Key key : {Key::dtypes, Key::signatures, Key::type_constraints}) {
      for_each_dtype(kernel[key], [&](const Fact& text) {
        claims_.push_back({meaning(text), text});
      });
    }
    // Not `stable_sort`, which allocates: a million kernels pass here.
    std::sort(claims_.begin(), claims_.end(), [](const Claim& a, const Claim& b) {
      return a.dtype != b.dtype ? a.dtype < b.dtype : a.text.index() < b.text.index();
    });
  }

  const Claim* find_claim(std::string_view dtype) const {
    const auto place = std::lower_bound(
        claims_.begin(), claims_.end(), dtype,
        [](const Claim& claim, std::string_view wanted) { return claim.dtype < wanted; });
    return place != claims_.end() && place->dtype == dtype ? &*place : nullptr;
  }

  void report_listed(const Fact& manifest, const Fact& op, const Fact& kernel, const Fact& list,
                     std::string_view verb, std::string_view label) {
    std::vector<std::string> names;
    const Claim* first = nullptr;
    Fact other;
    for (const Fact text : list.items()) {
      if (!text.is_text()) continue;
      const Claim* claim = find_claim(meaning(text));
      if (claim == nullptr) continue;
      if (first == nullptr) {
        first = claim;
        other = text;
      }
      names.emplace_back(claim->text.text());
    }
    if (first == nullptr) return;
    Finding& finding =
        sink_.add(subject_of(manifest, op),
                  "kernel " + decision_text(kernel) + " claims " + quote_list(names) + " and " +
                      std::string(verb) + (names.size() == 1 ? " it" : " them"),
                  evidence(first->text, "claimed here" + site_of(kernel)));
    finding.related.push_back(evidence(other, std::string(label)));
  }

  void report_bridge(const Fact& manifest, const Fact& op, const Fact& kernel,
                     const Bridge& bridge) {
    std::vector<std::string> names;
    std::string_view before;
    Fact first;
    for (const Claim& claim : claims_) {
      const Dtype* dtype = words_.read(claim.text).dtype;
      if (dtype == nullptr || carries(bridge, *dtype) || claim.dtype == before) continue;
      if (names.empty()) first = claim.text;
      before = claim.dtype;
      names.emplace_back(claim.text.text());
    }
    if (names.empty()) return;
    Finding& finding =
        sink_.add(subject_of(manifest, op),
                  "kernel " + decision_text(kernel) + " claims " + quote_list(names) + ", which " +
                      std::string(bridge.meaning) + " cannot carry",
                  evidence(first, "claimed here" + site_of(kernel)));
    finding.related.push_back(evidence(kernel[Key::backend], "backend with that bridge"));
  }

  DtypeWords& words_;
  Sink& sink_;
  ChainEnds chain_ends_;
  std::vector<Claim> claims_;
  bool xla_ = false;
};

void check(const Facts& facts, Sink& sink) {
  DtypeWords words(facts);
  KernelCheck kernels(words, sink);
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    kernels.enter(manifest);
    for (const Fact op : manifest[Key::operators].items()) {
      for (const Fact kernel : op[Key::kernels].items()) {
        if (is_active_kernel(kernel)) kernels.judge(manifest, op, kernel);
      }
    }
  }
}

}  // namespace

extern constinit const Rule dtype_rejected{
    .id = "dtype-rejected",
    .title = "kernel claims a dtype that it refuses or cannot be handed",
    .rationale =
        "The claim decides where work is placed. If the kernel then says no, or the layer that "
        "hands it the buffers doesn't know the dtype, the call fails at run time; an older bridge "
        "went on with another dtype instead, and the kernel read raw bytes as numbers.",
    .example =
        R"({"name": "mv", "kernels": [{"platform": "cuda", "dtypes": ["f32", "i4"], "refused": ["i4"]}]})",
    .fix = "drop the dtype from what the kernel claims, or make it work",
    .severity = Severity::error,
    .inspects = "kernel with stated dtypes whose refusals, failures or bridge are known",
    .needs = {Key::operators, Key::kernels},
    .check = check,
};

}  // namespace opseal
