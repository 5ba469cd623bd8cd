#include <unordered_map>

#include "opseal/rule.h"
#include "opseal/sources.h"
#include "rules/dispatch_kinds.h"
#include "rules/dtype_words.h"

namespace opseal {
namespace {

// Further places of one word that a finding shows.
constexpr std::size_t most_places = 3;

bool holds_dtypes(Key key) {
  return key == Key::dtypes || key == Key::signatures || key == Key::traced_signatures ||
         key == Key::type_constraints || key == Key::refused || key == Key::failed ||
         key == Key::x_dtypes || key == Key::kinds || key == Key::kind;
}

// `Q4_K_M` is a mix whose tensors are mostly `Q4_K`.
std::string block_type(std::string_view word) {
  for (std::size_t bar = word.rfind('_'); bar != word.npos; bar = word.rfind('_')) {
    word = word.substr(0, bar);
    if (find_dtype(word) != nullptr) return std::string(word);
  }
  return {};
}

struct Place {
  std::size_t finding;
  std::size_t uses;
};

class ManifestCheck {
 public:
  ManifestCheck(const Fact& manifest, DtypeWords& words, Sink& sink)
      : manifest_(manifest), words_(words), sink_(sink) {}

  void walk(const Fact& item, bool is_dispatch) {
    const Facts& facts = manifest_.facts();
    const std::uint32_t end = item.index() + extent(item.node());
    for (std::uint32_t at = item.index() + 1; at < end;) {
      const Fact fact = facts.fact(at);
      // A function's or a rule's `kind` is no dtype.
      if (!holds_dtypes(fact.key()) || (fact.key() == Key::kind && !is_dispatch)) {
        ++at;
        continue;
      }
      for_each_dtype(fact, [&](const Fact& text) { judge(item, is_dispatch, text); });
      at += extent(fact.node());
    }
  }

  // After the last item.
  void finish() {
    for (const auto& [name, place] : seen_) {
      if (place.uses == 1) continue;
      sink_.findings()[place.finding].evidence.label +=
          ", " + std::to_string(place.uses) + " times in all";
    }
  }

 private:
  void judge(const Fact& item, bool is_dispatch, const Fact& text) {
    sink_.inspected();
    if (words_.read(text).reading != DtypeReading::file_format) return;
    const auto [place, first] = seen_.try_emplace(text.name(), Place{sink_.findings().size(), 0});
    ++place->second.uses;
    if (!first) {
      Finding& finding = sink_.findings()[place->second.finding];
      if (finding.related.size() < most_places) {
        finding.related.push_back(evidence(text, "named here too"));
      }
      return;
    }
    Finding& finding = sink_.add(
        is_dispatch ? dispatch_subject(item) : subject_of(manifest_, item),
        quote(text.text()) + " is the name of a mix of block types in a model file, not of a dtype",
        evidence(text, "named here" + site_of(item)));
    const std::string block = block_type(text.text());
    finding.fix = "name the block types that the tensors really have";
    if (!block.empty()) finding.fix += ", for example " + quote(block);
  }

  Fact manifest_;
  DtypeWords& words_;
  Sink& sink_;
  std::unordered_map<Name, Place> seen_;
};

void check(const Facts& facts, Sink& sink) {
  DtypeWords words(facts);
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    ManifestCheck manifest_check(manifest, words, sink);
    for (const Fact op : manifest[Key::operators].items()) {
      if (op.is_object()) manifest_check.walk(op, false);
    }
    // What code decides by is named by its enumerations: those of model files, too.
    const bool told_by_code = is_of_sources(manifest);
    for (const Fact dispatch : manifest[Key::dispatch].items()) {
      if (dispatch.is_object() && !told_by_code) manifest_check.walk(dispatch, true);
    }
    manifest_check.finish();
  }
}

}  // namespace

extern constinit const Rule ggml_file_format_name{
    .id = "ggml-file-format-name",
    .title = "name of a model file's mix of block types used as the dtype of a tensor",
    .rationale =
        "`Q4_K_M` says how a file mixes block types: most tensors are `Q4_K`, some `Q6_K`, and "
        "none is `Q4_K_M`. A kernel that is registered, asked for or refused under that name is "
        "never found, and the tensors that it was meant for go elsewhere.",
    .example =
        R"({"name": "mv", "kernels": [{"platform": "metal", "dtypes": ["Q4_K", "Q4_K_M"]}]})",
    .fix = "name the block types that the tensors really have",
    .severity = Severity::error,
    .inspects = "dtype or kind named by an operator or a dispatch record",
    .check = check,
};

}  // namespace opseal
