#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Parameters of a kernel, and arguments of a launch, that are held against each other.
constexpr std::uint32_t most_names = 160;

// Options of the compiler begin with a small letter (`num_warps`, `isCloseVectorization` of one
// vendor's), and each backend has its own; constants of kernels mostly with a capital one.
bool is_like_constant(std::string_view name) {
  const std::size_t first = name.find_first_not_of('_');
  return first != name.npos && name[first] >= 'A' && name[first] <= 'Z';
}

std::size_t index_of(const std::vector<std::string>& names, std::string_view name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

// A launch against its kernel.
class Launch {
 public:
  Launch(const Fact& use, const Fact& kernel)
      : given_(use[Key::arguments].count()),
        names_(texts_of(use[Key::names])),
        kinds_(texts_of(use[Key::kinds])),
        parameters_(texts_of(kernel[Key::parameters])),
        wanted_(texts_of(kernel[Key::kinds])),
        required_(texts_of(kernel[Key::required_inputs])),
        tuned_(texts_of(kernel[Key::exempt])) {}

  // What is wrong with it, or empty.
  std::string fault() const {
    if (given_ > parameters_.size()) {
      return "is launched with " + plural(given_, "argument") + " in order, it has " +
             plural(parameters_.size(), "parameter");
    }
    for (const auto& look :
         {&Launch::unknown, &Launch::missing, &Launch::twice, &Launch::tuned, &Launch::misplaced}) {
      std::string why = (this->*look)();
      if (!why.empty()) return why;
    }
    return {};
  }

 private:
  bool is_given(std::string_view name) const {
    return index_of(parameters_, name) < given_ || index_of(names_, name) < names_.size();
  }

  std::string unknown() const {
    for (const std::string& name : names_) {
      if (index_of(parameters_, name) < parameters_.size()) continue;
      std::vector<std::string_view> open;
      for (const std::string& parameter : parameters_) {
        if (!is_given(parameter)) open.push_back(parameter);
      }
      const bool meant = !nearest_name(name, open).empty() && name.size() > 3;
      if (!is_like_constant(name) && !meant) continue;
      return "is launched with " + quote(name) + ", which is none of its parameters" +
             did_you_mean(name, open);
    }
    return {};
  }

  std::string missing() const {
    std::vector<std::string> lacking;
    for (const std::string& name : required_) {
      if (!is_given(name)) lacking.push_back(name);
    }
    if (lacking.empty()) return {};
    return "is launched without " + quote_list(lacking) + ", " +
           (lacking.size() == 1 ? "which has" : "which have") + " no default";
  }

  std::string twice() const {
    for (const std::string& name : names_) {
      if (index_of(parameters_, name) >= given_) continue;
      return "is launched with " + quote(name) + " twice: by name and as argument " +
             std::to_string(index_of(parameters_, name) + 1);
    }
    return {};
  }

  std::string tuned() const {
    for (const std::string& name : tuned_) {
      if (is_given(name)) return "is launched with " + quote(name) + ", which its tuner gives too";
    }
    return {};
  }

  std::string misplaced() const {
    std::string first;
    std::size_t count = 0;
    for (std::size_t at = 0; at < kinds_.size(); ++at) {
      const bool in_order = at < given_;
      if (!in_order && at - given_ >= names_.size()) break;
      const std::size_t place = in_order ? at : index_of(parameters_, names_[at - given_]);
      if (place >= wanted_.size() || place >= parameters_.size()) continue;
      const bool number = kinds_[at] == "number" && wanted_[place] == "pointer";
      const bool tensor = kinds_[at] == "pointer" && wanted_[place] == "number";
      if (!number && !tensor) continue;
      ++count;
      if (!first.empty()) continue;
      first = std::string("is launched with ") + (number ? "a number" : "a tensor") +
              (in_order ? " as argument " + std::to_string(at + 1) + ", for " : " for ") +
              quote(parameters_[place]) + ", which is a " + (number ? "pointer" : "number");
    }
    if (count > 1) first += "; " + plural(count, "argument") + " of it are of another kind";
    return first;
  }

  std::uint32_t given_;
  std::vector<std::string> names_;
  std::vector<std::string> kinds_;
  std::vector<std::string> parameters_;
  std::vector<std::string> wanted_;
  std::vector<std::string> required_;
  std::vector<std::string> tuned_;
};

std::uint64_t key_of(const Fact& item) {
  return std::uint64_t{item[Key::namespace_].name()} << 32 | item[Key::name].name();
}

void judge(const Fact& use, const Fact& kernel, Sink& sink) {
  if (!use[Key::arguments].is_count() || kernel[Key::variadic].truth()) return;
  for (const Fact list : {kernel[Key::parameters], kernel[Key::required_inputs]}) {
    if (!list.is_list() || !all_read(list) || list.size() > most_names) return;
  }
  if (use[Key::names].size() > most_names || use[Key::kinds].size() > most_names) return;
  sink.inspected();
  const std::string fault = Launch(use, kernel).fault();
  if (fault.empty()) return;
  Finding& finding = sink.add("triton::" + std::string(kernel[Key::name].text()),
                              fault + site_of(use), evidence(use, "launched here"));
  finding.related.push_back(evidence(kernel, "defined here" + site_of(kernel)));
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    if (document.settings || !manifest[Key::system].is("triton")) continue;
    std::unordered_map<std::uint64_t, Fact> kernels;
    for (const Fact kernel : manifest[Key::functions].items()) {
      if (kernel[Key::name].is_text()) kernels.emplace(key_of(kernel), kernel);
    }
    for (const Fact use : manifest[Key::uses].items()) {
      const auto kernel = kernels.find(key_of(use));
      if (kernel != kernels.end()) judge(use, kernel->second, sink);
    }
  }
}

}  // namespace

extern constinit const Rule launch_arguments{
    .id = "launch-arguments",
    .title = "kernel of Triton launched with arguments that don't fit its parameters",
    .rationale =
        "A kernel of Triton is compiled when it is launched, and only then are the arguments held "
        "against its parameters. After a change of the kernel, a launch that was forgotten fails "
        "on the one path that takes it. Where the number fits by chance, a tensor comes to a "
        "stride or a stride to a pointer: the kernel reads and writes where it must not, or it "
        "doesn't compile. A constant that the tuner gives must not be given by the launch as well.",
    .example =
        R"({"opseal_manifest": 1, "system": "triton", "functions": [{"name": "add", "namespace": )"
        R"("ops.py", "positional": 3, "parameters": ["x_ptr", "n", "BLOCK"], "required_inputs": )"
        R"(["x_ptr", "n", "BLOCK"]}], "uses": [{"name": "add", "namespace": "ops.py", "arguments": 2}]})",
    .fix = "give each parameter once, in the order of the kernel or by its name",
    .severity = Severity::error,
    .inspects = "launch of a kernel of Triton whose arguments are all written out",
    .needs = {Key::functions, Key::uses, Key::required_inputs},
    .check = check,
};

}  // namespace opseal
