#include "analyzers/sources/primitives.h"

#include <algorithm>
#include <map>
#include <utility>

namespace opseal {
namespace {

bool is_of_primitive(PythonKind kind) {
  switch (kind) {
    case PythonKind::primitive:
    case PythonKind::primitive_impl:
    case PythonKind::primitive_abstract:
    case PythonKind::primitive_jvp:
    case PythonKind::primitive_transpose:
    case PythonKind::primitive_batching:
    case PythonKind::primitive_lowering:
    case PythonKind::primitive_kernel:
    case PythonKind::primitive_remark:
    case PythonKind::primitive_use:
    case PythonKind::etp_rules:
      return true;
    default:
      return false;
  }
}

// Who makes the primitive says which system it is of; without, what only one system has.
std::string_view system_of(const std::vector<const PrimitiveRecord*>& records) {
  std::string_view system = "jax";
  for (const PrimitiveRecord* record : records) {
    const PythonRegistration& said = record->said;
    if (said.kind == PythonKind::primitive) {
      if (said.how.ends_with("XLACustomKernel")) return "brainevent";
      if (said.how.ends_with("ETPPrimitive")) return "braintrace";
    }
    if (said.kind == PythonKind::primitive_kernel) system = "brainevent";
    if (said.kind == PythonKind::etp_rules) system = "braintrace";
  }
  return system;
}

}  // namespace

void read_primitives(std::vector<PythonRegistration>& registrations, std::uint32_t file,
                     std::vector<PrimitiveRecord>& records) {
  for (PythonRegistration& said : registrations) {
    if (!is_of_primitive(said.kind)) continue;
    const SourcePlace place{file, said.place.offset, said.place.length};
    records.push_back({std::move(said), file, place});
  }
}

std::vector<Primitive> primitives_of(std::string_view system,
                                     const std::vector<PrimitiveRecord>& records) {
  std::map<std::string_view, std::vector<const PrimitiveRecord*>> by_name;
  for (const PrimitiveRecord& record : records) {
    if (record.said.name.decided()) by_name[record.said.name.text].push_back(&record);
  }
  std::vector<Primitive> primitives;
  for (auto& [name, of_name] : by_name) {
    // What is merely used is defined elsewhere.
    const bool registers =
        std::any_of(of_name.begin(), of_name.end(), [](const PrimitiveRecord* record) {
          return record->said.kind != PythonKind::primitive_use;
        });
    if (!registers || system_of(of_name) != system) continue;
    primitives.push_back({std::string(name), std::move(of_name)});
  }
  return primitives;
}

}  // namespace opseal
