#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <string_view>

#include "analyzers/probe/child.h"
#include "tests/probe_liar.h"
#include "tests/probe_saboteur.h"

int main(int argc, char** argv) {
  // How tests of the pool start this program as a child.
  if (argc == 2 && std::string_view(argv[1]) == opseal::test::saboteur_argument) {
    return opseal::run_probe_child(opseal::test::answer_or_spoil);
  }
  if (argc == 2 && std::string_view(argv[1]) == opseal::test::liar_argument) {
    return opseal::test::run_liar();
  }
  doctest::Context context(argc, argv);
  return context.run();
}
