#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/gradient_marks.h"

namespace opseal {
namespace {

// The device of a gradient key for one device: `CUDA` of `AutogradCUDA`. Empty for `Autograd`,
// which serves all, and for keys of something that is no device (`AutogradNestedTensor`).
std::string_view device_of_key(const Fact& op, std::string_view key) {
  if (!is_autograd_key(key)) return {};
  key.remove_prefix(std::string_view("Autograd").size());
  if (key.empty()) return {};
  const PlatformRole role = canonical_platform(key).role;
  if (role == PlatformRole::device) return key;
  // A plugin's device (`PrivateUse1`) is in no table here; a kernel for it shows that it is one.
  if (role != PlatformRole::unknown) return {};
  for (const Fact kernel : op[Key::kernels].items()) {
    if (kernel[Key::platform].is(key)) return key;
  }
  return {};
}

// `SparseCUDA` and the like are other tables, with gradient keys of their own.
bool is_plain_device(const Platform& platform) {
  return platform.role == PlatformRole::device && platform.name == platform.hardware;
}

struct GradientKeys {
  // The first key of one device, or not said.
  Fact one_device;
  // A key that serves whatever isn't listed: `Autograd`, `AutogradOther`, a composite.
  bool all_devices = false;
};

GradientKeys gradient_keys(const Fact& op) {
  GradientKeys keys;
  for (const Fact kernel : op[Key::kernels].items()) {
    const std::string_view platform = kernel[Key::platform].text();
    if (platform == "CompositeImplicitAutograd") keys.all_devices = true;
    // A gradient key that falls through says that there is nothing to do.
    if (!is_autograd_key(platform) || !kernel[Key::active].truth(true)) continue;
    if (device_of_key(op, platform).empty()) {
      keys.all_devices = true;
    } else if (!keys.one_device) {
      keys.one_device = kernel;
    }
  }
  return keys;
}

// Its code is there, and nothing of it works on memory by dtype: it may be made of operators that
// have gradients, and torch records these where no gradient key is registered.
bool may_be_composite(const Fact& kernel) {
  return kernel[Key::function][Key::location].said() && kernel[Key::dispatches].size() == 0;
}

bool has_key_for(const Fact& op, const Platform& device) {
  for (const Fact kernel : op[Key::kernels].items()) {
    const std::string_view key = device_of_key(op, kernel[Key::platform].text());
    if (!key.empty() && same_platform(canonical_platform(key), device)) return true;
  }
  return false;
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator_with_names(facts, [&sink](const Fact& manifest, const Fact& op,
                                              PlatformNames& names) {
    const GradientKeys keys = gradient_keys(op);
    if (!keys.one_device || keys.all_devices || !all_read(op[Key::kernels]) ||
        is_marked_without_gradient(op) || op[Key::gradient].is_null()) {
      return;
    }
    sink.inspected();
    for (const Fact kernel : op[Key::kernels].items()) {
      if (!is_active_kernel(kernel)) continue;
      const Platform device = names.of(kernel[Key::platform]);
      if (!is_plain_device(device) || has_key_for(op, device) ||
          !platform_was_visible(manifest, kernel[Key::platform], names)) {
        continue;
      }
      // What applies a function with a backward of its own brings its gradient along.
      if (kernel[Key::uses].size() > 0) continue;
      const bool composite = may_be_composite(kernel);
      Finding& finding = sink.add(
          subject_of(manifest, op),
          "gradient registered at " + decision_text(keys.one_device) + " and none for " +
              decision_text(kernel) +
              (composite ? ", which has none unless it is made of operators that have one" : ""),
          evidence(keys.one_device[Key::platform],
                   "gradient for one device" + site_of(keys.one_device)));
      if (composite) finding.severity = Severity::warning;
      finding.related.push_back(evidence(kernel, "kernel without a gradient" + site_of(kernel)));
      return;
    }
  });
}

}  // namespace

extern constinit const Rule autograd_key_device{
    .id = "autograd-key-device",
    .title = "gradient is registered for one device, kernels for others too",
    .rationale =
        "The gradient was bound to the key of one device, where the key for all devices was meant. "
        "On the others the forward pass runs as before and records nothing: depending on the "
        "framework's version, backward raises, warns, or hands on no gradient, so that a model "
        "that trains on one device stands still on the next. A kernel that applies a function with "
        "a backward, or is made of operators that have gradients, brings its own; where the code "
        "leaves that open, this is a warning.",
    .example =
        R"({"name": "lib::scale", "kernels": [{"platform": "CPU"}, {"platform": "CUDA"}, {"platform": "AutogradCUDA"}]})",
    .fix = "register the gradient at `Autograd`, which serves every device",
    .severity = Severity::error,
    .inspects = "operator with a gradient at the key of one device and none for all",
    .needs = {Key::operators, Key::kernels, Key::platform},
    .check = check,
};

}  // namespace opseal
