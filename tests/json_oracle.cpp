#include "tests/json_oracle.h"

#include <iterator>

#include "analyzers/input_error.h"
#include "analyzers/json_reader.h"

namespace opseal::test {

std::string DocumentWriter::space() {
  static constexpr const char* spaces[] = {"", "", "", "", " ", "\n", "\t", "\r\n", "  \n  "};
  return spaces[below(std::size(spaces))];
}

std::string DocumentWriter::text() {
  static constexpr const char* pieces[] = {"a",
                                           "name",
                                           "pkg.module",
                                           "\\\"",
                                           "\\\\",
                                           "\\/",
                                           "\\b",
                                           "\\f",
                                           "\\n",
                                           "\\r",
                                           "\\t",
                                           "\\u0041",
                                           "\\u00e9",
                                           "\\u20AC",
                                           "\\ud83d\\ude00",
                                           "\\uDBFF\\uDFFF",
                                           "\\u0000",
                                           "\u00e9",
                                           "\u20ac",
                                           "\U0001f600",
                                           "\x7f",
                                           "{\\\"a\\\":[",
                                           "\u2028",
                                           "~1/"};
  std::string out = "\"";
  for (std::uint32_t count = below(6); count > 0; --count) out += pieces[below(std::size(pieces))];
  if (below(200) == 0) out += std::string(below(5000), 'x');
  return out + '"';
}

std::string DocumentWriter::number() {
  static constexpr const char* awkward[] = {"0",
                                            "-0",
                                            "-0.0",
                                            "0.0",
                                            "1.0",
                                            "4294967295",
                                            "4294967296",
                                            "4294967295.0",
                                            "-1",
                                            "0.1",
                                            "1e0",
                                            "1E+2",
                                            "1e-2",
                                            "12e3",
                                            "1.7976931348623157e308",
                                            "5e-324",
                                            "1e-400",
                                            "2.2250738585072011e-308",
                                            "9007199254740993",
                                            "18446744073709551615",
                                            "18446744073709551616",
                                            "-9223372036854775809",
                                            "0.1000000000000000055511151231257827",
                                            "123456789",
                                            "1234567890",
                                            "999999999.5"};
  if (below(3) == 0) return awkward[below(std::size(awkward))];
  if (below(300) == 0) return "0." + std::string(below(5000), '3') + '1';
  std::string out = below(4) == 0 ? "-" : "";
  out += std::to_string(below(1000000000) >> below(30));
  if (below(4) == 0) out += '.' + std::to_string(below(100000));
  if (below(8) == 0) out += (below(2) == 0 ? "e-" : "E") + std::to_string(below(200));
  return out;
}

std::string DocumentWriter::value(int depth) {
  const std::uint32_t kind = below(depth > 0 ? 9 : 6);
  if (kind < 2) return text();
  if (kind < 4) return number();
  if (kind == 4) return below(2) == 0 ? "true" : "false";
  if (kind == 5) return "null";
  const bool object = kind > 6;
  std::string out = object ? "{" : "[";
  const std::uint32_t count = below(7);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i > 0) out += ',';
    out += space();
    if (object) {
      std::string key = text();
      key.insert(1, 'k' + std::to_string(i) + '_');
      out += key + space() + ':' + space();
    }
    out += value(depth - 1) + space();
  }
  if (count == 0) out += space();
  return out + (object ? '}' : ']');
}

std::string DocumentWriter::document() { return space() + value(6) + space(); }

Verdict read_whole(std::string_view bytes, std::size_t window) {
  Verdict verdict;
  try {
    ByteSource source = ByteSource::memory(bytes);
    JsonReader reader(source, 0, verdict.problems, window);
    reader.skip_value();
    reader.expect_end();
  } catch (const InputError& error) {
    verdict.problems.push_back({Location{0, static_cast<std::uint32_t>(error.length), error.offset},
                                error.what(),
                                {},
                                Severity::error});
  }
  verdict.clean = verdict.problems.empty();
  return verdict;
}

namespace {

class Comparison {
 public:
  Comparison(JsonReader& reader, const std::string& bytes) : reader_(reader), bytes_(bytes) {}

  void compare(const nlohmann::json& wanted) {
    const char byte = reader_.peek();
    const std::uint64_t begin = reader_.offset();
    ++values;
    if (byte == '{') {
      object(wanted);
    } else if (byte == '[') {
      list(wanted);
    } else if (byte == '"') {
      const JsonReader::Text text = reader_.read_text();
      if (!text.good || wanted != std::string(text.text)) differ("text", begin);
      place(text.offset, text.length, begin);
    } else if (byte == '-' || (byte >= '0' && byte <= '9')) {
      number(wanted, begin);
    } else {
      literal(wanted, begin);
    }
    if (first.empty() &&
        nlohmann::json::parse(bytes_.substr(begin, reader_.offset() - begin)) != wanted) {
      differ("bytes at the place", begin);
    }
  }

  std::string first;
  std::size_t values = 0;

 private:
  void object(const nlohmann::json& wanted) {
    reader_.take();
    bool before_first = true;
    std::size_t members = 0;
    while (first.empty() && reader_.more(before_first, '}')) {
      ++members;
      reader_.peek();
      const std::uint64_t begin = reader_.offset();
      const JsonReader::Text text = reader_.read_text();
      const std::string key(text.text);
      place(text.offset, text.length, begin);
      reader_.expect_colon();
      if (!wanted.is_object() || !wanted.contains(key)) return differ("key", begin);
      compare(wanted.at(key));
    }
    if (first.empty() && wanted.size() != members) differ("number of members", reader_.offset());
  }

  void list(const nlohmann::json& wanted) {
    reader_.take();
    bool before_first = true;
    std::size_t elements = 0;
    while (first.empty() && reader_.more(before_first, ']')) {
      if (!wanted.is_array() || elements >= wanted.size()) return differ("list", reader_.offset());
      compare(wanted.at(elements++));
    }
    if (first.empty() && wanted.size() != elements) differ("number of elements", reader_.offset());
  }

  void number(const nlohmann::json& wanted, std::uint64_t begin) {
    const JsonReader::Number number = reader_.read_number();
    place(number.offset, number.length, begin);
    if (!wanted.is_number() || wanted.get<double>() != number.real) return differ("number", begin);
    const double real = wanted.get<double>();
    const bool count = real >= 0 && real <= 0xffffffff &&
                       real == static_cast<double>(static_cast<std::uint32_t>(real));
    if (count != (number.kind == JsonReader::NumberKind::count)) differ("kind of number", begin);
    if (count && number.count != wanted.get<std::uint32_t>()) differ("count", begin);
  }

  void literal(const nlohmann::json& wanted, std::uint64_t begin) {
    const JsonReader::Literal literal = reader_.read_literal();
    place(literal.offset, literal.length, begin);
    const bool equal = (literal.word == JsonReader::Word::null && wanted.is_null()) ||
                       (literal.word == JsonReader::Word::yes && wanted == true) ||
                       (literal.word == JsonReader::Word::no && wanted == false);
    if (!equal) differ("literal", begin);
  }

  // A token's own place must be what the reader stood on before and after it.
  void place(std::uint64_t offset, std::uint64_t length, std::uint64_t begin) {
    if (offset != begin || offset + length != reader_.offset()) differ("place of a token", begin);
  }

  void differ(const std::string& what, std::uint64_t offset) {
    if (first.empty()) first = what + " differs at byte " + std::to_string(offset);
  }

  JsonReader& reader_;
  const std::string& bytes_;
};

}  // namespace

std::string first_difference(const std::string& bytes, std::size_t window, std::size_t& values) {
  std::vector<Problem> problems;
  ByteSource source = ByteSource::memory(bytes);
  JsonReader reader(source, 0, problems, window);
  Comparison comparison(reader, bytes);
  try {
    comparison.compare(nlohmann::json::parse(bytes));
    if (comparison.first.empty()) reader.expect_end();
  } catch (const InputError& error) {
    return std::string("the reader failed: ") + error.what();
  }
  values += comparison.values;
  if (comparison.first.empty() && !problems.empty()) return "problem: " + problems.front().message;
  return comparison.first;
}

}  // namespace opseal::test
