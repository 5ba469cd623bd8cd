#include <algorithm>
#include <map>
#include <set>

#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/kernel_key.h"
#include "rules/lost_kernels.h"

namespace opseal {
namespace {

// A kernel that nothing in the second dump stands for.
struct Loss {
  RegisteredPair pair;
  Fact kernel;
};

class Search {
 public:
  Search(const Facts& facts, Sink& sink) : sink_(sink) {
    for (const Document& document : facts.documents) {
      if (document.side != Side::after) continue;
      const Fact manifest = facts.root(document);
      for (const Fact op : manifest[Key::operators].items()) collect_platforms(manifest, op);
    }
  }

  void check_pair(const RegisteredPair& pair) {
    const Fact now = pair.after.item;
    if (!kernels_known(pair.before.item) || !kernels_known(now)) return;
    const auto before = serving_kernels(pair.before.item, names_.of(pair.before.manifest));
    const auto after = serving_kernels(now, names_.of(pair.after.manifest));
    // What works without a kernel, or goes on to another, loses nothing that a list could show.
    const std::vector<Platform> platforms = platforms_of(before);
    if (works_without_kernel(now) || platforms.size() > most_platforms) return;
    for (const Platform& platform : platforms) check_platform(pair, platform, before, after);
  }

  void report() {
    for (auto& [platform, losses] : losses_) {
      if (present_.contains(platform)) {
        for (const Loss& loss : losses) add(loss, platform);
      } else {
        add_whole(losses, platform);
      }
    }
  }

 private:
  void collect_platforms(const Fact& manifest, const Fact& op) {
    for (const Fact kernel : op[Key::kernels].items()) {
      const Fact platform = kernel[Key::platform];
      if (is_active_kernel(kernel) && platform.is_text())
        present_.insert(names_.of(manifest).of(platform).name);
    }
  }

  void check_platform(const RegisteredPair& pair, const Platform& platform,
                      const std::vector<ServingKernel>& before,
                      const std::vector<ServingKernel>& after) {
    // torch's tables are no devices where no table of ours knows them.
    const bool unknown = platform.role == PlatformRole::unknown;
    if (platform.role == PlatformRole::wrapper || platform.role == PlatformRole::every) return;
    if (unknown && pair.before.manifest[Key::system].is("torch")) return;
    const auto own = std::find_if(before.begin(), before.end(), [&](const ServingKernel& row) {
      return !row.stub && row.platform.name == platform.name;
    });
    if (own == before.end()) return;
    const Fact written = own->kernel[Key::platform];
    const Fact manifest = pair.after.manifest;
    PlatformNames& names = names_.of(manifest);
    if (!could_show(manifest, pair.before.manifest, written, names)) return;
    if (platform_falls_back(manifest, written, names)) return;
    sink_.inspected();
    if (!is_replaced(platform, has_gradient_kernel(before), kernels_reached(after, platform))) {
      losses_[platform.name].push_back({pair, own->kernel});
    }
  }

  static std::string expected_text(const Fact& kernel) {
    return kernel[Key::backend].is_text() ? decision_text(kernel) : "one as in the first dump";
  }

  void add(const Loss& loss, std::string_view platform) {
    const Registered& now = loss.pair.after;
    Finding& finding = sink_.add(
        subject_of(now.manifest, now.item),
        "no kernel serves " + quote(platform) + ", expected " + expected_text(loss.kernel),
        evidence(now.item[Key::kernels], "all kernels of the second dump" + site_of(now.item)));
    finding.related.push_back(
        evidence(loss.kernel, "the kernel of the first dump" + site_of(loss.kernel)));
  }

  // One build decision, not one mistake an operator.
  void add_whole(const std::vector<Loss>& losses, std::string_view platform) {
    const Registered& now = losses.front().pair.after;
    Finding& finding =
        sink_.add(std::string(platform),
                  "no operator has a kernel for " + quote(platform) + ", expected " +
                      plural(losses.size(), "operator") + " such as " +
                      quote(subject_of(now.manifest, now.item)),
                  evidence(now.manifest[Key::platforms] ? now.manifest[Key::platforms]
                                                        : now.manifest[Key::operators],
                           "the second dump"));
    finding.related.push_back(evidence(losses.front().kernel, "a kernel of the first dump"));
    finding.fix = "build the package for the platform again, or say that it isn't supported";
  }

  Sink& sink_;
  NamesByManifest names_;
  // Platforms for which the second dump has any kernel.
  std::set<std::string_view> present_;
  std::map<std::string_view, std::vector<Loss>> losses_;
};

void check(const Facts& facts, Sink& sink) {
  Search search(facts, sink);
  for (const RegisteredPair& pair : pair_operators(facts).pairs) search.check_pair(pair);
  search.report();
}

}  // namespace

extern constinit const Rule platform_lost{
    .id = "platform-lost",
    .title = "platform that the first dump serves is not served in the second",
    .rationale =
        "Programs that ran the operator on the platform before the update fail after it, at the "
        "first call, or are moved to another device with copies each way. A kernel is seldom taken "
        "away on purpose: mostly a registration was lost when files moved.",
    .example =
        R"({"before": {"opseal_manifest": 1, "operators": [{"name": "mv", "kernels": [{"platform": "cpu"}, {"platform": "cuda"}]}]}, "after": {"opseal_manifest": 1, "operators": [{"name": "mv", "kernels": [{"platform": "cpu"}]}]}})",
    .fix = "register the kernel again, or say in the release notes that the platform is gone",
    .severity = Severity::error,
    .two_dumps = true,
    .inspects =
        "operator of both dumps and platform that it had a kernel for, where the second "
        "dump could show one",
    .needs = {Key::operators, Key::kernels},
    .check = check,
};

}  // namespace opseal
