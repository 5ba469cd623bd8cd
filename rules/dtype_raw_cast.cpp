#include <string>
#include <string_view>

#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

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

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    for (const Fact pointer : facts.root(document)[Key::pointers].items()) {
      const std::string_view type = pointer[Key::type].text();
      const std::string_view cast = pointer[Key::cast].text();
      const int size = size_of_float(type);
      const int read = size_of_float(cast);
      if (size == 0 || read == 0) continue;
      sink.inspected();
      if (size == read) continue;
      const Fact value = pointer[Key::value];
      std::string message = (value.is_text() ? "number " + quote(value.text()) : "parameter") +
                            " of type " + quote(type) + " is handed over as " + quote(cast) + ", " +
                            plural(static_cast<std::size_t>(size), "byte", "bytes") + " read as " +
                            std::to_string(read);
      sink.add(std::string(pointer[Key::expression].text()), std::move(message),
               evidence(pointer, "cast here" + site_of(pointer)));
    }
  }
}

}  // namespace

extern constinit const Rule dtype_raw_cast{
    .id = "dtype-raw-cast",
    .title = "number handed over as one of another size",
    .rationale =
        "`float one = 1.0f; f((half*)&one);` reads the first two bytes of the number, which are 0 "
        "as a `half`; with a larger type what lies behind it is read, too. It compiles, and a "
        "scale factor is silently 0 or garbage on the one path that takes the other type. Only "
        "variables that begin as a literal other than 0 are judged, and parameters of functions of "
        "the host: others may hold two values of the smaller type, packed.",
    .example =
        R"json({"opseal_manifest": 1, "pointers": [{"expression": "&one", "type": "float", "value": "1.0f", "cast": "half"}]})json",
    .fix = "convert the number, and hand over the address of a variable of the type that is read",
    .severity = Severity::warning,
    .tier = Tier::lexed,
    .inspects = "address of a number that is cast to point to another floating type",
    .needs = {Key::pointers, Key::type, Key::cast},
    .check = check,
};

}  // namespace opseal
