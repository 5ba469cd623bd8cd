#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

class Operator {
 public:
  Operator(const Fact& manifest, const Fact& op, Sink& sink)
      : manifest_(manifest), op_(op), x_(op[Key::etp][Key::x_index]), sink_(&sink) {}

  // Returns whether there was anything to compare.
  bool check_layout(const Fact& trainables) {
    bool compared = false;
    std::uint32_t seen = 0;
    for (const auto [parameter, index] : trainables.entries()) {
      if (!index.is_count()) continue;
      compared = compared || x_.is_count() || seen > 0;
      if (x_.is_count() && x_.count() == index.count()) {
        report("x and " + quote(parameter.text()), index, x_);
      }
      // Layouts hold a handful of parameters; a hostile one is compared up to here.
      std::uint32_t before = 0;
      for (const auto [other, other_index] : trainables.entries()) {
        if (before == seen || before == most_compared) break;
        ++before;
        if (other_index.is_count() && other_index.count() == index.count()) {
          report(quote(other.text()) + " and " + quote(parameter.text()), index, other_index);
        }
      }
      ++seen;
    }
    return compared;
  }

  bool found() const { return found_; }

 private:
  static constexpr std::uint32_t most_compared = 32;

  void report(const std::string& both, const Fact& index, const Fact& other) {
    found_ = true;
    Finding& finding = sink_->add(subject_of(manifest_, op_),
                                  both + " are both input " + std::to_string(index.count()),
                                  evidence(index, "index of the one"));
    finding.related.push_back(evidence(other, "index of the other" + site_of(op_)));
  }

  Fact manifest_;
  Fact op_;
  Fact x_;
  Sink* sink_;
  bool found_ = false;
};

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    const Fact etp = op[Key::etp];
    if (!etp) return;
    Operator layouts(manifest, op, sink);
    bool compared = layouts.check_layout(etp[Key::trainables]);
    // The layout without a bias is nearly always a part of the other.
    if (!layouts.found()) {
      compared = layouts.check_layout(etp[Key::trainables_without_bias]) || compared;
    }
    if (compared) sink.inspected();
  });
}

}  // namespace

extern constinit const Rule etp_index_overlap{
    .id = "etp-index-overlap",
    .title = "x and a parameter, or two parameters, stand for one input",
    .rationale =
        "An input is either the signal that the weights are applied to or one of the weights. "
        "Where "
        "two indices agree, the weight itself is taken for the presynaptic signal (or one weight "
        "is "
        "updated twice), and the online gradient is a plausible number that is wrong.",
    .example = R"({"name": "my_mv", "etp": {"trainables": {"weight": 1}, "x_index": 1}})",
    .fix = "give x and each parameter an input of its own",
    .severity = Severity::error,
    .inspects = "eligibility-trace operator with two input indices to compare",
    .needs = {Key::etp},
    .check = check,
};

}  // namespace opseal
