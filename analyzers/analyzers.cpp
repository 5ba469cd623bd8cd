#include "analyzers/analyzers.h"

#include <algorithm>
#include <utility>

#include "analyzers/input_error.h"

namespace opseal {
namespace {

constexpr Analyzer analyzers[] = {
    {"manifest", "registration manifest (a JSON object with the key `opseal_manifest`)",
     accepts_manifest, confirms_manifest, load_manifest},
};

ByteSource open_input(const InputFile& input) {
  return input.open_path.empty() ? ByteSource::memory(input.bytes)
                                 : ByteSource::file(input.open_path);
}

}  // namespace

std::span<const Analyzer> all_analyzers() { return analyzers; }

const Analyzer* find_analyzer(const InputFile& input, std::string& error) {
  ByteSource source = open_input(input);
  std::string head(head_size, '\0');
  std::size_t filled = 0;
  for (std::size_t got = 1; got > 0 && filled < head.size(); filled += got) {
    got = source.read(head.data() + filled, head.size() - filled);
  }
  head.resize(filled);
  error = source.error();
  if (!error.empty()) return nullptr;
  for (const Analyzer& analyzer : analyzers) {
    const Accepts answer = analyzer.accepts(head);
    if (answer == Accepts::yes) return &analyzer;
    if (answer == Accepts::no || filled < head_size) continue;
    ByteSource again = open_input(input);
    if (analyzer.confirms(again)) return &analyzer;
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
        static_cast<std::uint32_t>(std::min<std::uint64_t>(error.length, Location::max_length));
    damaged.problems.push_back(
        {Location{0, length, error.offset}, error.what(), {}, Severity::error});
    return damaged;
  }
  return facts;
}

}  // namespace opseal
