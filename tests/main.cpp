#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <string_view>

#include "analyzers/probe/child.h"
#include "tests/probe_saboteur.h"

int main(int argc, char** argv) {
  // How a test of the pool starts this program as a child.
  if (argc == 2 && std::string_view(argv[1]) == opseal::test::saboteur_argument) {
    return opseal::run_probe_child(opseal::test::answer_or_spoil);
  }
  doctest::Context context(argc, argv);
  return context.run();
}
