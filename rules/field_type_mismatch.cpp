#include <cstdint>
#include <string>
#include <unordered_map>

#include "opseal/dtypes.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

std::string size_of(const Dtype& dtype) { return plural(std::uint64_t{dtype.bits} / 8, "byte"); }

// Why bytes of one type can't be read as another; empty where they can. Fewer bytes of an integer
// are its lower ones, which is what a flag is read for.
std::string harm(const Dtype& declared, const Dtype& read) {
  if (declared.bits == 0 || read.bits == 0 || read.name == declared.name) return {};
  const std::uint16_t bits = read.kind == DtypeKind::boolean ? std::uint16_t{8} : read.bits;
  if (bits > declared.bits) {
    return "which has " + size_of(read) + " where the field has " + size_of(declared);
  }
  const bool real = read.kind == DtypeKind::floating;
  if (real != (declared.kind == DtypeKind::floating)) {
    // Bytes of anything may be looked at one by one.
    if (bits == 8) return {};
    return real ? "so that the bits of an integer are taken for a float"
                : "so that the bits of a float are taken for an integer";
  }
  if (real && read.bits != declared.bits) return "which is another format";
  if (real && read.bits == 16) return "which is another format";
  return {};
}

void check_kernel(const Fact& manifest, const Fact& op, const Fact& kernel, Sink& sink) {
  const Fact declared = kernel[Key::attributes];
  const Fact read = kernel[Key::values];
  if (!declared.is_list() || !read.said()) return;
  std::unordered_map<Name, Fact> fields;
  for (const Fact attribute : declared.items()) {
    if (attribute[Key::type].is_text()) fields.emplace(attribute[Key::name].name(), attribute);
  }
  for (const auto& [name, type] : read.entries()) {
    const auto field = fields.find(name.name());
    if (field == fields.end() || !type.is_text()) continue;
    const Fact stated = field->second[Key::type];
    const Dtype* has = find_dtype(stated.text());
    const Dtype* reads = find_dtype(type.text());
    if (has == nullptr || reads == nullptr) continue;
    sink.inspected();
    const std::string why = harm(*has, *reads);
    if (why.empty()) continue;
    Finding& finding =
        sink.add(subject_of(manifest, op),
                 "field " + quote(name.text()) + " is declared as " + quote(stated.text()) +
                     " and read as " + quote(type.text()) + ", " + why,
                 evidence(type, "read here" + site_of(kernel)));
    finding.related.push_back(evidence(stated, "declared here"));
  }
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    for (const Fact kernel : op[Key::kernels].items()) check_kernel(manifest, op, kernel, sink);
  });
}

}  // namespace

extern constinit const Rule field_type_mismatch{
    .id = "field-type-mismatch",
    .title = "plugin reads a field as another type than its creator declares",
    .rationale =
        "A parser lays out the value of a field as the creator declares it, and the creator gets a "
        "pointer without a type. Read as something wider, the value takes in what lies behind it: "
        "a flag is set by chance, or the program crashes on one machine. Read as a float, the bits "
        "of an integer are a number near zero. No compiler sees it, since both sides go through "
        "`void const*`.",
    .example =
        R"({"name": "ImplicitGemm", "kernels": [{"platform": "any", "attributes": [{"name": "is_subm", "type": "i32"}], "reads": ["is_subm"], "values": {"is_subm": "i64"}}]})",
    .fix = "read the field as the type that is declared, and convert the value behind that",
    .severity = Severity::error,
    .inspects = "field of a plugin whose type is declared and read",
    .needs = {Key::operators, Key::kernels, Key::attributes, Key::values},
    .check = check,
};

}  // namespace opseal
