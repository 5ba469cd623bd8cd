#pragma once

#include "opseal/registration.h"

namespace opseal {

// Whether an operator is defined, apart from its kernels: registries with schema texts let anybody
// register a kernel for a name that nobody defined.
enum class Definition { not_said, defined, undefined };

// A walk of torch's dispatcher writes the schema of every operator that has one; where no operator
// of the manifest says a schema, nobody wrote them down.
inline bool walk_states_schemas(const Fact& manifest) {
  if (!manifest[Key::system].is("torch") ||
      !manifest[Key::producer][Key::name].is("export torch")) {
    return false;
  }
  for (const Fact op : manifest[Key::operators].items()) {
    if (op[Key::schema].is_text()) return true;
  }
  return false;
}

// `by_walk`: `walk_states_schemas` of its manifest.
inline Definition definition_of(const Fact& op, bool by_walk) {
  const Fact schema = op[Key::schema];
  if (schema.is_text()) return Definition::defined;
  if (schema.is_null()) return Definition::undefined;
  // An unreadable schema is one.
  return by_walk && schema.key() == Key::none ? Definition::undefined : Definition::not_said;
}

}  // namespace opseal
