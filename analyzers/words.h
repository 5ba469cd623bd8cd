#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opseal/text.h"

namespace opseal {

inline bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}
inline bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Whether one of the parts stands somewhere in a word.
inline bool has_any(std::string_view word, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [word](std::string_view part) { return word.find(part) != word.npos; });
}

// Whether a text has a word that is no part of a longer one.
inline bool has_word(std::string_view text, std::string_view word) {
  if (word.empty()) return false;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word_byte(text[at - 1])) &&
        (end == text.size() || !is_word_byte(text[end]))) {
      return true;
    }
  }
  return false;
}

// `a/b` of `a/b/c`; empty where there is no folder.
inline std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? std::string_view() : path.substr(0, slash);
}

// Folders that two paths share.
inline std::size_t shared_folders(std::string_view a, std::string_view b) {
  std::size_t folders = 0;
  for (std::size_t at = 0; at < a.size() && at < b.size() && a[at] == b[at]; ++at) {
    if (a[at] == '/') ++folders;
  }
  return folders;
}

// `ADD`, `SM_80`: without a small letter.
inline bool is_upper(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char byte) { return byte >= 'a' && byte <= 'z'; });
}

// `device`, `arch` of `deviceArch` and of `device_arch`, in small letters.
inline std::vector<std::string> words_in_name(std::string_view name) {
  std::vector<std::string> words(1);
  bool small = false;
  for (const char byte : name) {
    const bool capital = byte >= 'A' && byte <= 'Z';
    if (byte == '_' || (capital && small)) words.emplace_back();
    small = !capital && byte != '_';
    if (byte != '_') words.back() += capital ? static_cast<char>(byte - 'A' + 'a') : byte;
  }
  return words;
}

// Without blanks and line ends at both ends.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

}  // namespace opseal
