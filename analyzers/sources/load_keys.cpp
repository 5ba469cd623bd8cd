#include "analyzers/sources/load_keys.h"

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "analyzers/source/plain_source.h"
#include "analyzers/source/word_index.h"

namespace opseal {

void find_covered_types(const std::vector<std::size_t>& cpp_files, const SourceTexts& texts,
                        std::vector<FileRecords>& files) {
  std::set<std::string> names;
  for (const FileRecords& file : files) {
    for (const KeyFunction& function : file.keys.functions) {
      if (!function.designated || !function.covered.empty()) continue;
      const std::string& name = function.covers.empty() ? function.type : function.covers;
      if (!name.empty()) names.insert(name);
    }
  }
  for (const FileRecords& file : files) {
    for (const KeyType& type : file.keys.types) names.erase(type.name);
  }
  if (names.empty()) return;
  const WordQuery any_name(names);
  std::string bytes;
  PlainSource plain;
  for (const std::size_t at : cpp_files) {
    if (!texts.read_holding(any_name, at, bytes)) continue;
    read_plain(static_cast<std::uint32_t>(at), bytes, plain);
    for (KeyType& type : read_keys(plain).types) {
      if (names.contains(type.name)) files[at].keys.types.push_back(std::move(type));
    }
  }
}

}  // namespace opseal
