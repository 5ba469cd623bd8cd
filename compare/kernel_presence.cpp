#include "compare/kernel_presence.h"

#include <algorithm>

#include "rules/kernel_key.h"

namespace opseal {
namespace {

// Without their number, so that the same change of many operators reads as one.
std::string noun_of(const std::vector<ServingKernel>& kernels) {
  return "kernel " + decision_text(kernels.front().kernel);
}

// torch's tables for gradients, of every device or of one.
bool is_gradient_table(const ServingKernel& row) {
  return is_gradient_kernel(row) ||
         (row.platform.role == PlatformRole::wrapper && row.platform.name.starts_with("Autograd"));
}

// torch derives a gradient through these, since they call operators that have one.
bool gives_gradient(const ServingKernel& row) {
  const Fact platform = row.kernel[Key::platform];
  return !row.stub && (platform.is("CompositeImplicitAutograd") || platform.is("CatchAll"));
}

bool computes(const ServingKernel& row) {
  return !row.stub && row.platform.role != PlatformRole::wrapper && !is_gradient_kernel(row);
}

bool all_stubs(const std::vector<ServingKernel>& kernels) {
  return std::all_of(kernels.begin(), kernels.end(),
                     [](const ServingKernel& row) { return row.stub; });
}

}  // namespace

KernelPresence::KernelPresence(const Compared& compared, const std::vector<ServingKernel>& before,
                               const std::vector<ServingKernel>& after)
    : compared_(compared),
      after_(after),
      index_(after),
      known_before_(kernels_known(compared.before())),
      known_after_(kernels_known(compared.after())),
      beside_gradient_(has_gradient_kernel(before)) {}

void KernelPresence::removed(const std::vector<ServingKernel>& then) {
  // What could not be read may be what is missing.
  if (!known_after_) return;
  const RegisteredPair& pair = compared_.pair;
  const ServingKernel& one = then.front();
  if (!could_show(pair.after.manifest, pair.before.manifest, one.kernel[Key::platform],
                  compared_.names_after())) {
    compared_.list.count_unsaid(Key::kernels);
    return;
  }
  const Meaning meaning = all_stubs(then)
                              ? Meaning{Impact::speed, "the call raises for another reason"}
                              : meaning_of_loss(one);
  compared_.list.add(meaning.impact, "kernel-removed", compared_.subject,
                     "no " + noun_of(then) + " any more", meaning.text, one.kernel,
                     compared_.after()[Key::kernels]);
}

void KernelPresence::added(const std::vector<ServingKernel>& now) {
  if (!known_before_) return;
  const RegisteredPair& pair = compared_.pair;
  const ServingKernel& one = now.front();
  if (!could_show(pair.before.manifest, pair.after.manifest, one.kernel[Key::platform],
                  compared_.names_before())) {
    compared_.list.count_unsaid(Key::kernels);
    return;
  }
  compared_.list.add(
      Impact::additive, "kernel-added", compared_.subject, noun_of(now) + ", before none",
      one.stub                                     ? "a call there raises with a reason of its own"
      : is_gradient_table(one)                     ? "gradients of it are computed by it"
      : one.platform.name == "meta"                ? "shapes of results are known without data"
      : one.platform.role == PlatformRole::wrapper ? "calls go through it on their way to a kernel"
                                                   : "it can be called there",
      compared_.before()[Key::kernels], one.kernel);
}

KernelPresence::Meaning KernelPresence::meaning_of_loss(const ServingKernel& lost) {
  if (is_gradient_table(lost)) return meaning_of_lost_gradient(lost);
  if (lost.platform.role == PlatformRole::wrapper) return meaning_of_lost_wrapper(lost);
  if (is_served(lost))
    return {Impact::speed, "calls go to another kernel; who names this one fails"};
  return {Impact::breaking, lost.platform.role == PlatformRole::every
                                ? "platforms without a kernel of their own fail"
                                : "calls on the platform fail or are moved to another"};
}

KernelPresence::Meaning KernelPresence::meaning_of_lost_gradient(const ServingKernel& lost) const {
  if (has(lost.platform.name) || has("autograd"))
    return {Impact::numerics, "gradients come from another kernel"};
  if (std::none_of(after_.begin(), after_.end(), computes) &&
      !works_without_kernel(compared_.after())) {
    return {Impact::breaking, "nothing else computes a result: calls fail"};
  }
  if (std::any_of(after_.begin(), after_.end(), gives_gradient))
    return {Impact::numerics, "gradients come from the operators that it calls"};
  return {Impact::breaking, "no gradient flows through it any more, or asking for one fails"};
}

KernelPresence::Meaning KernelPresence::meaning_of_lost_wrapper(const ServingKernel& lost) const {
  if (lost.platform.name != "meta")
    return {Impact::speed, "it wraps others, and they are reached without it"};
  if (has("meta") || has("any") || works_without_kernel(compared_.after()))
    return {Impact::speed, "shapes of results come from another kernel"};
  return {Impact::breaking, "calls without data, as `torch.compile` makes them, fail"};
}

// The second dump serves the platform by something else.
bool KernelPresence::is_served(const ServingKernel& lost) {
  const Fact written = lost.kernel[Key::platform];
  if (works_without_kernel(compared_.after())) return true;
  if (asked_ != lost.platform.name) {
    asked_ = lost.platform.name;
    replaced_ =
        is_replaced(lost.platform, beside_gradient_, index_.reached(lost.platform)) ||
        platform_falls_back(compared_.pair.after.manifest, written, compared_.names_after());
  }
  return replaced_;
}

bool KernelPresence::has(std::string_view platform) const {
  return std::any_of(after_.begin(), after_.end(), [platform](const ServingKernel& row) {
    return !row.stub && row.platform.name == platform;
  });
}

}  // namespace opseal
