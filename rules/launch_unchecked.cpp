#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/sources.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Further launches that a finding shows.
constexpr std::size_t most_related = 4;
// More functions of one file are told in one finding.
constexpr std::size_t most_functions = 5;

struct Launches {
  std::size_t all = 0;
  std::vector<Fact> unchecked;
};

struct FileLaunches : Launches {
  // By function, in the order of the file.
  std::vector<std::pair<std::string_view, Launches>> functions;
  // Accepted by a comment at each of them.
  std::vector<Fact> exempt;
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
  std::string message = "nothing acts on the error of ";
  if (launches.all == 1) {
    message += "this kernel launch";
  } else {
    message += std::to_string(launches.unchecked.size()) + " of " +
               plural(launches.all, "kernel launch", "kernel launches") + " " + std::string(where);
  }
  Finding& finding =
      sink.add(std::string(name), std::move(message), evidence(first, place_of(first)));
  const std::size_t shown = std::min(launches.unchecked.size(), most_related + 1);
  for (std::size_t at = 1; at < shown; ++at) {
    finding.related.push_back(evidence(launches.unchecked[at], place_of(launches.unchecked[at])));
  }
}

void report_file(const FileLaunches& file, Sink& sink) {
  std::vector<const Launches*> functions;
  for (const auto& [name, launches] : file.functions) {
    if (!launches.unchecked.empty()) functions.push_back(&launches);
  }
  if (functions.size() > most_functions) {
    report(file, "of the file", sink);
    return;
  }
  for (const Launches* function : functions) report(*function, "of the function", sink);
}

// A project that reads errors forgot it where it doesn't: a finding for each function. One that
// hardly ever does is told so once. A launch that a comment accepts is told apart, so that the
// comment speaks for no other.
void check_tree(const std::vector<FileLaunches>& files, Sink& sink) {
  Launches tree;
  for (const FileLaunches& file : files) {
    tree.all += file.all;
    tree.unchecked.insert(tree.unchecked.end(), file.unchecked.begin(), file.unchecked.end());
    for (const Fact& launch : file.exempt) report({1, {launch}}, {}, sink);
  }
  if (tree.unchecked.size() * 2 > tree.all) {
    report(tree, "of the sources", sink);
    return;
  }
  for (const FileLaunches& file : files) report_file(file, sink);
}

void add(const Fact& launch, FileLaunches& file) {
  const bool checked = launch[Key::checked].truth();
  if (!checked && launch[Key::exempt].truth()) {
    file.exempt.push_back(launch);
    return;
  }
  // The launches of one function stand together.
  const std::string_view name = launch[Key::function].text();
  if (file.functions.empty() || file.functions.back().first != name) {
    file.functions.push_back({name, {}});
  }
  for (Launches* launches : {static_cast<Launches*>(&file), &file.functions.back().second}) {
    ++launches->all;
    if (!checked) launches->unchecked.push_back(launch);
  }
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    std::vector<FileLaunches> files;
    std::string_view last;
    for (const Fact launch : facts.root(document)[Key::launches].items()) {
      if (!launch[Key::checked].is_truth()) continue;
      sink.inspected();
      // The launches of one file stand together.
      const std::string_view source = source_of(launch);
      if (files.empty() || last != source) files.emplace_back();
      last = source;
      add(launch, files.back());
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
