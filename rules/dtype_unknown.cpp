#include <unordered_map>
#include <utility>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"
#include "rules/dtype_words.h"

namespace opseal {
namespace {

// Further places of one word that a finding shows.
constexpr std::size_t most_places = 3;

// A suggestion costs a comparison with every known word, which a hostile input would ask for a
// million times.
constexpr std::size_t most_suggestions = 100;

// Distinct words that no table has and that are compared with all known ones, for the same reason.
constexpr std::size_t most_own_words = 10000;

bool holds_dtypes(Key key) {
  return key == Key::dtypes || key == Key::signatures || key == Key::traced_signatures ||
         key == Key::type_constraints || key == Key::refused || key == Key::failed ||
         key == Key::x_dtypes;
}

// Systems whose dtypes are an enumeration that only their own releases extend. An engine, a library
// of torch operators, a fork of ggml and whatever is built on tvm-ffi name formats of their own, so
// that there only what contradicts itself and what is a slip of the keyboard can be called wrong.
bool has_closed_dtypes(const Fact& manifest) {
  for (const std::string_view system : {"onnxruntime", "tensorflow", "tflite", "tensorrt", "jax",
                                        "brainevent", "braintrace", "fuel"}) {
    if (manifest[Key::system].is(system)) return true;
  }
  return false;
}

// The name of a model file's mix of block types is for `ggml-file-format-name` to judge.
bool is_plain(const DtypeWord& word) {
  return word.reading == DtypeReading::file_format || word.reading == DtypeReading::dtype ||
         word.reading == DtypeReading::composed || word.reading == DtypeReading::well_formed;
}

// "int46" for "int64": the last two digits swapped. Empty where that is no dtype either.
std::string swapped_digits(std::string_view word) {
  std::string swapped(word);
  if (swapped.size() < 2) return {};
  std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
  return find_dtype(swapped) == nullptr ? std::string() : swapped;
}

std::string message_of(const Fact& text, const DtypeWord& word, bool suggest) {
  std::string message = "dtype " + quote(text.text());
  if (word.part != text.text()) message += ": " + quote(word.part);
  message += word.reading == DtypeReading::impossible
                 ? " has the form of a scalar dtype that cannot exist"
                 : " is known to no system";
  if (!suggest) return message;
  const std::string swapped = swapped_digits(word.part);
  if (!swapped.empty()) return message + "; did you mean " + quote(swapped) + "?";
  const std::string_view slip = misspelt_dtype(word.part);
  if (!slip.empty()) return message + "; did you mean " + quote(slip) + "?";
  return message + did_you_mean(word.part, dtype_spellings());
}

struct Place {
  std::size_t finding;
  std::size_t uses;
};

void check(const Facts& facts, Sink& sink) {
  DtypeWords words(facts);
  // Whether a word of an open system is a slip of a known one, by its Name.
  std::unordered_map<Name, bool> slips;
  std::size_t suggestions = 0;
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    const bool closed = has_closed_dtypes(manifest);
    std::unordered_map<Name, Place> seen;
    const auto judge = [&](const Fact& op, const Fact& text) {
      sink.inspected();
      const DtypeWord& word = words.read(text);
      if (is_plain(word)) return;
      if (word.reading == DtypeReading::unknown && !closed) {
        const auto [known, fresh] = slips.try_emplace(text.name(), false);
        if (fresh && slips.size() < most_own_words) {
          known->second = !misspelt_dtype(word.part).empty();
        }
        if (!known->second) return;
      }
      const auto [place, first] = seen.try_emplace(text.name(), Place{sink.findings().size(), 0});
      ++place->second.uses;
      if (!first) {
        Finding& finding = sink.findings()[place->second.finding];
        if (finding.related.size() < most_places) {
          finding.related.push_back(evidence(text, "named here too"));
        }
        return;
      }
      sink.add(subject_of(manifest, op), message_of(text, word, suggestions++ < most_suggestions),
               evidence(text, "named here" + site_of(op)));
    };
    for (const Fact op : manifest[Key::operators].items()) {
      if (!op.is_object()) continue;
      const std::uint32_t end = op.index() + extent(op.node());
      for (std::uint32_t at = op.index() + 1; at < end;) {
        const Fact fact = facts.fact(at);
        if (!holds_dtypes(fact.key())) {
          ++at;
          continue;
        }
        for_each_dtype(fact, [&](const Fact& text) { judge(op, text); });
        at += extent(fact.node());
      }
    }
    for (const auto& [name, place] : seen) {
      if (place.uses == 1) continue;
      sink.findings()[place.finding].evidence.label +=
          ", " + std::to_string(place.uses) + " times in all";
    }
  }
}

}  // namespace

extern constinit const Rule dtype_unknown{
    .id = "dtype-unknown",
    .title = "dtype that no system knows",
    .rationale =
        "A kernel is found by the dtype under which it was registered. Under a word that nothing "
        "else uses, no look-up ever finds it: the call fails for want of a kernel, or takes a "
        "slower one, although the kernel is there. In a list of what is refused, the slip hides "
        "that the real dtype is not refused at all.",
    .example = R"({"name": "mv", "kernels": [{"platform": "cuda", "dtypes": ["f32", "F8E9"]}]})",
    .fix = "spell the dtype as the system does",
    .severity = Severity::error,
    .inspects = "dtype named by an operator, an operand or a kernel",
    .needs = {Key::operators},
    .check = check,
};

}  // namespace opseal
