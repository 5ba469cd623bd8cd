#include "analyzers/sources/tvm.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/cpp_record.h"
#include "analyzers/sources/torch_python.h"
#include "opseal/one_slip.h"

namespace opseal {
namespace {

// Shorter names are near to everything.
constexpr std::size_t shortest_name = 8;
// Comparisons of names that are asked for with those that are registered.
constexpr std::size_t most_steps = 4'000'000;

bool is_global(const Invocation& invocation) {
  return invocation.name == "TVM_REGISTER_GLOBAL" || invocation.name == "TVM_FFI_REGISTER_GLOBAL";
}

bool is_export(const Invocation& invocation) {
  return invocation.name == "TVM_FFI_DLL_EXPORT_TYPED_FUNC";
}

// Each link of a chain is looked at once: those before it are known.
bool is_definition(const Invocations& found, const Invocation& invocation,
                   const std::set<std::uint32_t>& chains) {
  if (invocation.form != InvocationForm::member || invocation.previous == no_token) return false;
  const bool defines = invocation.name == "def" || invocation.name == "def_packed" ||
                       invocation.name == "def_method";
  return defines && (found.list[invocation.previous].name == "GlobalDef" ||
                     chains.contains(invocation.previous));
}

std::string_view first_part(std::string_view name) { return name.substr(0, name.find('.')); }

bool is_slip(std::string_view name, const std::set<std::string_view>& registered,
             std::size_t& steps) {
  if (name.size() < shortest_name) return false;
  return std::any_of(registered.begin(), registered.end(), [&](std::string_view other) {
    return ++steps < most_steps && first_part(other) == first_part(name) &&
           one_slip_apart(other, name);
  });
}

}  // namespace

void read_tvm_cpp(const SourceUnit& unit, const Invocations& found,
                  std::vector<TvmRecord>& records) {
  std::set<std::uint32_t> chains;
  for (std::uint32_t at = 0; at < found.list.size(); ++at) {
    const Invocation& invocation = found.list[at];
    const bool link = is_definition(found, invocation, chains);
    if (link) chains.insert(at);
    const bool exported = is_export(invocation);
    if ((!link && !exported && !is_global(invocation)) || invocation.arguments.empty()) continue;
    const Tokens name = invocation.arguments.front();
    bool only_strings = false;
    TvmRecord record;
    record.exported = exported;
    if (exported) {
      record.name.text = name.size() == 1 ? std::string(name.front().text) : std::string();
      only_strings = true;
    } else {
      record.name.text = string_value(name, &only_strings);
    }
    if (!only_strings || record.name.text.empty()) continue;
    record.name.place = place_of(name, unit.file);
    record.when = unit.conditions[invocation.condition];
    record.place = {unit.file, invocation.offset, invocation.length};
    records.push_back(std::move(record));
  }
}

void read_tvm_python(const std::vector<PythonRegistration>& registrations, std::uint32_t file,
                     std::vector<TvmRecord>& records) {
  for (const PythonRegistration& from : registrations) {
    const bool lookup = from.kind == PythonKind::tvm_lookup;
    if ((!lookup && from.kind != PythonKind::tvm_function) || !from.name.decided()) continue;
    // It is fine if nothing is there.
    if (lookup && (!from.arguments.empty() || from.open_ended)) continue;
    TvmRecord record;
    record.lookup = lookup;
    record.python = true;
    record.name = {from.name.text, {file, from.name.place.offset, from.name.place.length}};
    record.when = condition_of(from);
    record.place = {file, from.place.offset, from.place.length};
    record.replaces = std::any_of(
        from.arguments.begin(), from.arguments.end(), [](const PythonArgument& argument) {
          return argument.name == "override" && argument.value.text != "False";
        });
    records.push_back(std::move(record));
  }
}

void write_tvm(const std::vector<TvmRecord>& records, const std::vector<std::string>& paths,
               PlacedWriter& writer) {
  std::set<std::string_view> registered;
  std::set<std::string_view> exported;
  const std::uint32_t operators = writer.open_list(Key::operators);
  for (const TvmRecord& record : records) {
    if (record.lookup) continue;
    const bool is_new = (record.exported ? exported : registered).insert(record.name.text).second;
    // Whoever wrote it knows of the other one.
    if (!is_new && record.replaces) continue;
    const std::uint32_t object = writer.open(Key::none, NodeType::object, record.place);
    writer.text(Key::name, record.name.text, record.name.place);
    // Builds take one of several files.
    if (!is_new) writer.text(Key::identity, paths[record.place.file], record.place);
    writer.text(Key::defined_in, record.python ? "python" : "native", record.place);
    writer.text_if(Key::when, record.when.text(), record.place);
    writer.close(object);
  }
  writer.close_list(operators);
  std::size_t steps = 0;
  const std::uint32_t dispatch = writer.open_list(Key::dispatch);
  for (const TvmRecord& record : records) {
    if (!record.lookup) continue;
    const bool known = registered.contains(record.name.text);
    if (!known && !is_slip(record.name.text, registered, steps)) continue;
    const std::uint32_t row = writer.open(Key::none, NodeType::object, record.place);
    writer.text(Key::operator_, record.name.text, record.name.place);
    const std::uint32_t list = writer.open(Key::lookups, NodeType::list, record.place);
    const std::uint32_t item = writer.open(Key::none, NodeType::object, record.place);
    writer.text(Key::operator_, record.name.text, record.name.place);
    writer.close(item);
    writer.close(list);
    writer.close(row);
  }
  writer.close_list(dispatch);
}

}  // namespace opseal
