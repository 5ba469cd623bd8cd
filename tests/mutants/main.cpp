// `./dev mutants [REGISTRY.json...]`: makes each rule's mistake in recorded registries and counts
// how many are found.

#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "opseal/rule.h"
#include "rules/rules.h"
#include "tests/mutants/experiment.h"
#include "tests/mutants/families.h"

namespace opseal::test {
namespace {

constexpr std::size_t most_places = 10;

struct Row {
  std::size_t made = 0;
  std::size_t found = 0;
  std::size_t registries = 0;
};

void print_misses(const Tally& tally) {
  if (!tally.missed.empty()) {
    std::cout << "missed: " << tally.rule << " in " << tally.registry << ", " << tally.what << ":";
    for (const std::string& item : tally.missed) std::cout << ' ' << item;
    std::cout << '\n';
  }
  for (const auto& [rule, copies] : tally.disturbed) {
    std::cout << "disturbs: " << tally.rule << " in " << tally.registry << ", " << tally.what
              << ": sets off " << rule << " in " << copies << " of " << tally.made << '\n';
  }
}

int run(const std::vector<std::string>& paths) {
  const std::vector<Mistake> mistakes = all_mistakes();
  std::map<std::string, Row> rows;
  for (const Mistake& mistake : mistakes) rows[mistake.rule];
  for (const std::string& path : paths) {
    for (const Tally& tally : make_mistakes(Registry(path), mistakes, "", most_places)) {
      Row& row = rows[tally.rule];
      row.made += tally.made;
      row.found += tally.found;
      row.registries += tally.made > 0 ? 1 : 0;
      print_misses(tally);
    }
  }
  std::size_t made = 0;
  std::size_t found = 0;
  std::cout << std::left << std::setw(34) << "rule"
            << "made  found\n";
  for (const Rule* rule : all_rules()) {
    const Row& row = rows[std::string(rule->id)];
    std::cout << std::setw(34) << rule->id << std::setw(6) << row.made << row.found
              << (row.made == 0 ? "  (no place)" : "") << '\n';
    made += row.made;
    found += row.found;
  }
  std::cout << found << " of " << made << " mistakes found in " << paths.size() << " registries\n";
  return made > 0 && found * 100 >= made * 99 ? 0 : 1;
}

}  // namespace
}  // namespace opseal::test

int main(int count, char** words) {
  const std::vector<std::string> paths(words + 1, words + count);
  if (paths.empty()) {
    std::cerr << "usage: opseal_mutants REGISTRY.json...\n";
    return 2;
  }
  return opseal::test::run(paths);
}
