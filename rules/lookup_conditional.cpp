#include <cctype>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/sources.h"
#include "opseal/text.h"

namespace opseal {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& byte : out) byte = static_cast<char>(std::tolower(static_cast<unsigned char>(byte)));
  return out;
}

// A word of the condition stands in the path (`USE_ROCM`, `ops/rocm/attention.py`): such a file is
// for these builds alone.
bool is_for_these_builds(std::string_view condition, std::string_view path) {
  const std::string text = lower(condition);
  const std::string place = lower(path);
  std::string word;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    const bool letter = at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
    if (letter) {
      word += text[at];
      continue;
    }
    const bool says = word.size() >= 3 && word != "use" && word != "defined" && word != "with" &&
                      word != "enable" && word != "has" && word != "have" && word != "build";
    if (says && place.find(word) != place.npos) return true;
    word.clear();
  }
  return false;
}

// `ns::name` without the overload.
std::string_view plain_name(std::string_view name) {
  const std::size_t colons = name.rfind("::");
  const std::size_t dot = name.find('.', colons == name.npos ? 0 : colons + 2);
  return name.substr(0, dot);
}

class ImportCheck {
 public:
  ImportCheck(const Fact& manifest, Sink& sink) : manifest_(manifest), sink_(&sink) {
    for (const Fact op : manifest[Key::operators].items()) {
      defined_[plain_name(op[Key::name].text())].push_back(op);
    }
  }

  void judge(const Fact& lookup) {
    const auto found = defined_.find(plain_name(lookup[Key::operator_].text()));
    if (found == defined_.end()) return;
    sink_->inspected();
    for (const Fact op : found->second) {
      if (!op[Key::when].is_text() || !op[Key::defined_in].is("native")) return;
    }
    const Fact op = found->second.front();
    const std::string_view condition = op[Key::when].text();
    if (is_for_these_builds(condition, source_of(lookup))) return;
    // One import fails at the first of them.
    Asked& asked = asked_[{source_of(lookup), condition}];
    if (asked.operators++ == 0) {
      asked.lookup = lookup;
      asked.op = op;
    }
  }

  void report() {
    for (const auto& [key, asked] : asked_) {
      const std::string others =
          asked.operators == 1 ? "" : ", like " + plural(asked.operators - 1, "further lookup");
      Finding& finding =
          sink_->add(subject_of(manifest_, asked.op),
                     "asked for when the module is imported, and defined only if " +
                         quote(key.second) + others,
                     evidence(asked.lookup, "asked for by every import" + site_of(asked.lookup)));
      finding.related.push_back(evidence(asked.op[Key::when], "defined here" + site_of(asked.op)));
    }
  }

 private:
  struct Asked {
    Fact lookup;
    Fact op;
    std::uint32_t operators = 0;
  };

  Fact manifest_;
  Sink* sink_;
  // By file and condition.
  std::map<std::pair<std::string_view, std::string_view>, Asked> asked_;
  std::unordered_map<std::string_view, std::vector<Fact>> defined_;
};

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    if (!manifest[Key::system].is("torch") || !is_of_sources(manifest)) continue;
    ImportCheck imports(manifest, sink);
    for (const Fact row : manifest[Key::dispatch].items()) {
      for (const Fact lookup : row[Key::lookups].items()) {
        if (lookup[Key::always].truth()) imports.judge(lookup);
      }
    }
    imports.report();
  }
}

}  // namespace

extern constinit const Rule lookup_conditional{
    .id = "lookup-conditional",
    .title = "module asks at import for an operator that some builds lack",
    .rationale =
        "The operator is defined within `#if`, and a Python module asks for it outside of any "
        "function and any `if`. Where the library was built without it, importing the module "
        "raises, and all that imports it fails with it, though nobody wanted to call the operator.",
    .example =
        R"({"opseal_manifest": 1, "system": "torch", "producer": {"name": "sources"}, "tree": {"files": 2, "partial": false}, )"
        R"("operators": [{"name": "lib::rope", "defined_in": "native", "when": "WITH_CUDA", "schema": "lib::rope(Tensor x) -> Tensor"}], )"
        R"("dispatch": [{"operator": "lib::rope", "lookups": [{"operator": "lib::rope", "always": true}]}]})",
    .fix = "ask with `hasattr` first, or within the function that calls it",
    .severity = Severity::warning,
    .inspects = "operator that a Python module asks for whenever it is imported",
    .needs = {Key::operators, Key::lookups, Key::always},
    .check = check,
};

}  // namespace opseal
