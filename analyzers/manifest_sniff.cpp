// Tells a registration manifest by its content: an object with the key `opseal_manifest` whose
// value is no object (which it is in the format's own schema), or a list that begins with one.
// Programs that sort keys write
// `operators` in front of it, so the key may stand at the very end of a large file: then the first
// key has to be one of the manifest's, and the whole file is searched.

#include <array>
#include <string>

#include "analyzers/analyzers.h"
#include "opseal/form.h"

namespace opseal {
namespace {

constexpr std::string_view marker = "\"opseal_manifest\"";
constexpr std::string_view spaces = " \t\r\n";

// The position behind white space, or npos at the end.
std::size_t skip_spaces(std::string_view text, std::size_t at) {
  return text.find_first_not_of(spaces, at);
}

// The position behind white space and comments. JSON has none; a manifest that has some is one that
// somebody meant, and the reader says what is wrong with it.
std::size_t skip_blanks(std::string_view text, std::size_t at) {
  for (;;) {
    at = skip_spaces(text, at);
    if (at == text.npos) return at;
    const std::string_view opening = text.substr(at, 2);
    if (opening == "//") {
      at = text.find('\n', at);
    } else if (opening == "/*") {
      at = text.find("*/", at + 2);
      if (at != text.npos) at += 2;
    } else {
      return at;
    }
  }
}

// `whole`: nothing follows the text, so that a value which isn't there was cut off.
bool has_marker(std::string_view text, bool whole) {
  for (std::size_t at = text.find(marker); at != text.npos; at = text.find(marker, at + 1)) {
    const std::size_t colon = skip_spaces(text, at + marker.size());
    if (colon == text.npos || text[colon] != ':') continue;
    const std::size_t value = skip_spaces(text, colon + 1);
    if (value == text.npos ? whole : text[value] != '{') return true;
  }
  return false;
}

bool starts_like_manifest(std::string_view head) {
  const std::size_t quote = skip_blanks(head, skip_blanks(head, 0) + 1);
  if (quote == head.npos || head[quote] != '"') return false;
  const std::size_t end = head.find('"', quote + 1);
  if (end == head.npos) return false;
  const std::string_view key = head.substr(quote + 1, end - quote - 1);
  if (key.starts_with("x-")) return true;
  for (const Field& field : manifest_form.fields) {
    if (to_text(field.key) == key) return true;
  }
  return false;
}

}  // namespace

Accepts accepts_manifest(std::string_view head, bool whole) {
  // More of the head may follow, and what is no answer yet may be one then.
  const bool more_follows = !whole && head.size() < head_size;
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  const std::size_t start = skip_blanks(head, 0);
  if (start == head.npos) return more_follows ? Accepts::look_further : Accepts::no;
  head.remove_prefix(start);
  if (head.front() == '[') {
    // A list of manifests: its first one tells.
    const std::size_t element = skip_blanks(head, 1);
    if (element == head.npos) return more_follows ? Accepts::look_further : Accepts::no;
    head.remove_prefix(element);
  }
  if (head.front() != '{') return Accepts::no;
  if (has_marker(head, whole)) return Accepts::yes;
  if (more_follows) return Accepts::look_further;
  return !whole && starts_like_manifest(head) ? Accepts::look_further : Accepts::no;
}

bool confirms_manifest(ByteSource& source) {
  // Windows overlap by what the marker and its value may need.
  constexpr std::size_t overlap = 256;
  std::string window;
  std::array<char, 65536> buffer;
  for (std::size_t got = 0; (got = source.read(buffer.data(), buffer.size())) > 0;) {
    window.append(buffer.data(), got);
    if (has_marker(window, false)) return true;
    if (window.size() > overlap) window.erase(0, window.size() - overlap);
  }
  return has_marker(window, true);
}

}  // namespace opseal
