#include <algorithm>

#include "opseal/rule.h"
#include "opseal/sources.h"
#include "opseal/text.h"
#include "rules/declared_dtypes.h"
#include "rules/kernel_coverage.h"

namespace opseal {
namespace {

// Comparisons of dtype words for one operator; real ones take some hundred.
constexpr std::size_t most_comparisons = 100000;

// Domains whose schemas were written before any kernel, for all providers at once. That a provider
// leaves most of their types out is its plan and no promise broken: 227 of the operators that ONNX
// Runtime's CPU provider serves do.
bool is_standard_schema(const Fact& manifest, const Fact& op) {
  const std::string_view system = manifest[Key::system].text();
  // In a tree of sources the definition stands beside its kernels, by the same hand.
  if (system == "tensorflow" && is_of_sources(manifest)) return false;
  if (system == "tensorflow" || system == "tflite" || system == "executorch") return true;
  const std::string_view domain = op[Key::namespace_].text();
  // ONNX's own, whoever runs them.
  if (domain.starts_with("ai.onnx")) return true;
  if (system != "onnxruntime") return false;
  return domain.empty() || domain.starts_with("com.microsoft") || domain.starts_with("com.ms.");
}

class OperatorCheck {
 public:
  OperatorCheck(DtypeWords& words, Sink& sink) : words_(words), sink_(sink) {}

  void judge(const Fact& manifest, const Fact& op) {
    const Fact kernels = op[Key::kernels];
    if (kernels.size() == 0 || op[Key::function_body].truth()) return;
    if (!op[Key::inputs].is_list() && !op[Key::type_constraints].is_map()) return;
    // Along a chain it is `fallback-chain-hole` that counts.
    if (op[Key::fallback].size() > 0 || op[Key::versions][Key::until].is_count()) return;
    if (is_standard_schema(manifest, op) || !all_read(kernels)) return;
    comparisons_ = 0;
    bool inspected = false;
    missing_.clear();
    for (const EntryRange::Entry entry : op[Key::type_constraints].entries()) {
      inspected = judge_variable(op, entry) || inspected;
    }
    if (!inspected) inspected = judge_first(op);
    if (!inspected) return;
    sink_.inspected();
    if (missing_.empty()) return;
    std::vector<std::string> names;
    for (const Fact text : missing_) names.emplace_back(text.text());
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    Finding& finding = sink_.add(subject_of(manifest, op),
                                 "declares " + quote_list(names) + ", which none of its " +
                                     plural(kernels.size(), "kernel") + " takes",
                                 evidence(missing_.front(), "declared here" + site_of(op)));
    finding.related.push_back(evidence(kernels, "kernels listed here"));
  }

 private:
  bool has(const std::vector<Fact>& taken, const Fact& text) {
    return std::any_of(taken.begin(), taken.end(), [&](const Fact& other) {
      ++comparisons_;
      return words_.same(other, text);
    });
  }

  bool compare(const Fact& declared) {
    if (taken_.empty() || !all_read(declared) || declared.size() == 0) return false;
    // Where the kernels speak of something else altogether, they say nothing about this.
    bool any = false;
    std::vector<Fact> missing;
    for (const Fact text : declared.items()) {
      if (comparisons_ > most_comparisons) return false;
      if (has(taken_, text)) {
        any = true;
      } else {
        missing.push_back(text);
      }
    }
    if (!any) return false;
    missing_.insert(missing_.end(), missing.begin(), missing.end());
    return true;
  }

  // Every kernel says what it takes for the variable.
  bool judge_variable(const Fact& op, const EntryRange::Entry& entry) {
    taken_.clear();
    for (const Fact kernel : op[Key::kernels].items()) {
      if (!is_active_kernel(kernel) || kernel[Key::stub].truth()) continue;
      const Fact list = kernel[Key::type_constraints].at(entry.name.text());
      if (!list.is_list() || !all_read(list)) return false;
      for (const Fact text : list.items()) taken_.push_back(text);
    }
    return compare(entry.value);
  }

  bool judge_first(const Fact& op) {
    const Fact declared = declared_dtypes(op);
    if (!declared.said()) return false;
    taken_.clear();
    for (const Fact kernel : op[Key::kernels].items()) {
      if (!is_active_kernel(kernel) || kernel[Key::stub].truth()) continue;
      if (!for_each_first_dtype(kernel, [this](const Fact& text) { taken_.push_back(text); })) {
        return false;
      }
    }
    return compare(declared);
  }

  DtypeWords& words_;
  Sink& sink_;
  std::vector<Fact> taken_;
  std::vector<Fact> missing_;
  std::size_t comparisons_ = 0;
};

void check(const Facts& facts, Sink& sink) {
  DtypeWords words(facts);
  OperatorCheck operators(words, sink);
  for_each_operator(
      facts, [&operators](const Fact& manifest, const Fact& op) { operators.judge(manifest, op); });
  check_kernel_coverage(facts, sink);
}

}  // namespace

extern constinit const Rule dtype_declared_uncovered{
    .id = "dtype-declared-uncovered",
    .title = "declared dtype that no kernel takes",
    .rationale =
        "The declaration is what users read and what a model is checked against. The model loads, "
        "or the graph builds, and the call fails for want of a kernel, on every device. It is "
        "either a kernel that was forgotten or a promise that was never true. Where a built "
        "library "
        "says which device kernels stand behind a registration, their names tell what they were "
        "instantiated for: a dtype that the registration takes and no instantiation has is run by "
        "one for another dtype, or by none.",
    .example =
        R"({"name": "mv", "inputs": [{"name": "x", "dtypes": ["f32", "f16"]}], "kernels": )"
        R"([{"platform": "cpu", "dtypes": ["f32"]}, {"platform": "gpu", "dtypes": ["f32"]}]})",
    .fix = "add the kernel, or take the dtype out of the declaration",
    .severity = Severity::error,
    .inspects =
        "operator that declares dtypes and whose kernels all say what they take, or kernel for "
        "a GPU whose device kernels in the library say by their names what they are for",
    .needs = {Key::operators, Key::kernels},
    .reads = {Key::images, Key::handlers, Key::needed},
    .check = check,
};

}  // namespace opseal
