#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/sources.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// What JAX itself knows, plugins not counted (`jax/_src/xla_bridge.py`).
constexpr std::array<std::string_view, 6> known{"cpu", "cuda", "gpu", "oneapi", "rocm", "tpu"};

struct Meaning {
  std::string_view word;
  std::string_view platform;
};
// Words for devices that no plugin goes by.
constexpr Meaning meanings[] = {{"amd", "rocm"},    {"amdgpu", "rocm"}, {"cudnn", "cuda"},
                                {"hip", "rocm"},    {"host", "cpu"},    {"nvgpu", "cuda"},
                                {"nvidia", "cuda"}, {"nvptx", "cuda"},  {"x86", "cpu"}};

// The platform that was meant, or empty where the word may be the name of a plugin.
std::string_view meant(std::string_view written) {
  if (written.empty() || written.size() > 32) return {};
  const std::string plain = lower(written);
  for (const std::string_view word : known) {
    if (word == plain) return word;
  }
  for (const Meaning& meaning : meanings) {
    if (meaning.word == plain) return meaning.platform;
  }
  // Short words are near to everything.
  std::vector<std::string_view> candidates;
  for (const std::string_view word : known) {
    if (word.size() >= 4 && word[0] == plain[0]) candidates.push_back(word);
  }
  return plain.size() < 4 ? std::string_view() : nearest_name(plain, candidates);
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    if (!manifest[Key::system].is("jax") || !is_of_sources(manifest)) return;
    for (const Fact kernel : op[Key::kernels].items()) {
      const Fact platform = kernel[Key::platform];
      if (!platform.is_text() || platform.is("any")) continue;
      const std::string_view written = platform.text();
      if (std::find(known.begin(), known.end(), written) != known.end()) {
        sink.inspected();
        continue;
      }
      const std::string_view wanted = meant(written);
      if (wanted.empty()) continue;
      sink.inspected();
      Finding& finding = sink.add(subject_of(manifest, op),
                                  "lowering registered for platform " + quote(written) +
                                      ", which JAX doesn't know; expected " + quote(wanted),
                                  evidence(kernel, "registered here" + site_of(kernel)));
      finding.fix = "register it for " + quote(wanted);
    }
  });
}

}  // namespace

extern constinit const Rule lowering_platform{
    .id = "lowering-platform",
    .title = "lowering registered for a platform that JAX doesn't know",
    .rationale =
        "A lowering is looked up by the name of the platform that runs, in lower case: `cuda`, not "
        "`CUDA`, which is right for an FFI target, and not the vendor. Older releases of JAX take "
        "any word and never ask for it, so that the primitive has no lowering on that device; "
        "newer ones raise when the module is imported.",
    .example =
        R"({"opseal_manifest": 1, "tree": {"files": 1}, "producer": {"name": "sources"}, "system": "jax", )"
        R"("operators": [{"name": "norm", "kernels": [{"platform": "nvidia"}]}]})",
    .fix = "register it for `cpu`, `cuda`, `rocm`, `tpu`, or `gpu` for both of CUDA and ROCm",
    .severity = Severity::error,
    .inspects = "lowering of a primitive for a platform, read from sources",
    .needs = {Key::operators, Key::kernels, Key::platform},
    .check = check,
};

}  // namespace opseal
