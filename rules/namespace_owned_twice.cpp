#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "opseal/build_condition.h"
#include "opseal/names.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/sources.h"
#include "opseal/text.h"

namespace opseal {
namespace {

constexpr std::size_t most_blocks = 64;

BuildCondition condition_of(const Fact& block) {
  const Fact when = block[Key::when];
  return when.is_text() ? BuildCondition::of(when.text()) : BuildCondition();
}

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? std::string_view() : path.substr(0, slash);
}

// The same, or directly below.
bool is_near(std::string_view folder, std::string_view outer) {
  return folder == outer || folder_of(folder) == outer;
}

// Files of one backend each are built one for another.
bool names_backend(std::string_view path) {
  const std::string text = lower(path);
  for (const std::string_view word :
       {"cpu", "cuda", "gpu", "hip", "rocm", "xpu", "sycl", "npu", "ascend", "musa", "metal", "mps",
        "hpu", "mlu", "stub", "dummy", "meta", "stable"}) {
    if (text.find(word) != text.npos) return true;
  }
  return false;
}

// One folder, or one directly below the other: sources of one library as a rule.
bool are_built_together(std::string_view a, std::string_view b) {
  if (a == b || names_backend(a) || names_backend(b)) return false;
  const std::string_view left = folder_of(a);
  const std::string_view right = folder_of(b);
  return is_near(left, right) || is_near(right, left);
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    std::unordered_map<Name, std::vector<Fact>> owners;
    for (const Fact block : manifest[Key::registrars].items()) {
      const Fact space = block[Key::namespace_];
      if (!space.is_text()) continue;
      std::vector<Fact>& others = owners[space.name()];
      sink.inspected();
      for (const Fact other : others) {
        if (is_of_sources(manifest) && !are_built_together(source_of(block), source_of(other))) {
          continue;
        }
        if (condition_of(block).excludes(condition_of(other))) continue;
        Finding& finding =
            sink.add(std::string(space.text()),
                     "namespace " + quote(space.text()) +
                         " is defined by a second `TORCH_LIBRARY` block, where a process takes one",
                     evidence(space, "second block"));
        finding.related.push_back(evidence(other[Key::namespace_], "first block"));
        break;
      }
      if (others.size() < most_blocks) others.push_back(block);
    }
  }
}

}  // namespace

extern constinit const Rule namespace_owned_twice{
    .id = "namespace-owned-twice",
    .title = "two blocks define one namespace",
    .rationale =
        "`TORCH_LIBRARY` takes a namespace as a whole, and the dispatcher refuses a second block "
        "for it: loading the library throws, with both places in the message. It shows only once "
        "both files are linked into one process, often when a second file of operators is added.",
    .example =
        R"({"opseal_manifest": 1, "registrars": [{"type": "TORCH_LIBRARY", "namespace": "lib"}, )"
        R"({"type": "TORCH_LIBRARY", "namespace": "lib"}]})",
    .fix = "keep one `TORCH_LIBRARY` and make the others `TORCH_LIBRARY_FRAGMENT`",
    .severity = Severity::error,
    .inspects = "block that takes a namespace which another block takes too",
    .needs = {Key::registrars, Key::namespace_},
    .check = check,
};

}  // namespace opseal
