// The kernels of one operator in two dumps. Kernels are looked up by platform and backend; where
// several stand there (one for each dtype or version), what they take together is compared.

#include <algorithm>
#include <map>
#include <string>

#include "compare/change_list.h"
#include "compare/equal_kernels.h"
#include "compare/kernel_presence.h"
#include "opseal/digest.h"
#include "opseal/text.h"
#include "rules/kernel_key.h"
#include "rules/served_dtypes.h"

namespace opseal {
namespace {

using Kernels = std::vector<ServingKernel>;

class KernelComparison {
 public:
  explicit KernelComparison(const Compared& compared)
      : compared_(compared),
        before_(serving_kernels(compared.before(), compared.names_before())),
        after_(serving_kernels(compared.after(), compared.names_after())),
        presence_(compared, before_, after_),
        index_(after_),
        known_before_(kernels_known(compared.before())),
        known_after_(kernels_known(compared.after())) {}

  void compare() {
    auto left = before_.begin();
    auto right = after_.begin();
    while (left != before_.end() || right != after_.end()) {
      const bool only_left =
          right == after_.end() || (left != before_.end() && less(*left, *right));
      const bool only_right =
          left == before_.end() || (right != after_.end() && less(*right, *left));
      const auto left_end = only_right ? left : group_end(left, before_.end());
      const auto right_end = only_left ? right : group_end(right, after_.end());
      const Kernels then(left, left_end);
      const Kernels now(right, right_end);
      if (now.empty()) {
        presence_.removed(then);
      } else if (then.empty()) {
        presence_.added(now);
      } else {
        compare_groups(then, now);
      }
      left = left_end;
      right = right_end;
    }
  }

 private:
  static bool less(const ServingKernel& a, const ServingKernel& b) {
    return std::tie(a.platform.name, a.backend) < std::tie(b.platform.name, b.backend);
  }
  static Kernels::const_iterator group_end(Kernels::const_iterator first,
                                           Kernels::const_iterator end) {
    return std::find_if(first, end,
                        [first](const ServingKernel& row) { return less(*first, row); });
  }

  Change& add(Impact impact, std::string_view kind, std::string message, std::string_view meaning,
              const Fact& then, const Fact& now) {
    return compared_.list.add(impact, kind, compared_.subject, std::move(message), meaning, then,
                              now);
  }

  void compare_groups(Kernels then, Kernels now) {
    if (then.size() != 1 || now.size() != 1) drop_equal_kernels(then, now);
    if (then.empty() && now.empty()) return;
    if (then.size() == 1 && now.size() == 1) {
      compare_kernel(then.front(), now.front());
      return;
    }
    compare_same_takers(then, now);
    const Kernels& shown = now.empty() ? then : now;
    bool said = false;
    for (const Key key : {Key::dtypes, Key::type_constraints, Key::signatures}) {
      const bool here = shown.front().kernel[key].said();
      if (here) said = compare_served(key, shown) || said;
    }
    if (said || then.size() == now.size()) return;
    const std::string key = decision_text(shown.front().kernel);
    if (then.size() > now.size()) {
      if (known_after_) {
        add(Impact::speed, "kernel-removed",
            std::to_string(then.size() - now.size()) + " fewer of the kernels " + key,
            "calls that they took go to the others or fail", then.front().kernel,
            compared_.after()[Key::kernels]);
      }
    } else if (known_before_) {
      add(Impact::additive, "kernel-added",
          std::to_string(now.size() - then.size()) + " more of the kernels " + key,
          "more can be called there", compared_.before()[Key::kernels], now.front().kernel);
    }
  }

  // Of several kernels at one place, those that take the same are one kernel in both dumps.
  void compare_same_takers(const Kernels& then, const Kernels& now) {
    std::map<std::uint64_t, std::vector<const ServingKernel*>> takers;
    for (const ServingKernel& row : then) takers[taken_by(row.kernel)].push_back(&row);
    std::map<std::uint64_t, std::size_t> used;
    for (const ServingKernel& row : now) {
      const std::uint64_t taken = taken_by(row.kernel);
      const auto found = takers.find(taken);
      if (found == takers.end() || used[taken] == found->second.size()) continue;
      const Fact& before = found->second[used[taken]++]->kernel;
      compare_function(before, row.kernel);
      compare_kernel_members(compared_, before, row.kernel);
    }
  }

  static std::uint64_t taken_by(const Fact& kernel) {
    std::uint64_t hash = 0;
    for (const Key key : {Key::dtypes, Key::type_constraints, Key::signatures, Key::versions}) {
      hash = hash * 31 + hash_of(kernel[key]);
    }
    return hash;
  }

  // All kernels that stand under one platform and backend.
  static Kernels at(const Kernels& all, const ServingKernel& like) {
    const auto range = std::equal_range(all.begin(), all.end(), like, less);
    return Kernels(range.first, range.second);
  }

  // What is taken under one platform and backend. False where that isn't said in full.
  bool compare_served(Key key, const Kernels& like) {
    const Kernels then = at(before_, like.front());
    const Kernels now = at(after_, like.front());
    const ServedDtypes old_served = served_dtypes(then, key, false);
    const ServedDtypes served = served_dtypes(now, key, false);
    if (!old_served.complete || !served.complete) return false;
    report_dtypes(then.front(), old_served, served, then.front().kernel[key],
                  now.front().kernel[key], key);
    return true;
  }

  void report_dtypes(const ServingKernel& row, const ServedDtypes& then, const ServedDtypes& now,
                     const Fact& then_where, const Fact& now_where, Key key) {
    const auto texts = [](const std::vector<ServedDtypes::Entry>& entries) {
      std::vector<std::string> out;
      for (const ServedDtypes::Entry& entry : entries) out.push_back(entry.text);
      return quote_list(out);
    };
    const std::string head = decision_text(row.kernel);
    const std::vector<ServedDtypes::Entry> gained = lacking(now, then);
    const std::vector<ServedDtypes::Entry> lost = lacking(then, now);
    if (!lost.empty()) {
      const bool elsewhere = taken_elsewhere(row, then, lost, key);
      add(elsewhere ? Impact::speed : Impact::breaking, "dtypes",
          "kernel " + head + " lost " + texts(lost),
          elsewhere ? "calls with these dtypes go to another kernel of the platform"
                    : "calls with these dtypes fail or are converted",
          lost.front().where, now_where);
    }
    if (!gained.empty()) {
      add(Impact::additive, "dtypes", "kernel " + head + " gained " + texts(gained),
          "it can be called with more dtypes", then_where, gained.front().where);
    }
  }

  bool taken_elsewhere(const ServingKernel& row, const ServedDtypes& then,
                       const std::vector<ServedDtypes::Entry>& lost, Key key) {
    if (asked_ != row.platform.name || asked_key_ != key) {
      asked_ = row.platform.name;
      asked_key_ = key;
      taken_ = served_dtypes(index_.reached(row.platform), key, false);
    }
    const std::vector<ServedDtypes::Entry> missing = lacking(then, taken_);
    return std::none_of(lost.begin(), lost.end(), [&missing](const ServedDtypes::Entry& one) {
      return std::any_of(missing.begin(), missing.end(), [&one](const ServedDtypes::Entry& other) {
        return other.text == one.text;
      });
    });
  }

  void compare_kernel(const ServingKernel& then, const ServingKernel& now) {
    if (then.stub != now.stub) {
      add(now.stub ? Impact::breaking : Impact::additive, "kernel-stub",
          "kernel " + decision_text(now.kernel) + (now.stub ? " only raises" : " works") +
              ", before it " + (now.stub ? "worked" : "only raised"),
          now.stub ? "calls there fail" : "it can be called there", then.kernel, now.kernel);
    }
    for (const Key key : {Key::dtypes, Key::type_constraints, Key::signatures}) {
      if (compared_.list.both(then.kernel, now.kernel, key)) compare_one(key, then, now);
    }
    compare_until(then.kernel, now.kernel);
    compare_function(then.kernel, now.kernel);
    compare_kernel_members(compared_, then.kernel, now.kernel);
  }

  void compare_one(Key key, const ServingKernel& then, const ServingKernel& now) {
    const ServedDtypes old_served = served_dtypes({then}, key, false);
    const ServedDtypes served = served_dtypes({now}, key, false);
    if (!old_served.complete || !served.complete) return;
    report_dtypes(now, old_served, served, then.kernel[key], now.kernel[key], key);
  }

  // Ends with the operator's own version, whichever that is.
  static bool ends_with_operator(const Fact& kernel, const Fact& op) {
    const Fact until = op[Key::versions][Key::until];
    return until.said() && same_meaning(kernel[Key::versions][Key::until], until);
  }

  void compare_until(const Fact& then, const Fact& now) {
    const Fact old_until = then[Key::versions][Key::until];
    const Fact until = now[Key::versions][Key::until];
    if (!old_until.said() || !until.said() || same_meaning(old_until, until)) return;
    if (ends_with_operator(then, compared_.before()) && ends_with_operator(now, compared_.after()))
      return;
    const bool exact = compared_.pair.after.manifest[Key::system].is("onnxruntime");
    const auto last = [exact](const Fact& kernel) -> std::uint32_t {
      const Fact end = kernel[Key::versions][Key::until];
      if (end.is_count()) return end.count();
      return exact ? kernel[Key::versions][Key::since].count() : 0xffffffff;
    };
    if (last(now) == last(then)) return;
    const bool fewer = last(now) < last(then);
    add(fewer ? Impact::breaking : Impact::additive, "versions",
        "kernel " + decision_text(now) + " serves versions " + end_text(now[Key::versions], exact) +
            ", before " + end_text(then[Key::versions], exact),
        fewer ? "models of the versions behind that find no kernel" : "models of more versions run",
        old_until, until);
  }

  void compare_function(const Fact& then, const Fact& now) {
    const Fact old_function = then[Key::function];
    const Fact function = now[Key::function];
    if (!old_function.present() || !function.present() || same_meaning(old_function, function))
      return;
    add(Impact::speed, "kernel-function",
        "kernel " + decision_text(now) + " is another function or takes other parameters",
        "other code runs: speed may change", old_function, function);
  }

  const Compared& compared_;
  const Kernels before_;
  const Kernels after_;
  KernelPresence presence_;
  const KernelIndex index_;
  const bool known_before_;
  const bool known_after_;
  // What all kernels of the last platform take that was asked for: thousands may share one.
  std::string_view asked_;
  Key asked_key_ = Key::none;
  ServedDtypes taken_;
};

}  // namespace

void compare_kernels(const Compared& compared) {
  if (!compared.list.both(compared.before(), compared.after(), Key::kernels)) return;
  KernelComparison(compared).compare();
}

}  // namespace opseal
