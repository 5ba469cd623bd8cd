#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/schema_text.h"
#include "opseal/sources.h"
#include "opseal/text.h"
#include "rules/kernel_roles.h"
#include "rules/torch_names.h"

namespace opseal {
namespace {

// The device that the name of a function says at its end: `cpu` of `lib::scale_cpu`.
std::string device_in_name(std::string_view function) {
  const std::size_t colon = function.rfind(':');
  if (colon != function.npos) function.remove_prefix(colon + 1);
  const std::size_t line = function.rfind('_');
  if (line == function.npos || line == 0) return {};
  const std::string_view word = function.substr(line + 1);
  for (const std::string_view device : {"cpu", "cuda", "gpu", "hip", "xpu", "mps", "npu"}) {
    if (word == device) return std::string(word);
  }
  return {};
}

// A kernel for a device by another function.
Fact other_device_kernel(const Fact& op, const Fact& composite, PlatformNames& names) {
  for (const Fact kernel : op[Key::kernels].items()) {
    if (!is_active_kernel(kernel) || is_autograd_key(kernel[Key::platform].text())) continue;
    if (names.of(kernel[Key::platform]).role != PlatformRole::device) continue;
    const Fact function = kernel[Key::function][Key::name];
    if (function.is_text() && function.name() != composite[Key::function][Key::name].name()) {
      return kernel;
    }
  }
  return {};
}

// What a function takes, by the schema or by its own types, holds a tensor: without one, there is
// no device that the dispatcher could choose by.
bool takes_tensor(const Fact& op, const Fact& kernel) {
  if (const std::optional<OperatorSchema> schema = read_schema(op[Key::schema])) {
    return std::any_of(schema->inputs.begin(), schema->inputs.end(),
                       [](const SchemaOperand& input) { return input.is_tensor(); });
  }
  const std::string_view native = kernel[Key::native_signature].text();
  const std::size_t open = native.find('(');
  return open != native.npos && native.find("Tensor", open) != native.npos;
}

// A file that only the compiler of an accelerator reads.
std::string_view device_of_file(std::string_view file) {
  if (file.ends_with(".cu") || file.ends_with(".cuh")) return "cuda";
  return file.ends_with(".hip") ? "hip" : "";
}

// Which device a function is for.
class FunctionDevices {
 public:
  explicit FunctionDevices(const Facts& facts) {
    for (const Document& document : facts.documents) {
      for (const Fact launch : facts.root(document)[Key::launches].items()) {
        launching_.emplace(source_of(launch), launch[Key::function].text());
      }
    }
  }

  // By its name, or since it stands in a file of device code and starts kernels, or chooses what to
  // run by dtype and so reads memory itself.
  std::string of(const Fact& kernel) const {
    const Fact name = kernel[Key::function][Key::name];
    std::string device = device_in_name(name.text());
    if (!device.empty() || !name.is_text()) return device;
    const std::string_view source = source_of(kernel[Key::function]);
    const bool runs =
        kernel[Key::dispatches].size() > 0 || launching_.contains({source, base_name(name.text())});
    return runs ? std::string(device_of_file(source)) : std::string();
  }

 private:
  // Files and functions in them.
  std::set<std::pair<std::string_view, std::string_view>> launching_;
};

// How the operators of each namespace have their kernels.
class NamespaceHabits {
 public:
  // Siblings that a habit is read from.
  static constexpr std::size_t fewest = 2;

  void count(const Fact& op, const KernelRoles& roles, const FunctionDevices& devices,
             PlatformNames& names) {
    Habit& habit = habits_[op[Key::namespace_].text()];
    if (roles.implicit) {
      if (!devices.of(roles.implicit).empty() && takes_tensor(op, roles.implicit)) {
        ++habit.composites;
      }
      return;
    }
    for (const Fact kernel : op[Key::kernels].items()) {
      if (!is_active_kernel(kernel) || is_autograd_key(kernel[Key::platform].text())) continue;
      const Platform platform = names.of(kernel[Key::platform]);
      if (platform.role != PlatformRole::device) continue;
      std::vector<Fact>& siblings = habit.by_device[std::string(platform.hardware)];
      if (siblings.empty() || siblings.back().index() != op.index()) siblings.push_back(op);
    }
  }

  // The first sibling with a kernel for that device, where at least half of the functions for one
  // stand at its key.
  Fact sibling(const Fact& op, const Platform& device) const {
    const auto habit = habits_.find(op[Key::namespace_].text());
    if (habit == habits_.end()) return {};
    const auto siblings = habit->second.by_device.find(device.hardware);
    if (siblings == habit->second.by_device.end()) return {};
    const std::size_t number = siblings->second.size();
    return number >= fewest && number >= habit->second.composites ? siblings->second.front()
                                                                  : Fact();
  }

 private:
  struct Habit {
    std::size_t composites = 0;
    std::map<std::string, std::vector<Fact>, std::less<>> by_device;
  };
  std::map<std::string_view, Habit> habits_;
};

// A function for one device that is the only kernel, where siblings have theirs at the device.
void check_alone(const Facts& facts, Sink& sink) {
  const FunctionDevices devices(facts);
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    if (!manifest[Key::system].is("torch")) continue;
    PlatformNames names(manifest);
    NamespaceHabits habits;
    for (const Fact op : manifest[Key::operators].items()) {
      if (op.said()) habits.count(op, kernel_roles(op, names), devices, names);
    }
    for (const Fact op : manifest[Key::operators].items()) {
      if (!op.said()) continue;
      const KernelRoles roles = kernel_roles(op, names);
      const Fact composite = roles.implicit;
      if (!composite || composite[Key::when].said() || roles.device || !roles.known) continue;
      const Fact name = composite[Key::function][Key::name];
      if (!name.is_text() || !takes_tensor(op, composite)) continue;
      sink.inspected();
      const std::string device = devices.of(composite);
      if (device.empty()) continue;
      const Fact sibling = habits.sibling(op, canonical_platform(device));
      if (!sibling) continue;
      Finding& finding = sink.add(
          subject_of(manifest, op),
          "function " + quote(name.text()) + " for " + quote(device) +
              " is registered for every device, at `CompositeImplicitAutograd`, where operators "
              "beside it have theirs at that device",
          evidence(composite, "without a key" + site_of(composite)));
      finding.related.push_back(evidence(sibling[Key::kernels], "with a key" + site_of(sibling)));
    }
  }
}

void check(const Facts& facts, Sink& sink) {
  check_alone(facts, sink);
  for_each_operator_with_names(
      facts, [&sink](const Fact& manifest, const Fact& op, PlatformNames& names) {
        if (!manifest[Key::system].is("torch")) return;
        const KernelRoles roles = kernel_roles(op, names);
        const Fact composite = roles.implicit;
        if (!composite || composite[Key::when].said()) return;
        const Fact name = composite[Key::function][Key::name];
        if (!name.is_text()) return;
        const Fact other = other_device_kernel(op, composite, names);
        if (!other) return;
        sink.inspected();
        const std::string device = device_in_name(name.text());
        if (device.empty()) return;
        Finding& finding = sink.add(
            subject_of(manifest, op),
            "function " + quote(name.text()) + " for " + quote(device) +
                " is registered for every device, at `CompositeImplicitAutograd`, beside a kernel "
                "for " +
                decision_text(other),
            evidence(composite, "without a key" + site_of(composite)));
        finding.related.push_back(evidence(other, "with a key" + site_of(other)));
      });
}

}  // namespace

extern constinit const Rule composite_device_kernel{
    .id = "composite-device-kernel",
    .title = "kernel for one device is registered for all of them",
    .rationale =
        "A function that is handed to `m.def`, or to `impl` without a key, becomes the kernel of "
        "every device that has none of its own, at `CompositeImplicitAutograd`. The function of "
        "one device then gets tensors of another. And torch takes such an operator to be made of "
        "differentiable ones: it is decomposed before dispatch modes see it, no warning says "
        "that it has no gradient, and a shape function for it is refused.",
    .example =
        R"({"opseal_manifest": 1, "system": "torch", "operators": [{"name": "lib::f", "kernels": [)"
        R"({"platform": "CompositeImplicitAutograd", "function": {"name": "f_cpu"}}, )"
        R"({"platform": "CUDA", "function": {"name": "f_cuda"}}]}]})",
    .fix = "define the operator by its schema alone, and register the function at its device",
    .severity = Severity::warning,
    .inspects = "operator of torch with a composite kernel whose function is known",
    .needs = {Key::operators, Key::kernels, Key::function},
    .check = check,
};

}  // namespace opseal
