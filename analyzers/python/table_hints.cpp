#include <algorithm>
#include <array>

#include "analyzers/python/tables.h"
#include "analyzers/words.h"

namespace opseal {

namespace {

// Lines of a text, read from its start, and looked back at for what a line stands in.
class Hints {
 public:
  explicit Hints(std::string_view text) : text_(text) {}

  bool hold_table() {
    for (std::size_t sign = text_.find('='); sign != text_.npos; sign = text_.find('=', sign + 1)) {
      const std::size_t value = first_of_value(sign);
      if (!begins_table(value)) continue;
      const std::string_view name = assigned_name(sign);
      if (name.empty()) continue;
      if (begins_functions(value) || is_filled(name)) return true;
      if (steps_ > most_steps) return true;
    }
    return false;
  }

 private:
  // Bytes looked at again: above it any text may hold one.
  static constexpr std::size_t most_steps = std::size_t{1} << 24;

  static bool is_blank(char byte) { return byte == ' ' || byte == '\t'; }

  std::size_t first_of_value(std::size_t sign) const {
    std::size_t at = sign + 1;
    while (at < text_.size() && (is_blank(text_[at]) || text_[at] == '(' || text_[at] == '\\' ||
                                 text_[at] == '\n' || text_[at] == '\r')) {
      ++at;
    }
    return at;
  }

  // `{`, `dict(`, `collections.OrderedDict(`, `defaultdict(`
  bool begins_table(std::size_t at) const {
    if (at >= text_.size()) return false;
    if (text_[at] == '{') return true;
    const std::size_t begin = at;
    while (at < text_.size() && (is_word_byte(text_[at]) || text_[at] == '.')) ++at;
    const std::string_view made = text_.substr(begin, at - begin);
    return made.ends_with("dict") || made.ends_with("OrderedDict");
  }

  // What stands left of the sign, where that can be a table of a module, a class or an object.
  std::string_view assigned_name(std::size_t sign) {
    const std::size_t line =
        text_.rfind('\n', sign) == text_.npos ? 0 : text_.rfind('\n', sign) + 1;
    steps_ += sign - line;
    std::string_view left = trimmed(text_.substr(line, sign - line));
    // Its type may be written over several lines.
    const bool closes =
        std::count(left.begin(), left.end(), ']') > std::count(left.begin(), left.end(), '[');
    if (closes) return "]";
    left = trimmed(left.substr(0, left.find(':')));
    constexpr std::string_view self = "self.";
    const bool of_object = left.starts_with(self);
    if (of_object) left.remove_prefix(self.size());
    const bool is_name = !left.empty() && std::all_of(left.begin(), left.end(), [](char byte) {
      return is_word_byte(byte) || static_cast<unsigned char>(byte) >= 0x80;
    });
    if (!is_name) return {};
    if (!of_object && is_local(line)) return {};
    return left;
  }

  std::size_t indent_of(std::size_t line) const {
    std::size_t at = line;
    while (at < text_.size() && is_blank(text_[at])) ++at;
    return at - line;
  }

  // It surely stands within a function.
  bool is_local(std::size_t line) {
    std::size_t indent = indent_of(line);
    while (indent > 0 && line > 0) {
      const std::size_t end = line - 1;
      const std::size_t before = end == 0 ? text_.npos : text_.rfind('\n', end - 1);
      line = before == text_.npos ? 0 : before + 1;
      steps_ += end - line;
      if (steps_ > most_steps) return false;
      const std::size_t own = indent_of(line);
      const std::string_view rest = text_.substr(line + own, end - line - own);
      if (rest.empty() || rest[0] == '\r' || rest[0] == '#' || own >= indent) continue;
      if (rest.starts_with("def ") || rest.starts_with("async ")) return true;
      if (rest.starts_with("class ")) return false;
      constexpr std::array<std::string_view, 8> clauses{"if ",    "else",  "elif ", "try",
                                                        "except", "with ", "for ",  "finally"};
      const bool goes_on = std::any_of(clauses.begin(), clauses.end(),
                                       [rest](auto word) { return rest.starts_with(word); });
      if (!goes_on) return false;
      indent = own;
    }
    return false;
  }

  // `{"add": add_cpu`, `{"add": lambda`: some value that is a name.
  bool begins_functions(std::size_t at) {
    constexpr std::size_t most_looked_at = 4096;
    if (text_[at] != '{') return false;
    const std::string_view literal = text_.substr(at, most_looked_at);
    for (std::size_t colon = literal.find(':'); colon != literal.npos;
         colon = literal.find(':', colon + 1)) {
      ++steps_;
      std::size_t begin = colon + 1;
      while (begin < literal.size() && (is_blank(literal[begin]) || literal[begin] == '\n'))
        ++begin;
      std::size_t end = begin;
      while (end < literal.size() && (is_word_byte(literal[end]) || literal[end] == '.')) ++end;
      const std::string_view value = literal.substr(begin, end - begin);
      if (value.empty() || (value[0] >= '0' && value[0] <= '9') || value == "True" ||
          value == "False" || value == "None") {
        continue;
      }
      if (value == "lambda" || end == literal.size()) return true;
      while (end < literal.size() && is_blank(literal[end])) ++end;
      constexpr std::string_view ends = ",}\n\r#";
      if (end == literal.size() || ends.find(literal[end]) != ends.npos) return true;
    }
    steps_ += literal.size();
    // A long one may go on otherwise.
    return literal.size() == most_looked_at && literal.find('}') == literal.npos;
  }

  // `T[key] = `, `T[key].append(`, `T.setdefault(`, `T.update(`
  bool is_filled(std::string_view name) {
    if (name == "]") return true;
    for (std::size_t at = text_.find(name); at != text_.npos; at = text_.find(name, at + 1)) {
      std::size_t end = at + name.size();
      if ((at > 0 && is_word_byte(text_[at - 1])) ||
          (end < text_.size() && is_word_byte(text_[end]))) {
        continue;
      }
      const bool has_key = end < text_.size() && text_[end] == '[';
      while (end < text_.size() && text_[end] == '[') {
        end = behind_bracket(end);
        if (end == text_.npos) return true;
      }
      std::string_view rest = text_.substr(end, 64);
      constexpr std::array<std::string_view, 6> fillers{".setdefault", ".update", ".append",
                                                        ".extend",     ".insert", ".add"};
      if (std::any_of(fillers.begin(), fillers.end(),
                      [rest](auto word) { return rest.starts_with(word); })) {
        return true;
      }
      if (!has_key) continue;
      rest = trimmed(rest);
      if (rest.starts_with("=") && !rest.starts_with("==")) return true;
    }
    steps_ += text_.size();
    return false;
  }

  // npos where it is far.
  std::size_t behind_bracket(std::size_t at) {
    constexpr std::size_t most_looked_at = 1024;
    std::size_t depth = 0;
    const std::size_t end = std::min(text_.size(), at + most_looked_at);
    steps_ += 64;
    for (; at < end; ++at) {
      if (text_[at] == '[') ++depth;
      if (text_[at] == ']' && --depth == 0) return at + 1;
    }
    return text_.npos;
  }

  std::string_view text_;
  std::size_t steps_ = 0;
};

}  // namespace

bool may_hold_tables(std::string_view text) { return Hints(text).hold_table(); }

}  // namespace opseal
