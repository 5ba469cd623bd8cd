#include "analyzers/json_reader.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/input_error.h"
#include "tests/json_oracle.h"

namespace opseal::test {
namespace {

using namespace std::string_view_literals;

// The smallest, so that every token meets an edge, and odd ones.
constexpr std::size_t windows[] = {64, 65, 97, 1000};

// Each must be judged as nlohmann judges it.
constexpr std::string_view tricky[] = {
    // Nothing, or nearly.
    ""sv,
    " "sv,
    "\n\n\t \r\n"sv,
    ","sv,
    ":"sv,
    "]"sv,
    "}"sv,
    "\""sv,
    "'"sv,
    "\\"sv,
    "/**/"sv,
    "// a\n1"sv,
    "#"sv,
    // Plain values, also with white space that JSON doesn't know.
    "1"sv,
    "\"\""sv,
    "{}"sv,
    "[]"sv,
    "null"sv,
    "true"sv,
    "false"sv,
    " [ ] "sv,
    "\f[]"sv,
    "\v1"sv,
    "\xc2\xa0[]"sv,
    "[]\xe2\x80\xa8"sv,
    "\xe2\x81\xa0[]"sv,
    // Structure.
    "[1,]"sv,
    "[,1]"sv,
    "[,]"sv,
    "[1,,2]"sv,
    "[1 2]"sv,
    "[1"sv,
    "[1,"sv,
    "["sv,
    "[["sv,
    "[]]"sv,
    "[}"sv,
    "{]"sv,
    "{\"a\":1,}"sv,
    "{,}"sv,
    "{\"a\"}"sv,
    "{\"a\":}"sv,
    "{\"a\" 1}"sv,
    "{\"a\"::1}"sv,
    "{a:1}"sv,
    "{1:1}"sv,
    "{null:1}"sv,
    "{\"a\":1"sv,
    "{\"a\":"sv,
    "{\"a\""sv,
    "{\"a"sv,
    "{"sv,
    "{\"a\":1 \"b\":2}"sv,
    "{\"a\":1,\"a\":2}"sv,
    "{\"a\":1;\"b\":2}"sv,
    "[1];"sv,
    "[] []"sv,
    "1 2"sv,
    "{}{}"sv,
    "[\"a\" : 1]"sv,
    "[1:2]"sv,
    "(1)"sv,
    "<1>"sv,
    "[\n1\n,\r\n2\t]\n"sv,
    "{\"a\":[{\"b\":{}}]}"sv,
    "{\"\":0}"sv,
    "[[[[[[[[1]]]]]]]]"sv,
    // Numbers.
    "0"sv,
    "-0"sv,
    "-"sv,
    "+1"sv,
    "--1"sv,
    "01"sv,
    "-01"sv,
    "00"sv,
    "0x10"sv,
    "1."sv,
    ".5"sv,
    "-.5"sv,
    "1.e5"sv,
    "1.5e"sv,
    "1e"sv,
    "1e+"sv,
    "1e-"sv,
    "1e+-1"sv,
    "1e5"sv,
    "1E5"sv,
    "1e+05"sv,
    "0e0"sv,
    "0.0"sv,
    "-0.0"sv,
    "0e"sv,
    "1_000"sv,
    "1,000"sv,
    "1 000"sv,
    "1a"sv,
    "1e5.5"sv,
    "1.2.3"sv,
    "2.e-3"sv,
    "-1-1"sv,
    "1+1"sv,
    "1e999"sv,
    "-1e999"sv,
    "1e-999"sv,
    "4294967295"sv,
    "4294967296"sv,
    "18446744073709551616"sv,
    "-9223372036854775809"sv,
    "1797693134862315807937289714053034150799341327100378269361737789804449682927647509466490179775"
    "87207"
    "0963302864166928879109465555478519404026306574886715058206819089020007083836762738548458177115"
    "3176"
    "4475730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042"
    "8801"
    "77904174497792"sv,
    "NaN"sv,
    "nan"sv,
    "Infinity"sv,
    "-Infinity"sv,
    "inf"sv,
    "[-]"sv,
    "[1e]"sv,
    "{\"a\":01}"sv,
    "\xef\xbc\x91"sv,
    "-\xef\xbc\x91"sv,
    "-x"sv,
    "[- 1]"sv,
    // Words.
    "True"sv,
    "TRUE"sv,
    "nul"sv,
    "nulll"sv,
    "truefalse"sv,
    "[true1]"sv,
    "[tru]"sv,
    "[fals"sv,
    "undefined"sv,
    "[a]"sv,
    "[a,1]"sv,
    "[\xc3\xa9]"sv,
    "{\"a\":nul}"sv,
    "t rue"sv,
    // Texts.
    "\"a"sv,
    "\"\\\""sv,
    "\"\\"sv,
    "'a'"sv,
    "\"a\nb\""sv,
    "\"a\tb\""sv,
    "\"\x01\""sv,
    "\"\x1f\""sv,
    "\"\x7f\""sv,
    "\"\\a\""sv,
    "\"\\v\""sv,
    "\"\\0\""sv,
    "\"\\x41\""sv,
    "\"\\'\""sv,
    "\"\\ \""sv,
    "\"\\\n\""sv,
    "\"\\U0041\""sv,
    "\"\\u\""sv,
    "\"\\u1\""sv,
    "\"\\u12\""sv,
    "\"\\u123\""sv,
    "\"\\u12G4\""sv,
    "\"\\u+123\""sv,
    "\"\\u-123\""sv,
    "\"\\u 123\""sv,
    "\"\\u0x12\""sv,
    "\"\\u0000\""sv,
    "\"\\u00e9\""sv,
    "\"\\uABCD\\uabcd\""sv,
    "\"\\\\u0041\""sv,
    "\"\\/\""sv,
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""sv,
    "\"\\\xc3\xa9\""sv,
    "[\"a\",\"\\u00\"]"sv,
    "\"\0\""sv,
    // Surrogates.
    "\"\\ud83d\\ude00\""sv,
    "\"\\uD83D\\uDE00\""sv,
    "\"\\ud83d\""sv,
    "\"\\ude00\""sv,
    "\"\\ud83d\\ud83d\""sv,
    "\"\\ude00\\ud83d\""sv,
    "\"\\ud83dx\""sv,
    "\"\\ud83d\\n\""sv,
    "\"\\ud83d\\u0041\""sv,
    "\"\\ud83d\\u\""sv,
    "\"\\ud83d\\"sv,
    "\"\\ud83d\\ude0\""sv,
    "\"\\ud83d\\ude00\\ude00\""sv,
    "\"\\ud800\\udc00\\udbff\\udfff\""sv,
    // UTF-8, and what only looks like it.
    "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""sv,
    "\"\x80\""sv,
    "\"\xbf\""sv,
    "\"\xc0\xaf\""sv,
    "\"\xc1\xbf\""sv,
    "\"\xc3\""sv,
    "\"\xc3(\""sv,
    "\"\xe0\x80\xaf\""sv,
    "\"\xe0\x9f\xbf\""sv,
    "\"\xe2\x82\""sv,
    "\"\xe2(\xac\""sv,
    "\"\xed\xa0\x80\""sv,
    "\"\xed\xbf\xbf\""sv,
    "\"\xed\x9f\xbf\""sv,
    "\"\xef\xbf\xbf\""sv,
    "\"\xf0\x80\x80\xaf\""sv,
    "\"\xf0\x8f\xbf\xbf\""sv,
    "\"\xf0\x9f\x98\""sv,
    "\"\xf4\x8f\xbf\xbf\""sv,
    "\"\xf4\x90\x80\x80\""sv,
    "\"\xf5\x80\x80\x80\""sv,
    "\"\xfe\""sv,
    "\"\xff\""sv,
    "\"\xf0\x9f"sv,
    "{\"\xff\":1}"sv,
    "\xff\xfe[\0]\0"sv,
    "\xfe\xff\0[\0]"sv,
    "\xff"sv,
    "\xef\xbb"sv,
    "\xef"sv,
};

}  // namespace

TEST_CASE("a document has no problem exactly when nlohmann accepts it") {
  for (const std::string_view bytes : tricky) {
    for (const std::size_t window : windows) {
      INFO("document: " << std::string(bytes) << ", window " << window);
      CHECK(read_whole(bytes, window).clean == nlohmann::json::accept(bytes));
    }
  }
}

TEST_CASE("where the reader is stricter than nlohmann, it says so") {
  // nlohmann skips a byte-order mark, and takes a zero byte for the end of the document.
  CHECK(nlohmann::json::accept("\xef\xbb\xbf[]"sv));
  CHECK(nlohmann::json::accept("[]\0x"sv));
  const Verdict marked = read_whole("\xef\xbb\xbf[]", JsonReader::first_window);
  REQUIRE(marked.problems.size() == 1);
  CHECK(marked.problems.front().where == Location{0, 3, 0});
  const Verdict zero = read_whole("[]\0x"sv, JsonReader::first_window);
  REQUIRE(zero.problems.size() == 1);
  CHECK(zero.problems.front().where.offset == 2);
  CHECK_FALSE(read_whole("\0"sv, 64).clean);
  CHECK_FALSE(read_whole("[\0]"sv, 64).clean);
  CHECK_FALSE(read_whole("\xef\xbb\xbf", 64).clean);
}

TEST_CASE("256 levels are read and the next one is a problem") {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  CHECK(read_whole(nested(JsonReader::max_depth), 64).clean);
  const Verdict deeper = read_whole(nested(JsonReader::max_depth + 1), 64);
  REQUIRE(deeper.problems.size() == 1);
  CHECK(deeper.problems.front().where == Location{0, 1, JsonReader::max_depth});
  CHECK(read_whole(nested(2'000'000), 64).problems.size() == 1);
  CHECK_FALSE(read_whole(std::string(2'000'000, '['), 64).clean);
  std::string objects;
  for (int level = 0; level < 100'000; ++level) objects += "{\"a\":";
  CHECK_FALSE(read_whole(objects, 64).clean);
}

TEST_CASE("values and places of random documents are those of nlohmann") {
  std::size_t values = 0;
  for (std::uint32_t seed = 1; seed <= 1500; ++seed) {
    const std::string bytes = DocumentWriter(seed).document();
    for (const std::size_t window : windows) {
      const std::string difference = first_difference(bytes, window, values);
      if (difference.empty()) continue;
      INFO("seed " << seed << ", window " << window << ": " << bytes.substr(0, 2000));
      CHECK(difference == "");
    }
  }
  CHECK(values > 20'000);
}

TEST_CASE("a random document with a few bytes changed is judged as nlohmann judges it") {
  std::size_t accepted = 0;
  std::size_t refused = 0;
  for (std::uint32_t seed = 1; seed <= 4000; ++seed) {
    DocumentWriter writer(seed);
    std::string bytes = writer.document();
    static constexpr std::string_view likely =
        "\"\\{}[],:0123456789eE+-. \ntrufalsn\xc3\xa9\x80\xf0";
    for (std::uint32_t changes = 1 + writer.below(2); changes > 0 && !bytes.empty(); --changes) {
      const std::uint32_t at = writer.below(static_cast<std::uint32_t>(bytes.size()));
      switch (writer.below(3)) {
        case 0:
          bytes[at] = likely[writer.below(static_cast<std::uint32_t>(likely.size()))];
          break;
        case 1:
          bytes.erase(at, 1 + writer.below(3));
          break;
        default:
          bytes.insert(at, 1, likely[writer.below(static_cast<std::uint32_t>(likely.size()))]);
      }
    }
    const bool wanted = nlohmann::json::accept(bytes);
    ++(wanted ? accepted : refused);
    if (read_whole(bytes, windows[seed % 4]).clean == wanted) continue;
    INFO("seed " << seed << ": " << bytes.substr(0, 2000));
    CHECK_MESSAGE(false, (wanted ? "nlohmann accepts it" : "nlohmann refuses it"));
  }
  CHECK(accepted > 300);
  CHECK(refused > 300);
}

TEST_CASE("every token may lie across the edge of the window") {
  constexpr std::string_view tokens[] = {
      "\"\\ud83d\\ude00\\n\"", "\"\u00e9\u20ac\U0001f600\"", "-123.456e+78", "4294967295", "false",
      "{\"a\" : [ ] }"};
  std::size_t values = 0;
  for (const std::string_view token : tokens) {
    for (std::size_t pad = 0; pad < 140; ++pad) {
      const std::string spaces = "[" + std::string(pad, ' ') + std::string(token) + ",1]";
      CHECK(first_difference(spaces, 64, values) == "");
      const std::string text = "[\"" + std::string(pad, 'x') + "\"," + std::string(token) + "]";
      CHECK(first_difference(text, 64, values) == "");
      const std::string same = "[\"" + std::string(pad, 'x') + "\\ud83d\\ude00\u20ac\\u00e9\"," +
                               std::string(token) + "]";
      CHECK(first_difference(same, 64, values) == "");
    }
  }
}

TEST_CASE("texts and numbers longer than the window are whole") {
  // Four times as large as what the reader asks for before a token, so that only a long token meets
  // an edge, as with the window that programs use.
  constexpr std::size_t window = 16 * 1024;
  std::size_t values = 0;
  for (const std::size_t size : {5'000u, 16'340u, 16'384u, 16'385u, 32'768u, 100'000u}) {
    for (const char* end : {"\"", "\\ud83d\\ude00\"", "\u20ac\""}) {
      const std::string text = '"' + std::string(size, 'x') + end;
      const std::string bytes = "[1," + text + ",{" + text + ":" + text + "}]";
      CHECK(first_difference(bytes, window, values) == "");
    }
  }
  // Put the awkward part of a long text on each byte around the edge.
  for (std::size_t shift = 0; shift < 30; ++shift) {
    const std::string front = "[" + std::string(5'000, ' ') + '"';
    const std::string fill(window - 20 - front.size() + shift, 'x');
    for (const char* awkward : {"\\ud83d\\ude00", "\\n", "\U0001f600", "\\u20ac", ""}) {
      CHECK(first_difference(front + fill + awkward + "\",1]", window, values) == "");
    }
  }
  for (const std::size_t digits : {4'000u, 5'000u, 20'000u, 100'000u}) {
    for (const std::size_t pad : {0u, 12'280u, 12'290u, 16'000u, 16'383u}) {
      const std::string bytes =
          "[" + std::string(pad, ' ') + "0." + std::string(digits, '3') + ",1]";
      CHECK(first_difference(bytes, window, values) == "");
    }
  }
  const std::string large =
      "[\"" + std::string(600'000, 'x') + "\\n\",0." + std::string(300'000, '3') + "]";
  CHECK(first_difference(large, JsonReader::first_window, values) == "");
}

TEST_CASE("a word without end is one problem at its place") {
  for (const std::size_t window : {std::size_t{64}, JsonReader::first_window}) {
    const Verdict verdict = read_whole(
        "[1," + std::string(600'000, 'n') + ",-" + std::string(300'000, '1') + "-]", window);
    REQUIRE(verdict.problems.size() == 2);
    CHECK(verdict.problems[0].where == Location{0, 600'000, 3});
    CHECK(verdict.problems[1].where == Location{0, 300'002, 600'004});
  }
}

TEST_CASE("a raw value is the bytes as written, however large") {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    DocumentWriter writer(seed);
    std::string value = writer.document();
    value = value.substr(value.find_first_not_of(" \t\r\n"));
    value = value.substr(0, value.find_last_not_of(" \t\r\n") + 1);
    if (seed % 50 == 0)
      value =
          "[" + std::string(300'000, ' ') + value + ",\"" + std::string(400'000, 'x') + "\\n\"]";
    const std::string bytes = writer.space() + value + writer.space() + "," + value;
    for (const std::size_t window : windows) {
      std::vector<Problem> problems;
      ByteSource source = ByteSource::memory(bytes);
      JsonReader reader(source, 0, problems, window);
      const bool whole = reader.read_raw() == value;
      CHECK(whole);
      CHECK(reader.peek() == ',');
      reader.take();
      const bool again = reader.read_raw() == value;
      CHECK(again);
      reader.expect_end();
      CHECK(problems.empty());
    }
  }
}

TEST_CASE("a raw value with a problem inside is empty and reading goes on behind it") {
  std::vector<Problem> problems;
  ByteSource source = ByteSource::memory("[{\"a\":NaN}, 7]");
  JsonReader reader(source, 5, problems);
  reader.take();
  CHECK(reader.read_raw() == "");
  REQUIRE(problems.size() == 1);
  CHECK(problems.front().where == Location{5, 3, 6});
  bool first = false;
  REQUIRE(reader.more(first, ']'));
  reader.peek();
  CHECK(reader.read_number().count == 7);
}

TEST_CASE("a bad text is one problem and its end is found") {
  for (const char* text : {"\"a\\qb\\q\"", "\"\x80\xff\"", "\"\x01\x02\"", "\"\\ud83d \\ud83d\""}) {
    const std::string bytes = std::string("[") + text + ",1]";
    const Verdict verdict = read_whole(bytes, 64);
    INFO(bytes);
    REQUIRE(verdict.problems.size() == 1);
    CHECK(verdict.problems.front().where.offset > 1);
    CHECK(verdict.problems.front().where.offset < 4);
  }
}

TEST_CASE("bytes that come from a file are those that come from memory") {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("opseal-json-" + std::to_string(::getpid()));
  std::string bytes = "[";
  DocumentWriter writer(7);
  while (bytes.size() < 1'200'000) bytes += writer.document() + ",";
  bytes += "0]";
  std::ofstream(path, std::ios::binary) << bytes;
  ByteSource source = ByteSource::file(path.string());
  std::vector<Problem> problems;
  JsonReader reader(source, 0, problems);
  const bool equal = reader.read_raw() == bytes;
  CHECK(equal);
  CHECK(problems.empty());
  std::filesystem::remove(path);
}

TEST_CASE("a file that can't be read says why") {
  for (const char* path : {"/nonexistent/ops.json", "/", "/dev/null"}) {
    ByteSource source = ByteSource::file(path);
    CHECK(source.error() != "");
    std::vector<Problem> problems;
    CHECK_THROWS_AS(JsonReader(source, 0, problems), InputError);
  }
}

}  // namespace opseal::test
