#include <cstdint>
#include <string>
#include <unordered_map>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/sources.h"
#include "opseal/text.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    std::unordered_map<std::string, Fact> known;
    for (const Fact annotation : manifest[Key::annotations].items()) {
      const Fact name = annotation[Key::name];
      if (!name.is_text()) continue;
      sink.inspected();
      const auto [first, is_new] = known.try_emplace(
          std::string(source_of(annotation)) + ":" + std::string(name.text()), annotation);
      if (is_new) continue;
      Finding& finding = sink.add(std::string(name.text()), "announced twice in one file",
                                  evidence(name, "announced again here" + site_of(annotation)));
      const Fact other = first->second[Key::name];
      finding.related.push_back(evidence(other, "announced first here" + site_of(first->second)));
    }
  }
}

}  // namespace

extern constinit const Rule spec_annotation_duplicate{
    .id = "spec-annotation-duplicate",
    .title = "function that one source announces twice",
    .rationale =
        "The builder reads the comments as text, whatever `#if` stands around them, and refuses a "
        "file that announces one function twice: none of its functions can be used, and the error "
        "comes when the first of them is called.",
    .example = R"({"opseal_manifest": 1, "system": "brainevent", "annotations": [)"
               R"({"name": "add"}, {"name": "add", "spec": ["arg", "ret"]}]})",
    .fix = "keep one annotation for each function",
    .severity = Severity::error,
    .inspects = "annotation in a source",
    .needs = {Key::annotations},
    .check = check,
};

}  // namespace opseal
