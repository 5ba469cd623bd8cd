#include "analyzers/native/torch_schemas.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "opseal/schema_text.h"

namespace opseal {
namespace {

// Bytes. The longest in torch 2.15 has some 1,500.
constexpr std::size_t longest_schema = 16 * 1024;

bool is_text(char byte) { return (byte >= ' ' && byte <= '~') || byte == '\n' || byte == '\t'; }
bool is_space(char byte) { return byte == ' ' || byte == '\n' || byte == '\t'; }

// The types of torch's schema language: torch/csrc/jit/frontend/schema_type_parser.cpp.
bool is_torch_type(std::string_view type) {
  constexpr std::string_view words[] = {"Tensor",
                                        "Scalar",
                                        "ScalarType",
                                        "int",
                                        "SymInt",
                                        "SymBool",
                                        "SymFloat",
                                        "float",
                                        "bool",
                                        "str",
                                        "complex",
                                        "number",
                                        "Device",
                                        "DeviceIndex",
                                        "Layout",
                                        "Stream",
                                        "StreamObjType",
                                        "Generator",
                                        "Storage",
                                        "MemoryFormat",
                                        "Dimname",
                                        "QScheme",
                                        "ConstQuantizerBase",
                                        "NoneType",
                                        "None",
                                        "Any",
                                        "AnyEnumType",
                                        "AnyClassType",
                                        "Capsule",
                                        "DeviceObjType",
                                        "Function",
                                        "AnyListType",
                                        "AnyTupleType",
                                        "t",
                                        "t1",
                                        "t2",
                                        "tVal"};
  if (std::find(std::begin(words), std::end(words), type) != std::end(words)) return true;
  if (type.starts_with("__torch__.")) return true;
  // Generic types and tuples keep their parameters, which may be anything.
  for (const std::string_view generic : {"(", "Dict(", "Future(", "RRef(", "Await(", "List(",
                                         "Optional(", "Tuple(", "Union(", "NamedTuple("}) {
    if (type.starts_with(generic)) return true;
  }
  return false;
}

bool is_schema(std::string_view text) {
  const std::optional<OperatorSchema> schema = read_torch_schema(text);
  if (!schema || schema->name.empty()) return false;
  const auto word = [](char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || byte == '.' || byte == ':';
  };
  if (!std::all_of(schema->name.begin(), schema->name.end(), word)) return false;
  const auto has_name = [](const SchemaOperand& operand) { return !operand.name.empty(); };
  const auto has_type = [](const SchemaOperand& operand) { return is_torch_type(operand.type); };
  return std::all_of(schema->inputs.begin(), schema->inputs.end(), has_name) &&
         std::all_of(schema->inputs.begin(), schema->inputs.end(), has_type) &&
         std::all_of(schema->outputs.begin(), schema->outputs.end(), has_type);
}

// Every schema has an arrow behind the closing parenthesis of its arguments. Where one is found the
// text around it is looked at, up to bytes that no text has.
void search(const Bytes& bytes, std::uint64_t address, std::vector<SchemaString>& found) {
  const std::string_view view = bytes.view();
  std::size_t at = 0;
  while (at < view.size()) {
    const void* arrow = ::memmem(view.data() + at, view.size() - at, "->", 2);
    if (arrow == nullptr) return;
    const auto arrow_at = static_cast<std::size_t>(static_cast<const char*>(arrow) - view.data());
    std::size_t before = arrow_at;
    while (before > at && is_space(view[before - 1])) --before;
    if (before == at || view[before - 1] != ')') {
      at = arrow_at + 2;
      continue;
    }
    std::size_t start = before;
    while (start > at && before - start < longest_schema && is_text(view[start - 1])) --start;
    std::size_t end = arrow_at;
    while (end < view.size() && end - start < longest_schema && is_text(view[end])) ++end;
    while (start < end && is_space(view[start])) ++start;
    const std::string_view text = view.substr(start, end - start);
    at = end;
    if (end == view.size() || view[end] != '\0' || !is_schema(text)) continue;
    found.push_back({text, address + start, bytes.offset() + start});
  }
}

}  // namespace

std::vector<SchemaString> find_torch_schemas(const Elf& elf) {
  std::vector<SchemaString> found;
  constexpr std::uint32_t bits = 1;
  for (const ElfSection& section : elf.sections()) {
    if (section.type == bits && section.is_allocated() && !section.is_compressed() &&
        (section.name.starts_with(".rodata") || section.name.starts_with(".lrodata"))) {
      search(elf.data(section), section.address, found);
    }
  }
  if (!elf.sections().empty()) return found;
  constexpr std::uint32_t writable = 2;
  for (const ElfSegment& segment : elf.segments()) {
    if (!segment.is_loaded() || (segment.flags & writable) != 0) continue;
    const Bytes rest = elf.at_address(segment.address);
    search(rest, segment.address, found);
  }
  return found;
}

}  // namespace opseal
