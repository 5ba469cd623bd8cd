#include "analyzers/python/cache_comment.h"

#include <algorithm>
#include <utility>

#include "analyzers/python/key_words.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

std::vector<std::string> comma_list(std::string_view text) {
  std::vector<std::string> list;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view one = trimmed(text.substr(0, end));
    if (!one.empty()) list.emplace_back(one);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return list;
}

// What stands between the brackets of the comment, or nothing.
std::string_view words_above(std::string_view text, std::size_t definition) {
  if (definition == 0) return {};
  const std::size_t line = text.rfind('\n', definition - 1);
  if (line == text.npos || line == 0) return {};
  const std::size_t before = text.rfind('\n', line - 1);
  const std::size_t begin = before == text.npos ? 0 : before + 1;
  std::string_view comment = trimmed(text.substr(begin, line - begin));
  if (!comment.starts_with('#')) return {};
  comment = trimmed(comment.substr(1));
  if (!comment.starts_with(cache_key_mark)) return {};
  comment.remove_prefix(cache_key_mark.size());
  const std::size_t close = comment.rfind(')');
  return close == comment.npos ? std::string_view() : comment.substr(0, close);
}

}  // namespace

CacheComment read_cache_comment(std::string_view said) {
  CacheComment comment;
  bool first = true;
  while (!said.empty()) {
    const std::size_t end = std::min(said.find(';'), said.size());
    const std::string_view word = trimmed(said.substr(0, end));
    said.remove_prefix(std::min(end + 1, said.size()));
    const std::size_t equals = word.find('=');
    const std::string_view key = trimmed(word.substr(0, equals));
    const std::string_view value =
        equals == word.npos ? std::string_view() : trimmed(word.substr(equals + 1));
    if (first && equals == word.npos) comment.name = word;
    first = false;
    if (key == "backs") comment.backs = value;
    if (key == "covers") comment.covers = value;
    if (key == "kind" && (value == "disk" || value == "memory")) comment.kind = value;
    if (key == "except") comment.except = comma_list(value.substr(0, value.find(':')));
    if (key != "required") continue;
    for (std::string& input : comma_list(value)) {
      (is_input_word(input) ? comment.required : comment.unknown_words).push_back(std::move(input));
    }
  }
  return comment;
}

std::optional<CacheComment> cache_comment_above(std::string_view text, std::size_t definition) {
  const std::string_view said = words_above(text, definition);
  if (said.empty()) return {};
  return read_cache_comment(said);
}

}  // namespace opseal
