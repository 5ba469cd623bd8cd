#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
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

// Overloads that are handed their result need no shape.
bool writes_result(std::string_view overload) {
  return overload == "out" || overload.ends_with("_out") || overload.starts_with("out_");
}

bool returns_tensor(const Fact& op) {
  const std::optional<OperatorSchema> schema = read_schema(op[Key::schema]);
  if (!schema) return false;
  return std::any_of(schema->outputs.begin(), schema->outputs.end(),
                     [](const SchemaOperand& output) { return output.is_tensor(); });
}

struct Overload {
  Fact op;
  Fact shape;
};

class OverloadCheck {
 public:
  OverloadCheck(const Fact& manifest, Sink& sink) : manifest_(manifest), sink_(&sink) {
    PlatformNames names(manifest);
    for (const Fact op : manifest[Key::operators].items()) {
      const std::string_view name = op[Key::name].text();
      if (!op[Key::schema].is_text() || !op[Key::abstract].said()) continue;
      if (writes_result(overload_name(name)) || !returns_tensor(op)) continue;
      const KernelRoles roles = kernel_roles(op, names);
      // What is made of other operators, or serves every device, is traced through.
      if (roles.every || roles.implicit) continue;
      Fact shape = op[Key::abstract].present() ? op[Key::abstract] : roles.meta;
      Space& space = spaces_[namespace_in(name)];
      ++(shape ? space.with : space.without);
      space.overloads[base_name(name)].push_back({op, shape});
    }
  }

  void report() {
    for (const auto& [space, all] : spaces_) {
      for (const auto& [name, overloads] : all.overloads) {
        if (overloads.size() > 1) judge(all, overloads);
      }
    }
  }

 private:
  struct Space {
    std::uint64_t with = 0;
    std::uint64_t without = 0;
    std::map<std::string_view, std::vector<Overload>> overloads;
  };

  void judge(const Space& space, const std::vector<Overload>& overloads) {
    const auto sibling = std::find_if(overloads.begin(), overloads.end(),
                                      [](const Overload& one) { return bool(one.shape); });
    sink_->inspected(overloads.size());
    // Where many have none, none is expected.
    if (sibling == overloads.end() || space.without * 3 > space.with) return;
    for (const Overload& one : overloads) {
      if (one.shape) continue;
      Finding& finding =
          sink_->add(subject_of(manifest_, one.op),
                     "no shape function (fake, meta), where overload " +
                         quote(sibling->op[Key::name].text()) + " has one",
                     evidence(one.op[Key::schema], "defined here" + site_of(one.op)));
      finding.related.push_back(evidence(sibling->shape, "that of the other overload"));
    }
  }

  Fact manifest_;
  Sink* sink_;
  std::map<std::string_view, Space> spaces_;
};

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    if (!manifest[Key::system].is("torch") || !is_of_sources(manifest)) continue;
    OverloadCheck(manifest, sink).report();
  }
}

}  // namespace

extern constinit const Rule fake_overload_missing{
    .id = "fake-overload-missing",
    .title = "overload without a shape function, where another one has it",
    .rationale =
        "Each overload of an operator is an operator of its own for tracing: the shape function "
        "(fake, meta) of one doesn't serve the others. Passes that replace a call by another "
        "overload, and models that happen to call it, stop when they are exported or compiled.",
    .example =
        R"({"opseal_manifest": 1, "system": "torch", "producer": {"name": "sources"}, "tree": {"files": 1, "partial": false}, "operators": [)"
        R"({"name": "lib::relu", "schema": "lib::relu(Tensor x, Tensor zero) -> Tensor", "abstract": {"name": "relu_meta"}}, )"
        R"({"name": "lib::add", "schema": "lib::add(Tensor x, Tensor y) -> Tensor", "abstract": {"name": "add_meta"}}, )"
        R"({"name": "lib::mul", "schema": "lib::mul(Tensor x, Tensor y) -> Tensor", "abstract": {"name": "mul_meta"}}, )"
        R"({"name": "lib::relu.per_tensor", "schema": "lib::relu.per_tensor(Tensor x, int zero) -> Tensor", "abstract": null}]})",
    .fix = "register a shape function for this overload too",
    .severity = Severity::warning,
    .inspects = "overload that returns a tensor, beside others of its operator",
    .needs = {Key::operators, Key::schema, Key::abstract},
    .check = check,
};

}  // namespace opseal
