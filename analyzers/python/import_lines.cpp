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
    if (text[at] == '#') {
      at = std::min(text.find('\n', at), text.size()) - 1;
      continue;
    }
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
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  std::size_t done = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    if (at < done) continue;
    const std::size_t end = at + word.size();
    const bool is_whole = (at == done || !is_name_byte(text[at - 1])) &&
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
  Statement statement{begin, end, {}, {}, false, false};
  const std::string_view text = text_.substr(begin, end - begin);
  star_ = star_ || text.find('*') != text.npos;
  const std::size_t import = text.find("import");
  bool is_from = false;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_name_byte(text[at])) {
      ++at;
      continue;
    }
    const std::size_t first = at;
    while (at < text.size() && is_name_byte(text[at])) ++at;
    const std::string_view word = text.substr(first, at - first);
    if (word == "from") {
      is_from = true;
      statement.nameless = true;
      continue;
    }
    if (word == "import") continue;
    statement.renames = statement.renames || word == "as";
    if (is_from && first < import) {
      statement.module = word;
      statement.nameless = false;
    }
    statement.words.push_back(word);
    words_.insert(word);
  }
  if (statement.renames) ++renaming_;
  statements_.push_back(std::move(statement));
}

// The last parts of the modules that a word may be of; `any` where one has no name.
std::vector<std::string_view> PythonImportLines::modules_of(std::size_t begin, bool& any) const {
  const auto behind =
      std::upper_bound(statements_.begin(), statements_.end(), begin,
                       [](std::size_t offset, const Statement& one) { return offset < one.begin; });
  if (behind != statements_.begin() && begin < std::prev(behind)->end) {
    const Statement& own = *std::prev(behind);
    any = own.nameless;
    if (!own.module.empty()) return {own.module};
    return own.words;
  }
  // Back from `word` to the beginning of `a.b.word`.
  std::vector<std::string_view> parts;
  std::size_t at = begin;
  const auto skip_blanks = [&] {
    while (at > 0 && (text_[at - 1] == ' ' || text_[at - 1] == '\t' || text_[at - 1] == '\n' ||
                      text_[at - 1] == '\r' || text_[at - 1] == '\\')) {
      --at;
    }
  };
  constexpr std::size_t most_parts = 16;
  constexpr std::size_t longest = 256;
  for (;;) {
    skip_blanks();
    if (at == 0 || text_[at - 1] != '.') break;
    --at;
    skip_blanks();
    const std::size_t end = at;
    while (at > 0 && end - at <= longest && is_name_byte(text_[at - 1])) --at;
    // What a call or an index gives; nobody writes more.
    if (at == end || end - at > longest || parts.size() >= most_parts) return {};
    parts.push_back(text_.substr(at, end - at));
  }
  if (parts.empty() || !has(parts.back())) return {};
  if (parts.size() > 1) return {parts.front()};
  // Nobody imports so much; a file that is made to be slow may mean anything.
  constexpr std::size_t most_renaming = 256;
  constexpr std::size_t most_words = 4096;
  if (renaming_ > most_renaming || words_.size() > most_words) {
    any = true;
    return {};
  }
  std::vector<std::string_view> modules = parts;
  for (const Statement& one : statements_) {
    const bool binds = std::find(one.words.begin(), one.words.end(), parts[0]) != one.words.end();
    if (one.renames && binds) modules.insert(modules.end(), one.words.begin(), one.words.end());
  }
  return modules;
}

}  // namespace opseal
