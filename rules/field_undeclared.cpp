#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

void check_kernel(const Fact& manifest, const Fact& op, const Fact& kernel, Sink& sink) {
  const Fact declared = kernel[Key::attributes];
  const Fact reads = kernel[Key::reads];
  if (!declared.is_list() || !reads.is_list() || !all_read(declared)) return;
  if (kernel[Key::variadic].truth()) return;
  std::unordered_set<Name> names;
  for (const Fact attribute : declared.items()) names.insert(attribute[Key::name].name());
  sink.inspected();
  std::vector<std::string> missing;
  Fact first;
  for (const Fact read : reads.items()) {
    if (!read.is_text() || !names.insert(read.name()).second) continue;
    if (!first.said()) first = read;
    missing.emplace_back(read.text());
  }
  if (missing.empty()) return;
  const Fact creator = kernel[Key::function];
  const std::string who =
      creator[Key::name].is_text() ? quote(creator[Key::name].text()) : std::string("the creator");
  const char* what = declared.size() == 0 ? "no field" : "no such field";
  Finding& finding = sink.add(subject_of(manifest, op),
                              who + " looks for " + quote_list(missing) + " and declares " + what,
                              evidence(first, "looked for here"));
  finding.related.push_back(evidence(declared, "the fields are declared here"));
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    for (const Fact kernel : op[Key::kernels].items()) check_kernel(manifest, op, kernel, sink);
  });
}

}  // namespace

extern constinit const Rule field_undeclared{
    .id = "field-undeclared",
    .title = "plugin looks for a field that its creator doesn't declare",
    .rationale =
        "A parser asks the creator of a plugin which fields there are, and hands it these alone. "
        "What the creator looks for without having declared it never comes: the plugin is made "
        "with its default, or not at all, although the node of the model has the attribute. "
        "Programs that give the fields by hand don't notice.",
    .example =
        R"({"name": "Gelu", "kernels": [{"platform": "any", "attributes": [{"name": "type_id"}], "reads": ["type_id", "bias"]}]})",
    .fix = "declare the field where the creator fills its list of fields",
    .severity = Severity::warning,
    .inspects = "creator of which it is said what it declares and what it looks for",
    .needs = {Key::operators, Key::kernels, Key::attributes, Key::reads},
    .check = check,
};

}  // namespace opseal
