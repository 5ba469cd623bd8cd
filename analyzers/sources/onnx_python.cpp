#include "analyzers/sources/onnx_python.h"

#include <algorithm>

#include "analyzers/sources/torch_python.h"

namespace opseal {
namespace {

using State = PythonText::State;

// Elements of a list that is written out, or those that are there where nothing is said.
bool read_count(const PythonArgument& argument, std::uint32_t& count) {
  if (argument.value.state == State::null) return true;
  // Names of dtypes are no constants, and so the list isn't; a longer one is cut off.
  if (!argument.list || argument.items.size() >= 64) return false;
  count = static_cast<std::uint32_t>(argument.items.size());
  return true;
}

bool read_names(const PythonArgument& argument, std::vector<std::string>& names) {
  if (argument.value.state == State::null) return true;
  if (!argument.list) return false;
  for (const PythonText& item : argument.items) {
    if (!item.decided()) return false;
    names.push_back(item.text);
  }
  return true;
}

// As of a kernel of torch: attributes are given by name.
std::string schema_of(const OnnxFunctionRecord& record) {
  std::string schema = record.name + "(";
  const char* separator = "";
  for (std::uint32_t i = 0; i < record.inputs; ++i) {
    schema += separator + ("Tensor input" + std::to_string(i));
    separator = ", ";
  }
  if (!record.attributes.empty()) {
    schema += separator + std::string("*");
    for (const std::string& attribute : record.attributes) schema += ", Any " + attribute;
  }
  schema += ") -> ";
  if (record.outputs == 1) return schema + "Tensor";
  schema += "(";
  for (std::uint32_t i = 0; i < record.outputs; ++i) schema += i == 0 ? "Tensor" : ", Tensor";
  return schema + ")";
}

}  // namespace

void read_onnx_python(const std::vector<PythonRegistration>& registrations, std::uint32_t file,
                      std::vector<OnnxFunctionRecord>& records) {
  for (const PythonRegistration& from : registrations) {
    if (from.kind != PythonKind::onnx_function || from.open_ended || !from.name.decided()) continue;
    if (from.functions.empty() || !from.functions.front().found) continue;
    OnnxFunctionRecord record;
    record.name = from.name.text;
    bool known = true;
    for (const PythonArgument& argument : from.arguments) {
      if (argument.name == "inputs") known = known && read_count(argument, record.inputs);
      if (argument.name == "outputs") known = known && read_count(argument, record.outputs);
      if (argument.name == "attrs") known = known && read_names(argument, record.attributes);
    }
    if (!known) continue;
    record.function = source_function(from.functions.front(), file);
    record.place = {file, from.place.offset, from.place.length};
    records.push_back(std::move(record));
  }
}

void write_onnx_functions(const std::vector<OnnxFunctionRecord>& records, PlacedWriter& writer) {
  const std::uint32_t operators = writer.open_list(Key::operators);
  for (const OnnxFunctionRecord& record : records) {
    const std::uint32_t object = writer.open(Key::none, NodeType::object, record.place);
    writer.text(Key::name, record.name, record.place);
    writer.text(Key::schema, schema_of(record), record.place);
    writer.count(Key::inputs, record.inputs, record.place);
    writer.count(Key::outputs, record.outputs, record.place);
    const std::uint32_t kernels = writer.open(Key::kernels, NodeType::list, record.place);
    const std::uint32_t kernel = writer.open(Key::none, NodeType::object, record.place);
    writer.text(Key::platform, "cpu", record.place);
    writer.function(Key::function, record.function);
    writer.close(kernel);
    writer.close(kernels);
    writer.close(object);
  }
  writer.close_list(operators);
}

}  // namespace opseal
