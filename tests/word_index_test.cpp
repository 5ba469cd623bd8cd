#include "analyzers/source/word_index.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using opseal::WordIndex;
using opseal::WordQuery;

namespace {

bool may_hold(std::string_view text, const std::vector<std::string>& words) {
  WordIndex index(1);
  index.add(0, text);
  return index.may_hold(0, WordQuery(words));
}

}  // namespace

TEST_CASE("an index of words tells which files have some word as a whole") {
  WordIndex index(4);
  index.add(0, "void add_cpu(Tensor& out); // calls scale");
  index.add(1, "REGISTER(add, add_cpu)");
  index.add(2, "");
  const auto files = [&](const std::vector<std::string>& words) {
    const WordQuery query(words);
    std::string found;
    for (std::size_t file = 0; file < 4; ++file) {
      if (index.may_hold(file, query)) found += static_cast<char>('0' + file);
    }
    return found;
  };
  CHECK(files({"add"}) == "1");
  CHECK(files({"add_cpu"}) == "01");
  CHECK(files({"scale"}) == "0");
  CHECK(files({"Tensor", "REGISTER"}) == "01");
  CHECK(files({"cpu", "REG", "Tensors"}).empty());
  CHECK(files({}).empty());
}

TEST_CASE("words of an index are told apart by every byte that counts, whatever their length") {
  const std::string letters = "abcdefghijklmnopqrstuvwxyz";
  for (std::size_t length = 1; length <= letters.size(); ++length) {
    const std::string word = letters.substr(0, length);
    CHECK(may_hold(word, {word}));
    CHECK(may_hold("(" + word + ")", {word}));
    CHECK_FALSE(may_hold(word + "_", {word}));
    CHECK_FALSE(may_hold("_" + word, {word}));
    CHECK_FALSE(may_hold(word, {word + "1"}));
  }
  CHECK(may_hold("\xc3\xa9tat = 1", {"\xc3\xa9tat"}));
  CHECK_FALSE(may_hold("tat", {"\xc3\xa9tat"}));
  CHECK(may_hold("\xef\xbb\xbfimport os", {"import"}));
  // A number is no word, a letter behind digits makes none.
  CHECK_FALSE(may_hold("0x1f", {"x1f"}));
}

TEST_CASE("of a qualified name the last word is looked for, and what has none is everywhere") {
  CHECK(may_hold("a.impl(x)", {".impl("}));
  CHECK(may_hold("forward()", {"detail::forward"}));
  CHECK_FALSE(may_hold("detail", {"detail::forward"}));
  CHECK(may_hold("", {"::"}));
}

TEST_CASE("a file with more words than are kept may hold any") {
  std::string text;
  for (int word = 0; word < 40'000; ++word) text += "w" + std::to_string(word) + " ";
  CHECK(may_hold(text, {"never_said"}));
  // What was read before doesn't stay.
  CHECK_FALSE(may_hold("w1", {"w2"}));
}
