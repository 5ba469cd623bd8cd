#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/declared_dtypes.h"
#include "rules/dtype_words.h"
#include "rules/grad_choices.h"
#include "rules/gradient_marks.h"
#include "rules/operator_index.h"

namespace opseal {
namespace {

// Platforms of one operator that are looked at, and words that are held against each other.
constexpr std::size_t most_platforms = 64;
constexpr std::size_t most_words = 256;

// The type variable of the first operand, which is what `dtypes` and the first word of a signature
// speak of too. Where operands aren't listed, the only one, or the one that ONNX calls `T`.
Fact first_variable(const Fact& op, const Fact& kernel) {
  const Fact variables = kernel[Key::type_constraints];
  for (const Fact operand : op[Key::inputs].items()) {
    return variables.at(operand[Key::type].text());
  }
  if (variables.size() == 1) {
    for (const EntryRange::Entry entry : variables.entries()) return entry.value;
  }
  return variables.at("T");
}

// All dtypes of some kernels.
struct Taken {
  std::vector<Fact> words;
  // The list that the first words are from.
  Fact list;
  Fact kernel;
  bool known = true;

  void add_word(const Fact& word) {
    if (words.size() == most_words || !word.is_text()) {
      known = false;
    } else {
      words.push_back(word);
    }
  }
  void note_source(const Fact& source, const Fact& from) {
    if (list.said()) return;
    list = source;
    kernel = from;
  }
  void add_list(const Fact& dtypes, const Fact& from) {
    if (!all_read(dtypes)) known = false;
    for (const Fact word : dtypes.items()) add_word(word);
    note_source(dtypes, from);
  }
  void add_kernel(const Fact& op, const Fact& from) {
    if (!from[Key::dtypes].said() && !from[Key::signatures].said()) {
      add_list(first_variable(op, from), from);
      return;
    }
    known = for_each_first_dtype(from, [this](const Fact& word) { add_word(word); }) && known;
    note_source(from[Key::dtypes].said() ? from[Key::dtypes] : from[Key::signatures], from);
  }
};

class NarrowerCheck {
 public:
  NarrowerCheck(const Facts& facts, Sink& sink) : facts_(&facts), words_(facts), sink_(&sink) {}

  void judge(const Fact& manifest, const Fact& op, PlatformNames& names) {
    const Fact gradient = op[Key::gradient];
    if (!gradient || is_marked_without_gradient(op) || !all_read(op[Key::kernels])) return;
    Taken stated;
    std::vector<Fact> backward;
    if (gradient[Key::dtypes].said()) {
      stated.add_list(gradient[Key::dtypes], {});
    } else if (gradient[Key::operator_].is_text() && !gradient[Key::function].present()) {
      // A function in between may convert before it calls the operator.
      if (!index_) index_.emplace(*facts_);
      backward = index_->find(manifest, op, gradient[Key::operator_].text());
    }
    if (!stated.list.said() && backward.empty()) return;
    platforms_.clear();
    for (const Fact kernel : op[Key::kernels].items()) {
      if (!is_active_kernel(kernel) || platforms_.size() > most_platforms) continue;
      const std::string_view platform = names.of(kernel[Key::platform]).name;
      if (std::find(platforms_.begin(), platforms_.end(), platform) != platforms_.end()) continue;
      platforms_.push_back(platform);
      const Fact on = kernel[Key::platform];
      const Taken forward = taken_by(op, on, names, true);
      const Taken back = stated.list.said() ? stated : taken_by_all(backward, on, names);
      if (forward.known && back.known && !forward.words.empty() && !back.words.empty()) {
        compare(manifest, op, on, forward, back);
      }
    }
  }

 private:
  // `same`: kernels of just that platform, else all that a call there can reach.
  static Taken taken_by(const Fact& op, const Fact& platform, PlatformNames& names, bool same) {
    Taken taken;
    for (const Fact kernel : op[Key::kernels].items()) {
      if (!kernel.said()) taken.known = false;
      if (!is_active_kernel(kernel)) continue;
      const Fact own = kernel[Key::platform];
      if (same ? names.same(platform, own) : names.reaches(platform, own)) {
        taken.add_kernel(op, kernel);
        // What it was asked for and refused was left out on purpose.
        for (const Fact word : kernel[Key::refused].items()) {
          if (!same && word.is_text() && taken.words.size() < most_words) {
            taken.words.push_back(word);
          }
        }
      }
    }
    return taken;
  }

  static Taken taken_by_all(const std::vector<Fact>& ops, const Fact& platform,
                            PlatformNames& names) {
    Taken all;
    for (const Fact& op : ops) {
      const Taken taken = taken_by(op, platform, names, false);
      if (!taken.known || all.words.size() + taken.words.size() > most_words) all.known = false;
      all.words.insert(all.words.end(), taken.words.begin(), taken.words.end());
      if (!all.list.said()) {
        all.list = taken.list;
        all.kernel = taken.kernel;
      }
    }
    // No kernel there at all is another fault.
    if (!all.list.said()) all.known = false;
    return all;
  }

  // Formats of at most 8 bits are for running a trained model.
  bool needs_gradient(const Fact& word) {
    const Dtype* dtype = words_.read(word).dtype;
    return dtype != nullptr && !is_storage_format(*dtype) &&
           (dtype->kind == DtypeKind::floating || dtype->kind == DtypeKind::complex);
  }

  void compare(const Fact& manifest, const Fact& op, const Fact& platform, const Taken& forward,
               const Taken& back) {
    sink_->inspected();
    std::vector<std::string> missing;
    Fact first;
    for (const Fact& word : forward.words) {
      if (!needs_gradient(word)) continue;
      const bool taken = std::any_of(back.words.begin(), back.words.end(),
                                     [&](const Fact& other) { return words_.same(word, other); });
      if (taken) continue;
      if (!first.said()) first = word;
      missing.emplace_back(word.text());
    }
    if (missing.empty()) return;
    std::sort(missing.begin(), missing.end());
    missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
    Finding& finding =
        sink_->add(subject_of(manifest, op),
                   "forward takes " + quote_list(missing) + " on " + quote(platform.text()) +
                       ", backward does not",
                   evidence(back.list, "dtypes of the backward" + site_of(back.kernel)));
    finding.related.push_back(evidence(first, "taken by the forward here" + site_of(op)));
    // It hands what a device has no kernel for to the CPU.
    if (manifest[Key::system].is("paddle")) finding.severity = Severity::warning;
  }

  const Facts* facts_;
  DtypeWords words_;
  Sink* sink_;
  std::optional<OperatorIndex> index_;
  std::vector<std::string_view> platforms_;
};

void check(const Facts& facts, Sink& sink) {
  NarrowerCheck narrower(facts, sink);
  for_each_operator_with_names(
      facts, [&narrower](const Fact& manifest, const Fact& op, PlatformNames& names) {
        narrower.judge(manifest, op, names);
      });
  check_gradient_choices(facts, sink);
}

}  // namespace

extern constinit const Rule grad_dtype_narrower{
    .id = "grad-dtype-narrower",
    .title = "backward takes fewer floating dtypes than the forward on the same platform",
    .rationale =
        "A model in this dtype runs forward and its loss is right; the first backward pass stops "
        "with \"not implemented\" for that dtype, often only on one device and only under mixed "
        "precision, hours into setting up a run. The list of the backward was written when the "
        "forward took fewer dtypes, and nobody came back to it. In sources the two are operators "
        "of one name (`x_forward`, `x_backward`), or functions that a module gives to Python by "
        "such "
        "names, and the lists are those of their macros.",
    .example =
        R"({"name": "scale", "kernels": [{"platform": "cuda", "dtypes": ["f32", "f16", "bf16"]}], "gradient": {"function": {"name": "scale_grad"}, "dtypes": ["f32", "f16"]}})",
    .fix =
        "add the dtype to the backward, or let the forward refuse it; a manifest may list it under "
        "`refused` of the backward",
    .severity = Severity::error,
    .inspects =
        "operator and platform, or function of a module, where the dtypes of forward and backward "
        "are stated",
    .check = check,
};

}  // namespace opseal
