#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Without a namespace, without JAX's suffix `_p` for primitives, and without underscores at the
// ends.
std::string_view stem(std::string_view name) {
  if (const std::size_t colon = name.rfind(':'); colon != name.npos) name.remove_prefix(colon + 1);
  if (name.ends_with("_p")) name.remove_suffix(2);
  while (name.starts_with('_')) name.remove_prefix(1);
  while (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

// Letter case, and `-`, `_` and `.` among each other, are spelling.
char plain(char byte) {
  if (byte >= 'A' && byte <= 'Z') return static_cast<char>(byte + 32);
  return byte == '-' || byte == '.' ? '_' : byte;
}

bool alike(std::string_view a, std::string_view b) {
  a = stem(a);
  b = stem(b);
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (plain(a[i]) != plain(b[i])) return false;
  }
  return true;
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    const Fact aliases = op[Key::aliases];
    if (!all_read(aliases) || aliases.size() == 0) return;
    sink.inspected();
    const std::string_view name = op[Key::name].text();
    for (const Fact alias : aliases.items()) {
      if (alike(alias.text(), name)) return;
    }
    Finding& finding =
        sink.add(subject_of(manifest, op),
                 "held by " + quote_list(texts_of(aliases)) + " and registered as " + quote(name),
                 evidence(aliases, "names in the code"));
    finding.related.push_back(evidence(op[Key::name], "registered name" + site_of(op)));
  });
}

}  // namespace

extern constinit const Rule name_alias{
    .id = "name-alias",
    .title = "name in the code differs from the registered name",
    .rationale =
        "The variable that holds the operator has one name, the registry another. Everything "
        "works; "
        "whoever meets the name in an error message, a trace or a compiled graph searches the code "
        "for it and finds nothing.",
    .example = R"({"name": "ell_binary_matvec", "aliases": ["binary_fcnmv_p"]})",
    .fix = "give both one name",
    .severity = Severity::note,
    .profile = Profile::audit,
    .inspects = "operator whose name in the code is known",
    .needs = {Key::operators, Key::aliases},
    .check = check,
};

}  // namespace opseal
