#include "analyzers/package/python_mentions.h"

#include <algorithm>
#include <utility>

#include "analyzers/package/python_tokens.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Longer than any name of a file.
constexpr std::size_t longest_name = 255;

std::string dotted(std::string_view folder) {
  std::string out(folder);
  std::replace(out.begin(), out.end(), '/', '.');
  return out;
}

std::string_view parent(std::string_view path, char separator) {
  const std::size_t at = path.rfind(separator);
  return at == path.npos ? std::string_view() : path.substr(0, at);
}

std::string under(std::string_view package, std::string_view name) {
  if (package.empty() || name.empty()) return std::string(package) + std::string(name);
  return std::string(package) + '.' + std::string(name);
}

bool may_stand_in_name(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || std::string_view("._-+*?").find(byte) != std::string::npos;
}

// `libx.so`, `_x.abi3.so`, `lib*.so.*`; not `.so`, `*.so` of nothing else, `some.sort`.
bool is_library_name(std::string_view name) {
  const std::size_t at = name.find(".so");
  if (at == name.npos || name.size() > longest_name) return false;
  const std::string_view behind = name.substr(at + 3);
  if (!behind.empty() && behind.front() != '.' && behind.front() != '*') return false;
  return at > 0;
}

class Finder {
 public:
  Finder(std::string_view text, std::string_view path)
      : tokens_(text), package_(dotted(parent(path, '/'))) {
    advance();
  }

  PythonMentions run() {
    while (token_.kind != Kind::end) statement();
    return std::move(found_);
  }

 private:
  using Kind = PythonToken::Kind;

  void advance() { token_ = tokens_.next(); }
  bool is_sign(char sign) const { return token_.kind == Kind::sign && token_.text[0] == sign; }
  bool is_word(std::string_view word) const {
    return token_.kind == Kind::word && token_.text == word;
  }
  bool ends_statement() const {
    return token_.kind == Kind::end || token_.kind == Kind::line_end || is_sign(';');
  }

  void statement() {
    if (ends_statement()) {
      advance();
    } else if (is_word("import")) {
      advance();
      plain_import();
    } else if (is_word("from")) {
      advance();
      from_import();
    } else {
      expression();
    }
  }

  // A dotted name, empty where there is none.
  std::string name() {
    std::string out;
    while (token_.kind == Kind::word) {
      out += token_.text;
      advance();
      if (!is_sign('.')) break;
      out += '.';
      advance();
    }
    return out;
  }

  void skip_alias() {
    if (!is_word("as")) return;
    advance();
    advance();
  }

  void plain_import() {
    while (!ends_statement()) {
      const std::uint32_t line = token_.line;
      add_import(name(), line);
      skip_alias();
      if (!is_sign(',')) break;
      advance();
    }
  }

  void from_import() {
    const std::uint32_t line = token_.line;
    std::size_t level = 0;
    for (; is_sign('.'); advance()) ++level;
    std::string module = is_word("import") ? std::string() : name();
    if (!is_word("import")) return;
    advance();
    module = resolve(level, module);
    add_import(module, line);
    if (is_sign('(')) advance();
    while (!ends_statement() && token_.kind == Kind::word) {
      add_import(under(module, token_.text), token_.line);
      advance();
      skip_alias();
      if (!is_sign(',')) break;
      advance();
    }
  }

  std::string resolve(std::size_t level, std::string_view module) const {
    if (level == 0) return std::string(module);
    std::string_view base = package_;
    for (; level > 1; --level) base = parent(base, '.');
    return under(base, module);
  }

  // Everything up to the end of the statement, `:` included, behind which another may begin.
  void expression() {
    // A text that is a whole statement documents something.
    if (token_.kind == Kind::text) {
      const PythonToken text = token_;
      advance();
      if (ends_statement()) return;
      add_text(text);
    }
    std::string before;
    while (!ends_statement()) {
      if (token_.kind == Kind::text) {
        add_text(token_);
        if (before == "import_module(" || before == "__import__(") add_by_name(token_);
        if (before == "find_library(") add_library("lib" + token_.text + ".so*", token_.line);
      }
      const bool colon = is_sign(':');
      if (token_.kind == Kind::word) {
        before = token_.text;
      } else {
        before = is_sign('(') && !before.ends_with('(') ? before + '(' : std::string();
      }
      advance();
      if (colon && (is_word("import") || is_word("from"))) return;
    }
  }

  void add_by_name(const PythonToken& text) {
    std::string_view name = text.text;
    std::size_t level = 0;
    for (; name.starts_with('.'); name.remove_prefix(1)) ++level;
    if (name.find('*') == name.npos) add_import(resolve(level, name), text.line);
  }

  void add_import(std::string module, std::uint32_t line) {
    if (!module.empty()) found_.imports.push_back({std::move(module), line});
  }

  void add_text(const PythonToken& text) {
    const std::string_view all = text.text;
    for (std::size_t at = all.find(".so"); at != all.npos; at = all.find(".so", at)) {
      std::size_t first = at;
      while (first > 0 && may_stand_in_name(all[first - 1])) --first;
      std::size_t end = at;
      while (end < all.size() && may_stand_in_name(all[end])) ++end;
      std::string_view name = all.substr(first, end - first);
      // The full stop of a sentence.
      while (name.ends_with('.')) name.remove_suffix(1);
      add_library(std::string(name), text.line);
      at = end;
    }
  }

  void add_library(std::string name, std::uint32_t line) {
    if (is_library_name(name)) found_.libraries.push_back({std::move(name), line});
  }

  PythonTokens tokens_;
  // Dotted, of the file.
  std::string package_;
  PythonToken token_;
  PythonMentions found_;
};

}  // namespace

PythonMentions find_python_mentions(std::string_view text, std::string_view path) {
  return Finder(text, path).run();
}

std::string module_of_extension(std::string_view path) {
  const std::string_view folder = parent(path, '/');
  std::string_view name = path.substr(folder.empty() ? 0 : folder.size() + 1);
  name = name.substr(0, name.find('.'));
  return under(dotted(folder), name);
}

bool mention_fits(std::string_view mention, std::string_view file_name) {
  if (mention == file_name) return true;
  if (mention.find_first_of("*?") == mention.npos) {
    return file_name.starts_with(mention) && file_name.substr(mention.size()).starts_with('.');
  }
  return glob_match(mention, file_name);
}

}  // namespace opseal
