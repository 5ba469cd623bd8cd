#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Names of kernels with more words are nobody's.
constexpr std::size_t most_name = 256;

// `bitwise_and` of `bitwise_and.Tensor_out`, without the mark of an operator that isn't for users.
std::string_view base_of_operator(std::string_view name) {
  name = name.substr(0, name.find('.'));
  while (name.starts_with('_')) name.remove_prefix(1);
  return name;
}

// Whether the words of a kernel's name begin with those, or have them somewhere.
bool has_words(std::string_view kernel, std::string_view words, bool at_begin) {
  const std::string all = "_" + std::string(kernel) + "_";
  const std::size_t found = all.find("_" + std::string(words) + "_");
  return at_begin ? found == 0 : found != std::string::npos;
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact registrars = facts.root(document)[Key::registrars];
    // By the operator: a kernel that is named for it.
    std::map<std::string_view, Fact> owners;
    for (const Fact registrar : registrars.items()) {
      const Fact name = registrar[Key::operator_];
      const Fact kernel = registrar[Key::type];
      if (!name.is_text() || !kernel.is_text() || kernel.text().size() > most_name) continue;
      const std::string_view base = base_of_operator(name.text());
      if (!base.empty() && has_words(kernel.text(), base, true)) {
        owners.try_emplace(base, registrar);
      }
    }
    for (const Fact registrar : registrars.items()) {
      const Fact name = registrar[Key::operator_];
      const Fact kernel = registrar[Key::type];
      if (!name.is_text() || !kernel.is_text() || kernel.text().size() > most_name) continue;
      // Helpers may serve several.
      if (!kernel.text().ends_with("_out") && !kernel.text().ends_with("_out_")) continue;
      sink.inspected();
      const std::string_view base = base_of_operator(name.text());
      if (base.empty() || has_words(kernel.text(), base, false)) continue;
      const auto owner = owners.find(base);
      if (owner == owners.end()) continue;
      Finding& finding =
          sink.add(std::string(kernel.text()),
                   "chooses its code as " + quote(name.text()) + ", the operator of " +
                       quote(owner->second[Key::type].text()) + ", expected its own",
                   {registrar.where(), "named here"});
      finding.related.push_back({owner->second.where(), "its kernel"});
    }
  }
}

}  // namespace

extern constinit const Rule operator_name_foreign{
    .id = "operator-name-foreign",
    .title = "kernel chooses its code under the name of another kernel's operator",
    .rationale =
        "A build for one model keeps of each operator the dtypes that the model uses, and finds "
        "them by the name that stands in the kernel. Under another operator's name the code of "
        "dtypes that are needed is left out, and the kernel ends with an error that no other build "
        "has. It is what remains after a kernel was copied.",
    .example =
        R"({"opseal_manifest": 1, "registrars": [{"type": "rand_out", "operator": "randn.out"}, )"
        R"({"type": "randn_out", "operator": "randn.out"}]})",
    .fix = "write the name that the operator has where the kernel is registered",
    .severity = Severity::warning,
    .inspects = "kernel that says as which operator it chooses its code",
    .needs = {Key::registrars, Key::operator_},
    .check = check,
};

}  // namespace opseal
