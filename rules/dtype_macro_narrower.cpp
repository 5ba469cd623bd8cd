#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/sources.h"
#include "opseal/text.h"
#include "rules/dtype_choices.h"
#include "rules/kernel_roles.h"
#include "rules/odd_one_out.h"

namespace opseal {
namespace {

// Platforms of one operator that are looked at.
constexpr std::size_t most_platforms = 8;

struct OnPlatform {
  Fact kernel;
  Platform platform;
  DtypeChoices choices;
};

// A dtype that one platform takes and the other doesn't.
struct Lacking {
  Fact manifest;
  Fact op;
  Fact kernel;
  Fact wide_kernel;
  // Of the platform that has it, and that lacks it.
  Fact wide;
  Fact narrow;
  std::string_view there;
  std::string_view here;
  const Dtype* dtype = nullptr;
  // Nobody leaves it out by a plan: 16 bits are what accelerators are for.
  bool certain = false;
};

class NarrowerCheck {
 public:
  NarrowerCheck(const Facts& facts, Sink& sink) : words_(facts), sink_(&sink) {}

  void judge(const Fact& manifest, const Fact& op, PlatformNames& names) {
    // A function in a file that wasn't given may take what is missing here.
    if (is_partial_tree(manifest)) return;
    std::vector<OnPlatform> platforms;
    for (const Fact kernel : op[Key::kernels].items()) {
      if (!is_active_kernel(kernel) || !kernel[Key::dispatches].said()) continue;
      const Platform platform = names.of(kernel[Key::platform]);
      if (platform.role != PlatformRole::device || platform.name.starts_with("autograd")) continue;
      auto found = std::find_if(platforms.begin(), platforms.end(), [&](const OnPlatform& one) {
        return same_platform(one.platform, platform);
      });
      if (found == platforms.end()) {
        if (platforms.size() == most_platforms) return;
        platforms.push_back({kernel, platform, DtypeChoices(words_)});
        found = platforms.end() - 1;
      }
      found->choices.add(kernel);
    }
    bool inspected = false;
    for (OnPlatform& wide : platforms) {
      for (OnPlatform& narrow : platforms) {
        if (&wide == &narrow || !wide.choices.known() || !narrow.choices.known()) continue;
        inspected = true;
        compare(manifest, op, wide, narrow);
      }
    }
    if (inspected) sink_->inspected();
  }

  void report() {
    for (std::size_t at = 0; at < lacking_.size();) {
      std::vector<std::string> missing;
      const Lacking& first = lacking_[at];
      std::size_t end = at;
      std::string peers;
      for (; end < lacking_.size() && lacking_[end].kernel == first.kernel &&
             lacking_[end].there == first.there;
           ++end) {
        if (!is_odd(lacking_[end], peers)) continue;
        missing.emplace_back(lacking_[end].dtype->name);
      }
      at = end;
      if (missing.empty()) continue;
      add(first, missing, peers);
    }
  }

 private:
  struct Group {
    std::uint32_t members = 0;
    std::uint32_t keeping = 0;
  };
  using GroupKey =
      std::tuple<std::uint32_t, Name, std::string_view, std::string_view, const Dtype*>;

  static GroupKey key_of(const Fact& manifest, const Fact& op, std::string_view wide,
                         std::string_view narrow, const Dtype* dtype) {
    return {manifest.index(), op[Key::namespace_].name(), wide, narrow, dtype};
  }

  static bool is_host(const Platform& platform) { return platform.hardware == "cpu"; }

  void compare(const Fact& manifest, const Fact& op, OnPlatform& wide, OnPlatform& narrow) {
    // Nothing in common: they choose by something else.
    const auto& taken = wide.choices.always();
    const bool comparable = std::any_of(taken.begin(), taken.end(), [&narrow](const Dtype* dtype) {
      return DtypeChoices::is_float(*dtype) && narrow.choices.ever(*dtype);
    });
    if (!comparable) return;
    for (const Dtype* dtype : taken) {
      if (!DtypeChoices::is_float(*dtype) || dtype->bits < 16) continue;
      Group& group = groups_[key_of(manifest, op, wide.platform.name, narrow.platform.name, dtype)];
      ++group.members;
      if (narrow.choices.ever(*dtype)) {
        ++group.keeping;
        continue;
      }
      const bool half = dtype->kind == DtypeKind::floating && dtype->bits == 16;
      lacking_.push_back({manifest, op, narrow.kernel, wide.kernel,
                          wide.choices.choice(*dtype, true), narrow.choices.choice(*dtype, false),
                          wide.platform.name, narrow.platform.name, dtype,
                          half && !is_host(narrow.platform)});
    }
  }

  bool is_odd(const Lacking& one, std::string& peers) const {
    if (one.certain) return true;
    const Group& group = groups_.at(key_of(one.manifest, one.op, one.there, one.here, one.dtype));
    const std::uint32_t others = group.members - 1;
    if (others < OddOneOut::fewest_peers ||
        std::uint64_t{group.keeping} * 100 < std::uint64_t{others} * OddOneOut::least_keeping) {
      return false;
    }
    peers = ", where " + std::to_string(group.keeping) + " of " + plural(others, "operator") +
            " of the namespace have it on both";
    return true;
  }

  void add(const Lacking& first, std::vector<std::string> missing, const std::string& peers) {
    std::sort(missing.begin(), missing.end());
    Finding& finding =
        sink_->add(subject_of(first.manifest, first.op),
                   "the code for " + quote(first.kernel[Key::platform].text()) +
                       " has no case for " + quote_list(missing) + ", which that for " +
                       quote(first.wide_kernel[Key::platform].text()) + " has" + peers,
                   evidence(first.narrow, "chooses by dtype here" + site_of(first.narrow)));
    finding.related.push_back(
        evidence(first.wide, "and with that case here" + site_of(first.wide)));
    finding.related.push_back(evidence(first.kernel, "registered here" + site_of(first.kernel)));
  }

  DtypeWords words_;
  Sink* sink_;
  std::vector<Lacking> lacking_;
  std::map<GroupKey, Group> groups_;
};

void check(const Facts& facts, Sink& sink) {
  NarrowerCheck narrower(facts, sink);
  for_each_operator_with_names(
      facts, [&narrower](const Fact& manifest, const Fact& op, PlatformNames& names) {
        narrower.judge(manifest, op, names);
      });
  narrower.report();
}

}  // namespace

extern constinit const Rule dtype_macro_narrower{
    .id = "dtype-macro-narrower",
    .title = "one backend's code has cases for fewer dtypes than another's",
    .rationale =
        "The two kernels of an operator choose by dtype with different macros, so that a dtype "
        "works on one device and stops with \"not implemented\" on the other. Macros are copied "
        "with the code around them; when a dtype is added to one backend nothing reminds anybody "
        "of the other. 16-bit floats are held against accelerators always, since they are what "
        "accelerators are used for; all else only where nearly every other operator of the "
        "namespace has the dtype on both.",
    .example =
        R"({"name": "angle", "kernels": [{"platform": "CPU", "dispatches": [{"dtypes": ["f32", "bf16"]}]},)"
        R"( {"platform": "CUDA", "dispatches": [{"dtypes": ["f32"]}]}]})",
    .fix = "add the dtype to the narrower macro",
    .severity = Severity::warning,
    .tier = Tier::lexed,
    .inspects = "operator whose kernels for two devices say how they choose by dtype",
    .needs = {Key::operators, Key::kernels, Key::platform, Key::dispatches},
    .check = check,
};

}  // namespace opseal
