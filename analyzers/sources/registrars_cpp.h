#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/sources/placed_writer.h"
#include "analyzers/sources/records.h"

namespace opseal {

// An object that an initialization reads: the place where it does, and the place of its definition.
struct RegistrarUse {
  PlacedName name;
  SourcePlace definition;
};

// An object or a call that registers, with what can go wrong with it.
struct RegistrarRecord {
  std::string type;
  std::string name;
  // `automatic`, `temporary`, `static`, `archive`; empty: not an object.
  std::string storage;
  // `checked`, `dropped`, `swallowed`; of a failure that is told `returned`, `continued`; empty:
  // not said.
  std::string status;
  // Of a kernel: the operator as which it chooses its code.
  std::string of_operator;
  // Room, and what is added on every path.
  std::optional<std::uint32_t> most;
  std::optional<std::uint32_t> added;
  // Of a block that takes a namespace as a whole.
  std::string space;
  BuildCondition when;
  // Of other units, and made by code when the program starts.
  std::vector<RegistrarUse> uses;
  bool says_uses = false;
  // It hands a target to XLA: whether once more under a name that is registered, if asked for.
  std::optional<bool> replaces;
  // Of an error for a missed look-up: what was looked into, and the list of what is there, as
  // written.
  std::string registry;
  std::optional<std::string> listed;
  SourcePlace listed_place;
  // Told by libclang.
  bool typed = false;
  // The static library that has it, and what is linked with that and names nothing of its file.
  std::string library;
  std::vector<PlacedName> loaded_by;
  SourcePlace place;
};

// Whether a file can have a registrar. Costs a fraction of reading it.
bool may_hold_registrars(std::string_view bytes);

void read_registrars_cpp(std::uint32_t number, const std::string& bytes,
                         std::vector<RegistrarRecord>& records);

// Writes `registrars`. Needs: an open document.
void write_registrars(const std::vector<RegistrarRecord>& records, PlacedWriter& writer);

}  // namespace opseal
