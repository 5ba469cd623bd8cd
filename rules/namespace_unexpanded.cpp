#include <map>
#include <string_view>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// What one block defines, by the namespace that Python asks for.
struct Defined {
  Fact manifest;
  Fact first;
  std::uint32_t operators = 0;
};

void check(const Facts& facts, Sink& sink) {
  std::map<std::pair<std::uint32_t, std::string_view>, Defined> spaces;
  for_each_operator(facts, [&](const Fact& manifest, const Fact& op) {
    const Fact word = op[Key::spelling];
    if (!manifest[Key::system].is("torch") || !op[Key::namespace_].is_text()) return;
    sink.inspected();
    if (!word.is_text() || word.name() == op[Key::namespace_].name()) return;
    Defined& one = spaces[{manifest.index(), op[Key::namespace_].text()}];
    if (one.operators++ == 0) {
      one.manifest = manifest;
      one.first = op;
    }
  });
  for (const auto& [key, one] : spaces) {
    const Fact word = one.first[Key::spelling];
    sink.add(subject_of(one.manifest, one.first),
             plural(one.operators, "operator") + " defined in namespace " + quote(word.text()) +
                 " by releases of torch that make a text of the word; Python asks for " +
                 quote(key.second),
             evidence(word, "the macro is not expanded here" + site_of(one.first)));
  }
}

}  // namespace

extern constinit const Rule namespace_unexpanded{
    .id = "namespace-unexpanded",
    .title = "macro stands for a namespace where torch takes the word as it is written",
    .rationale =
        "`TORCH_LIBRARY(ns, m)` made a text of its first argument without expanding it, until "
        "torch "
        "changed that (`#ns` became `C10_STRINGIZE(ns)` in `torch/library.h`): with the older "
        "releases `TORCH_LIBRARY(TORCH_EXTENSION_NAME, m)` defines the operators in a namespace of "
        "that very name. `TORCH_LIBRARY_IMPL` does expand it, so that kernels go elsewhere. The "
        "library loads without an error, and each call from Python finds no operator.",
    .example =
        R"({"opseal_manifest": 1, "system": "torch", "operators": [{"name": "ext::add", "namespace": "ext", "spelling": "TORCH_EXTENSION_NAME"}]})",
    .fix =
        "write the namespace itself, or hand the macro on through one of your own, as in "
        "`#define LIBRARY_EXPAND(ns, m) TORCH_LIBRARY(ns, m)`",
    .severity = Severity::warning,
    .inspects = "operator of torch with a namespace",
    .needs = {Key::operators, Key::spelling},
    .check = check,
};

}  // namespace opseal
