#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    for (const Fact pointer : facts.root(document)[Key::pointers].items()) {
      const Fact holder = pointer[Key::holder];
      if (!holder.is_text()) continue;
      sink.inspected();
      if (!holder.is("temporary")) continue;
      const Fact expression = pointer[Key::expression];
      const Fact type = pointer[Key::type];
      const std::string owner = type.is_text() ? quote(type.text()) : "tensor";
      Finding& finding = sink.add(std::string(pointer[Key::function].text("pointer")),
                                  quote(expression.text()) + " is kept, and the " + owner +
                                      " that owns the memory ends with the statement",
                                  evidence(pointer, "taken here" + site_of(pointer)));
      if (type.is_text()) {
        finding.fix = "give the " + owner + " a name that lives as long as the pointer";
      }
    }
  }
}

}  // namespace

extern constinit const Rule layout_temporary{
    .id = "layout-temporary",
    .title = "pointer kept into a tensor that ends with the statement",
    .rationale =
        "`contiguous()`, `to()` and their like give a tensor of their own where the layout or the "
        "dtype asks for a copy. Without a name it ends at the semicolon, and its memory goes back "
        "to the allocator while the pointer is still used: the next tensor is written over the "
        "input. For inputs that need no copy the tensor is the input itself and all is well, so "
        "that tests pass and a transposed view gives wrong numbers. Handed over as an argument of "
        "a call the same pointer is fine, since the copy lives until the call is done.",
    .example =
        R"json({"opseal_manifest": 1, "pointers": [{"expression": "x.contiguous().data_ptr<float>()", "holder": "temporary"}]})json",
    .fix =
        "give the copy a name that lives as long as the pointer: `const auto dense = "
        "x.contiguous();`",
    .severity = Severity::error,
    .tier = Tier::lexed,
    .inspects = "pointer into a tensor that is kept, of which the owner is known",
    .needs = {Key::pointers, Key::holder},
    .check = check,
};

}  // namespace opseal
