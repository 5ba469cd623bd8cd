#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "opseal/one_slip.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/schema_text.h"
#include "opseal/text.h"

namespace opseal {
namespace {

struct Spelling {
  std::string_view written;
  // In torch's language; empty where there is no such type.
  std::string_view meant;
};

// Words of C++ and of Python that people write for types and torch refuses. An unknown word alone
// is no mistake: programs can add types.
constexpr Spelling foreign_types[] = {
    {"Bool", "bool"},
    {"Float", "float"},
    {"Int", "int"},
    {"IntArrayRef", "int[]"},
    {"List", "a list as `Type[]`"},
    {"Number", "Scalar"},
    {"Optional", "an optional as `Type?`"},
    {"Sequence", "a list as `Type[]`"},
    {"Str", "str"},
    {"String", "str"},
    {"TensorList", "Tensor[]"},
    {"boolean", "bool"},
    {"double", "float"},
    {"half", "float"},
    {"int16_t", "int"},
    {"int32", "int"},
    {"int32_t", "int"},
    {"int64", "int"},
    {"int64_t", "int"},
    {"int8_t", "int"},
    {"integer", "int"},
    {"list", "a list as `Type[]`"},
    {"long", "int"},
    {"scalar", "Scalar"},
    {"size_t", "int"},
    {"string", "str"},
    {"symint", "SymInt"},
    {"tensor", "Tensor"},
    {"uint16_t", "int"},
    {"uint32_t", "int"},
    {"uint64_t", "int"},
    {"uint8_t", "int"},
    {"void", "`()` for no result"},
};

// Long enough that what is one slip apart is a slip.
constexpr std::string_view known_types[] = {"Tensor",  "Scalar", "SymInt",       "ScalarType",
                                            "Device",  "Layout", "MemoryFormat", "Generator",
                                            "Storage", "Stream", "Dimname",      "QScheme"};

std::string quoted_type(std::string_view meant) {
  return meant.find(' ') == meant.npos ? quote(meant) : std::string(meant);
}

std::string fault_of_type(const SchemaOperand& operand) {
  const auto foreign =
      std::find_if(std::begin(foreign_types), std::end(foreign_types),
                   [&](const Spelling& one) { return one.written == operand.type; });
  if (foreign != std::end(foreign_types)) {
    return "torch has no type " + quote(operand.type) + "; it writes " +
           quoted_type(foreign->meant);
  }
  for (const std::string_view known : known_types) {
    if (operand.type == known) return {};
  }
  for (const std::string_view known : known_types) {
    if (!one_slip_apart(operand.type, known)) continue;
    return "torch has no type " + quote(operand.type) + ", one letter apart from " + quote(known);
  }
  return {};
}

bool is_number_with_suffix(std::string_view text) {
  if (text.size() < 2 || std::string_view("fFlLuU").find(text.back()) == text.npos) return false;
  text.remove_suffix(1);
  if (text.front() == '-') text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789.eE-+") == text.npos &&
         text.find_first_of("0123456789") == 0;
}

// A default that torch can't read: what C++ writes for it, or nothing at all.
std::string fault_of_default(const SchemaOperand& operand) {
  if (!operand.has_default) return {};
  const std::string_view value = operand.default_value;
  const std::string subject = "the default of " + quote(operand.name);
  if (value.empty()) return subject + " is empty";
  constexpr Spelling foreign[] = {
      {"false", "False"},      {"true", "True"},           {"nullptr", "None"},
      {"nullopt", "None"},     {"NULL", "None"},           {"null", "None"},
      {"none", "None"},        {"std::nullopt", "None"},   {"c10::nullopt", "None"},
      {"at::nullopt", "None"}, {"torch::nullopt", "None"}, {"{}", "[]"},
  };
  for (const Spelling& one : foreign) {
    if (one.written != value) continue;
    return subject + " is " + quote(value) + ", which torch doesn't read; it writes " +
           quote(one.meant);
  }
  if (is_number_with_suffix(value)) {
    return subject + " is " + quote(value) + ", a number with the suffix of C++";
  }
  return {};
}

// Behind a default only lists, and what is given by name, may lack one: torch asserts it.
std::string fault_of_order(const OperatorSchema& schema) {
  const SchemaOperand* earlier = nullptr;
  for (const SchemaOperand& input : schema.inputs) {
    if (input.has_default) {
      earlier = &input;
    } else if (earlier != nullptr && !input.keyword_only && input.lists == 0) {
      return "argument " + quote(input.name) + " has no default and stands behind " +
             quote(earlier->name) + ", which has one";
    }
  }
  return {};
}

// What is wrong with the text, or empty.
std::string fault_of(std::string_view text) {
  // A name alone leaves the rest to be inferred from a function.
  if (text.find('(') == text.npos) return {};
  if (text.find("->") == text.npos) return "no `->` with a result";
  const std::optional<OperatorSchema> schema = read_torch_schema(text);
  if (!schema) return "its brackets, commas or arguments don't fit together";
  for (const std::vector<SchemaOperand>* operands : {&schema->inputs, &schema->outputs}) {
    for (const SchemaOperand& operand : *operands) {
      if (std::string fault = fault_of_type(operand); !fault.empty()) return fault;
    }
  }
  const auto nameless =
      std::find_if(schema->inputs.begin(), schema->inputs.end(),
                   [](const SchemaOperand& operand) { return operand.name.empty(); });
  if (nameless != schema->inputs.end()) {
    const auto number = static_cast<std::size_t>(nameless - schema->inputs.begin()) + 1;
    return "argument " + std::to_string(number) + ", " + quote(nameless->type) + ", has no name";
  }
  for (const SchemaOperand& input : schema->inputs) {
    if (std::string fault = fault_of_default(input); !fault.empty()) return fault;
  }
  return fault_of_order(*schema);
}

void check(const Facts& facts, Sink& sink) {
  for_each_operator(facts, [&sink](const Fact& manifest, const Fact& op) {
    const Fact schema = op[Key::schema];
    if (!manifest[Key::system].is("torch") || !schema.is_text()) return;
    sink.inspected();
    const std::string fault = fault_of(schema.text());
    if (fault.empty()) return;
    sink.add(subject_of(manifest, op),
             "schema " + quote(schema.text()) + " can't be parsed: " + fault,
             evidence(schema, "schema stated here" + site_of(op)));
  });
}

}  // namespace

extern constinit const Rule schema_malformed{
    .id = "schema-malformed",
    .title = "operator schema that the framework can't parse",
    .rationale =
        "The text of a schema is parsed when the library that defines the operator is loaded, and "
        "not before. A missing bracket, result or name throws then, and so do a type or a default "
        "in "
        "the words of C++ and an argument without a default behind one that has it: the import "
        "fails, and with it every other operator of that library.",
    .example = R"({"opseal_manifest": 1, "system": "torch", "operators": [)"
               R"({"name": "ns::scale", "schema": "ns::scale(Tensor x, float) -> Tensor"}]})",
    .fix =
        "write `name(Type argument, …) -> Result`; `-> ()` for no result; `int` and `float` for "
        "the "
        "numbers of C++, `str` for texts, `None`, `True` and `False` for defaults",
    .severity = Severity::error,
    .inspects = "operator of torch with a schema",
    .needs = {Key::operators, Key::schema},
    .check = check,
};

}  // namespace opseal
