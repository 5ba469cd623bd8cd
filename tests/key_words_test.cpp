// Names in the code that makes a key.

#include "analyzers/python/key_words.h"

#include <doctest/doctest.h>

namespace opseal::test {

TEST_CASE("a name in a key loses what says whose it is, and nothing else") {
  CHECK(plain_name("self._flags") == "flags");
  CHECK(plain_name("__flags") == "flags");
  CHECK(plain_name("\"nvcc\"") == "nvcc");
  CHECK(plain_name("__version__") == "__version__");
  CHECK(plain_name("__version__.encode") == "__version__.encode");
  CHECK(plain_name("self.__version__") == "__version__");
  CHECK(plain_name("_") == "_");
}

}  // namespace opseal::test
