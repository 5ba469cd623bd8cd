#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/sources.h"
#include "opseal/text.h"
#include "rules/torch_names.h"

namespace opseal {
namespace {

struct Row {
  std::string_view op_name;
  std::string_view function;
  Fact op;
  Fact kernel;
};

// Without what stands before the last `::`, and template arguments.
std::string_view plain(std::string_view function) {
  function = function.substr(0, function.find('<'));
  const std::size_t colons = function.rfind("::");
  return colons == function.npos ? function : function.substr(colons + 2);
}

// `mul_cuda` for `add`, and `add_cuda` for `mul`: the same words around the other's name.
bool crossed(const Row& a, const Row& b) {
  const std::size_t at = a.function.find(b.op_name);
  if (at == a.function.npos) return false;
  const std::string expected = std::string(a.function.substr(0, at)) + std::string(a.op_name) +
                               std::string(a.function.substr(at + b.op_name.size()));
  return b.function == expected && a.function != b.function;
}

// Pairs of kernels that are held against each other; real trees have some thousand whose function
// is not named after its operator.
constexpr std::uint64_t most_pairs = 2'000'000;

void judge(const Fact& manifest, const std::vector<Row>& rows, std::uint64_t& pairs, Sink& sink) {
  std::map<std::string_view, std::vector<const Row*>> by_function;
  for (const Row& row : rows) by_function[row.function].push_back(&row);
  sink.inspected(rows.size());
  for (const Row& row : rows) {
    if (row.function.find(row.op_name) != row.function.npos) continue;
    pairs += rows.size();
    if (pairs > most_pairs) return;
    for (const Row& other : rows) {
      if (row.kernel.index() >= other.kernel.index() || row.op_name == other.op_name) continue;
      if (!crossed(row, other)) continue;
      // A function that serves several operators is shared on purpose.
      if (by_function[row.function].size() > 1 || by_function[other.function].size() > 1) continue;
      Finding& finding =
          sink.add(subject_of(manifest, row.op),
                   quote(row.function) + " is registered for " + quote(row.op_name) + ", and " +
                       quote(other.function) + " for " + quote(other.op_name),
                   evidence(row.kernel, "registered here" + site_of(row.kernel)));
      finding.related.push_back(
          evidence(other.kernel, "and the other one here" + site_of(other.kernel)));
    }
  }
}

void check(const Facts& facts, Sink& sink) {
  std::uint64_t pairs = 0;
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    if (!manifest[Key::system].is("torch") || !is_of_sources(manifest)) continue;
    std::map<std::pair<std::string_view, std::string_view>, std::vector<Row>> blocks;
    for (const Fact op : manifest[Key::operators].items()) {
      for (const Fact kernel : op[Key::kernels].items()) {
        const Fact function = kernel[Key::function][Key::name];
        if (!function.is_text() || !kernel[Key::platform].is_text()) continue;
        std::vector<Row>& rows = blocks[{source_of(kernel), kernel[Key::platform].text()}];
        rows.push_back({base_name(op[Key::name].text()), plain(function.text()), op, kernel});
      }
    }
    for (const auto& [block, rows] : blocks) {
      if (rows.size() > 1) judge(manifest, rows, pairs, sink);
    }
  }
}

}  // namespace

extern constinit const Rule impl_crossed{
    .id = "impl-crossed",
    .title = "kernels of two operators are registered for each other",
    .rationale =
        "Each of two operators gets the function that is named after the other one. Signatures are "
        "often the same, so that nothing is refused, and both compute what the other should.",
    .example =
        R"({"opseal_manifest": 1, "system": "torch", "producer": {"name": "sources"}, "tree": {"files": 1, "partial": false}, "operators": [)"
        R"({"name": "lib::add", "kernels": [{"platform": "CPU", "function": {"name": "mul_cpu"}}]}, )"
        R"({"name": "lib::mul", "kernels": [{"platform": "CPU", "function": {"name": "add_cpu"}}]}]})",
    .fix = "exchange the two functions",
    .severity = Severity::error,
    .inspects = "kernel with a named function, beside others of its file and platform",
    .needs = {Key::operators, Key::kernels, Key::function},
    .check = check,
};

}  // namespace opseal
