#include "analyzers/analyzers.h"

#include <algorithm>
#include <utility>

#include "analyzers/input_error.h"

namespace opseal {
namespace {

constexpr Analyzer analyzers[] = {
    {"manifest", "registration manifest", accepts_manifest, load_manifest},
};

ByteSource open_input(const InputFile& input) {
  return input.open_path.empty() ? ByteSource::memory(input.bytes)
                                 : ByteSource::file(input.open_path);
}

}  // namespace

std::span<const Analyzer> all_analyzers() { return analyzers; }

const Analyzer* find_analyzer(std::string_view head) {
  for (const Analyzer& analyzer : analyzers) {
    if (analyzer.accepts(head)) return &analyzer;
  }
  return nullptr;
}

Facts load_file(const Analyzer& analyzer, InputFile input) {
  Facts facts;
  facts.files.push_back(std::move(input));
  ByteSource source = open_input(facts.files.front());
  try {
    analyzer.load(source, 0, facts);
  } catch (const InputError& error) {
    // Half a file would make rules count too few: keep nothing of it but what was wrong.
    Facts damaged;
    damaged.files = std::move(facts.files);
    damaged.problems = std::move(facts.problems);
    const auto length =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(error.length, Node::max_length));
    damaged.problems.push_back(
        {Location{0, length, error.offset}, error.what(), {}, Severity::error});
    return damaged;
  }
  return facts;
}

}  // namespace opseal
