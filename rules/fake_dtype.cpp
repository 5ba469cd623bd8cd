#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/sources.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// `f16`, or `$x`: that of parameter `x`.
bool is_literal(std::string_view word) { return word != "?" && !word.starts_with('$'); }

std::optional<std::uint32_t> place_of(const Fact& function, std::string_view parameter) {
  std::uint32_t place = 0;
  for (const Fact name : function[Key::parameters].items()) {
    if (name.is(parameter)) return place;
    ++place;
  }
  return {};
}

std::string_view name_at(const Fact& function, std::uint32_t place) {
  std::uint32_t at = 0;
  for (const Fact name : function[Key::parameters].items()) {
    if (at++ == place) return name.text();
  }
  return {};
}

// The code chooses by the dtype of that parameter, and takes another one too.
bool takes_another(const Fact& kernel, std::string_view parameter, std::string_view dtype) {
  bool another = false;
  for (const Fact site : kernel[Key::dispatches].items()) {
    const std::string_view expression = site[Key::expression].text();
    if (!expression.starts_with(std::string(parameter) + ".")) continue;
    // What is held against one dtype may be all that comes here.
    if (site[Key::checked].truth() || site[Key::tested].truth()) return false;
    for (const Fact word : site[Key::dtypes].items()) another = another || !word.is(dtype);
  }
  return another;
}

std::string text_of_dtype(std::string_view word) {
  return is_literal(word) ? quote(word) : "that of " + quote(word.substr(1));
}

class DtypeCheck {
 public:
  explicit DtypeCheck(Sink& sink) : sink_(&sink) {}

  void look_at(const Fact& manifest, const Fact& op) {
    const Fact abstract = op[Key::abstract];
    const Fact promised = abstract[Key::results];
    if (!all_read(promised)) return;
    for (const Fact kernel : op[Key::kernels].items()) {
      const Fact computed = kernel[Key::function][Key::results];
      if (!all_read(computed) || computed.size() != promised.size()) continue;
      if (!is_active_kernel(kernel)) continue;
      sink_->inspected();
      std::uint32_t at = 0;
      auto fake = promised.items().begin();
      for (const Fact word : computed.items()) {
        if (differ(abstract, kernel, (*fake).text(), word.text())) {
          report(manifest, op, kernel, *fake, word, at, computed.size());
          return;
        }
        ++fake;
        ++at;
      }
    }
  }

 private:
  static bool differ(const Fact& abstract, const Fact& kernel, std::string_view promised,
                     std::string_view computed) {
    if (promised == "?" || computed == "?") return false;
    if (is_literal(promised) && is_literal(computed)) return promised != computed;
    const Fact function = kernel[Key::function];
    if (is_literal(promised)) {
      // The reader of C++ says a parameter only where the code chooses by its dtype.
      if (!is_in_python(kernel)) return true;
      return is_given(abstract, counterpart(function, computed.substr(1), abstract));
    }
    if (!is_literal(computed)) return false;
    const std::string_view parameter = counterpart(abstract, promised.substr(1), function);
    return !parameter.empty() && takes_another(kernel, parameter, computed);
  }

  // What a parameter of one function is called in the other.
  static std::string_view counterpart(const Fact& from, std::string_view parameter,
                                      const Fact& to) {
    const std::optional<std::uint32_t> place = place_of(from, parameter);
    return place ? name_at(to, *place) : std::string_view();
  }

  // It gives the dtype of that parameter to another result, so that this isn't always one.
  static bool is_given(const Fact& abstract, std::string_view parameter) {
    if (parameter.empty()) return false;
    const std::string asked = std::string(parameter) + ".dtype";
    for (const Fact read : abstract[Key::reads].items()) {
      if (read.is(asked)) return true;
    }
    return false;
  }

  void report(const Fact& manifest, const Fact& op, const Fact& kernel, const Fact& promised,
              const Fact& computed, std::uint32_t at, std::uint32_t all) {
    const std::string result =
        all == 1 ? std::string("the result") : "result " + std::to_string(at + 1);
    Finding& finding =
        sink_->add(subject_of(manifest, op),
                   "shape function says dtype " + text_of_dtype(promised.text()) + " of " + result +
                       ", the kernel makes it with " + text_of_dtype(computed.text()),
                   evidence(promised, "this shape function"));
    finding.related.push_back(evidence(computed, "this kernel" + site_of(kernel)));
  }

  Sink* sink_;
};

void check(const Facts& facts, Sink& sink) {
  DtypeCheck dtypes(sink);
  for_each_operator(
      facts, [&dtypes](const Fact& manifest, const Fact& op) { dtypes.look_at(manifest, op); });
}

}  // namespace

extern constinit const Rule fake_dtype{
    .id = "fake-dtype",
    .title = "shape function and kernel give the result another dtype",
    .rationale =
        "A compiled model is built for the dtypes that shape functions say. Where the kernel makes "
        "a tensor of another one, the compiled program reads its memory in the wrong format, or "
        "raises far from here; eager runs never ask the shape function. Often a dtype is written "
        "out where the kernel takes that of an argument, which is the same for one model only.",
    .example =
        R"({"opseal_manifest": 1, "system": "torch", "operators": [{"name": "lib::mm", "schema": "lib::mm(Tensor x) -> Tensor", )"
        R"("abstract": {"name": "mm_fake", "parameters": ["x"], "results": ["f16"]}, )"
        R"("kernels": [{"platform": "CUDA", "function": {"name": "mm", "parameters": ["x"], "results": ["$x"]}}]}]})",
    .fix = "make both say the same dtype, as in `dtype=x.dtype`",
    .severity = Severity::warning,
    .inspects = "kernel whose results' dtypes, and those of the shape function, are known",
    .needs = {Key::operators, Key::kernels, Key::abstract, Key::results},
    .check = check,
};

}  // namespace opseal
