#include <string>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    for (const Fact annotation : manifest[Key::annotations].items()) {
      const Fact name = annotation[Key::name];
      const Fact function = annotation[Key::function];
      if (!name.is_text() || !function.said()) continue;
      sink.inspected();
      if (!function.is_null()) continue;
      sink.add(std::string(name.text()),
               "announced, and the file defines no function " + quote(name.text()),
               evidence(name, "announced here" + site_of(annotation)));
    }
  }
}

}  // namespace

extern constinit const Rule export_annotation_mismatch{
    .id = "export-annotation-mismatch",
    .title = "announced function that its source does not define",
    .rationale =
        "A comment names the functions that a builder shall wrap and export. If a function was "
        "renamed, or the macro that makes it got another suffix, the comment still compiles: the "
        "build of the whole file then fails on the user's machine, in generated code that calls "
        "what isn't there.",
    .example = R"({"opseal_manifest": 1, "system": "brainevent", "annotations": [)"
               R"({"name": "add_f64", "function": null}]})",
    .fix = "let the comment name the function below it",
    .severity = Severity::error,
    .inspects = "annotation in a source of which it is known whether its function is defined",
    .needs = {Key::annotations},
    .check = check,
};

}  // namespace opseal
