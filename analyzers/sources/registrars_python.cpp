#include "analyzers/sources/registrars_python.h"

namespace opseal {
namespace {

// Shape functions and the like may be for operators of others, which need not be there.
bool brings_an_operator(PythonKind kind) {
  return kind == PythonKind::torch_define || kind == PythonKind::torch_impl ||
         kind == PythonKind::torch_custom_op || kind == PythonKind::torch_triton_op ||
         kind == PythonKind::torch_kernel || kind == PythonKind::torch_direct ||
         kind == PythonKind::ffi_target || kind == PythonKind::tvm_function;
}

}  // namespace

void read_registrars_python(const std::vector<PythonRegistration>& registrations,
                            std::uint32_t file, std::vector<RegistrarRecord>& records) {
  for (const PythonRegistration& from : registrations) {
    if (!from.swallowed || !brings_an_operator(from.kind)) continue;
    const SourcePlace place{file, from.place.offset, from.place.length};
    // One place in a loop is many registrations.
    if (!records.empty() && records.back().place.offset == place.offset) continue;
    RegistrarRecord record;
    record.type = from.how;
    record.status = "swallowed";
    record.place = place;
    records.push_back(std::move(record));
  }
}

void read_repeated_targets(const std::vector<PythonRepeatedTarget>& targets, std::uint32_t file,
                           std::vector<RegistrarRecord>& records) {
  for (const PythonRepeatedTarget& target : targets) {
    RegistrarRecord record;
    record.type = target.how;
    record.name = target.within;
    record.replaces = target.repeats;
    record.place = {file, target.place.offset, target.place.length};
    records.push_back(std::move(record));
  }
}

void read_miss_errors(const std::vector<PythonMissError>& errors, std::uint32_t file,
                      std::vector<RegistrarRecord>& records) {
  for (const PythonMissError& error : errors) {
    RegistrarRecord record;
    record.type = error.error;
    record.name = error.within;
    record.registry = error.registry;
    record.listed = error.listed;
    record.listed_place = {file, error.list_place.offset, error.list_place.length};
    record.place = {file, error.place.offset, error.place.length};
    records.push_back(std::move(record));
  }
}

}  // namespace opseal
