#include "analyzers/sources/targets.h"
#include "analyzers/sources/torch_python.h"

namespace opseal {
namespace {

SourcePlace place_at(const PythonPlace& place, std::uint32_t file) {
  return {file, place.offset, place.length};
}

// Jax's own functions make typed handlers where nothing else is said, the older ones untyped ones.
int api_version_of(const PythonRegistration& from) {
  for (const PythonArgument& argument : from.arguments) {
    if (argument.name != "api_version") continue;
    if (!argument.value.decided()) return -1;
    return argument.value.text == "0" ? 0 : argument.value.text == "1" ? 1 : -1;
  }
  if (from.open_ended) return -1;
  return from.how.ends_with("register_ffi_target") ? 1 : 0;
}

}  // namespace

void read_targets_python(const std::vector<PythonRegistration>& registrations,
                         std::string_view text, std::uint32_t file,
                         std::vector<TargetRecord>& records) {
  for (const PythonRegistration& from : registrations) {
    const bool lookup = from.kind == PythonKind::ffi_lookup;
    if (!lookup && from.kind != PythonKind::ffi_target && from.kind != PythonKind::ffi_library) {
      continue;
    }
    TargetRecord record;
    record.lookup = lookup;
    record.place = place_at(from.place, file);
    record.when = condition_of(from);
    const PythonPlace& written = from.name.place.length > 0 ? from.name.place : from.place;
    record.name.place = place_at(written, file);
    if (written.offset < text.size()) record.written = text.substr(written.offset, written.length);
    // What a library brings is found when it is built.
    if (from.name.decided() && from.kind != PythonKind::ffi_library) {
      record.name.text = from.name.text;
    }
    if (!lookup) {
      record.platform.place =
          from.key.place.length > 0 ? place_at(from.key.place, file) : record.place;
      if (from.key.decided()) record.platform.text = from.key.text;
      if (from.key.state == PythonText::State::absent && !from.open_ended) {
        record.platform.text = "cpu";
      }
      record.api_version = api_version_of(from);
      if (!from.functions.empty()) record.function = source_function(from.functions[0], file);
    }
    records.push_back(std::move(record));
  }
}

}  // namespace opseal
