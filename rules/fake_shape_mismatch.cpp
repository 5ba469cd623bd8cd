#include <algorithm>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/dtype_words.h"
#include "rules/framework_rows.h"

namespace opseal {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 29);
}

// One combination of dtypes, by hashes over opseal's own spelling.
struct Signature {
  std::uint64_t inputs = 0;
  std::uint64_t outputs = 0;
  Fact fact;
};

class SignatureCheck {
 public:
  SignatureCheck(const Facts& facts, Sink& sink) : words_(facts), sink_(&sink) {}

  void judge(const Fact& manifest, const Fact& op) {
    const Fact traced = op[Key::traced_signatures];
    const Stated<CountRange> inputs = operand_count(op[Key::inputs]);
    if (!inputs || !inputs->exact()) return;
    if (!traced.is_list()) {
      if (op[Key::outputs].size() > 0) judge_declared(manifest, op, inputs->min);
      return;
    }
    traced_.clear();
    if (!read(traced, inputs->min, traced_)) return;
    sort(traced_);
    for (const Fact kernel : op[Key::kernels].items()) {
      if (!is_active_kernel(kernel) || !kernel[Key::signatures].is_list()) continue;
      computed_.clear();
      if (!read(kernel[Key::signatures], inputs->min, computed_) || computed_.empty()) continue;
      sort(computed_);
      compare(manifest, op, kernel);
    }
  }

 private:
  // Nobody traced the operator, and its outputs declare what they are.
  void judge_declared(const Fact& manifest, const Fact& op, std::uint32_t inputs) {
    const Fact outputs = op[Key::outputs];
    for (const Fact kernel : op[Key::kernels].items()) {
      if (!is_active_kernel(kernel) || kernel[Key::stub].truth()) continue;
      bool inspected = false;
      for (const Fact signature : kernel[Key::signatures].items()) {
        if (!all_read(signature) || signature.size() != inputs + outputs.size()) continue;
        std::uint32_t at = 0;
        auto output = outputs.items().begin();
        for (const Fact word : signature.items()) {
          if (at++ < inputs) continue;
          const Fact operand = *output;
          ++output;
          const Fact declared = operand[Key::dtypes];
          if (!all_read(declared) || declared.size() == 0) continue;
          if (!inspected) sink_->inspected();
          inspected = true;
          if (allows(declared, word)) continue;
          report_declared(manifest, op, kernel, word, at - 1 - inputs, declared);
          return;
        }
      }
    }
  }

  // Words that are no dtype of the table may stand for any.
  bool allows(const Fact& declared, const Fact& word) {
    if (words_.read(word).dtype == nullptr) return true;
    for (const Fact other : declared.items()) {
      if (words_.read(other).dtype == nullptr || words_.same(other, word)) return true;
    }
    return false;
  }

  void report_declared(const Fact& manifest, const Fact& op, const Fact& kernel, const Fact& word,
                       std::uint32_t output, const Fact& declared) {
    Finding& finding = sink_->add(subject_of(manifest, op),
                                  "kernel on " + decision_text(kernel) + " computes " +
                                      quote(word.text()) + " for output " + std::to_string(output) +
                                      ", declared as " + quote_list(texts_of(declared), 8),
                                  evidence(word, "what the kernel computes" + site_of(kernel)));
    finding.related.push_back(evidence(declared, "what the operator declares" + site_of(op)));
  }

  // False where a dtype is not known for certain: then nothing can be held against anything.
  bool read(const Fact& signatures, std::uint32_t inputs, std::vector<Signature>& read) {
    for (const Fact list : signatures.items()) {
      if (!all_read(list)) return false;
      if (list.size() <= inputs) continue;
      Signature signature{list.size(), list.size(), list};
      std::uint32_t at = 0;
      for (const Fact word : list.items()) {
        const Dtype* dtype = words_.read(word).dtype;
        // A word of two meanings may be either.
        if (dtype == nullptr || !dtype->first.empty()) return false;
        std::uint64_t& hash = at++ < inputs ? signature.inputs : signature.outputs;
        hash = mix(hash, reinterpret_cast<std::uintptr_t>(dtype));
      }
      read.push_back(signature);
    }
    return true;
  }

  static void sort(std::vector<Signature>& signatures) {
    std::sort(signatures.begin(), signatures.end(), [](const Signature& a, const Signature& b) {
      if (a.inputs != b.inputs) return a.inputs < b.inputs;
      if (a.outputs != b.outputs) return a.outputs < b.outputs;
      return a.fact.index() < b.fact.index();
    });
  }

  void compare(const Fact& manifest, const Fact& op, const Fact& kernel) {
    bool met = false;
    auto computed = computed_.begin();
    for (auto first = traced_.begin(); first != traced_.end();) {
      auto end = first;
      while (end != traced_.end() && end->inputs == first->inputs) ++end;
      while (computed != computed_.end() && computed->inputs < first->inputs) ++computed;
      auto last = computed;
      while (last != computed_.end() && last->inputs == first->inputs) ++last;
      // Several results for equal inputs: an attribute decides, and nobody said which.
      const bool decided = first->outputs == (end - 1)->outputs;
      if (computed != last) met = true;
      if (decided && computed != last && none_gives(computed, last, first->outputs)) {
        report(manifest, op, kernel, *first, *computed);
        sink_->inspected();
        return;
      }
      first = end;
    }
    if (met) sink_->inspected();
  }

  static bool none_gives(std::vector<Signature>::const_iterator first,
                         std::vector<Signature>::const_iterator last, std::uint64_t outputs) {
    return std::none_of(
        first, last, [outputs](const Signature& computed) { return computed.outputs == outputs; });
  }

  void report(const Fact& manifest, const Fact& op, const Fact& kernel, const Signature& traced,
              const Signature& computed) {
    Finding& finding =
        sink_->add(subject_of(manifest, op),
                   "kernel on " + decision_text(kernel) + " computes " +
                       quote_list(texts_of(computed.fact), 8) +
                       " (inputs, then outputs), traced as " + quote_list(texts_of(traced.fact), 8),
                   evidence(computed.fact, "what the kernel computes" + site_of(kernel)));
    finding.related.push_back(evidence(traced.fact, "what the shape function says" + site_of(op)));
  }

  DtypeWords words_;
  Sink* sink_;
  std::vector<Signature> traced_;
  std::vector<Signature> computed_;
};

void check(const Facts& facts, Sink& sink) {
  SignatureCheck signatures(facts, sink);
  for_each_operator(facts, [&signatures](const Fact& manifest, const Fact& op) {
    signatures.judge(manifest, op);
  });
  // What a framework saw when it called the operator.
  constexpr FrameworkFault faults[] = {
      {"fake", "has a shape function that promises something else than what the call gives"},
  };
  judge_operator_rows(facts, faults, sink);
}

}  // namespace

extern constinit const Rule fake_shape_mismatch{
    .id = "fake-shape-mismatch",
    .title = "shape function and kernel give different dtypes or shapes for equal inputs",
    .rationale =
        "A compiler plans memory and the operators that follow by what the shape function says, "
        "and then runs the kernel. Where the two differ, the result is read as another dtype: "
        "numbers that are bits of something else, half of a buffer unwritten, or an error far away "
        "from the cause.",
    .example =
        R"({"name": "norm", "inputs": 1, "traced_signatures": [["f32", "f32"]], "kernels": [{"platform": "cpu", "signatures": [["f32", "f64"]]}]})",
    .fix = "make the shape function say what the kernel writes",
    .severity = Severity::error,
    .inspects =
        "kernel with a stated signature for inputs that the operator was traced with, or "
        "for outputs whose dtypes it declares; call of an operator by its framework",
    .needs = {},
    .check = check,
};

}  // namespace opseal
