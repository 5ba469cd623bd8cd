// Complete runs of the default profile over recorded registries, in the formats that others read,
// byte for byte.

#include <doctest/doctest.h>

#include <string>

#include "tests/support.h"

namespace fs = std::filesystem;

namespace opseal::test {

TEST_CASE("whole runs") {
  fs::current_path(source_dir());
  const fs::path expected = source_dir() / "fixtures/_whole/expected";
  for (const std::string name :
       {"brainevent-0.1.2", "brainevent-0.2.1", "braintrace-0.2.0", "braintrace-0.2.6"}) {
    SUBCASE(name.c_str()) {
      const Audit audit = audit_paths({"fixtures/_whole/" + name + ".json"}, {});
      check_or_bless(expected / (name + ".txt"), report(audit, "text"));
      check_or_bless(expected / (name + ".json"), report(audit, "json"));
      check_or_bless(expected / (name + ".sarif"), report(audit, "sarif"));
    }
  }
}

}  // namespace opseal::test
