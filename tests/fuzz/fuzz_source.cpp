// Any bytes at all, read as a C++ source that includes itself as a header.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "analyzers/source/invocations.h"
#include "analyzers/source/preprocessor.h"
#include "analyzers/source/source_tree.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  opseal::SourceTree tree({"a/main.cpp", "a/main.h"}, opseal::registration_vocabulary(),
                          [&text](const std::string& path, std::string& bytes) {
                            bytes = path.ends_with("h") ? text : "#include \"main.h\"\n" + text;
                            return true;
                          });
  tree.discover();
  const std::string main_text = "#include \"main.h\"\n" + text;
  opseal::PreprocessorLimits limits;
  limits.expansion_steps = 100'000;
  opseal::SourceUnit unit;
  opseal::Preprocessor(tree, limits).run(0, main_text, unit);
  opseal::Invocations found;
  opseal::find_invocations(unit, tree.vocabulary(), found);
  for (const opseal::Token& token : unit.tokens) {
    require(token.offset + std::size_t{token.length} <= main_text.size());
    require(token.condition < unit.conditions.size());
    require(token.expansion < unit.expansions.size());
  }
  for (const opseal::Invocation& one : found.list) {
    require(one.offset + std::size_t{one.length} <= main_text.size());
    require(one.open < one.close && one.close < unit.tokens.size());
  }
  return 0;
}
