#include "rules/unlisted_kernels.h"

#include <cstdint>
#include <set>
#include <string>

#include "opseal/registration.h"
#include "opseal/sources.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// "version 13 to 19", "version 20", or nothing.
std::string versions_text(const Fact& kernel) {
  const Fact since = kernel[Key::versions][Key::since];
  const Fact until = kernel[Key::versions][Key::until];
  if (!since.is_count()) return {};
  std::string text = " for version " + std::to_string(since.count());
  if (until.is_count() && until.count() > since.count()) {
    text += " to " + std::to_string(until.count());
  }
  return text;
}

// A table lists some kernel of the operator on the same platform.
bool lists_another(const Fact& op, const Fact& kernel) {
  for (const Fact other : op[Key::kernels].items()) {
    if (other[Key::listed].truth() && other[Key::platform].name() == kernel[Key::platform].name()) {
      return true;
    }
  }
  return false;
}

}  // namespace

void check_unlisted_kernels(const Facts& facts, Unlisted kind, Sink& sink) {
  // Manifests in which something is listed.
  std::set<std::uint32_t> registering;
  for_each_operator(facts, [&](const Fact& manifest, const Fact& op) {
    for (const Fact kernel : op[Key::kernels].items()) {
      if (kernel[Key::listed].truth()) registering.insert(manifest.index());
    }
  });
  for_each_operator(facts, [&](const Fact& manifest, const Fact& op) {
    for (const Fact kernel : op[Key::kernels].items()) {
      const Fact listed = kernel[Key::listed];
      if (!listed.is_truth() || !kernel[Key::active].truth(true)) continue;
      sink.inspected();
      if (listed.truth()) continue;
      const bool declared = list_has(kernel[Key::witnesses], "declared");
      const bool alone = !declared && !lists_another(op, kernel);
      if ((declared || alone) != (kind == Unlisted::declared)) continue;
      std::string message = kernel[Key::function][Key::name].is_text()
                                ? quote(kernel[Key::function][Key::name].text())
                                : "kernel";
      message += " on " + decision_text(kernel) + versions_text(kernel);
      // Plugins and custom operators come to their runtime as objects.
      const bool is_object = is_of_sources(manifest) && !kernel[Key::versions][Key::until].said();
      if (is_object) {
        message += " is defined, and nothing registers it";
      } else {
        message += declared ? " is defined and declared, and listed in no table"
                            : " is defined and listed in no table";
        if (alone) message += ", like all of the operator";
      }
      Finding& finding = sink.add(subject_of(manifest, op), std::move(message),
                                  evidence(kernel, "the kernel" + site_of(kernel)));
      if (is_object) {
        finding.fix = "register it, or remove it";
        // The part of the project that registers may be kept elsewhere.
        if (!registering.contains(manifest.index())) finding.severity = Severity::warning;
      }
      // Where it has none, that stands at the kernel itself.
      const Location& where = listed.where();
      if (where.file == kernel.where().file && where.offset == kernel.where().offset) continue;
      finding.related.push_back(evidence(
          listed, alone ? "where other operators are listed" : "where its siblings are listed"));
    }
  });
}

}  // namespace opseal
