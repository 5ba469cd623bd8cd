#include "analyzers/sources/targets.h"
#include "analyzers/sources/torch_python.h"

namespace opseal {
namespace {

SourcePlace place_at(const PythonPlace& place, std::uint32_t file) {
  return {file, place.offset, place.length};
}

// A function of the framework and not a project's own of that name, which may do anything with what
// it is given.
bool is_frameworks_own(std::string_view how) {
  const std::string_view first = how.substr(0, how.find('.'));
  return first == "jax" || first == "jaxlib" || first == "xla_client" || first == "xla_extension" ||
         first == "brainevent";
}

// Jax's own functions make typed handlers where nothing else is said, the older ones untyped ones.
int api_version_of(const PythonRegistration& from) {
  for (const PythonArgument& argument : from.arguments) {
    if (argument.name != "api_version") continue;
    if (!argument.value.decided()) return -1;
    return argument.value.text == "0" ? 0 : argument.value.text == "1" ? 1 : -1;
  }
  if (from.open_ended || !is_frameworks_own(from.how)) return -1;
  return from.how.ends_with("register_ffi_target") ? 1 : 0;
}

// `b"name"`, written out.
bool is_bytes(std::string_view written) {
  if (written.size() < 4 || (written[0] != 'b' && written[0] != 'B')) return false;
  const char mark = written[1];
  return (mark == '"' || mark == '\'') && written.find(mark, 2) == written.size() - 1;
}

// `FooFwd` of `jax.ffi.pycapsule(library.FooFwd)`: what a library that is loaded by hand exports.
std::string capsule_symbol(std::string_view written) {
  const std::size_t open = written.find('(');
  if (open == written.npos || !written.ends_with(')')) return {};
  const std::string_view made = written.substr(0, open);
  if (!made.ends_with("pycapsule")) return {};
  const std::string_view inside = written.substr(open + 1, written.size() - open - 2);
  const std::size_t dot = inside.rfind('.');
  const bool plain = inside.find_first_of("()[]{}, \n\"'") == inside.npos;
  return plain && dot != inside.npos ? std::string(inside.substr(dot + 1)) : std::string();
}

TargetCall call_of(const PythonRegistration& from, std::uint32_t file) {
  TargetCall call;
  if (!from.call.made || from.call.open_ended || from.open_ended) return call;
  // Untyped handlers take their attributes as one text, and some are handed over beforehand.
  for (const PythonArgument& argument : from.arguments) {
    const bool other = argument.name == "custom_call_api_version" ||
                       argument.name == "api_version" || argument.name == "backend_config" ||
                       argument.name == "legacy_backend_config" || argument.name.empty();
    if (other) return call;
  }
  call.place = place_at(from.call.place, file);
  // The context of a lowering comes first.
  const std::uint32_t leading = from.how.ends_with("ffi_lowering") ? 1 : 0;
  if (from.call.positional < leading) return call;
  call.known = true;
  call.arguments = from.call.positional - leading;
  for (const PythonCallAttribute& attribute : from.call.attributes) {
    call.attributes.push_back({attribute.name, attribute.type, place_at(attribute.place, file)});
  }
  return call;
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
    if (lookup) record.call = call_of(from, file);
    if (!lookup) {
      record.platform.place =
          from.key.place.length > 0 ? place_at(from.key.place, file) : record.place;
      if (from.key.decided()) record.platform.text = from.key.text;
      const bool says_all = !from.open_ended && is_frameworks_own(from.how);
      if (from.key.state == PythonText::State::absent && says_all) {
        record.platform.text = "cpu";
      }
      if (from.kind == PythonKind::ffi_target) {
        record.api_version = api_version_of(from);
        record.from_table = !from.name.decided();
        // A call that the framework refuses: its names are no bytes.
        if (says_all && from.how.ends_with("register_ffi_target") && is_bytes(record.written)) {
          record.name.text = record.written;
          record.from_table = false;
        }
      }
      if (!from.functions.empty()) {
        record.function = source_function(from.functions[0], file);
        record.symbol = {capsule_symbol(from.functions[0].name), record.function.place};
      }
    }
    records.push_back(std::move(record));
  }
}

}  // namespace opseal
