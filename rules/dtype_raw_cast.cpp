#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Further pointers that a finding shows.
constexpr std::size_t most_related = 4;

// Bytes of a floating type of C++ or a GPU; 0: not known.
int size_of_float(std::string_view type) {
  if (type == "double") return 8;
  if (type == "float") return 4;
  for (const std::string_view word : {"half", "Half", "bfloat16", "BFloat16"}) {
    // `half2` is none.
    const std::size_t at = type.find(word);
    if (at != type.npos && (type.ends_with(word) || type.ends_with("_t"))) return 2;
  }
  return 0;
}

void check_number(const Fact& pointer, Sink& sink) {
  const std::string_view type = pointer[Key::type].text();
  const std::string_view cast = pointer[Key::cast].text();
  const int size = size_of_float(type);
  const int read = size_of_float(cast);
  if (size == 0 || read == 0) return;
  sink.inspected();
  if (size == read) return;
  const Fact value = pointer[Key::value];
  std::string message = (value.is_text() ? "number " + quote(value.text()) : "parameter") +
                        " of type " + quote(type) + " is handed over as " + quote(cast) + ", " +
                        plural(static_cast<std::size_t>(size), "byte", "bytes") + " read as " +
                        std::to_string(read);
  sink.add(std::string(pointer[Key::expression].text()), std::move(message),
           evidence(pointer, "cast here" + site_of(pointer)));
}

// What torch makes with 64 bits where nobody says otherwise. Other tensors hold packed values, or
// what code of the project alone makes.
bool sounds_like_index(std::string_view argument) {
  constexpr std::array<std::string_view, 16> words{
      "idx",    "index", "indices", "ids",   "offset", "lengths", "lens", "perm",
      "lookup", "table", "slot",    "order", "label",  "rows",    "cols", "counts"};
  const std::string name = lower(argument);
  return std::any_of(words.begin(), words.end(),
                     [&name](std::string_view word) { return name.find(word) != name.npos; });
}

// The pointers of one function, which are told together.
struct Unasked {
  std::string_view function;
  std::uint32_t file = 0;
  std::vector<Fact> pointers;
};

void note_tensor(const Fact& pointer, std::vector<Unasked>& functions, Sink& sink) {
  if (!pointer[Key::checked].is_truth() || !pointer[Key::cast].is_text()) return;
  sink.inspected();
  const std::string_view expression = pointer[Key::expression].text();
  if (pointer[Key::checked].truth() || !sounds_like_index(pointer[Key::name].text())) return;
  const std::string_view function = pointer[Key::function].text(expression);
  const std::uint32_t file = pointer.where().file;
  // Those of one function stand together.
  if (functions.empty() || functions.back().function != function || functions.back().file != file) {
    functions.push_back({function, file, {}});
  }
  functions.back().pointers.push_back(pointer);
}

void report(const Unasked& unasked, Sink& sink) {
  const Fact& first = unasked.pointers.front();
  const std::string cast(first[Key::cast].text());
  Finding& finding =
      sink.add(std::string(unasked.function),
               quote(first[Key::expression].text()) + " is read as " + quote(cast) +
                   ", and nobody asks for the dtype of the tensor; torch makes indices of 64 bits",
               evidence(first, "pointer cast here" + site_of(first)));
  for (std::size_t at = 1; at < unasked.pointers.size() && at <= most_related; ++at) {
    const Fact& pointer = unasked.pointers[at];
    finding.related.push_back(evidence(pointer, "and here" + site_of(pointer)));
  }
  finding.severity = Severity::note;
  finding.fix = "take `data_ptr<" + cast + ">()`, which refuses another dtype, or check it before";
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    std::vector<Unasked> functions;
    for (const Fact pointer : facts.root(document)[Key::pointers].items()) {
      check_number(pointer, sink);
      note_tensor(pointer, functions, sink);
    }
    for (const Unasked& function : functions) report(function, sink);
  }
}

}  // namespace

extern constinit const Rule dtype_raw_cast{
    .id = "dtype-raw-cast",
    .title = "memory read as a type that nobody made sure of",
    .rationale =
        "`float one = 1.0f; f((half*)&one);` reads the first two bytes of the number, which are 0 "
        "as a `half`; with a larger type what lies behind it is read, too. It compiles, and a "
        "scale factor is silently 0 or garbage on the one path that takes the other type. Only "
        "variables that begin as a literal other than 0 are judged, and parameters of functions of "
        "the host: others may hold two values of the smaller type, packed. The same happens to a "
        "tensor whose untyped pointer is cast: `(int*)index.data_ptr()` reads each 64-bit index, "
        "the dtype that torch makes by itself, as two. It is told where neither the function nor "
        "who calls it does anything with the tensor by which it could know, and where the name "
        "is one of indices.",
    .example =
        R"json({"opseal_manifest": 1, "pointers": [{"expression": "&one", "type": "float", "value": "1.0f", "cast": "half"}]})json",
    .fix = "convert the number, and hand over the address of a variable of the type that is read",
    .severity = Severity::warning,
    .tier = Tier::lexed,
    .inspects = "address of a number, or pointer of a tensor, that is cast to another type",
    .needs = {Key::pointers, Key::cast},
    .check = check,
};

}  // namespace opseal
