#include "analyzers/clang/leading_includes.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>

#include "analyzers/words.h"
#include "opseal/ascii.h"

namespace fs = std::filesystem;

namespace opseal {
namespace {

constexpr int most_depth = 16;
constexpr std::size_t most_headers = 200;
// Include lines that are looked for; real sources begin with fifty.
constexpr std::size_t most_lines = 1000;
constexpr std::uintmax_t most_bytes = std::uintmax_t{16} << 20;

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

std::string bytes_of(const std::string& path) {
  std::error_code error;
  if (fs::file_size(path, error) > most_bytes || error) return {};
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

class Reader {
 public:
  Reader(std::string root, const std::vector<std::string>& flags)
      : root_(std::move(root)), folders_(header_folders(flags)) {}

  // Whether the whole file is such directives, so that what follows it comes next.
  bool read(const std::string& path, int depth);
  LeadingIncludes result() &&;

 private:
  // The bytes of one file that are not read yet.
  struct Rest {
    std::string_view bytes;
    // A comment can't be told from code without its end.
    bool skip_blanks();
    std::string_view word();
    std::string_view line();
  };
  bool read_directive(Rest& rest, const std::string& path, int depth, bool is_first);
  bool read_conditional(std::string_view word, Rest& rest, const std::string& path, int nested,
                        std::string& text, bool& has_include);
  bool read_condition(std::string_view condition);
  bool read_define(Rest& rest, std::string& text);
  // With its brackets or quotation marks; empty where it is something else.
  static std::string_view read_operand(Rest& rest);
  // The header of the tree that is meant; empty where it is one from outside. Nothing where the
  // line would mean another one elsewhere.
  std::optional<std::string> own_header(std::string_view written, const std::string& path);
  std::string find(const std::string& name, bool quoted) const;

  std::string root_;
  HeaderFolders folders_;
  std::set<std::string> seen_;
  std::size_t lines_ = 0;
  std::string text_;
  std::set<std::string> asked_;
  std::set<std::string> defined_;
  // Macros behind the last header.
  std::string pending_;
};

bool Reader::Rest::skip_blanks() {
  for (;;) {
    const std::size_t at = bytes.find_first_not_of(" \t\r\n");
    bytes.remove_prefix(at == bytes.npos ? bytes.size() : at);
    if (bytes.starts_with("//")) {
      const std::size_t end = bytes.find('\n');
      // A backslash draws the next line in.
      if (end != bytes.npos && bytes.substr(0, end).find('\\') != bytes.npos) return false;
      bytes.remove_prefix(end == bytes.npos ? bytes.size() : end);
    } else if (bytes.starts_with("/*")) {
      const std::size_t end = bytes.find("*/", 2);
      if (end == bytes.npos) return false;
      bytes.remove_prefix(end + 2);
    } else {
      return true;
    }
  }
}

std::string_view Reader::Rest::word() {
  const std::size_t start = bytes.find_first_not_of(" \t");
  bytes.remove_prefix(start == bytes.npos ? bytes.size() : start);
  std::size_t end = 0;
  while (end < bytes.size() && is_word_byte(bytes[end])) ++end;
  const std::string_view word = bytes.substr(0, end);
  bytes.remove_prefix(end);
  return word;
}

std::string_view Reader::Rest::line() {
  std::size_t end = bytes.find('\n');
  if (end == bytes.npos) end = bytes.size();
  std::string_view line = bytes.substr(0, end);
  bytes.remove_prefix(end);
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) {
    line.remove_suffix(1);
  }
  return line;
}

bool Reader::read(const std::string& path, int depth) {
  if (depth > most_depth || seen_.size() >= most_headers) return false;
  const std::string bytes = bytes_of(path);
  // What has no byte is one that can't be read.
  if (bytes.empty()) return false;
  Rest rest{bytes};
  if (rest.bytes.starts_with("\xEF\xBB\xBF")) rest.bytes.remove_prefix(3);
  std::string guard;
  for (bool is_first = true;; is_first = false) {
    if (!rest.skip_blanks()) return false;
    if (rest.bytes.empty()) return guard.empty();
    if (rest.bytes.front() != '#') return false;
    rest.bytes.remove_prefix(1);
    Rest ahead = rest;
    const std::string_view word = ahead.word();
    // `#ifndef A` and `#define A` at the top of a header, up to the `#endif` that closes it.
    if (depth > 0 && is_first && word == "ifndef") {
      guard = ahead.word();
      if (guard.empty() || !ahead.line().empty() || !ahead.skip_blanks()) return false;
      if (!ahead.bytes.starts_with("#")) return false;
      ahead.bytes.remove_prefix(1);
      if (ahead.word() != "define" || ahead.word() != guard || !ahead.line().empty()) return false;
      rest = ahead;
    } else if (!guard.empty() && word == "endif") {
      ahead.line();
      rest = ahead;
      return rest.skip_blanks() && rest.bytes.empty();
    } else if (!read_directive(rest, path, depth, is_first)) {
      return false;
    }
  }
}

bool Reader::read_directive(Rest& rest, const std::string& path, int depth, bool is_first) {
  const std::string_view word = rest.word();
  if (word == "pragma") return depth > 0 && is_first && rest.line() == " once";
  if (word == "define") return read_define(rest, pending_);
  if (word.starts_with("if")) {
    std::string text;
    bool has_include = false;
    if (!read_conditional(word, rest, path, 0, text, has_include)) return false;
    pending_ += text;
    if (!has_include) return true;
    text_ += pending_;
    pending_.clear();
    return true;
  }
  if (word != "include") return false;
  const std::string_view written = read_operand(rest);
  if (written.empty()) return false;
  const std::optional<std::string> own = own_header(written, path);
  if (!own) return false;
  if (!own->empty()) return seen_.insert(*own).second ? read(*own, depth + 1) : true;
  text_ += pending_ + "#include " + std::string(written) + '\n';
  pending_.clear();
  return true;
}

bool Reader::read_define(Rest& rest, std::string& text) {
  const std::string_view line = rest.line();
  for (const std::string_view other : {"\\", "/*", "//"}) {
    if (line.find(other) != line.npos) return false;
  }
  Rest name{line};
  defined_.emplace(name.word());
  text += "#define" + std::string(line) + '\n';
  return true;
}

// The macros of a condition. Of files that are looked for nothing tells whether they are there the
// next time.
bool Reader::read_condition(std::string_view condition) {
  for (const std::string_view other : {"\\", "/*", "//", "__has_"}) {
    if (condition.find(other) != condition.npos) return false;
  }
  for (std::size_t at = 0; at < condition.size();) {
    std::size_t end = at;
    while (end < condition.size() && is_word_byte(condition[end])) ++end;
    const std::string_view word = condition.substr(at, end - at);
    if (!word.empty() && !is_digit(word.front()) && word != "defined") asked_.emplace(word);
    at = std::max(end, at + 1);
  }
  return true;
}

// Up to its `#endif`, as a whole or not at all.
bool Reader::read_conditional(std::string_view word, Rest& rest, const std::string& path,
                              int nested, std::string& text, bool& has_include) {
  const std::string_view condition = rest.line();
  if (nested > most_depth || !read_condition(condition)) return false;
  text += '#' + std::string(word) + std::string(condition) + '\n';
  for (;;) {
    if (!rest.skip_blanks() || !rest.bytes.starts_with('#')) return false;
    rest.bytes.remove_prefix(1);
    const std::string_view next = rest.word();
    if (next == "include") {
      const std::string_view written = read_operand(rest);
      const auto own = written.empty() ? std::nullopt : own_header(written, path);
      if (!own || !own->empty()) return false;
      text += "#include " + std::string(written) + '\n';
      has_include = true;
    } else if (next == "define") {
      if (!read_define(rest, text)) return false;
    } else if (next.starts_with("if")) {
      if (!read_conditional(next, rest, path, nested + 1, text, has_include)) return false;
    } else if (next == "elif") {
      const std::string_view other = rest.line();
      if (!read_condition(other)) return false;
      text += "#elif" + std::string(other) + '\n';
    } else if (next == "else" || next == "endif") {
      text += '#' + std::string(next) + '\n';
      if (!rest.skip_blanks()) return false;
      if (next == "endif") return true;
    } else {
      return false;
    }
  }
}

std::string_view Reader::read_operand(Rest& rest) {
  const std::size_t start = rest.bytes.find_first_not_of(" \t");
  if (start == rest.bytes.npos) return {};
  rest.bytes.remove_prefix(start);
  const char closing = rest.bytes.front() == '<' ? '>' : '"';
  if (rest.bytes.front() != '<' && rest.bytes.front() != '"') return {};
  const std::size_t end = rest.bytes.find_first_of(std::string{closing, '\n'}, 1);
  if (end == rest.bytes.npos || rest.bytes[end] != closing) return {};
  const std::string_view written = rest.bytes.substr(0, end + 1);
  rest.bytes.remove_prefix(end + 1);
  return written;
}

std::optional<std::string> Reader::own_header(std::string_view written, const std::string& path) {
  if (++lines_ > most_lines) return {};
  const bool quoted = written.front() == '"';
  const std::string name(written.substr(1, written.size() - 2));
  std::string found;
  if (quoted) {
    const fs::path beside = fs::path(path).parent_path() / name;
    if (is_file(beside)) found = beside.lexically_normal().string();
    // Elsewhere the same line means another file.
    if (!found.empty() && !is_below(found, root_)) return {};
  }
  if (found.empty()) found = find(name, quoted);
  return is_below(found, root_) ? found : std::string();
}

// What the lines define and ask too may be answered otherwise the second time.
LeadingIncludes Reader::result() && {
  const auto is_defined = [this](const std::string& name) { return defined_.contains(name); };
  if (std::any_of(asked_.begin(), asked_.end(), is_defined)) return {};
  return {std::move(text_), std::move(asked_)};
}

// Empty where only the compiler itself knows.
std::string Reader::find(const std::string& name, bool quoted) const {
  if (fs::path(name).is_absolute()) return fs::path(name).lexically_normal().string();
  for (const std::vector<std::string>* folders : {&folders_.quoted, &folders_.all}) {
    if (folders == &folders_.quoted && !quoted) continue;
    for (const std::string& folder : *folders) {
      const fs::path path = fs::path(folder) / name;
      if (is_file(path)) return path.lexically_normal().string();
    }
  }
  return {};
}

}  // namespace

std::string working_directory(const std::vector<std::string>& flags) {
  constexpr std::string_view stated = "-working-directory=";
  std::error_code error;
  fs::path folder = fs::current_path(error);
  for (const std::string& flag : flags) {
    if (flag.starts_with(stated)) folder /= flag.substr(stated.size());
  }
  return folder.lexically_normal().string();
}

bool is_below(std::string_view path, std::string_view folder) {
  if (folder.empty() || !path.starts_with(folder)) return false;
  return folder.ends_with('/') || (path.size() > folder.size() && path[folder.size()] == '/');
}

HeaderFolders header_folders(const std::vector<std::string>& flags) {
  const fs::path base = working_directory(flags);
  HeaderFolders folders;
  std::vector<std::string> system;
  for (std::size_t at = 0; at < flags.size(); ++at) {
    for (const std::string_view flag : {"-iquote", "-isystem", "-I"}) {
      if (!flags[at].starts_with(flag)) continue;
      std::string folder = flags[at].substr(flag.size());
      if (folder.empty() && at + 1 < flags.size()) folder = flags[++at];
      folder = (base / folder).lexically_normal().string();
      (flag == "-I" ? folders.all : flag == "-iquote" ? folders.quoted : system).push_back(folder);
      break;
    }
  }
  folders.all.insert(folders.all.end(), system.begin(), system.end());
  return folders;
}

LeadingIncludes leading_includes(const std::string& path, const std::string& root,
                                 const std::vector<std::string>& flags) {
  Reader reader(root, flags);
  reader.read(path, 0);
  return std::move(reader).result();
}

}  // namespace opseal
