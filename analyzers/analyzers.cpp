#include "analyzers/analyzers.h"

#include <algorithm>
#include <utility>

#include "analyzers/input_error.h"
#include "analyzers/mapped_file.h"
#include "analyzers/native/library.h"
#include "analyzers/package/package.h"

namespace opseal {
namespace {

constexpr Analyzer analyzers[] = {
    {"manifest", "registration manifest (a JSON object with the key `opseal_manifest`)",
     accepts_manifest, confirms_manifest, load_manifest, nullptr, nullptr, nullptr},
    {"library", "built library (ELF, `ar` archive, CUDA image)", accepts_library, nullptr, nullptr,
     load_library, nullptr, tells_foreign},
    {"package", "package (a wheel, conda or Debian package, zip or tar archive with libraries)",
     accepts_package, confirms_package, nullptr, nullptr, load_package, nullptr},
    {"kernel list", "list of operators and kernels of ExecuTorch (YAML)", accepts_kernel_list,
     confirms_kernel_list, load_kernel_list, nullptr, nullptr, nullptr},
    {"generator list", "list of operators of a code generator for torch (YAML)",
     accepts_generator_list, confirms_generator_list, load_generator_list, nullptr, nullptr,
     nullptr},
};

ByteSource open_input(const InputFile& input) {
  return input.open_path.empty() ? ByteSource::memory(input.bytes)
                                 : ByteSource::file(input.open_path);
}

void read_up_to(ByteSource& source, std::size_t size, std::string& bytes) {
  std::size_t filled = bytes.size();
  bytes.resize(size);
  for (std::size_t got = 1; got > 0 && filled < size; filled += got) {
    got = source.read(bytes.data() + filled, size - filled);
  }
  bytes.resize(filled);
}

}  // namespace

std::span<const Analyzer> all_analyzers() { return analyzers; }

const Analyzer* find_analyzer(const InputFile& input, std::string& error) {
  ByteSource source = open_input(input);
  std::string head;
  // Most files show in their first bytes that they are of no kind.
  for (const std::size_t size : {std::size_t{4096}, head_size}) {
    read_up_to(source, size, head);
    error = source.error();
    if (!error.empty()) return nullptr;
    const bool whole = head.size() < size;
    bool undecided = false;
    for (const Analyzer& analyzer : analyzers) {
      const Accepts answer = analyzer.accepts(head, whole);
      if (answer == Accepts::yes) return &analyzer;
      undecided = undecided || answer == Accepts::look_further;
    }
    if (!undecided) return nullptr;
  }
  for (const Analyzer& analyzer : analyzers) {
    if (analyzer.accepts(head, false) != Accepts::look_further) continue;
    ByteSource again = open_input(input);
    if (analyzer.confirms(again)) return &analyzer;
  }
  return nullptr;
}

bool is_foreign_input(const Analyzer& analyzer, const InputFile& input) {
  if (analyzer.foreign == nullptr) return false;
  ByteSource source = open_input(input);
  std::string head;
  // The index of a large archive stands before the first of its members.
  for (const std::size_t size : {std::size_t{4096}, head_size, 64 * head_size}) {
    read_up_to(source, size, head);
    const Accepts answer = analyzer.foreign(head);
    if (answer != Accepts::look_further || head.size() < size) return answer == Accepts::yes;
  }
  return false;
}

namespace {

void load(const Analyzer& analyzer, unsigned threads, Facts& facts) {
  const InputFile& input = facts.files.front();
  if (analyzer.load_package != nullptr) {
    // A copy, since members become files too.
    analyzer.load_package(InputFile(input), threads, facts);
  } else if (analyzer.load_bytes == nullptr) {
    ByteSource source = open_input(input);
    analyzer.load(source, 0, facts);
  } else if (input.open_path.empty()) {
    const std::string bytes = input.bytes;
    analyzer.load_bytes(bytes, 0, threads, facts);
  } else {
    const MappedFile mapped(input.open_path);
    analyzer.load_bytes(mapped.bytes(), 0, threads, facts);
    if (mapped.changed()) throw InputError(0, 0, "was changed while it was read");
  }
}

}  // namespace

Facts load_file(const Analyzer& analyzer, InputFile input, unsigned threads) {
  Facts facts;
  facts.files.push_back(std::move(input));
  try {
    load(analyzer, threads, facts);
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
