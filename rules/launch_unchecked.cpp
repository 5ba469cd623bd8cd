#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/sources.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Further launches that a finding shows.
constexpr std::size_t most_related = 4;

struct Launches {
  std::size_t all = 0;
  std::vector<Fact> unchecked;
};

std::string place_of(const Fact& launch) {
  const Fact kernel = launch[Key::kernel];
  return kernel.is_text() ? quote(kernel.text()) + " started here" + site_of(launch)
                          : "started here" + site_of(launch);
}

void report(const Launches& launches, std::string_view where, Sink& sink) {
  const Fact& first = launches.unchecked.front();
  const Fact function = first[Key::function];
  const std::string_view name = function.text(first[Key::kernel].text("launch"));
  std::string message = std::to_string(launches.unchecked.size()) + " of " +
                        plural(launches.all, "kernel launch", "kernel launches") + " " +
                        std::string(where) + " " + (launches.unchecked.size() == 1 ? "is" : "are") +
                        " not followed by a read of the error";
  Finding& finding =
      sink.add(std::string(name), std::move(message), evidence(first, place_of(first)));
  const std::size_t shown = std::min(launches.unchecked.size(), most_related + 1);
  for (std::size_t at = 1; at < shown; ++at) {
    finding.related.push_back(evidence(launches.unchecked[at], place_of(launches.unchecked[at])));
  }
}

// A project that reads errors forgot it where it doesn't: a finding for each file. One that hardly
// ever does is told so once.
void check_tree(const std::vector<Launches>& files, Sink& sink) {
  Launches tree;
  for (const Launches& file : files) {
    tree.all += file.all;
    tree.unchecked.insert(tree.unchecked.end(), file.unchecked.begin(), file.unchecked.end());
  }
  if (tree.unchecked.empty()) return;
  if (tree.unchecked.size() * 2 > tree.all) {
    report(tree, "of the sources", sink);
    return;
  }
  for (const Launches& file : files) {
    if (!file.unchecked.empty()) report(file, "of the file", sink);
  }
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    std::vector<Launches> files;
    std::string_view last;
    for (const Fact launch : facts.root(document)[Key::launches].items()) {
      const Fact checked = launch[Key::checked];
      if (!checked.is_truth()) continue;
      sink.inspected();
      // The launches of one file stand together.
      const std::string_view source = source_of(launch);
      if (files.empty() || last != source) files.emplace_back();
      last = source;
      ++files.back().all;
      if (!checked.truth()) files.back().unchecked.push_back(launch);
    }
    check_tree(files, sink);
  }
}

}  // namespace

extern constinit const Rule launch_unchecked{
    .id = "launch-unchecked",
    .title = "kernel launch whose error nobody reads",
    .rationale =
        "Starting a kernel gives nothing back. A launch that fails, since the library has no code "
        "for this device, the block is too large or the shared memory too much, leaves an error "
        "behind and the output as it was: zeros, or what was there before. Synchronizing doesn't "
        "tell of it. Who reads the error next, often another library, reports it at a place that "
        "has nothing to do with it. Where less than half of a project's launches are checked there "
        "is one finding for all of them, else one for each file.",
    .example =
        R"({"opseal_manifest": 1, "launches": [{"kernel": "scale", "function": "run_scale", "checked": false}]})",
    .fix =
        "read `cudaGetLastError()` (`hipGetLastError()`) right after the launch and act on it, "
        "as `C10_CUDA_KERNEL_LAUNCH_CHECK()` does",
    .severity = Severity::warning,
    .tier = Tier::lexed,
    .inspects = "kernel launch in code of the host",
    .needs = {Key::launches, Key::checked},
    .check = check,
};

}  // namespace opseal
