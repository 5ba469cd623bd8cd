#include "analyzers/source/word_set.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using opseal::WordSet;

TEST_CASE("a word set finds whole words alone, wherever they stand") {
  const WordSet words({"add", "register_kernel", "Registry"});
  for (const std::string_view word : {"add", "register_kernel", "Registry"}) {
    for (std::size_t before = 0; before < 70; ++before) {
      std::string text(before, ' ');
      text += word;
      CHECK(words.occurs_in(text));
      CHECK(words.occurs_in(text + ";"));
      CHECK_FALSE(words.occurs_in(text + "2"));
      CHECK_FALSE(words.occurs_in(text + "_"));
      CHECK_FALSE(words.occurs_in("x" + std::string(text.substr(before))));
      // Letters beyond ASCII are letters.
      CHECK_FALSE(words.occurs_in(text + "\xc3\xa9"));
    }
  }
  CHECK_FALSE(words.occurs_in("adder readd Registry2 register_kernels"));
  CHECK_FALSE(words.occurs_in(""));
  CHECK_FALSE(WordSet({}).occurs_in("add"));
}

TEST_CASE("a word set gives the places in their order, those of short words too") {
  const WordSet words({"f", "add"});
  const std::string text = "add(f, addf, f2) add";
  std::vector<std::string> found;
  words.for_each(text, [&](std::size_t begin, std::size_t end, std::string_view word) {
    CHECK(text.substr(begin, end - begin) == word);
    found.push_back(std::to_string(begin) + " " + std::string(word));
  });
  CHECK(found == std::vector<std::string>{"0 add", "4 f", "17 add"});
  CHECK(words.occurs_in("a short word may be in any text"));
}

TEST_CASE("a word set of very many words finds each of them") {
  std::vector<std::string> names;
  for (int i = 0; i < 6000; ++i) names.push_back("kernel_" + std::to_string(i * 7919) + "_op");
  const WordSet words(names);
  for (std::size_t i = 0; i < names.size(); i += 97) {
    CHECK(words.occurs_in("if (" + names[i] + ")"));
    CHECK_FALSE(words.occurs_in("if (" + names[i] + "2)"));
  }
}
