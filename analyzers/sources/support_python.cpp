#include "analyzers/sources/support_python.h"

#include <set>
#include <utility>

namespace opseal {
namespace {

constexpr std::string_view named_reason = "the function names it besides the table";

SourcePlace place_in(std::uint32_t file, const PythonPlace& place) {
  return {file, place.offset, place.length};
}

std::string_view stem_of(std::string_view path) {
  path.remove_prefix(path.rfind('/') == path.npos ? 0 : path.rfind('/') + 1);
  return path.substr(0, path.find('.'));
}

}  // namespace

void read_support_python(const std::vector<PythonSupport>& found, std::string_view path,
                         std::uint32_t file, std::vector<DispatchPair>& pairs) {
  for (const PythonSupport& one : found) {
    DispatchPair pair;
    pair.python = true;
    pair.enumeration = one.function;
    pair.backend = stem_of(path);
    pair.predicate = {one.predicate, place_in(file, one.predicate_place)};
    pair.table = {one.table, place_in(file, one.table_place)};
    for (const PythonKey& key : one.accepted) {
      pair.accepted.push_back({key.text, place_in(file, key.place)});
    }
    pair.kinds = pair.accepted;
    std::set<std::string_view> kinds;
    for (const PythonKey& key : one.accepted) kinds.insert(key.text);
    for (const PythonKey& key : one.entries) {
      const KindName kind{key.text, place_in(file, key.place)};
      pair.entries.push_back({kind, key.value.empty() ? one.table : key.value, {}});
      if (kinds.insert(key.text).second) pair.kinds.push_back(kind);
    }
    for (const PythonKey& key : one.named) {
      pair.exceptions.emplace_back(KindName{key.text, place_in(file, key.place)}, named_reason);
    }
    pairs.push_back(std::move(pair));
  }
}

}  // namespace opseal
