#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/kernel_key.h"

namespace opseal {
namespace {

// Kernels whose revisions tell them apart, at least, before one that doesn't is held against two.
constexpr std::uint64_t fewest_peers = 5;
// Of a hundred revisions.
constexpr std::uint64_t least_distinct = 90;

// A digest, written in hexadecimal or as a 64-bit number. Version numbers and dates are meant to be
// shared.
bool is_digest(std::string_view revision) {
  if (revision.starts_with("0x") || revision.starts_with("0X")) revision.remove_prefix(2);
  bool decimal = true;
  for (const char byte : revision) {
    if (std::isxdigit(static_cast<unsigned char>(byte)) == 0) return false;
    decimal = decimal && byte >= '0' && byte <= '9';
  }
  if (revision.find_first_not_of('0') == revision.npos) return false;
  return revision.size() >= (decimal ? 15 : 12);
}

struct Row {
  Name revision = 0;
  // Operator, platform, backend: kernels that differ in dtypes alone come from one declaration.
  std::uint64_t section = 0;
  Fact op;
  Fact kernel;
};

// What the kernel runs, or not said.
Fact code_of(const Fact& kernel) {
  if (kernel[Key::symbol].is_text()) return kernel[Key::symbol];
  return kernel[Key::function][Key::name];
}

std::vector<Row> rows_of(const Fact& manifest) {
  std::vector<Row> rows;
  for (const Fact op : manifest[Key::operators].items()) {
    for (const Fact kernel : op[Key::kernels].items()) {
      const Fact revision = kernel[Key::revision];
      if (!revision.is_text() || !is_digest(revision.text())) continue;
      const std::uint64_t section =
          (op.index() * std::uint64_t{0x9e3779b97f4a7c15}) ^
          (hash_of(kernel[Key::platform]) * 31 + hash_of(kernel[Key::backend]));
      rows.push_back({revision.name(), section, op, kernel});
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.revision < b.revision; });
  return rows;
}

// The first row behind `first` that is another declaration running other code, or `end`.
std::size_t collision(const std::vector<Row>& rows, std::size_t first, std::size_t end) {
  const Fact code = code_of(rows[first].kernel);
  if (!code.is_text()) return end;
  for (std::size_t at = first + 1; at < end; ++at) {
    if (rows[at].section == rows[first].section) continue;
    const Fact other = code_of(rows[at].kernel);
    if (other.is_text() && other.name() != code.name()) return at;
  }
  return end;
}

void check_manifest(const Fact& manifest, Sink& sink) {
  const std::vector<Row> rows = rows_of(manifest);
  struct Pair {
    std::size_t first;
    std::size_t second;
  };
  std::vector<Pair> pairs;
  std::uint64_t revisions = 0;
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t end = first;
    while (end < rows.size() && rows[end].revision == rows[first].revision) ++end;
    ++revisions;
    const std::size_t second = collision(rows, first, end);
    if (second != end) pairs.push_back({first, second});
    first = end;
  }
  // One commit for every kernel, or one revision for each file of kernels, is a way to count too.
  const std::uint64_t distinct = revisions - pairs.size();
  if (distinct < fewest_peers || distinct * 100 < revisions * least_distinct) return;
  sink.inspected(rows.size());
  std::sort(pairs.begin(), pairs.end(), [&rows](const Pair& a, const Pair& b) {
    return rows[a.second].kernel.index() < rows[b.second].kernel.index();
  });
  for (const Pair& pair : pairs) {
    const Row& first = rows[pair.first];
    const Row& second = rows[pair.second];
    Finding& finding =
        sink.add(subject_of(manifest, second.op),
                 "revision " + quote(second.kernel[Key::revision].text()) + " of " +
                     quote(code_of(second.kernel).text()) + " is that of " +
                     quote(code_of(first.kernel).text()) + " too",
                 evidence(second.kernel[Key::revision], "one kernel" + site_of(second.kernel)));
    finding.related.push_back(
        evidence(first.kernel[Key::revision], "another kernel" + site_of(first.kernel)));
  }
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) check_manifest(facts.root(document), sink);
}

}  // namespace

extern constinit const Rule revision_collision{
    .id = "revision-collision",
    .title = "two kernels with one revision",
    .rationale =
        "Where revisions are digests, one for each kernel, measurements and precision records are "
        "filed under them. Two different kernels with one revision share their records: the audit "
        "of one vouches for the other, which nobody measured. It comes from a digest that leaves "
        "out what tells the two apart, or from a declaration that was copied.",
    .example =
        R"({"name": "reduce", "kernels": [)"
        R"({"platform": "cpu", "backend": "a", "symbol": "a", "revision": "9d1c0a5be77f0001"},)"
        R"( {"platform": "cpu", "backend": "b", "symbol": "b", "revision": "9d1c0a5be77f0002"},)"
        R"( {"platform": "cpu", "backend": "c", "symbol": "c", "revision": "9d1c0a5be77f0003"},)"
        R"( {"platform": "cpu", "backend": "d", "symbol": "d", "revision": "9d1c0a5be77f0004"},)"
        R"( {"platform": "cpu", "backend": "e", "symbol": "e", "revision": "9d1c0a5be77f0005"},)"
        R"( {"platform": "cpu", "backend": "f", "symbol": "f", "revision": "9d1c0a5be77f0006"},)"
        R"( {"platform": "cpu", "backend": "g", "symbol": "g", "revision": "9d1c0a5be77f0007"},)"
        R"( {"platform": "cpu", "backend": "h", "symbol": "h", "revision": "9d1c0a5be77f0008"},)"
        R"( {"platform": "cpu", "backend": "i", "symbol": "i", "revision": "9d1c0a5be77f0009"},)"
        R"( {"platform": "cpu", "backend": "j", "symbol": "j", "revision": "9d1c0a5be77f000a"},)"
        R"( {"platform": "gpu", "symbol": "k", "revision": "9d1c0a5be77f000a"}]})",
    .fix =
        "hash into the revision what tells the two kernels apart, such as the name of the code "
        "that "
        "they run",
    .severity = Severity::warning,
    .inspects =
        "kernel with a digest as its revision, in a registry where revisions tell kernels apart",
    .needs = {Key::operators, Key::kernels, Key::revision},
    .check = check,
};

}  // namespace opseal
