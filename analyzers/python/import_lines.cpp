#include "analyzers/python/import_lines.h"

#include <algorithm>

#include "opseal/text.h"

namespace opseal {
namespace {

bool is_name_byte(char byte) {
  return is_word_byte(byte) || static_cast<unsigned char>(byte) >= 0x80;
}

// A colon, a semicolon, or a line end without `\` before it.
bool ends_statement(std::string_view text, std::size_t at) {
  if (text[at] == ';' || text[at] == ':') return true;
  if (text[at] != '\n') return false;
  if (at > 0 && text[at - 1] == '\r') --at;
  return at == 0 || text[at - 1] != '\\';
}

// Behind the statement that begins at `begin`: brackets and `\` carry it over lines.
std::size_t end_of_statement(std::string_view text, std::size_t begin) {
  std::size_t depth = 0;
  for (std::size_t at = begin; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && depth > 0) --depth;
    if (text[at] == '\\') {
      ++at;
      if (at + 1 < text.size() && text[at] == '\r' && text[at + 1] == '\n') ++at;
      continue;
    }
    if (text[at] == '\n' && depth == 0) return at;
  }
  return text.size();
}

}  // namespace

PythonImportLines::PythonImportLines(std::string_view text) : text_(text) {
  constexpr std::string_view word = "import";
  std::size_t done = 0;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    if (at < done) continue;
    const std::size_t end = at + word.size();
    const bool is_whole = (at == 0 || !is_name_byte(text[at - 1])) &&
                          (end == text.size() || !is_name_byte(text[end]));
    if (!is_whole) continue;
    // `from m import x` may stand behind `if c:` or `;`.
    std::size_t begin = at;
    while (begin > done && !ends_statement(text, begin - 1)) --begin;
    done = end_of_statement(text, begin);
    read_statement(begin, done);
  }
}

void PythonImportLines::read_statement(std::size_t begin, std::size_t end) {
  statements_.push_back({begin, end});
  const std::string_view statement = text_.substr(begin, end - begin);
  star_ = star_ || statement.find('*') != statement.npos;
  const std::size_t import = statement.find("import");
  const std::string_view module = statement.substr(0, import);
  const std::size_t dot = module.rfind('.');
  nameless_ = nameless_ ||
              (dot != module.npos && std::none_of(module.begin() + static_cast<std::ptrdiff_t>(dot),
                                                  module.end(), is_name_byte));
  for (std::size_t at = 0; at < statement.size();) {
    if (!is_name_byte(statement[at])) {
      ++at;
      continue;
    }
    const std::size_t first = at;
    while (at < statement.size() && is_name_byte(statement[at])) ++at;
    words_.insert(statement.substr(first, at - first));
  }
}

bool PythonImportLines::may_mean_import(std::size_t begin) const {
  const auto behind =
      std::upper_bound(statements_.begin(), statements_.end(), begin,
                       [](std::size_t offset, const Range& range) { return offset < range.begin; });
  if (behind != statements_.begin() && begin < std::prev(behind)->end) return true;
  std::size_t at = begin;
  std::size_t first = begin;
  const auto skip_blanks = [&] {
    while (at > 0 && (text_[at - 1] == ' ' || text_[at - 1] == '\t' || text_[at - 1] == '\n' ||
                      text_[at - 1] == '\r' || text_[at - 1] == '\\')) {
      --at;
    }
  };
  for (;;) {
    skip_blanks();
    if (at == 0 || text_[at - 1] != '.') break;
    --at;
    skip_blanks();
    const std::size_t end = at;
    while (at > 0 && is_name_byte(text_[at - 1])) --at;
    // What a call or an index gives.
    if (at == end) return false;
    first = at;
    if (end - at > 256 || begin - at > 1024) return true;
  }
  std::size_t end = first;
  while (end < text_.size() && is_name_byte(text_[end])) ++end;
  return has(text_.substr(first, end - first));
}

}  // namespace opseal
