#include "opseal/text.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace opseal::test {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view keys[] = {"inputs", "outputs", "name", "jvp", "Kernels"};

// By the definition, which is slow.
bool plain_glob(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') {
    return plain_glob(pattern.substr(1), text) ||
           (!text.empty() && plain_glob(pattern, text.substr(1)));
  }
  return !text.empty() && (pattern[0] == '?' || pattern[0] == text[0]) &&
         plain_glob(pattern.substr(1), text.substr(1));
}

std::string word(std::mt19937& random, std::string_view letters, std::size_t most) {
  std::string out;
  for (std::size_t left = random() % (most + 1); left > 0; --left)
    out += letters[random() % letters.size()];
  return out;
}

}  // namespace

TEST_CASE("parts are joined with a separator between them") {
  CHECK(join({}, ", ") == "");
  CHECK(join(std::vector<std::string>{"a"}, ", ") == "a");
  CHECK(join(std::vector<std::string>{"a", "", "c"}, ", ") == "a, , c");
}

TEST_CASE("a quoted text shows bytes that a terminal would obey or could not show") {
  CHECK(quote("mv") == "`mv`");
  CHECK(quote("") == "``");
  CHECK(quote("\u00e9\u20ac\U0001f600") == "`\u00e9\u20ac\U0001f600`");
  CHECK(quote("a\x1b[31m\n\t\0\x7f"sv) == "`a\\x1b[31m\\x0a\\x09\\x00\\x7f`");
  CHECK(quote("\xff\xc3(") == "`\\xff\\xc3(`");
  CHECK(quote("a\u009b31m") == "`a\\xc2\\x9b31m`");
  CHECK(quote("a\u202eb") == "`a\\xe2\\x80\\xaeb`");
  CHECK(quote("a\ufeffb") == "`a\\xef\\xbb\\xbfb`");
}

TEST_CASE("a quoted text is cut between code points") {
  CHECK(quote(std::string(120, 'x')) == "`" + std::string(120, 'x') + "`");
  CHECK(quote(std::string(121, 'x')) == "`" + std::string(120, 'x') + "\u2026`");
  CHECK(quote(std::string(119, 'x') + "\u20acy") == "`" + std::string(119, 'x') + "\u20ac\u2026`");
  CHECK(quote(std::string(1'000'000, '\x01')).size() < 600);
}

TEST_CASE("a list in a message tells how many it leaves out") {
  CHECK(quote_list(std::vector<std::string>{}) == "");
  CHECK(quote_list(std::vector<std::string>{"a"}) == "`a`");
  CHECK(quote_list(std::vector<std::string>{"a", "b"}) == "`a` and `b`");
  CHECK(quote_list(std::vector<std::string>{"a", "b", "c"}) == "`a`, `b` and `c`");
  CHECK(quote_list(std::vector<std::string>{"a", "b", "c"}, 3) == "`a`, `b` and `c`");
  CHECK(quote_list(std::vector<std::string>{"a", "b", "c", "d"}, 2) == "`a`, `b` and 2 more");
}

TEST_CASE("one is singular") {
  CHECK(plural(0, "input") == "0 inputs");
  CHECK(plural(1, "input") == "1 input");
  CHECK(plural(2, "input") == "2 inputs");
  CHECK(plural(1, "library", "libraries") == "1 library");
  CHECK(plural(2, "library", "libraries") == "2 libraries");
}

TEST_CASE("the edit distance counts insertions, deletions and replacements") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("", "ab") == 2);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("flaw", "lawn") == 2);
  std::mt19937 random(3);
  for (int i = 0; i < 500; ++i) {
    const std::string a = word(random, "ab", 8);
    const std::string b = word(random, "ab", 8);
    CHECK(edit_distance(a, b) == edit_distance(b, a));
    CHECK((edit_distance(a, b) == 0) == (a == b));
    CHECK(edit_distance(a, b) <= std::max(a.size(), b.size()));
    CHECK(edit_distance(a + "x", b) <= edit_distance(a, b) + 1);
  }
}

TEST_CASE("a suggestion is near the word") {
  CHECK(nearest_name("input", keys) == "inputs");
  CHECK(nearest_name("INPUTS", keys) == "inputs");
  CHECK(nearest_name("kernels", keys) == "Kernels");
  CHECK(nearest_name("jpv", keys) == "");
  CHECK(nearest_name("vjp", keys) == "");
  CHECK(nearest_name("x", keys) == "");
  CHECK(nearest_name("", keys) == "");
  CHECK(nearest_name("otuputs", keys) == "outputs");
  CHECK(nearest_name(std::string(100'000, 'i'), keys) == "");
  CHECK(did_you_mean("inpust", keys) == "; did you mean `inputs`?");
  CHECK(did_you_mean("zzz", keys) == "");
}

TEST_CASE("letters of ASCII have a lower case") {
  CHECK(lower("AbZ09[@`{") == "abz09[@`{");
  CHECK(lower("\u00c9") == "\u00c9");
}

TEST_CASE("a glob matches the whole text") {
  CHECK(glob_match("jvp-*", "jvp-arity"));
  CHECK(glob_match("*", ""));
  CHECK(glob_match("", ""));
  CHECK_FALSE(glob_match("", "a"));
  CHECK_FALSE(glob_match("?", ""));
  CHECK_FALSE(glob_match("jvp", "jvp-arity"));
  CHECK_FALSE(glob_match("*.json", "a.jso"));
  CHECK(glob_match("a*b*c", "a*b*c"));
  std::mt19937 random(5);
  for (int i = 0; i < 20'000; ++i) {
    const std::string pattern = word(random, "ab*?", 7);
    const std::string text = word(random, "ab*", 8);
    if (glob_match(pattern, text) == plain_glob(pattern, text)) continue;
    FAIL_CHECK("pattern " << pattern << ", text " << text);
  }
}

TEST_CASE("a glob made to hurt ends soon") {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "*a";
  CHECK_FALSE(glob_match(pattern + "b", std::string(20'000, 'a')));
}

TEST_CASE("UTF-8 sequences are those of RFC 3629") {
  // Every sequence of up to four bytes, the last ones from a few that matter.
  const auto encodes = [](const std::string& bytes) {
    const auto at = [&bytes](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
    std::uint32_t point = at(0);
    if (bytes.size() > 1) point = at(0) & (0xffu >> (bytes.size() + 1));
    for (std::size_t i = 1; i < bytes.size(); ++i) {
      if ((at(i) & 0xc0) != 0x80) return false;
      point = point << 6 | (at(i) & 0x3fu);
    }
    static constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    return point >= least[bytes.size()] && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
  };
  static constexpr unsigned char followers[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90,
                                                0x9f, 0xa0, 0xbf, 0xc0, 0xff};
  for (int lead = 0; lead < 256; ++lead) {
    const std::size_t length = lead < 0x80   ? 1
                               : lead < 0xc0 ? 0
                               : lead < 0xe0 ? 2
                               : lead < 0xf0 ? 3
                               : lead < 0xf8 ? 4
                                             : 0;
    for (const unsigned char second : followers) {
      for (const unsigned char third : followers) {
        for (const unsigned char fourth : followers) {
          const std::string bytes{static_cast<char>(lead), static_cast<char>(second),
                                  static_cast<char>(third), static_cast<char>(fourth)};
          const std::size_t wanted = length > 0 && encodes(bytes.substr(0, length)) ? length : 0;
          if (utf8_length(bytes, 0) != wanted)
            FAIL_CHECK("lead " << lead << " " << int{second} << " " << int{third} << " "
                               << int{fourth});
        }
      }
    }
  }
  CHECK(utf8_length("", 0) == 0);
  CHECK(utf8_length("a", 1) == 0);
  CHECK(utf8_length("\xe2\x82", 0) == 0);
  CHECK(utf8_length("x\u20ac", 1) == 3);
}

}  // namespace opseal::test
