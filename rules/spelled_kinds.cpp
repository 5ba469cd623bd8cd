#include "rules/spelled_kinds.h"

#include <algorithm>
#include <array>

#include "opseal/text.h"

namespace opseal {
namespace {

constexpr std::array<std::string_view, 14> type_words{
    "float", "double", "int",     "long",    "short", "char",     "byte",
    "half",  "bool",   "complex", "integer", "uint",  "unsigned", "string"};

// Letters and digits, in lower case.
std::string plain(std::string_view text) {
  std::string out = lower(text);
  std::erase_if(out, [](char byte) {
    return !((byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9'));
  });
  return out;
}

// Of `TYPE_F32` and `TYPE_Q4`: `TYPE_`; of `kHalf` and `kFloat`: `k`.
std::size_t common_start(const Fact& kinds) {
  if (kinds.size() < 2 || !(*kinds.items().begin()).is_text()) return 0;
  std::string_view start = (*kinds.items().begin()).text();
  for (const Fact kind : kinds.items()) {
    const std::string_view text = kind.is_text() ? kind.text() : std::string_view();
    std::size_t same = 0;
    while (same < start.size() && same < text.size() && start[same] == text[same]) ++same;
    start = start.substr(0, same);
  }
  const std::size_t line = start.rfind('_');
  if (line != start.npos) return line + 1;
  return start == "k" ? 1 : 0;
}

}  // namespace

SpelledKinds::SpelledKinds(const Fact& kinds) {
  const std::size_t start = common_start(kinds);
  for (const Fact kind : kinds.items()) {
    if (!kind.is_text() || kind.text().size() <= start) continue;
    const auto [place, fresh] = kinds_.emplace(plain(kind.text().substr(start)), kind.text());
    if (!fresh && place->second != kind.text()) place->second = {};
  }
}

std::string_view SpelledKinds::of(std::string_view text) const {
  const std::string word = plain(text);
  if (word.empty() || std::find(type_words.begin(), type_words.end(), word) != type_words.end()) {
    return {};
  }
  const auto found = kinds_.find(word);
  return found == kinds_.end() ? std::string_view() : found->second;
}

bool SpelledKinds::is_kind_of(std::string_view one, std::string_view other) {
  return one.starts_with(other) || other.starts_with(one);
}

}  // namespace opseal
