#include <map>
#include <string>
#include <utility>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Tensors that are made sure of beside the one that isn't: fewer are no habit.
constexpr std::size_t fewest_sure = 2;

struct Tensors {
  std::vector<Fact> sure;
  std::vector<Fact> unsure;
};

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    // By file and function.
    std::map<std::pair<std::uint32_t, std::string_view>, Tensors> functions;
    for (const Fact pointer : facts.root(document)[Key::pointers].items()) {
      const Fact contiguous = pointer[Key::contiguous];
      if (!contiguous.is_truth() || !pointer[Key::function].is_text()) continue;
      Tensors& tensors = functions[{pointer.where().file, pointer[Key::function].text()}];
      (contiguous.truth() ? tensors.sure : tensors.unsure).push_back(pointer);
    }
    for (const auto& [key, tensors] : functions) {
      sink.inspected(tensors.sure.size() + tensors.unsure.size());
      if (tensors.unsure.size() != 1 || tensors.sure.size() < fewest_sure) continue;
      const Fact& odd = tensors.unsure.front();
      Finding& finding =
          sink.add(std::string(key.second),
                   "nobody asks whether the tensor of " + quote(odd[Key::expression].text()) +
                       " is contiguous, as the function does of " +
                       plural(tensors.sure.size(), "other tensor", "other tensors"),
                   evidence(odd, "pointer taken here" + site_of(odd)));
      const Fact& other = tensors.sure.front();
      finding.related.push_back(evidence(other, "one that is made sure of" + site_of(other)));
    }
  }
}

}  // namespace

extern constinit const Rule layout_unchecked{
    .id = "layout-unchecked",
    .title = "one of several tensors that isn't made contiguous",
    .rationale =
        "A function takes pointers from its tensors and hands them on without strides, so that "
        "each has to be dense. It sees to that for all of them but one, by a check or by "
        "`contiguous()`, and neither does anybody who calls it. A slice or a transposed view "
        "in that place is read as if it were dense: wrong numbers, without an error. It is told "
        "only where the function does nothing else with the tensor that could see to it.",
    .example =
        R"json({"opseal_manifest": 1, "pointers": [{"expression": "x.data_ptr<float>()", "function": "run", "contiguous": true},
 {"expression": "w.data_ptr<float>()", "function": "run", "contiguous": true},
 {"expression": "lengths.data_ptr<int>()", "function": "run", "contiguous": false}]})json",
    .fix = "check it like the others, or take the pointer from a named `contiguous()` copy",
    .severity = Severity::warning,
    .profile = Profile::strict,
    .tier = Tier::lexed,
    .inspects = "tensor of which it is said whether somebody makes sure that it is contiguous",
    .needs = {Key::pointers, Key::contiguous},
    .check = check,
};

}  // namespace opseal
