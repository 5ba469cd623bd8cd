#include "cli/macro_uses.h"

#include <string>
#include <string_view>
#include <utility>

#include "opseal/text.h"

namespace opseal {

void tell_macro_uses(const Settings& settings, const MacroUses& uses, bool whole, Facts& facts) {
  Facts part;
  for (const ConfigText& head : settings.macro_heads) {
    const auto found = uses.find(head.value.substr(0, head.value.find('(')));
    const bool unused = found == uses.end();
    if (unused ? !whole : !found->second.misfit) continue;
    if (part.files.empty()) part.files.push_back(settings.config_file);
    Problem problem;
    problem.where = {0, static_cast<std::uint32_t>(head.length), head.offset};
    if (unused) {
      problem.severity = Severity::note;
      problem.message = "`macros`: " + quote(head.value) +
                        " is used in none of the sources that may register something";
    } else {
      const MacroUse::Misfit& misfit = *found->second.misfit;
      problem.severity = Severity::warning;
      problem.message = "`macros`: " + quote(head.value) + " is used with " +
                        plural(misfit.arguments, "argument") + ", and stands for nothing there";
      problem.related = {static_cast<std::uint32_t>(part.files.size()), misfit.length,
                         misfit.offset};
      part.files.push_back(misfit.file);
    }
    part.problems.push_back(std::move(problem));
  }
  if (!part.problems.empty()) facts.append(std::move(part));
}

}  // namespace opseal
