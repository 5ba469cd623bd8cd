#include <algorithm>
#include <vector>

#include "opseal/platforms.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/sources.h"
#include "opseal/text.h"
#include "rules/kernel_key.h"

namespace opseal {
namespace {

struct Keyed {
  std::uint64_t key = 0;
  Name package = Names::missing;
  std::uint64_t code = 0;
  Fact kernel;
};

// Registries whose rows people write or derive from declarations, so that a row can be there twice.
// A live table holds one kernel at a key: what it lists are siblings that it tells apart by
// something the dump doesn't say.
bool rows_are_declared(const Fact& manifest) {
  const std::string_view system = manifest[Key::system].text();
  return system.empty() || system == "engine" || system == "fuel" || system == "executorch" ||
         system == "ggml";
}

// The function behind a row, or 0 where nobody said which it is.
std::uint64_t code_of(const Fact& kernel) {
  std::uint64_t code = 0;
  Fact library;
  bool symbol = false;
  for (const Fact member : kernel.items()) {
    const std::uint64_t key = static_cast<std::uint64_t>(member.key()) * 2 + 1;
    if (member.key() == Key::library) library = member;
    if (member.key() == Key::symbol) symbol = true;
    if (member.key() == Key::symbol || member.key() == Key::target) code += key * hash_of(member);
    if (member.key() == Key::function && member[Key::name].is_text()) {
      code += key * (hash_of(member[Key::name]) + 3 * hash_of(member[Key::location]));
    }
  }
  return symbol ? code + 7 * hash_of(library) : code;
}

std::string code_text(const Fact& kernel) {
  for (const Fact name :
       {kernel[Key::symbol], kernel[Key::function][Key::name], kernel[Key::target]}) {
    if (name.is_text()) return quote(name.text());
  }
  return "a kernel";
}

// C++ that says it twice in one file, in the same builds: the second takes the first one's place.
bool is_said_twice(const Fact& manifest, const Fact& a, const Fact& b) {
  return is_of_sources(manifest) && manifest[Key::system].is("torch") && !is_in_python(a) &&
         !may_be_alternatives(manifest, a, b) && !a[Key::fallthrough].truth() &&
         !b[Key::fallthrough].truth();
}

// Python's `impl` keeps a list of what Python registered, and raises at the second.
bool is_refused_by_torch(const Fact& manifest, const Fact& a, const Fact& b) {
  return is_of_sources(manifest) && a[Key::holder].is_text() &&
         a[Key::holder].name() == b[Key::holder].name() && !may_be_alternatives(manifest, a, b);
}

// The registry of TensorRT tells creators apart by name and version alone, and refuses the second.
bool is_refused(const Fact& manifest, const Fact& a, const Fact& b) {
  return is_of_sources(manifest) && manifest[Key::system].is("tensorrt") &&
         a[Key::listed].truth() && b[Key::listed].truth() &&
         a[Key::versions][Key::since].is_count() && a[Key::when].name() == b[Key::when].name();
}

void compare(const Fact& manifest, const Fact& op, const Keyed& one, const Keyed& other,
             Sink& sink) {
  const bool in_order = one.kernel.index() < other.kernel.index();
  const Keyed& a = in_order ? one : other;
  const Keyed& b = in_order ? other : one;
  if (same_site(a.kernel, b.kernel)) return;
  const bool packages = a.package != Names::missing && b.package != Names::missing;
  if (packages && a.package != b.package) {
    Finding& finding = sink.add(subject_of(manifest, op),
                                "packages " + quote(a.kernel[Key::package].text()) + " and " +
                                    quote(b.kernel[Key::package].text()) +
                                    " both register a kernel at " + decision_text(b.kernel),
                                evidence(b.kernel, "the later one" + site_of(b.kernel)));
    finding.related.push_back(evidence(a.kernel, "the first one" + site_of(a.kernel)));
    return;
  }
  if (is_said_twice(manifest, a.kernel, b.kernel)) {
    Finding& finding = sink.add(subject_of(manifest, op),
                                code_text(b.kernel) + " takes the place of " + code_text(a.kernel) +
                                    " at " + decision_text(b.kernel),
                                evidence(b.kernel, "the later one" + site_of(b.kernel)));
    finding.related.push_back(evidence(a.kernel, "the first one" + site_of(a.kernel)));
    finding.severity = Severity::warning;
    finding.fix = "remove one of the two, or register it for the key that was meant";
    return;
  }
  if (is_refused_by_torch(manifest, a.kernel, b.kernel)) {
    Finding& finding = sink.add(subject_of(manifest, op),
                                code_text(b.kernel) + " is registered at " +
                                    decision_text(b.kernel) + ", where Python registered " +
                                    code_text(a.kernel) + " before, which torch refuses",
                                evidence(b.kernel, "the second one" + site_of(b.kernel)));
    finding.related.push_back(evidence(a.kernel, "the first one" + site_of(a.kernel)));
    finding.fix = "remove one of the two, or say `allow_override=True`";
    return;
  }
  if (is_refused(manifest, a.kernel, b.kernel)) {
    Finding& finding =
        sink.add(subject_of(manifest, op),
                 code_text(b.kernel) + " has the name and version of " + code_text(a.kernel) +
                     ", so that whichever is registered second is refused",
                 evidence(b.kernel, "the later one" + site_of(b.kernel)));
    finding.related.push_back(evidence(a.kernel, "the first one" + site_of(a.kernel)));
    finding.severity = Severity::warning;
    finding.fix = "give one of the two another version or name";
    return;
  }
  if (!rows_are_declared(manifest) || a.code == 0 || a.code != b.code) return;
  Finding& finding =
      sink.add(subject_of(manifest, op),
               code_text(b.kernel) + " is registered twice at " + decision_text(b.kernel),
               evidence(b.kernel, "registered again here" + site_of(b.kernel)));
  finding.related.push_back(evidence(a.kernel, "the first one" + site_of(a.kernel)));
}

void check_operator(const Fact& manifest, const Fact& op, PlatformNames& names,
                    std::vector<Keyed>& rows, Sink& sink) {
  if (op[Key::kernels].size() < 2) return;
  rows.clear();
  for (const Fact kernel : op[Key::kernels].items()) {
    if (!is_active_kernel(kernel) || names.of(kernel[Key::platform]).name == "meta") continue;
    const Name package =
        kernel[Key::package].is_text() ? kernel[Key::package].name() : op[Key::package].name();
    const std::uint64_t code = code_of(kernel);
    if (kernel[Key::package].is_text() || code != 0) {
      rows.push_back({kernel_key(kernel, names), package, code, kernel});
    }
  }
  if (rows.size() < 2) return;
  sink.inspected(rows.size());
  std::sort(rows.begin(), rows.end(), [](const Keyed& a, const Keyed& b) {
    if (a.key != b.key) return a.key < b.key;
    if (a.package != b.package) return a.package < b.package;
    if (a.code != b.code) return a.code < b.code;
    return a.kernel.index() < b.kernel.index();
  });
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].key == rows[i - 1].key) compare(manifest, op, rows[i - 1], rows[i], sink);
  }
}

void check(const Facts& facts, Sink& sink) {
  std::vector<Keyed> rows;
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    PlatformNames names(manifest);
    for (const Fact op : manifest[Key::operators].items()) {
      if (op.said()) check_operator(manifest, op, names, rows, sink);
    }
  }
}

}  // namespace

extern constinit const Rule duplicate_kernel_at_key{
    .id = "duplicate-kernel-at-key",
    .title = "two registrations of a kernel at one key",
    .rationale =
        "Platform, backend, dtypes, versions and every other thing by which the registry selects "
        "are "
        "equal, so only one of the two can ever run. When two packages do this, the one that was "
        "imported last wins, and the other's users get its results. When one table lists a "
        "function "
        "twice, its loader refuses the table or counts a kernel that isn't there. Two functions of "
        "one package at one key are taken for alternatives, between which something that the "
        "manifest doesn't say decides, and are not reported.",
    .example =
        R"({"name": "mv", "kernels": [{"platform": "cpu", "symbol": "mv_f32", "dtypes": ["f32"]}, {"platform": "cpu", "symbol": "mv_f32", "dtypes": ["f32"]}]})",
    .fix = "remove one of the two, or tell them apart by backend, dtypes or priority",
    .severity = Severity::error,
    .inspects = "kernel beside another one of its operator, with a stated function or package",
    .needs = {Key::operators, Key::kernels},
    .check = check,
};

}  // namespace opseal
