#include "rules/grad_choices.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/sources.h"
#include "opseal/text.h"
#include "rules/dtype_choices.h"
#include "rules/kernel_roles.h"

namespace opseal {
namespace {

// Operators of one name, by overload, and platforms of one operator that are looked at.
constexpr std::size_t most_overloads = 16;
constexpr std::size_t most_platforms = 16;

std::string_view without_overload(std::string_view name) {
  return name.substr(0, name.find('.', name.rfind(':') + 1));
}

// `lib::x_fwd` -> `lib::x_bwd`; empty where the word isn't in the name.
std::string with_word(std::string_view name, std::string_view word, std::string_view other) {
  const std::size_t at = name.rfind(word);
  if (at == name.npos) return {};
  std::string out(name);
  return out.replace(at, word.size(), other);
}

// The names that the backward of an operator goes by in torch's libraries.
std::vector<std::string> backward_names(std::string_view name) {
  std::vector<std::string> names{std::string(name) + "_backward", std::string(name) + "_bwd"};
  const std::size_t base = name.rfind(':') + 1;
  names.push_back(std::string(name.substr(0, base)) + "_" + std::string(name.substr(base)) +
                  "_backward");
  names.push_back(std::string(name) + "_grad");
  names.push_back(std::string(name) + "Grad");
  // `x_backward_cuda` of `x_cuda`.
  for (const std::string_view suffix :
       {"_cuda", "_cpu", "_xpu", "_kernel", "_kernel_impl", "_out_cuda", "_out_cpu", "_out_kernel",
        "_cuda_template", "_cpu_template", "_out_cuda_template", "_out_cpu_template", "_cuda_impl",
        "_cpu_impl", "_impl", "_cuda_kernel", "_cpu_kernel", "_xpu_kernel", "_out"}) {
    if (name.size() > suffix.size() && name.ends_with(suffix)) {
      names.push_back(std::string(name.substr(0, name.size() - suffix.size())) + "_backward" +
                      std::string(suffix));
    }
  }
  for (std::string other :
       {with_word(name, "_forward", "_backward"), with_word(name, "_fwd", "_bwd"),
        with_word(name, "::forward", "::backward"), with_word(name, "::fwd", "::bwd"),
        with_word(name, "::forward", "::grad"), with_word(name, "Forward", "Backward"),
        with_word(name, "forward_", "backward_"), with_word(name, "fwd_", "bwd_"),
        with_word(name, "_forward", "_grad"), with_word(name, "_fwd", "_grad")}) {
    if (!other.empty()) names.push_back(std::move(other));
  }
  return names;
}

// The function of a kernel, or one that is bound itself.
Fact function_of(const Fact& holder) {
  const Fact function = holder[Key::function];
  return function.present() ? function : holder;
}

bool has_parameter(const std::vector<Fact>& holders, std::string_view name) {
  for (const Fact& holder : holders) {
    for (const Fact parameter : function_of(holder)[Key::parameters].items()) {
      if (parameter.is(name)) return true;
    }
  }
  return false;
}

bool says_parameters(const std::vector<Fact>& holders) {
  return std::any_of(holders.begin(), holders.end(), [](const Fact& holder) {
    return function_of(holder)[Key::parameters].size() > 0;
  });
}

// `x` of `x.scalar_type()`.
std::string_view operand_of(const Fact& choice) {
  const std::string_view expression = choice[Key::expression].text();
  return expression.substr(0, expression.find_first_of(" .-([:"));
}

// `grad_out`, `dy`: what comes from the result.
bool is_gradient(std::string_view name) {
  const std::string plain = lower(name);
  for (const std::string_view part : {"grad", "diff", "err", "d_", "g_", "_d", "_g"}) {
    if (plain.find(part) != plain.npos) return true;
  }
  return plain.size() <= 4 && (plain.starts_with('d') || plain.starts_with('g')) &&
         plain != "data" && plain != "dst";
}

// Both are told by other operands, whose dtypes nothing ties.
bool are_of_other_operands(const std::vector<Fact>& forward, const Fact& wide,
                           const std::vector<Fact>& back, const Fact& narrow) {
  const std::string_view chooses = operand_of(narrow);
  const std::string_view chose = operand_of(wide);
  if (chooses.empty() || chose.empty() || chooses == chose || is_gradient(chooses)) return false;
  // A name of a function between them may stand for any operand.
  if (!has_parameter(back, chooses) || !says_parameters(forward)) return false;
  return has_parameter(forward, chose);
}

// The forward hands back tensors of a dtype that is written out: so has their gradient.
bool has_written_result(const std::vector<Fact>& forward, const Fact& narrow) {
  if (!is_gradient(operand_of(narrow))) return false;
  for (const Fact& holder : forward) {
    for (const Fact result : function_of(holder)[Key::results].items()) {
      const std::string_view word = result.text();
      // The gradient of the first comes first.
      if (!word.empty() && word != "?" && !word.starts_with('$')) return true;
      break;
    }
  }
  return false;
}

class GradientCheck {
 public:
  GradientCheck(const Facts& facts, Sink& sink) : words_(facts), sink_(&sink) {}

  void judge_all(const Fact& manifest) {
    // A function in a file that wasn't given may take what is missing here.
    if (is_partial_tree(manifest)) return;
    judge_functions(manifest);
    std::unordered_map<std::string_view, std::vector<Fact>> by_name;
    for (const Fact op : manifest[Key::operators].items()) {
      if (!says_choices(op) || !op[Key::name].is_text()) continue;
      std::vector<Fact>& same = by_name[without_overload(op[Key::name].text())];
      if (same.size() < most_overloads) same.push_back(op);
    }
    if (by_name.empty()) return;
    PlatformNames names(manifest);
    for (const Fact op : manifest[Key::operators].items()) {
      if (!says_choices(op) || !op[Key::name].is_text()) continue;
      for (const std::string& name : backward_names(without_overload(op[Key::name].text()))) {
        const auto found = by_name.find(name);
        if (found == by_name.end()) continue;
        judge(manifest, op, found->second, names);
        break;
      }
    }
  }

 private:
  static bool says_choices(const Fact& op) {
    for (const Fact kernel : op[Key::kernels].items()) {
      if (kernel[Key::dispatches].size() > 0) return true;
    }
    return false;
  }

  // What modules give to Python. Of several functions of one name it isn't known which is called.
  void judge_functions(const Fact& manifest) {
    std::map<std::string, std::vector<Fact>> by_name;
    for (const Fact function : manifest[Key::functions].items()) {
      if (!function[Key::dispatches].said()) continue;
      by_name[path_of(function)].push_back(function);
    }
    for (const auto& [name, functions] : by_name) {
      if (functions.size() > 1) continue;
      for (const std::string& other : backward_names(name)) {
        const auto found = by_name.find(other);
        if (found == by_name.end()) continue;
        if (found->second.size() == 1) judge_pair(functions.front(), found->second.front());
        break;
      }
    }
  }

  // `pkg._C::ops::forward`
  static std::string path_of(const Fact& function) {
    std::string name(function[Key::name].text());
    const std::size_t dot = name.rfind('.');
    if (dot != name.npos) name.replace(dot, 1, "::");
    return std::string(function[Key::namespace_].text()) + "::" + name;
  }

  void judge_pair(const Fact& function, const Fact& backward) {
    const std::vector<Fact> forwards{function};
    const std::vector<Fact> backwards{backward};
    DtypeChoices forward(words_);
    forward.add(function);
    DtypeChoices back(words_);
    back.add(backward);
    if (!forward.known() || !back.known()) return;
    compare(std::string(function[Key::name].text()), "the forward", {forward, forwards},
            {back, backwards});
  }

  void judge(const Fact& manifest, const Fact& op, const std::vector<Fact>& backward,
             PlatformNames& names) {
    std::vector<std::string_view> done;
    for (const Fact kernel : op[Key::kernels].items()) {
      if (!is_active_kernel(kernel) || !kernel[Key::dispatches].said()) continue;
      const std::string_view platform = names.of(kernel[Key::platform]).name;
      if (std::find(done.begin(), done.end(), platform) != done.end()) continue;
      if (done.size() == most_platforms) return;
      done.push_back(platform);
      DtypeChoices forward(words_);
      std::vector<Fact> kernels;
      for (const Fact other : op[Key::kernels].items()) {
        if (is_active_kernel(other) && names.same(other[Key::platform], kernel[Key::platform])) {
          forward.add(other);
          kernels.push_back(other);
        }
      }
      DtypeChoices back(words_);
      std::vector<Fact> back_kernels;
      for (const Fact& back_op : backward) {
        for (const Fact other : back_op[Key::kernels].items()) {
          if (!is_active_kernel(other)) continue;
          if (!names.reaches(kernel[Key::platform], other[Key::platform])) continue;
          back_kernels.push_back(other);
          back.add(other);
        }
      }
      if (!forward.known() || !back.known()) continue;
      compare(subject_of(manifest, op), "the code for " + quote(kernel[Key::platform].text()),
              {forward, kernels}, {back, back_kernels});
    }
  }

  struct Side {
    DtypeChoices& choices;
    const std::vector<Fact>& holders;
  };

  void compare(std::string subject, const std::string& code, const Side& one, const Side& other) {
    DtypeChoices& forward = one.choices;
    DtypeChoices& back = other.choices;
    sink_->inspected();
    std::vector<std::string> missing;
    const Dtype* first = nullptr;
    bool comparable = false;
    for (const Dtype* dtype : forward.always()) {
      // Formats of at most 8 bits are for running a trained model.
      if (!DtypeChoices::is_float(*dtype) || dtype->bits < 16) continue;
      if (back.ever(*dtype)) {
        comparable = true;
        continue;
      }
      if (first == nullptr) first = dtype;
      missing.emplace_back(dtype->name);
    }
    if (!comparable || first == nullptr) return;
    std::sort(missing.begin(), missing.end());
    const Fact narrow = back.choice(*first, false);
    const Fact wide = forward.choice(*first, true);
    if (are_of_other_operands(one.holders, wide, other.holders, narrow)) return;
    if (has_written_result(one.holders, narrow)) return;
    Finding& finding = sink_->add(
        std::move(subject),
        code + " has a case for " + quote_list(missing) + ", and that of its backward has none",
        evidence(narrow, "the backward chooses by dtype here" + site_of(narrow)));
    // A function between the two may convert.
    finding.severity = Severity::warning;
    finding.related.push_back(evidence(wide, "the forward does here" + site_of(wide)));
    finding.related.push_back(evidence(
        other.holders.front(), "the backward stands here" + site_of(other.holders.front())));
  }

  DtypeWords words_;
  Sink* sink_;
};

}  // namespace

void check_gradient_choices(const Facts& facts, Sink& sink) {
  GradientCheck gradients(facts, sink);
  for (const Document& document : facts.documents) gradients.judge_all(facts.root(document));
}

}  // namespace opseal
