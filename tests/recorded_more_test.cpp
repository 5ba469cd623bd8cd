// Registries recorded from other packages, which are too large to keep here: read where they are at
// hand.

#include <doctest/doctest.h>

#include <algorithm>
#include <iostream>
#include <set>
#include <string>

#include "opseal/registration.h"
#include "tests/support.h"

namespace fs = std::filesystem;

namespace opseal::test {

// operators, kernel rows that are no fallthrough, and what the default profile finds.
struct Outside {
  const char* name;
  int operators;
  int kernels;
  const char* findings = "";
};

TEST_CASE(
    "every other recorded registry is read without a problem and accused of what is true of it "
    "alone") {
  const fs::path folder = source_dir().parent_path() / "shared" / "data" / "manifests";
  if (!fs::is_directory(folder)) {
    std::cout << "skipped: no folder " << folder << "\n";
    return;
  }
  constexpr Outside registries[] = {
      {"torch-2.15.0", 3623, 18199},
      {"torch-1.13.1-debian", 3380, 14888},
      {"torchvision-0.29.2", 28, 73, "fake-missing warning 1, "},
      {"torchaudio-2.11.1", 6, 10},
      {"torchao-0.18.0", 22, 28},
      {"bitsandbytes-0.50.2", 19, 38},
      {"xformers-0.0.35", 13, 40, "namespace-wrong error 1, "},
      {"torchcodec-0.17.0", 11, 11},
      {"fbgemm-gpu-cpu-1.9.0", 129, 148},
      {"onnxruntime-1.32.0", 883, 1517, "version-behind error 13, version-behind note 3, "},
      // CUDA's Clip takes 8 and 64 bits and no 32.
      {"onnxruntime-gpu-1.31.1", 847, 3032,
       "dtype-grid-hole warning 1, version-behind error 12, version-behind note 3, "},
      {"executorch-1.5.1", 286, 286},
      {"apache-tvm-ffi-0.1.15.post2", 159, 0},
      {"ggml-0.13.1-pywhispercpp-1.5.1", 36, 36},
  };
  std::set<std::string> unlisted;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().stem().string();
    if (!fs::exists(source_dir() / "fixtures/_whole" / (name + ".json"))) unlisted.insert(name);
  }
  for (const Outside& registry : registries) unlisted.erase(registry.name);
  INFO("recorded and not listed here: " << (unlisted.empty() ? "" : *unlisted.begin()));
  CHECK(unlisted.empty());
  for (const Outside& registry : registries) {
    SUBCASE(registry.name) {
      const Audit audit =
          audit_paths({(folder / (std::string(registry.name) + ".json")).string()}, {});
      // Notes tell the remarks of the walk.
      CHECK(std::none_of(audit.facts.problems.begin(), audit.facts.problems.end(),
                         [](const Problem& each) { return each.severity != Severity::note; }));
      int operators = 0;
      int kernels = 0;
      for_each_operator(audit.facts, [&](const Fact&, const Fact& op) {
        ++operators;
        for (const Fact kernel : op[Key::kernels].items())
          kernels += is_active_kernel(kernel) ? 1 : 0;
      });
      CHECK(operators == registry.operators);
      CHECK(kernels == registry.kernels);
      CHECK(show(count_findings(audit)) == registry.findings);
    }
  }
}

}  // namespace opseal::test
