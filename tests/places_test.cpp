#include "cli/places.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "tests/support.h"

namespace fs = std::filesystem;

namespace opseal::test {
namespace {

Facts file_of(std::string bytes) {
  Facts facts;
  InputFile file;
  file.path = "ops.json";
  file.size = bytes.size();
  file.bytes = std::move(bytes);
  facts.files.push_back(std::move(file));
  return facts;
}

// Line and column of the first byte and of the byte behind the last: "2:3-2:5".
std::string position_text(const Facts& facts, std::uint64_t offset, std::uint32_t length) {
  Places places(facts);
  const Position position = places.position({0, length, offset});
  return std::to_string(position.line) + ':' + std::to_string(position.column) + '-' +
         std::to_string(position.end_line) + ':' + std::to_string(position.end_column);
}

// The excerpt with the marked part in brackets: "ab[cd]ef".
std::string excerpt_text(const Facts& facts, std::uint64_t offset, std::uint32_t length,
                         std::size_t width) {
  Places places(facts);
  const Places::Excerpt excerpt = places.excerpt({0, length, offset}, width);
  // Carets count code points: find the bytes they stand under.
  const auto byte_of = [&excerpt](std::size_t point) {
    std::size_t at = 0;
    for (; at < excerpt.text.size(); ++at) {
      const bool starts = (static_cast<unsigned char>(excerpt.text[at]) & 0xc0) != 0x80;
      if (starts && point-- == 0) break;
    }
    return at;
  };
  std::string text = excerpt.text;
  text.insert(byte_of(excerpt.caret + excerpt.carets), "]");
  text.insert(byte_of(excerpt.caret), "[");
  return text;
}

std::size_t code_points(std::string_view text) {
  std::size_t points = 0;
  for (const char byte : text) points += (static_cast<unsigned char>(byte) & 0xc0) != 0x80 ? 1 : 0;
  return points;
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& bytes)
      : path_(fs::temp_directory_path() / ("opseal-places-" + std::to_string(::getpid()))) {
    write(bytes);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { fs::remove(path_); }

  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  Facts facts() const {
    Facts facts;
    InputFile file;
    file.path = "ops.json";
    file.open_path = path_.string();
    file.size = fs::file_size(path_);
    facts.files.push_back(std::move(file));
    return facts;
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

TEST_CASE("lines and columns count from 1") {
  const Facts facts = file_of("ab\ncd\n\nef");
  CHECK(position_text(facts, 0, 1) == "1:1-1:2");
  CHECK(position_text(facts, 1, 1) == "1:2-1:3");
  CHECK(position_text(facts, 2, 1) == "1:3-2:1");
  CHECK(position_text(facts, 3, 2) == "2:1-2:3");
  CHECK(position_text(facts, 6, 0) == "3:1-3:1");
  CHECK(position_text(facts, 7, 2) == "4:1-4:3");
  CHECK(position_text(facts, 9, 0) == "4:3-4:3");
  CHECK(position_text(facts, 1, 7) == "1:2-4:2");
}

TEST_CASE("a place behind the end is the end") {
  CHECK(position_text(file_of("ab\ncd"), 1000, 1000) == "2:3-2:3");
  CHECK(position_text(file_of("ab\n"), 3, 0) == "2:1-2:1");
  CHECK(position_text(file_of(""), 0, 0) == "1:1-1:1");
}

TEST_CASE("columns count code points") {
  const Facts facts = file_of("\u00e9\u20ac\U0001f600x\n\u20acy");
  CHECK(position_text(facts, 2, 3) == "1:2-1:3");
  CHECK(position_text(facts, 5, 4) == "1:3-1:4");
  CHECK(position_text(facts, 9, 1) == "1:4-1:5");
  CHECK(position_text(facts, 14, 1) == "2:2-2:3");
}

TEST_CASE("a carriage return belongs to the line break") {
  const Facts facts = file_of("ab\r\ncd\r\n");
  CHECK(position_text(facts, 4, 2) == "2:1-2:3");
  CHECK(excerpt_text(facts, 1, 1, 40) == "a[b]");
  CHECK(excerpt_text(facts, 5, 1, 40) == "c[d]");
}

TEST_CASE("nothing is known of an unknown place") {
  const Facts facts = file_of("ab");
  Places places(facts);
  CHECK(places.position({}).line == 0);
  CHECK(places.excerpt({}, 40).text == "");
}

TEST_CASE("the last line needs no line break") {
  CHECK(excerpt_text(file_of("ab\ncd"), 3, 2, 40) == "[cd]");
  CHECK(excerpt_text(file_of("ab\ncd"), 4, 1, 40) == "c[d]");
  CHECK(excerpt_text(file_of("ab\n"), 0, 3, 40) == "[ab]");
}

TEST_CASE("an excerpt of a long line shows the place within the width") {
  const std::string line = std::string(500, 'a') + "MARK" + std::string(500, 'b');
  for (const std::size_t width : {20u, 40u, 100u}) {
    const Facts facts = file_of(line);
    const std::string shown = excerpt_text(facts, 500, 4, width);
    INFO(shown);
    CHECK(shown.find("a[MARK]b") != std::string::npos);
    // An ellipsis on each side and the two brackets besides.
    CHECK(code_points(shown) <= width + 4);
    CHECK(shown.starts_with("\u2026"));
    CHECK(shown.ends_with("\u2026"));
  }
  const Facts wide =
      file_of(std::string(300, ' ') + "\u20ac\u20ac\u20ac\u20acMARK\u00e9\u00e9\u00e9\u00e9\u00e9");
  CHECK(excerpt_text(wide, 312, 4, 12) ==
        "\u2026\u20ac\u20ac\u20ac\u20ac[MARK]\u00e9\u00e9\u00e9\u00e9\u2026");
  CHECK(excerpt_text(wide, 312, 4, 13) ==
        "\u2026\u20ac\u20ac\u20ac\u20ac[MARK]\u00e9\u00e9\u00e9\u00e9\u00e9");
}

TEST_CASE("a marked part longer than the width is cut") {
  const std::string shown = excerpt_text(file_of(std::string(1000, 'x')), 0, 1000, 30);
  CHECK(shown == "[" + std::string(30, 'x') + "]\u2026");
}

TEST_CASE("a file that is one line of 2 MB") {
  std::string line;
  while (line.size() < 2'000'000) line += "{\"name\":\"\u00e9\",\"inputs\":[1,2,3]},";
  const std::size_t record = std::string_view("{\"name\":\"\u00e9\",\"inputs\":[1,2,3]},").size();
  const Facts facts = file_of(line);
  Places places(facts);
  const auto started = std::chrono::steady_clock::now();
  std::size_t wrong = 0;
  for (std::size_t n = 0; n < line.size() / record; n += 10) {
    const Position position = places.position({0, 1, n * record});
    // One byte of each record continues a code point.
    if (position.line != 1 || position.column != n * (record - 1) + 1) ++wrong;
    if (places.excerpt({0, 1, n * record}, 100).text.empty()) ++wrong;
  }
  CHECK(wrong == 0);
  // Thousands of places: counting from the start of the line for each would take minutes.
  CHECK(std::chrono::steady_clock::now() - started < std::chrono::seconds(20));
}

TEST_CASE("what a terminal would obey becomes replacement characters") {
  const Facts facts = file_of("a\x1b[31mb\x07\x7f\tc");
  CHECK(excerpt_text(facts, 6, 1, 40) == "a\ufffd[31m[b]\ufffd\ufffd c");
  // The one-character form of `ESC [`, text that runs backwards, and marks without width.
  CHECK(excerpt_text(file_of("a\u009b31mb"), 3, 4, 40) == "a\ufffd[31mb]");
  CHECK(excerpt_text(file_of("a\u202eb\u2066c\ufeffd\u2028e"), 0, 1, 40) ==
        "[a]\ufffdb\ufffdc\ufffdd\ufffde");
}

TEST_CASE("broken UTF-8 keeps columns and carets in step") {
  const Facts facts = file_of("\xff\xfe\xc3(\xe2\x82x");
  CHECK(excerpt_text(facts, 6, 1, 40) == "\ufffd\ufffd\ufffd(\ufffd[x]");
  CHECK(position_text(facts, 6, 1) == "1:6-1:7");
}

TEST_CASE("a file says the same as its bytes in memory") {
  std::string bytes;
  for (int i = 0; i < 30'000; ++i)
    bytes += "line \u20ac " + std::to_string(i) + (i % 3 == 0 ? "\r\n" : "\n");
  const TemporaryFile temporary(bytes);
  const Facts on_disk = temporary.facts();
  const Facts in_memory = file_of(bytes);
  Places a(on_disk);
  Places b(in_memory);
  for (std::uint64_t offset = 0; offset < bytes.size(); offset += 997) {
    const Position p = a.position({0, 5, offset});
    const Position q = b.position({0, 5, offset});
    CHECK(std::tie(p.line, p.column, p.end_line, p.end_column) ==
          std::tie(q.line, q.column, q.end_line, q.end_column));
    CHECK(a.excerpt({0, 5, offset}, 30).text == b.excerpt({0, 5, offset}, 30).text);
  }
}

TEST_CASE("a file that changed its size or is gone since it was read has no lines") {
  const TemporaryFile temporary("ab\ncd\n");
  const Facts facts = temporary.facts();
  CHECK(position_text(facts, 3, 1) == "2:1-2:2");
  temporary.write("ab\ncd\nef\n");
  CHECK(position_text(facts, 3, 1) == "0:0-0:0");
  Places places(facts);
  CHECK(places.excerpt({0, 1, 3}, 40).text == "");
  fs::remove(temporary.path());
  CHECK(position_text(facts, 3, 1) == "0:0-0:0");
}

TEST_CASE("names of places in a long list are the same as in a short one") {
  std::string manifest = R"({"opseal_manifest": 1, "x-a": 0, "operators": [)";
  for (int i = 0; i < 3000; ++i) {
    manifest +=
        (i == 0 ? "" : ",") + std::string(R"({"name": "n", "defaults": {"cpu": "x", "a/b": "y"}})");
  }
  manifest += "]}";
  const Facts facts = read_text(manifest);
  REQUIRE(facts.problems.empty());
  PlaceNames names(facts);
  int index = 0;
  std::size_t wrong = 0;
  for (const Fact op : facts.root(facts.documents[0])[Key::operators].items()) {
    const std::string pointer = "/operators/" + std::to_string(index++);
    if (names.logical(op.where()) != pointer) ++wrong;
    if (names.logical(op[Key::name].where()) != pointer + "/name") ++wrong;
    const Location entry = op[Key::defaults].at("a/b").where();
    if (names.logical(entry) != pointer + "/defaults/a~1b") ++wrong;
    if (names.stable(entry) != "operators/defaults/a~1b") ++wrong;
  }
  CHECK(wrong == 0);
  CHECK(names.logical({0, 1, 0}) == "");
  CHECK(names.logical({7, 1, 20}) == "");
  // Between two elements: the list holds it.
  CHECK(names.logical({0, 1, manifest.find("},{") + 1}) == "/operators");
}

}  // namespace opseal::test
