#include "rules/dtype_grid.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "opseal/text.h"
#include "rules/host_dtypes.h"
#include "rules/unread.h"

namespace opseal {
namespace {

// More platforms than any registry has: an input made to cost time.
constexpr std::size_t most_platforms = 64;

// Comparisons of dtype words for one operator; real ones take some hundred.
constexpr std::size_t most_comparisons = 100000;

// Platforms, or vendors' runtimes, that have no 64-bit floats (nor, then, complex128) in hardware
// or language: Metal and WGSL have no such type, Vulkan and OpenCL make it optional, TPUs emulate
// it, and the rest are made for inference.
constexpr std::string_view without_f64[] = {
    "metal",  "mps",    "webgpu", "wgpu",     "webgl", "vulkan",  "opencl",  "tpu",
    "pallas", "coreml", "ane",    "nnapi",    "qnn",   "hexagon", "htp",     "npu",
    "ascend", "cann",   "dml",    "tensorrt", "vitis", "ethos",   "xnnpack", "openvino"};

// One claim of one kernel: a dtype in one of the forms in which kernels say dtypes.
struct Claim {
  // Which form: `dtypes`, the name of a type variable, or a position in `signatures`.
  std::uint64_t slot;
  // What the word stands for.
  std::string_view dtype;
  Name platform;
  Fact text;
  Fact kernel;
};

constexpr std::uint64_t dtypes_slot = std::uint64_t{1} << 40;
constexpr std::uint64_t signatures_slot = std::uint64_t{2} << 40;
constexpr std::uint64_t variables_slot = std::uint64_t{3} << 40;

// What one platform's kernels say in one slot.
struct OnePlatform {
  Name platform = Names::missing;
  std::uint32_t kernels = 0;
  // Equal to `kernels` when all of them speak in this slot.
  std::uint32_t speaking = 0;
  Fact words;
  // Words of two meanings, such as `float`.
  std::vector<Fact> unclear;
};

// A kernel's list in a slot.
struct Speaker {
  std::uint64_t slot;
  // Index of the platform.
  std::size_t side;
  std::uint32_t kernel;
  Fact words;
};

bool names_platform(const Fact& list, const Fact& manifest, std::string_view platform) {
  const Fact aliases = manifest[Key::platform_aliases];
  for (const Fact item : list.items()) {
    if (!item.is_text()) continue;
    if (lower(item.text()) == lower(platform) || aliases.at(item.text()).is(platform) ||
        aliases.at(platform).is(item.text())) {
      return true;
    }
  }
  return false;
}

// The dtype x platform grid of one operator and its holes.
class Comparison {
 public:
  explicit Comparison(DtypeWords& words) : words_(words) {}

  // False where the operator has nothing to compare. `gaps()` is good until the next call.
  bool compare(const Fact& op) {
    gaps_.clear();
    if (!has_two_platforms(op)) return false;
    if (all_agree(op)) return true;
    comparisons_ = 0;
    collect(op);
    if (claims_.empty() || !find_speakers(op)) return false;
    spoken_slot_ = 0;
    // Not `stable_sort`, which allocates: a million operators pass here.
    std::sort(claims_.begin(), claims_.end(), [](const Claim& a, const Claim& b) {
      if (a.slot != b.slot) return a.slot < b.slot;
      return a.dtype != b.dtype ? a.dtype < b.dtype : a.text.index() < b.text.index();
    });
    bool inspected = false;
    for (std::size_t first = 0; first < claims_.size();) {
      std::size_t end = first;
      while (end < claims_.size() && claims_[end].slot == claims_[first].slot) ++end;
      inspected = judge_slot(op, first, end) || inspected;
      first = end;
    }
    return inspected;
  }

  const std::vector<Gap>& gaps() const { return gaps_; }

 private:
  static bool says_dtypes(const Fact& kernel) {
    return kernel[Key::dtypes].present() || kernel[Key::signatures].present() ||
           kernel[Key::type_constraints].present();
  }

  // Without allocating: most operators have one platform, or say no dtypes.
  static bool has_two_platforms(const Fact& op) {
    Name first = Names::missing;
    for (const Fact kernel : op[Key::kernels].items()) {
      if (!is_active_kernel(kernel) || !says_dtypes(kernel)) continue;
      const Name platform = kernel[Key::platform].name();
      if (first == Names::missing) first = platform;
      if (platform != first) return true;
    }
    return false;
  }

  static bool holds_all(const Fact& list, const Fact& others) {
    for (const Fact text : others.items()) {
      bool found = false;
      for (const Fact candidate : list.items()) {
        found = found || (candidate.is_text() && candidate.name() == text.name());
      }
      if (!found) return false;
    }
    return true;
  }

  // All kernels say the same few words and nothing else, as they mostly do: no gap, and no need to
  // sort.
  static bool all_agree(const Fact& op) {
    constexpr std::uint32_t few = 16;
    Fact first;
    for (const Fact kernel : op[Key::kernels].items()) {
      if (!is_active_kernel(kernel) || kernel[Key::stub].truth()) continue;
      const Fact words = kernel[Key::dtypes];
      if (words.size() == 0 || words.size() > few || kernel[Key::signatures].present() ||
          kernel[Key::type_constraints].present()) {
        return false;
      }
      if (!first.said()) first = words;
      if (!holds_all(first, words) || !holds_all(words, first)) return false;
    }
    return true;
  }

  std::string_view meaning(const Fact& text) {
    const Dtype* dtype = words_.read(text).dtype;
    return dtype == nullptr ? text.text() : dtype->name;
  }

  void add(std::uint64_t slot, const Fact& list, const Fact& kernel) {
    for (const Fact text : list.items()) {
      if (text.is_text()) {
        claims_.push_back({slot, meaning(text), kernel[Key::platform].name(), text, kernel});
      }
    }
  }

  void collect(const Fact& op) {
    claims_.clear();
    for (const Fact kernel : op[Key::kernels].items()) {
      if (!is_active_kernel(kernel) || kernel[Key::stub].truth()) continue;
      add(dtypes_slot, kernel[Key::dtypes], kernel);
      for (const EntryRange::Entry entry : kernel[Key::type_constraints].entries()) {
        add(variables_slot + entry.name.name(), entry.value, kernel);
      }
      for (const Fact signature : kernel[Key::signatures].items()) {
        std::uint64_t position = 0;
        for (const Fact text : signature.items()) {
          if (text.is_text()) {
            claims_.push_back({signatures_slot + position, meaning(text),
                               kernel[Key::platform].name(), text, kernel});
          }
          ++position;
        }
      }
    }
  }

  // Notes once for each kernel in which slots it speaks, since an operator may have as many slots
  // as kernels. False for more platforms than any registry has, and where a kernel is unread.
  bool find_speakers(const Fact& op) {
    platforms_.clear();
    speakers_.clear();
    for (const Fact kernel : op[Key::kernels].items()) {
      // It may be the one that fills the gap.
      if (!kernel.said() || is_unread(kernel[Key::platform])) return false;
      if (!is_active_kernel(kernel) || kernel[Key::stub].truth()) continue;
      const Name platform = kernel[Key::platform].name();
      auto side = std::find_if(platforms_.begin(), platforms_.end(), [&](const OnePlatform& known) {
        return known.platform == platform;
      });
      if (side == platforms_.end()) {
        if (platforms_.size() == most_platforms) return false;
        side = platforms_.insert(platforms_.end(), OnePlatform());
        side->platform = platform;
      }
      ++side->kernels;
      const auto place = static_cast<std::size_t>(side - platforms_.begin());
      const auto note = [&](std::uint64_t slot, const Fact& words) {
        if (words.is_list()) speakers_.push_back({slot, place, kernel.index(), words});
      };
      note(dtypes_slot, kernel[Key::dtypes]);
      note(signatures_slot, kernel[Key::signatures]);
      for (const EntryRange::Entry entry : kernel[Key::type_constraints].entries()) {
        note(variables_slot + entry.name.name(), entry.value);
      }
    }
    std::sort(speakers_.begin(), speakers_.end(), [](const Speaker& a, const Speaker& b) {
      return a.slot != b.slot ? a.slot < b.slot : a.words.index() < b.words.index();
    });
    return true;
  }

  // Refills `sides_` for a slot.
  void find_sides(std::uint64_t slot) {
    // A kernel that has signatures speaks at all of their positions.
    if (slot >= signatures_slot && slot < variables_slot) slot = signatures_slot;
    if (slot != spoken_slot_) {
      spoken_slot_ = slot;
      spoken_ = platforms_;
      auto speaker = std::lower_bound(
          speakers_.begin(), speakers_.end(), slot,
          [](const Speaker& candidate, std::uint64_t wanted) { return candidate.slot < wanted; });
      std::uint32_t before = 0;
      for (; speaker != speakers_.end() && speaker->slot == slot; ++speaker) {
        // Of a variable that is named twice the first list counts.
        if (speaker->kernel == before) continue;
        before = speaker->kernel;
        if (!all_dtypes_read(speaker->words)) continue;
        OnePlatform& side = spoken_[speaker->side];
        ++side.speaking;
        if (!side.words.said()) side.words = speaker->words;
      }
    }
    sides_ = spoken_;
  }

  bool judge_slot(const Fact& op, std::size_t first, std::size_t end) {
    find_sides(claims_[first].slot);
    // A platform with a kernel that doesn't say what it takes may take everything.
    std::erase_if(sides_, [](const OnePlatform& side) { return side.kernels != side.speaking; });
    if (sides_.empty() || platforms_.size() < 2) return false;
    for (std::size_t at = first; at < end; ++at) {
      const Dtype* dtype = words_.read(claims_[at].text).dtype;
      if (dtype == nullptr || dtype->first.empty()) continue;
      for (OnePlatform& side : sides_) {
        const bool here = side.platform == claims_[at].platform;
        if (here && side.unclear.size() < most_platforms) side.unclear.push_back(claims_[at].text);
      }
    }
    for (std::size_t at = first; at < end;) {
      std::size_t next = at;
      while (next < end && claims_[next].dtype == claims_[at].dtype) ++next;
      for (const OnePlatform& side : sides_) note_gap(op, side, {first, end}, at, next);
      at = next;
    }
    return true;
  }

  struct Range {
    std::size_t first;
    std::size_t end;
  };

  // Claims [at, next) are those of one dtype in one slot.
  void note_gap(const Fact& op, const OnePlatform& side, Range slot, std::size_t at,
                std::size_t next) {
    const Claim& claim = claims_[at];
    const std::string_view platform = name_of(op, side.platform);
    for (std::size_t i = at; i < next; ++i) {
      if (claims_[i].platform == side.platform || name_of(op, claims_[i].platform) == "any") return;
    }
    for (const Fact word : side.unclear) {
      if (words_.same(word, claim.text)) return;
    }
    if (comparisons_ > most_comparisons) return;
    const Dtype* dtype = words_.read(claim.text).dtype;
    const Promise promise = promise_of(op, claim);
    if (promise == Promise::not_made) return;
    if (cannot_have(platform, dtype) || is_refused(op, side.platform, claim.text)) return;
    // Host kernels in the narrow formats of accelerators are nobody's plan.
    const bool narrow = dtype != nullptr && (is_storage_format(*dtype) || is_narrow_float(*dtype));
    if (narrow && is_host(platform) && promise != Promise::made) return;
    auto gap = std::find_if(gaps_.begin(), gaps_.end(),
                            [&](const Gap& known) { return known.platform == side.platform; });
    if (gap == gaps_.end()) {
      gap = gaps_.insert(gaps_.end(), Gap());
      gap->platform = side.platform;
      gap->words = side.words;
      gap->there = claim.text;
      gap->other = claim.platform;
    }
    gap->promised = gap->promised || promise == Promise::made;
    gap->dtypes.push_back({claim.text, isolation_of(dtype, side.platform, slot)});
  }

  // Whether the platform takes what stands beside the dtype in the grid, among the widths of its
  // kind that any platform takes here.
  Isolation isolation_of(const Dtype* dtype, Name platform, Range slot) {
    if (dtype == nullptr || dtype->bits == 0 || !dtype->first.empty()) return Isolation::none;
    // Half-width floats, short and unsigned integers are left out by whole devices.
    if (dtype->name != "i32" && dtype->name != "i64" && dtype->name != "f32") {
      return Isolation::none;
    }
    std::uint16_t narrower = 0;
    std::uint16_t wider = 0;
    bool takes_narrower = false;
    bool takes_wider = false;
    for (std::size_t at = slot.first; at < slot.end; ++at) {
      const Dtype* other = words_.read(claims_[at].text).dtype;
      if (other == nullptr || other->kind != dtype->kind || other->name.starts_with('q')) continue;
      const bool here = claims_[at].platform == platform;
      if (other->bits < dtype->bits && other->bits >= 8) {
        if (other->bits > narrower) takes_narrower = false;
        if (other->bits >= narrower) takes_narrower = takes_narrower || here;
        narrower = std::max(narrower, other->bits);
      } else if (other->bits > dtype->bits && other->bits <= 64) {
        if (wider == 0 || other->bits < wider) takes_wider = false;
        if (wider == 0 || other->bits <= wider) takes_wider = takes_wider || here;
        wider = wider == 0 ? other->bits : std::min(wider, other->bits);
      }
    }
    if (!takes_wider) return Isolation::none;
    if (takes_narrower) return Isolation::between;
    return narrower == 0 && dtype->name == "i32" ? Isolation::below : Isolation::none;
  }

  enum class Promise { not_said, not_made, made };

  // Whether the operator itself says that it takes the dtype.
  Promise promise_of(const Fact& op, const Claim& claim) {
    Promise promise = Promise::not_said;
    const auto look = [&](const Fact& list) {
      for_each_dtype(list, [&](const Fact& text) {
        if (promise == Promise::not_said) promise = Promise::not_made;
        ++comparisons_;
        if (words_.same(text, claim.text)) promise = Promise::made;
      });
    };
    if (claim.slot >= variables_slot) {
      for (const EntryRange::Entry entry : op[Key::type_constraints].entries()) {
        if (entry.name.name() == claim.slot - variables_slot) look(entry.value);
      }
      return promise;
    }
    for (const Fact operand : op[Key::inputs].items()) look(operand[Key::dtypes]);
    for (const Fact operand : op[Key::outputs].items()) look(operand[Key::dtypes]);
    if (promise == Promise::not_said) look(op[Key::type_constraints]);
    return promise;
  }

  static bool cannot_have(std::string_view platform, const Dtype* dtype) {
    // Sequences, maps, text and handles live on the host.
    if (dtype == nullptr || dtype->kind == DtypeKind::opaque) return !is_host(platform);
    const bool wide = (dtype->kind == DtypeKind::floating && dtype->bits > 32) ||
                      dtype->kind == DtypeKind::complex;
    if (!wide) return false;
    const std::string name = lower(platform);
    return std::any_of(std::begin(without_f64), std::end(without_f64),
                       [&](std::string_view word) { return name.find(word) != std::string::npos; });
  }

  // Asked and answered: a decision, no hole.
  bool is_refused(const Fact& op, Name platform, const Fact& text) {
    for (const Fact kernel : op[Key::kernels].items()) {
      if (kernel[Key::platform].name() != platform) continue;
      if (is_partly_unread(kernel[Key::refused])) return true;
      for (const Fact refused : kernel[Key::refused].items()) {
        ++comparisons_;
        if (refused.is_text() && words_.same(refused, text)) return true;
      }
    }
    return false;
  }

  static std::string_view name_of(const Fact& fact, Name platform) {
    return fact.facts().names.text(platform);
  }

  DtypeWords& words_;
  std::vector<Claim> claims_;
  // All platforms with the number of their kernels.
  std::vector<OnePlatform> platforms_;
  std::vector<Speaker> speakers_;
  // What `platforms_` say in `spoken_slot_`.
  std::vector<OnePlatform> spoken_;
  std::uint64_t spoken_slot_ = 0;
  // The same without those that leave something open.
  std::vector<OnePlatform> sides_;
  std::vector<Gap> gaps_;
  std::size_t comparisons_ = 0;
};

}  // namespace

void check_gaps(const Facts& facts, Sink& sink, ReportGap report) {
  DtypeWords words(facts);
  Comparison comparison(words);
  for_each_operator(facts, [&](const Fact& manifest, const Fact& op) {
    if (!comparison.compare(op)) return;
    sink.inspected();
    for (const Gap& gap : comparison.gaps()) report(manifest, op, gap, sink);
  });
}

bool is_required_platform(const Fact& manifest, std::string_view platform) {
  const Facts& facts = manifest.facts();
  if (names_platform(manifest[Key::required_platforms], manifest, platform)) return true;
  for (const Document& document : facts.documents) {
    if (!document.settings) continue;
    const Fact required = facts.root(document)[Key::required_platforms];
    if (names_platform(required, manifest, platform)) return true;
  }
  return false;
}

bool is_grid_hole(const Fact& manifest, const Fact& op, const Gap& gap,
                  const Gap::Lacking& lacking) {
  if (lacking.isolation == Isolation::none) return false;
  // Each plugin of PaddlePaddle is for a device of its own, which computes what it computes.
  if (manifest[Key::system].is("paddle")) return false;
  const std::string_view platform = op.facts().names.text(gap.platform);
  if (is_required_platform(manifest, platform)) return true;
  // A version that a later one replaced is not mended any more.
  if (op[Key::versions][Key::until].is_count() || op[Key::fallback].size() > 0) return false;
  if (list_has(manifest[Key::backend_fallbacks], platform)) return false;
  return lacking.isolation == Isolation::between || !places_per_operator(manifest);
}

Finding& add_gap(const Fact& manifest, const Fact& op, const Gap& gap,
                 std::vector<std::string> dtypes, Sink& sink) {
  // Several type variables may lack the same.
  std::sort(dtypes.begin(), dtypes.end());
  dtypes.erase(std::unique(dtypes.begin(), dtypes.end()), dtypes.end());
  const Names& names = op.facts().names;
  const std::string other = quote(names.text(gap.other));
  const std::string platform = quote(names.text(gap.platform));
  Finding& finding =
      sink.add(subject_of(manifest, op),
               other + " takes " + quote_list(dtypes) + ", " + platform + " does not",
               evidence(gap.words, "dtypes of " + platform + " listed here" + site_of(op)));
  finding.related.push_back(evidence(gap.there, "taken on " + other + " here"));
  return finding;
}

}  // namespace opseal
