#include <algorithm>
#include <vector>

#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/kernel_key.h"
#include "rules/required_platform.h"

namespace opseal {
namespace {

// Registries in which an operator without a kernel is a defect. Elsewhere it is an everyday thing:
// JAX discharges operators before lowering, ONNX keeps old versions and functions, torch has
// operators for other builds, tvm-ffi knows no kernels at all.
bool promises_kernels(const Fact& manifest) {
  const std::string_view system = manifest[Key::system].text();
  return system.empty() || system == "engine" || system == "brainevent" || system == "ggml" ||
         system == "fuel" || system == "executorch";
}

// Operators that a dispatch table serves, sorted.
std::vector<Name> dispatched(const Fact& manifest) {
  std::vector<Name> names;
  for (const Fact dispatch : manifest[Key::dispatch].items()) {
    const Fact table = dispatch[Key::table];
    if (table[Key::entries].size() > 0 || table[Key::default_].is_text()) {
      names.push_back(dispatch[Key::operator_].name());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

void check_operators(const Facts& facts, const Fact& manifest, Sink& sink) {
  if (!promises_kernels(manifest)) return;
  PlatformNames names(manifest);
  // Then `platform-empty` tells the same.
  const bool promised = !required_platforms(facts, manifest, names).empty();
  const bool has_devices = manifest[Key::devices].is_list();
  const std::vector<Name> tables = dispatched(manifest);
  for (const Fact op : manifest[Key::operators].items()) {
    const Fact kernels = op[Key::kernels];
    if (!kernels_known(op) || needs_no_kernel(op) || op[Key::experimental].truth()) continue;
    if (std::binary_search(tables.begin(), tables.end(), op[Key::name].name())) continue;
    bool active = false;
    for (const Fact kernel : kernels.items()) active = active || is_active_kernel(kernel);
    // Where only the devices of the machine showed, there may be kernels for others.
    if (!active && (promised || has_devices)) continue;
    sink.inspected();
    if (active) continue;
    sink.add(subject_of(manifest, op),
             kernels.size() == 0
                 ? std::string("no kernel on any platform")
                 : "none of " + plural(kernels.size(), "kernel row") + " serves a call",
             evidence(kernels, "kernels listed here" + site_of(op)));
  }
}

void check_tables(const Fact& manifest, Sink& sink) {
  for (const Fact dispatch : manifest[Key::dispatch].items()) {
    const Fact table = dispatch[Key::table];
    const Fact entries = table[Key::entries];
    if (!all_read(entries)) continue;
    if (entries.size() > 0 || table[Key::default_].is_text()) {
      sink.inspected();
      continue;
    }
    // A predicate that refuses everything agrees with the table; one that claims kinds is
    // `claim-without-launch`.
    if (dispatch[Key::predicate][Key::kinds].said() || dispatch[Key::exceptions].size() > 0) {
      continue;
    }
    sink.inspected();
    std::string subject(dispatch[Key::operator_].text());
    if (dispatch[Key::backend].is_text()) {
      subject += " (";
      subject += dispatch[Key::backend].text();
      subject += ')';
    }
    sink.add(std::move(subject), "dispatch table with no entry and no default",
             evidence(entries, "table listed here" + site_of(table)));
  }
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    check_operators(facts, manifest, sink);
    check_tables(manifest, sink);
  }
}

}  // namespace

extern constinit const Rule dispatch_empty{
    .id = "dispatch-empty",
    .title = "operator or dispatch table that leads to no kernel",
    .rationale =
        "The operator is registered, so that names resolve and graphs build, and nothing is there "
        "to run: no kernel on any platform, no composite, no function body. The first call fails. "
        "This is what a new operator looks like whose kernels were forgotten, or dropped by the "
        "linker.",
    .example = R"({"name": "mv", "kernels": []})",
    .fix =
        "register a kernel, or remove the operator; a manifest may say `function_body` where it "
        "needs none",
    .severity = Severity::error,
    .inspects = "operator with stated kernels, or dispatch table",
    .check = check,
};

}  // namespace opseal
