#pragma once

#include <string>

#include "tests/mutants/mistake.h"

namespace opseal::test {

// Takes all marks of a write out of a schema and of the operands beside it.
inline bool unmark(Json& op) {
  std::string schema = op["schema"];
  bool any = false;
  for (std::size_t mark = schema.find("!)"); mark != schema.npos; mark = schema.find("!)")) {
    const std::size_t open = schema.rfind('(', mark);
    schema.erase(open, mark + 2 - open);
    any = true;
  }
  op["schema"] = schema;
  for (const char* list : {"inputs", "outputs"}) {
    if (!has(op, list) || !op[list].is_array()) continue;
    for (Json& operand : op[list]) {
      operand.erase("alias");
      if (operand.contains("mutated")) operand["mutated"] = false;
    }
  }
  return any;
}

}  // namespace opseal::test
