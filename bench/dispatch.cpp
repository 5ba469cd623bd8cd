// Predicates and dispatches of a folder of sources: what is claimed and served, and how many labels
// of each dispatch are missed when they are taken out.
//   bench_dispatch FOLDER

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "analyzers/source/needles.h"
#include "analyzers/source/source_tree.h"
#include "analyzers/sources/load_code.h"

namespace fs = std::filesystem;
using namespace opseal;

namespace {

std::string read(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

bool lists(const DispatchPair& pair, const std::string& kind) {
  return std::any_of(pair.entries.begin(), pair.entries.end(),
                     [&](const DispatchEntry& entry) { return entry.kind.name == kind; });
}

bool claims(const DispatchPair& pair, const std::string& kind) {
  return std::any_of(pair.accepted.begin(), pair.accepted.end(),
                     [&](const KindName& one) { return one.name == kind; });
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: bench_dispatch FOLDER\n");
    return 2;
  }
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(arguments[1])) {
    if (entry.is_regular_file() && is_source_path(entry.path().string())) {
      paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  const Needles needles(predicate_needles({}));
  std::vector<std::size_t> asking;
  for (std::size_t at = 0; at < paths.size(); ++at) {
    if (needles.occur_in(read(paths[at]))) asking.push_back(at);
  }
  const auto load = [&](const std::vector<std::size_t>& files, const PairOptions& options) {
    return load_dispatch_pairs(paths, files, {}, options, 2,
                               SourceTexts([&](std::size_t at, std::string& bytes) {
                                 bytes = read(paths[at]);
                                 return true;
                               }));
  };
  const auto start = std::chrono::steady_clock::now();
  const std::vector<DispatchPair> whole = load(asking, {});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("%zu pairs in %.2f s\n", whole.size(), seconds.count());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    const DispatchPair& pair = whole[at];
    std::size_t missed = 0;
    std::size_t removed = 0;
    for (const DispatchEntry& entry : pair.entries) {
      if (!claims(pair, entry.kind.name)) continue;
      const std::size_t slash = entry.kind.name.find('/');
      PairOptions options;
      options.removed_label = entry.kind.name.substr(slash == std::string::npos ? 0 : slash + 1);
      ++removed;
      for (const DispatchPair& mutant : load({pair.predicate.place.file}, options)) {
        if (mutant.predicate.name != pair.predicate.name) continue;
        if (lists(mutant, entry.kind.name)) {
          std::printf("  not missed: %s\n", entry.kind.name.c_str());
        } else {
          ++missed;
        }
      }
    }
    std::printf(
        "%s on %s: %zu kinds, %zu accepted (%zu always), %zu refused, %zu served, "
        "%zu without work; labels taken out %zu, missed %zu\n",
        pair.enumeration.c_str(), pair.backend.c_str(), pair.kinds.size(), pair.accepted.size(),
        pair.always.size(), pair.refused.size(), pair.entries.size(), pair.exceptions.size(),
        removed, missed);
  }
  return 0;
}
