#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/schema_text.h"
#include "opseal/sources.h"
#include "opseal/text.h"
#include "rules/kernel_roles.h"
#include "rules/odd_one_out.h"

namespace opseal {
namespace {

// Registries in which an operator can work without a shape function: graphs of ONNX and TensorFlow
// run with shapes unknown, and JAX's operators of higher order are traced through.
bool works_without(const Fact& manifest) {
  const std::string_view system = manifest[Key::system].text();
  return !(system.empty() || system == "engine" || system == "torch");
}

// The schema says that nothing of a shape comes back.
bool returns_no_tensor(const Fact& op) {
  const std::optional<OperatorSchema> schema = read_schema(op[Key::schema]);
  if (!schema || schema->more_outputs) return false;
  // Type variables and generic types may hold one.
  constexpr std::array<std::string_view, 10> plain{"int",    "float",   "bool",       "str",
                                                   "SymInt", "Scalar",  "ScalarType", "Device",
                                                   "Layout", "NoneType"};
  return std::all_of(schema->outputs.begin(), schema->outputs.end(), [&](const auto& output) {
    return std::find(plain.begin(), plain.end(), output.type) != plain.end();
  });
}

// The schema says that nothing comes back: what it computes, it writes.
bool returns_nothing(const Fact& op) {
  const std::optional<OperatorSchema> schema = read_schema(op[Key::schema]);
  return schema && !schema->more_outputs && schema->outputs.empty() &&
         std::any_of(schema->inputs.begin(), schema->inputs.end(),
                     [](const SchemaOperand& input) { return input.mutated(); });
}

// How many of a namespace's operators with device kernels have a shape function. Where many have
// none, those with equal platforms may still all have one by accident: torch's own namespace falls
// into a hundred sets of platforms.
class NamespaceHabits {
 public:
  void count(const Fact& manifest, const Fact& op, bool keeps) {
    Habit& habit = habits_[key_of(manifest, op)];
    ++habit.members;
    habit.keeping += keeps ? 1 : 0;
  }
  // Asked about an operator that lacks it: the others have it.
  bool keeps(const Fact& manifest, const Fact& op) const {
    const Habit& habit = habits_.at(key_of(manifest, op));
    return habit.keeping * 100 >= (habit.members - 1) * OddOneOut::least_keeping;
  }

 private:
  struct Habit {
    std::uint64_t members = 0;
    std::uint64_t keeping = 0;
  };

  static std::uint64_t key_of(const Fact& manifest, const Fact& op) {
    return std::uint64_t{manifest.index()} << 32 | op[Key::namespace_].name();
  }

  std::unordered_map<std::uint64_t, Habit> habits_;
};

// A tree shows all that its authors wrote: three of four are a convention there.
constexpr std::uint32_t fewest_in_sources = 3;

class Convention {
 public:
  explicit Convention(std::uint32_t fewest = OddOneOut::fewest_peers) : peers_(fewest) {}

  void count(const Fact& manifest, const Fact& op, bool keeps) {
    peers_.count(manifest, op, keeps);
    habits_.count(manifest, op, keeps);
  }

  void report(Sink& sink) const {
    sink.inspected(peers_.judged_keeping());
    report_if(sink, [](const OddOneOut::Lacking&) { return true; });
  }

  // `asked(lacking)`: whether this one is judged.
  template <typename Asked>
  void report_if(Sink& sink, Asked asked) const {
    peers_.for_each_lacking([&](const OddOneOut::Lacking& lacking) {
      if (!asked(lacking)) return;
      sink.inspected();
      if (!lacking.is_odd() || !habits_.keeps(lacking.manifest, lacking.op)) return;
      Finding& finding = sink.add(
          subject_of(lacking.manifest, lacking.op),
          "no shape function (fake, meta), where " + std::to_string(lacking.keeping) + " of " +
              plural(lacking.peers, "operator") + " of the same namespace and platforms have one",
          evidence(lacking.op[Key::abstract], "said to be absent here" + site_of(lacking.op)));
      finding.related.push_back(evidence(lacking.op[Key::kernels], "its kernels"));
    });
  }

 private:
  OddOneOut peers_;
  NamespaceHabits habits_;
};

void check(const Facts& facts, Sink& sink) {
  Convention by_device;
  // A composite is traced through its parts, so that registries say nothing of its shape function.
  // Where one is said to be absent, tracing stops at it: custom operators in torch's Python are
  // opaque whatever they run on.
  Convention for_every_device;
  Convention of_sources(fewest_in_sources);
  // Together with those that return nothing: newer releases work such a shape function out, so that
  // it is no mistake as such to have none. Where the others have theirs, this one's was forgotten.
  Convention with_nothing(fewest_in_sources);
  std::set<std::pair<std::uint32_t, std::string_view>> spaces_of_nothing;
  for_each_operator_with_names(
      facts, [&](const Fact& manifest, const Fact& op, PlatformNames& names) {
        if (works_without(manifest)) return;
        const Fact abstract = op[Key::abstract];
        if (!abstract.said()) return;
        const KernelRoles roles = kernel_roles(op, names);
        if (!roles.known || !roles.has_kernel()) return;
        const bool keeps = abstract.present() || roles.meta;
        const bool sources = is_of_sources(manifest) && !roles.every;
        const bool nothing = returns_nothing(op);
        if (sources && (nothing || !returns_no_tensor(op))) with_nothing.count(manifest, op, keeps);
        if (sources && nothing && keeps) {
          spaces_of_nothing.emplace(manifest.index(), op[Key::namespace_].text());
        }
        if (returns_no_tensor(op)) return;
        Convention& convention = roles.every ? for_every_device : sources ? of_sources : by_device;
        convention.count(manifest, op, keeps);
      });
  by_device.report(sink);
  for_every_device.report(sink);
  of_sources.report(sink);
  with_nothing.report_if(sink, [&](const OddOneOut::Lacking& lacking) {
    return returns_nothing(lacking.op) &&
           spaces_of_nothing.contains(
               {lacking.manifest.index(), lacking.op[Key::namespace_].text()});
  });
}

}  // namespace

extern constinit const Rule fake_missing{
    .id = "fake-missing",
    .title = "operator has kernels and no shape function, where its neighbours have one",
    .rationale =
        "Compilers and exporters run a model once without data, by a function that computes shapes "
        "and dtypes only (torch calls it fake or meta). This operator has kernels and none of "
        "those: it works in eager mode, and `torch.compile` "
        "breaks the graph or stops with an error. Nearly all operators beside it have one, so that "
        "it was forgotten rather than left out.",
    // Six operators are the fewest that a convention is read from.
    .example =
        R"({"opseal_manifest": 1, "operators": [{"name": "f", "abstract": null, "kernels": [{"platform": "cpu"}]}, )"
        R"({"name": "a", "abstract": {"name": "a_meta"}, "kernels": [{"platform": "cpu"}]}, )"
        R"({"name": "b", "abstract": {"name": "b_meta"}, "kernels": [{"platform": "cpu"}]}, )"
        R"({"name": "c", "abstract": {"name": "c_meta"}, "kernels": [{"platform": "cpu"}]}, )"
        R"({"name": "d", "abstract": {"name": "d_meta"}, "kernels": [{"platform": "cpu"}]}, )"
        R"({"name": "e", "abstract": {"name": "e_meta"}, "kernels": [{"platform": "cpu"}]}]})",
    .fix = "register a fake kernel for it",
    .severity = Severity::warning,
    .inspects = "operator with kernels whose shape function is said, with enough peers",
    .needs = {Key::operators, Key::kernels, Key::abstract},
    .check = check,
};

}  // namespace opseal
