#include "analyzers/sources/ignores.h"

#include <algorithm>

#include "analyzers/source/tokens.h"

namespace opseal {
namespace {

constexpr std::string_view mark = "opseal:";
// Of one file; nobody reads through more.
constexpr std::size_t most_ignores = 1000;

std::string_view trim(std::string_view text) {
  const auto is_space = [](char byte) { return byte == ' ' || byte == '\t' || byte == '\r'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// `text` is what stands in the comment, from the mark on.
void add_ignores(std::string_view text, const SourcePlace& place,
                 std::vector<IgnoreComment>& list) {
  text = trim(text.substr(mark.size()));
  constexpr std::string_view word = "ignore";
  if (!text.starts_with(word)) return;
  text.remove_prefix(word.size());
  // `ignored_by(…)` is none of ours.
  if (!text.empty() && text.front() != '(' && text.front() != ' ' && text.front() != ':') return;
  text = trim(text);
  std::string_view rules;
  if (text.starts_with('(')) {
    const std::size_t close = std::min(text.find(')'), text.size());
    rules = text.substr(1, close - 1);
    text.remove_prefix(std::min(close + 1, text.size()));
  }
  text = trim(text);
  std::string_view reason;
  if (text.starts_with(':')) reason = trim(text.substr(1));
  std::size_t begin = 0;
  do {
    const std::size_t end = std::min(rules.find(',', begin), rules.size());
    const std::string_view rule = trim(rules.substr(begin, end - begin));
    list.push_back({std::string(rule), std::string(reason), place});
    begin = end + 1;
  } while (begin < rules.size() && list.size() < most_ignores);
}

// The place behind the text that begins at `at`, whose quotation mark it is: a single one also ends
// with its line.
std::size_t behind_text(std::string_view bytes, std::size_t at) {
  const char quote = bytes[at];
  const std::string_view three = bytes.substr(at, 3);
  const bool is_long = three.size() == 3 && three[1] == quote && three[2] == quote;
  for (at += is_long ? 3 : 1; at < bytes.size(); ++at) {
    if (bytes[at] == '\\') {
      ++at;
    } else if (is_long ? bytes.substr(at, 3) == three : bytes[at] == quote) {
      return at + (is_long ? 3 : 1);
    } else if (!is_long && bytes[at] == '\n') {
      return at;
    }
  }
  return bytes.size();
}

void read_python(std::string_view bytes, std::uint32_t file, std::vector<IgnoreComment>& list) {
  for (std::size_t at = 0; at < bytes.size() && list.size() < most_ignores;) {
    if (bytes[at] == '"' || bytes[at] == '\'') {
      at = behind_text(bytes, at);
    } else if (bytes[at] == '#') {
      const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
      const std::string_view text = trim(bytes.substr(at + 1, end - at - 1));
      const SourcePlace place{file, static_cast<std::uint32_t>(at),
                              static_cast<std::uint32_t>(end - at)};
      if (text.starts_with(mark)) add_ignores(text, place, list);
      at = end;
    } else {
      ++at;
    }
  }
}

}  // namespace

std::vector<IgnoreComment> read_ignores(std::string_view bytes, std::uint32_t file, bool python) {
  std::vector<IgnoreComment> list;
  if (bytes.find(mark) == bytes.npos) return list;
  if (python) {
    read_python(bytes, file, list);
    return list;
  }
  constexpr std::string_view marks[] = {mark};
  std::vector<SourceComment> comments;
  TextArena arena;
  Lexer lexer(bytes, arena);
  lexer.keep_comments(marks, comments);
  for (Token token; lexer.next(token);) {
  }
  for (const SourceComment& comment : comments) {
    if (list.size() >= most_ignores) break;
    add_ignores(comment.text, {file, comment.offset, comment.length}, list);
  }
  return list;
}

std::vector<TextRange> accepted_lines(std::string_view bytes,
                                      const std::vector<IgnoreComment>& comments,
                                      std::string_view rule) {
  const auto end_of_line = [bytes](std::size_t at) {
    return std::min(bytes.find('\n', at), bytes.size());
  };
  std::vector<TextRange> ranges;
  for (const IgnoreComment& comment : comments) {
    if (comment.rule != rule || comment.reason.empty()) continue;
    const std::size_t line = bytes.rfind('\n', comment.place.offset);
    const std::size_t begin = line == bytes.npos ? 0 : line + 1;
    std::size_t end = end_of_line(comment.place.offset + comment.place.length);
    if (trim(bytes.substr(begin, comment.place.offset - begin)).empty()) {
      // Several such comments may stand one above the other.
      while (end < bytes.size()) {
        const std::size_t next = end_of_line(end + 1);
        const bool further = trim(bytes.substr(end + 1, next - end - 1)).starts_with("// opseal:");
        end = next;
        if (!further) break;
      }
    }
    ranges.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
  }
  return ranges;
}

}  // namespace opseal
