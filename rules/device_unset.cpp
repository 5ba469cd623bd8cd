#include <string_view>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/sources.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// The launches of a function stand together.
struct Function {
  std::string_view name;
  Fact launch;
  bool pinned = false;
};

// Functions of one file: most of them set the device, so that those which don't forgot it.
void report(const std::vector<Function>& functions, Sink& sink) {
  std::vector<const Function*> set;
  std::vector<const Function*> unset;
  for (const Function& function : functions) {
    (function.pinned ? set : unset).push_back(&function);
  }
  if (set.empty() || unset.size() > set.size()) return;
  for (const Function* function : unset) {
    const Fact kernel = function->launch[Key::kernel];
    const std::string what = kernel.is_text() ? quote(kernel.text()) : std::string("a kernel");
    Finding& finding =
        sink.add(std::string(function->name),
                 "starts " + what +
                     " on whatever device is current, expected that of its tensors "
                     "to be made so, as " +
                     quote(set.front()->name) + " does",
                 evidence(function->launch, "started here" + site_of(function->launch)));
    finding.related.push_back(
        evidence(set.front()->launch, "sets the device" + site_of(set.front()->launch)));
  }
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    std::vector<Function> functions;
    std::string_view last;
    for (const Fact launch : facts.root(document)[Key::launches].items()) {
      const Fact pinned = launch[Key::pinned];
      if (!pinned.is_truth() || !launch[Key::function].is_text()) continue;
      sink.inspected();
      // The launches of one file stand together.
      const std::string_view source = source_of(launch);
      if (source != last) {
        report(functions, sink);
        functions.clear();
      }
      last = source;
      const std::string_view name = launch[Key::function].text();
      if (!functions.empty() && functions.back().name == name) {
        functions.back().pinned = functions.back().pinned || pinned.truth();
        continue;
      }
      functions.push_back({name, launch, pinned.truth()});
    }
    report(functions, sink);
  }
}

}  // namespace

extern constinit const Rule device_unset{
    .id = "device-unset",
    .title = "kernel is started on whatever device is current, unlike its siblings",
    .rationale =
        "A kernel runs on the device that is current in the thread, and that is the first one "
        "unless somebody says otherwise. With tensors of another device it reads memory that isn't "
        "there for it: an illegal access, or zeros where devices see each other's memory. One "
        "device in the machine hides it. Told where other functions of the same file, which also "
        "take tensors, set the device, and nothing that calls this one does.",
    .example =
        R"({"opseal_manifest": 1, "launches": [{"kernel": "warp", "function": "run_warp", "pinned": true}, )"
        R"({"kernel": "scale", "function": "run_scale", "pinned": false}]})",
    .fix =
        "make the device of a tensor current first: `const c10::cuda::CUDAGuard guard(x.device())`",
    .severity = Severity::warning,
    .tier = Tier::lexed,
    .inspects = "kernel launch in a function that takes tensors, or sets the device",
    .needs = {Key::launches, Key::pinned},
    .check = check,
};

}  // namespace opseal
