#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

constexpr std::size_t most_suggestions = 100;

// Looks at the modules of one manifest.
class Check {
 public:
  explicit Check(const Fact& manifest) : manifest_(manifest) {
    for (const Fact function : manifest[Key::functions].items()) {
      if (!function[Key::name].is_text()) continue;
      Module& module = modules_[function[Key::namespace_].name()];
      if (!module.first.said()) module.first = function;
      module.names.insert(function[Key::name].name());
      module.candidates.push_back(function[Key::name].text());
    }
  }

  void run(Sink& sink) {
    for (const Fact use : manifest_[Key::uses].items()) {
      const auto found = modules_.find(use[Key::namespace_].name());
      if (found == modules_.end() || !use[Key::name].is_text()) continue;
      const Module& module = found->second;
      sink.inspected();
      if (module.names.contains(use[Key::name].name())) continue;
      missing_[{use[Key::namespace_].name(), use[Key::name].name()}].push_back(use);
    }
    for (const auto& [key, uses] : missing_) report(uses, modules_.at(key.first), sink);
  }

 private:
  struct Module {
    Fact first;
    std::unordered_set<Name> names;
    std::vector<std::string_view> candidates;
  };

  // One finding for all places, since one mend serves them all.
  void report(const std::vector<Fact>& uses, const Module& module, Sink& sink) {
    const Fact use = uses.front();
    const std::string_view name = use[Key::name].text();
    const std::string_view owner = use[Key::namespace_].text();
    std::string message = "asks module " + quote(owner) + " for " + quote(name) + site_of(use) +
                          ", which it doesn't define";
    if (uses.size() > 1) message += ", in " + std::to_string(uses.size()) + " places";
    if (suggestions_++ < most_suggestions) message += did_you_mean(name, module.candidates);
    Finding& finding = sink.add(std::string(owner) + "." + std::string(name), std::move(message),
                                evidence(use[Key::name], "asked for here"));
    finding.related.push_back(
        evidence(module.first, "the module's functions are defined here" + site_of(module.first)));
  }

  const Fact manifest_;
  std::unordered_map<Name, Module> modules_;
  // In the order of the names, which is that of their first mention.
  std::map<std::pair<Name, Name>, std::vector<Fact>> missing_;
  std::size_t suggestions_ = 0;
};

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    // What could not be read may be what is asked for.
    if (document.settings || !all_read(manifest[Key::functions])) continue;
    if (manifest[Key::system].is("triton") || manifest[Key::system].is("ctypes")) continue;
    Check(manifest).run(sink);
  }
}

}  // namespace

extern constinit const Rule binding_undefined{
    .id = "binding-undefined",
    .title = "name that Python asks a C++ module for and that it doesn't define",
    .rationale =
        "Python looks a function of an extension module up when the line that names it runs, and "
        "nobody compares that name with what the module binds before. A function that was renamed "
        "or dropped on one side raises AttributeError in the middle of a training run, or on the "
        "one path that no test takes.",
    .example =
        R"({"opseal_manifest": 1, "functions": [{"name": "nms_forward", "namespace": "pkg._C"}], )"
        R"("uses": [{"name": "nms_foward", "namespace": "pkg._C"}]})",
    .fix = "use one name on both sides, or bind the function",
    .severity = Severity::error,
    .inspects = "name that Python takes from a module whose functions are known",
    .needs = {Key::functions, Key::uses},
    .check = check,
};

}  // namespace opseal
