#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/schema_text.h"
#include "opseal/text.h"
#include "rules/repeats.h"

namespace opseal {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 29);
}

struct Entry {
  Fact manifest;
  Fact op;
};

// What a registry takes for one operator.
std::uint64_t identity_of(const Fact& manifest, const Fact& op) {
  std::uint64_t hash = mix(1, manifest[Key::system].name());
  hash = mix(hash, op[Key::namespace_].name());
  hash = mix(hash, op[Key::name].name());
  hash = mix(hash, op[Key::versions][Key::since].count(0xffffffff));
  return mix(hash, op[Key::identity].name());
}

bool same_identity(const Entry& a, const Entry& b) {
  return a.manifest[Key::system].name() == b.manifest[Key::system].name() &&
         a.op[Key::namespace_].name() == b.op[Key::namespace_].name() &&
         a.op[Key::name].name() == b.op[Key::name].name() &&
         a.op[Key::versions][Key::since].count(0xffffffff) ==
             b.op[Key::versions][Key::since].count(0xffffffff) &&
         a.op[Key::identity].name() == b.op[Key::identity].name();
}

// Two manifests may be dumps of two releases, between which a schema may change. They meet in one
// process only where all packages that both name have one version.
bool one_process(const Fact& a, const Fact& b) {
  if (a.index() == b.index()) return true;
  const Fact packages = a[Key::producer][Key::packages];
  const Fact others = b[Key::producer][Key::packages];
  if (packages.size() > 64 || others.size() > 64) return false;
  bool shared = false;
  for (const EntryRange::Entry entry : packages.entries()) {
    const Fact other = others.at(entry.name.text());
    if (!other.is_text()) continue;
    if (other.name() != entry.value.name()) return false;
    shared = true;
  }
  return shared;
}

bool two_packages(const Fact& a, const Fact& b) {
  const Fact package = a[Key::package];
  const Fact other = b[Key::package];
  return package.is_text() && other.is_text() && package.name() != other.name();
}

// torch prints floats in more than one way: `0.` and `0.0`.
bool same_default(std::string_view a, std::string_view b) {
  if (a == b) return true;
  double first = 0;
  double second = 0;
  const auto left = std::from_chars(a.data(), a.data() + a.size(), first);
  const auto right = std::from_chars(b.data(), b.data() + b.size(), second);
  return left.ec == std::errc() && right.ec == std::errc() && left.ptr == a.data() + a.size() &&
         right.ptr == b.data() + b.size() && first == second;
}

bool same_type(const SchemaOperand& a, const SchemaOperand& b) {
  return a.type == b.type && a.lists == b.lists && a.optional == b.optional &&
         a.mutated() == b.mutated();
}

// What differs, or empty.
std::string difference(const OperatorSchema& a, const OperatorSchema& b) {
  if (a.inputs.size() != b.inputs.size()) {
    return plural(b.inputs.size(), "argument") + ", elsewhere " + std::to_string(a.inputs.size());
  }
  for (std::size_t i = 0; i < a.inputs.size(); ++i) {
    const SchemaOperand& one = a.inputs[i];
    const SchemaOperand& other = b.inputs[i];
    const std::string which =
        other.name.empty() ? "argument " + std::to_string(i) : "argument " + quote(other.name);
    if (one.name != other.name && a.says_mutation && b.says_mutation) {
      return which + " is called " + quote(one.name) + " elsewhere";
    }
    if (!same_type(one, other)) return which + " has another type or mark elsewhere";
    if (one.keyword_only != other.keyword_only)
      return which + " is given by name in one of the two";
    if (one.has_default != other.has_default ||
        !same_default(one.default_value, other.default_value)) {
      return which + " has another default elsewhere";
    }
  }
  if (a.more_inputs != b.more_inputs) return "further arguments in one of the two";
  if (a.outputs.size() != b.outputs.size()) {
    return plural(b.outputs.size(), "result") + ", elsewhere " + std::to_string(a.outputs.size());
  }
  for (std::size_t i = 0; i < a.outputs.size(); ++i) {
    if (!same_type(a.outputs[i], b.outputs[i])) {
      return "result " + std::to_string(i) + " has another type elsewhere";
    }
  }
  return {};
}

void compare(const Entry& one, const Entry& other, Sink& sink) {
  const Fact text = one.op[Key::schema];
  const Fact second = other.op[Key::schema];
  const std::optional<OperatorSchema> a = read_schema(text);
  const std::optional<OperatorSchema> b = read_schema(second);
  if (!a || !b) return;
  sink.inspected();
  if (text.name() == second.name()) return;
  const std::string what = difference(*a, *b);
  if (what.empty()) return;
  Finding& finding = sink.add(subject_of(other.manifest, other.op), "two schemas: " + what,
                              evidence(second, "the later schema" + site_of(other.op)));
  finding.related.push_back(evidence(text, "the earlier schema" + site_of(one.op)));
}

void check(const Facts& facts, Sink& sink) {
  std::vector<Entry> entries;
  std::vector<std::uint64_t> hashes;
  for_each_operator(facts, [&](const Fact& manifest, const Fact& op) {
    if (!op[Key::schema].is_text() || !op[Key::name].is_text()) return;
    entries.push_back({manifest, op});
    hashes.push_back(identity_of(manifest, op));
  });
  std::vector<std::uint32_t> again = repeated(hashes);
  std::sort(again.begin(), again.end(), [&hashes](std::uint32_t a, std::uint32_t b) {
    return hashes[a] != hashes[b] ? hashes[a] < hashes[b] : a < b;
  });
  // Each is held against the one before it: a third that differs from both differs from its
  // neighbour.
  for (std::size_t i = 1; i < again.size(); ++i) {
    const Entry& one = entries[again[i - 1]];
    const Entry& other = entries[again[i]];
    if (!same_identity(one, other)) continue;
    const bool here = one.manifest.index() == other.manifest.index();
    if (here || (two_packages(one.op, other.op) && one_process(one.manifest, other.manifest))) {
      compare(one, other, sink);
    }
  }
}

}  // namespace

extern constinit const Rule schema_conflict{
    .id = "schema-conflict",
    .title = "one operator is defined with two schemas",
    .rationale =
        "Two packages, or two units of one, define the same operator and disagree about its "
        "arguments. Loaded together, the second definition raises, or its kernel is called with "
        "the arguments of the first: in the wrong order, or one too few. Which of the two works "
        "depends on the order of imports.",
    .example =
        R"({"opseal_manifest": 1, "operators": [{"name": "lib::scale", "schema": "lib::scale(Tensor x) -> Tensor"}, {"name": "lib::scale", "schema": "lib::scale(Tensor x, float by) -> Tensor"}]})",
    .fix = "define the operator once, and let the other side register kernels for it",
    .severity = Severity::error,
    .inspects = "operator that is defined twice with a schema",
    .needs = {Key::operators, Key::schema},
    .check = check,
};

}  // namespace opseal
