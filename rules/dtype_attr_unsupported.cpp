#include <unordered_map>
#include <unordered_set>

#include "opseal/arg_spec.h"
#include "opseal/dtypes.h"
#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Backends that hand attributes over encoded, as numbers in a call frame. Kernels that are traced
// (`jax_raw`, `pallas`) take them as Python values.
constexpr std::string_view encoding_backends[] = {"cuda_raw", "cpp", "numba", "numba_cuda", "warp"};

bool encodes(const Fact& kernel) {
  if (kernel[Key::target].is_text()) return true;
  for (const std::string_view backend : encoding_backends) {
    if (kernel[Key::backend].is(backend)) return true;
  }
  return false;
}

// A type that is said and has no encoding as one number of a call frame.
bool has_no_encoding(std::string_view type) {
  const Dtype* dtype = find_dtype(type);
  if (dtype == nullptr || !dtype->first.empty()) return false;
  switch (dtype->kind) {
    case DtypeKind::complex:
    case DtypeKind::block:
      return true;
    case DtypeKind::floating:
      return dtype->bits < 16 || dtype->bits > 64;
    case DtypeKind::signed_integer:
    case DtypeKind::unsigned_integer:
      return (dtype->bits > 0 && dtype->bits < 8) || dtype->bits > 64;
    case DtypeKind::boolean:
    case DtypeKind::opaque:
      break;
  }
  return false;
}

// Attributes that a target's spec types itself: `spec-attr-type` judges those.
class TypedInSpecs {
 public:
  explicit TypedInSpecs(const Fact& manifest) {
    for (const Fact target : manifest[Key::targets].items()) {
      if (!target[Key::name].is_text()) continue;
      for_each_spec_token(target[Key::spec], [&](const Fact&, const SpecToken& token) {
        if (token.kind == SpecKind::attribute && token.has_type) {
          typed_[target[Key::name].name()].insert(token.name);
        }
      });
    }
  }
  bool has(const Fact& target, std::string_view attribute) const {
    const auto found = typed_.find(target.name());
    return found != typed_.end() && found->second.contains(attribute);
  }

 private:
  std::unordered_map<Name, std::unordered_set<std::string_view>> typed_;
};

void judge(const Fact& manifest, const Fact& op, const TypedInSpecs& typed, Sink& sink) {
  Fact kernel;
  for (const Fact candidate : op[Key::kernels].items()) {
    if (is_active_kernel(candidate) && encodes(candidate)) {
      kernel = candidate;
      break;
    }
  }
  if (!kernel.said()) return;
  for (const Fact attribute : op[Key::attributes].items()) {
    const Fact type = attribute[Key::type];
    if (!type.is_text() || type.is("any")) continue;
    sink.inspected();
    if (!has_no_encoding(type.text())) continue;
    if (typed.has(kernel[Key::target], attribute[Key::name].text())) continue;
    Finding& finding =
        sink.add(subject_of(manifest, op),
                 "attribute " + quote(attribute[Key::name].text()) + " has type " +
                     quote(type.text()) + ", expected a bool, int, uint or float of 8 to 64 bits",
                 evidence(type, "typed here" + site_of(op)));
    finding.related.push_back(evidence(kernel, "kernel that gets it encoded" + site_of(kernel)));
  }
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    if (!registers_with_xla(manifest) && manifest[Key::targets].size() == 0) continue;
    const TypedInSpecs typed(manifest);
    for (const Fact op : manifest[Key::operators].items()) {
      if (op[Key::attributes].size() > 0) judge(manifest, op, typed, sink);
    }
  }
}

}  // namespace

extern constinit const Rule dtype_attr_unsupported{
    .id = "dtype-attr-unsupported",
    .title = "operator attribute of a type that a call frame cannot carry",
    .rationale =
        "An attribute reaches compiled code as one encoded number, and only plain numbers of 8 to "
        "64 bits have an encoding. The operator works wherever it is traced, and fails at the "
        "first call of the compiled kernel with a message about attributes.",
    .example =
        R"({"opseal_manifest": 1, "system": "brainevent", "operators": [{"name": "scale", )"
        R"("attributes": [{"name": "alpha", "type": "complex64"}], "kernels": [{"platform": "gpu", )"
        R"("backend": "cuda_raw"}]}]})",
    .fix = "pass the real and the imaginary part as two attributes, or the value as an operand",
    .severity = Severity::error,
    .inspects = "typed attribute of an operator with a kernel that gets attributes encoded",
    .needs = {Key::operators, Key::attributes, Key::type},
    .check = check,
};

}  // namespace opseal
