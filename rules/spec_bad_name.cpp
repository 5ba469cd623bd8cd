#include <algorithm>

#include "opseal/arg_spec.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

bool is_identifier(std::string_view name) {
  return !name.empty() && (name[0] < '0' || name[0] > '9') &&
         std::all_of(name.begin(), name.end(), is_word_byte);
}

void check(const Facts& facts, Sink& sink) {
  for_each_spec(facts, [&sink](const Fact& manifest, const Fact& target, const Fact& spec) {
    // XLA looks attributes up by text, so any text will do.
    if (is_plain_xla(manifest)) return;
    for_each_spec_token(spec, [&](const Fact& word, const SpecToken& token) {
      if (token.kind != SpecKind::attribute) return;
      sink.inspected();
      if (is_identifier(token.name)) return;
      Finding& finding =
          sink.add(std::string(target[Key::name].text()),
                   token.name.empty() ? "attribute " + quote(token.text) + " has no name"
                                      : "attribute name " + quote(token.name) +
                                            " is no ASCII identifier, such as `n` or `block_size`",
                   evidence(word, "attribute named here"));
      finding.related.push_back(evidence(target[Key::name], "target named here" + site_of(target)));
    });
  });
}

}  // namespace

extern constinit const Rule spec_bad_name{
    .id = "spec-bad-name",
    .title = "attribute of an argument spec whose name is no identifier",
    .rationale =
        "The name becomes a parameter of generated C++ code and a keyword argument in Python. What "
        "is no identifier there stops the build, or can't be passed by any caller.",
    .example = R"({"name": "lib.f", "spec": ["arg", "ret", "attr.block-size:int32"]})",
    .fix = "use letters, digits and `_`, and begin with none of the digits",
    .severity = Severity::error,
    .inspects = "attribute of an argument spec",
    .needs = {Key::spec},
    .check = check,
};

}  // namespace opseal
