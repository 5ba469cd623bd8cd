#include <algorithm>
#include <iterator>

#include "opseal/arg_spec.h"
#include "opseal/dtypes.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// brainevent's attribute types. Its manual lists complex64 and complex128 beside these; the code
// that reads a spec doesn't know them.
constexpr std::string_view types[] = {"bool",    "int8",    "uint8",   "int16",  "uint16",
                                      "int32",   "uint32",  "int64",   "uint64", "float16",
                                      "float32", "float64", "bfloat16"};

// What XLA decodes beside plain numbers, and what an engine with a language of its own may mean.
bool is_composite(std::string_view type) {
  if (type.find_first_of("<[(*") != type.npos) return true;
  for (const std::string_view word : {"str", "string", "dict", "dictionary", "any", "pointer"}) {
    if (type == word) return true;
  }
  return false;
}

// The accepted word for the same type, or empty.
std::string_view accepted_word(std::string_view type) {
  const Dtype* meant = find_dtype(type);
  if (meant == nullptr) return nearest_name(type, types);
  for (const std::string_view candidate : types) {
    if (const Dtype* dtype = find_dtype(candidate); same_dtype(*dtype, *meant)) return candidate;
  }
  return {};
}

void check(const Facts& facts, Sink& sink) {
  for_each_spec(facts, [&sink](const Fact& manifest, const Fact& target, const Fact& spec) {
    if (is_plain_xla(manifest)) return;
    const bool closed = manifest[Key::system].is("brainevent");
    for_each_spec_token(spec, [&](const Fact& word, const SpecToken& token) {
      // A type that isn't said is inferred from the function.
      if (token.kind != SpecKind::attribute || !token.has_type) return;
      if (!closed && is_composite(token.type)) return;
      sink.inspected();
      if (std::find(std::begin(types), std::end(types), token.type) != std::end(types)) return;
      std::string message = "attribute " + quote(token.name) + " has ";
      message += token.type.empty() ? "no type after `:`" : "type " + quote(token.type);
      message += ", expected a bool, int, uint or float of 8 to 64 bits";
      const std::string_view meant = accepted_word(token.type);
      if (!meant.empty()) message += "; did you mean " + quote(meant) + "?";
      Finding& finding = sink.add(std::string(target[Key::name].text()), std::move(message),
                                  evidence(word, "attribute typed here"));
      finding.related.push_back(evidence(target[Key::name], "target named here" + site_of(target)));
      const Dtype* dtype = find_dtype(token.type);
      if (dtype != nullptr && dtype->kind == DtypeKind::complex) {
        finding.fix = "pass the real and the imaginary part as two attributes";
      }
    });
  });
}

}  // namespace

extern constinit const Rule spec_attr_type{
    .id = "spec-attr-type",
    .title = "attribute of an argument spec with a type that can't be passed",
    .rationale =
        "An attribute travels as one encoded number, and only some types have an encoding. With "
        "another the spec is refused when the library is built; where it is not checked, the "
        "call fails on the first use with a message about attributes, far from the spec.",
    .example = R"({"name": "lib.f", "spec": ["arg", "ret", "attr.n:complex64"]})",
    .fix =
        "use `bool`, `int8` to `int64`, `uint8` to `uint64`, `float16`, `bfloat16`, `float32` "
        "or `float64`",
    .severity = Severity::error,
    .inspects = "typed attribute of an argument spec",
    .needs = {Key::spec},
    .check = check,
};

}  // namespace opseal
