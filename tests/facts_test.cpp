#include "opseal/facts.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analyzers/fact_writer.h"
#include "opseal/chunked.h"
#include "opseal/digest.h"
#include "opseal/names.h"
#include "opseal/registration.h"
#include "tests/support.h"

namespace opseal::test {
namespace {

Fact nth_operator(const Facts& facts, std::size_t document, std::size_t wanted) {
  for (const Fact op : facts.root(facts.documents.at(document))[Key::operators].items()) {
    if (wanted-- == 0) return op;
  }
  return {};
}

std::string manifest_of(const std::string& operators) {
  return R"({"opseal_manifest": 1, "system": "engine", "operators": [)" + operators + "]}";
}

// "2..3", or "not said".
std::string inputs_text(const std::string& inputs) {
  const Facts facts = read_text(manifest_of(R"({"name": "a", "inputs": )" + inputs + "}"));
  const Stated<CountRange> count = operand_count(nth_operator(facts, 0, 0)[Key::inputs]);
  if (!count) return "not said";
  const std::string most = count->max == CountRange::unbounded ? "" : std::to_string(count->max);
  return std::to_string(count->min) + ".." + most;
}

}  // namespace

TEST_CASE("an absent fact answers every question with nothing") {
  const Fact absent;
  CHECK_FALSE(absent.said());
  CHECK_FALSE(absent.present());
  CHECK_FALSE(absent.is_null());
  CHECK(absent[Key::jvp][Key::rules].items().begin() == absent[Key::jvp][Key::rules].items().end());
  CHECK(absent.at("cpu").text("none") == "none");
  CHECK(absent.count(7) == 7);
  CHECK(absent.number(1.5) == 1.5);
  CHECK(absent.truth(true));
  CHECK(absent.size() == 0);
  CHECK(absent.name() == Names::missing);
  CHECK(absent.key() == Key::none);
  CHECK_FALSE(absent.where().known());
  CHECK_FALSE(absent.is(""));
}

TEST_CASE("a fact of another type answers with what the asker gave") {
  const Facts facts = read_text(manifest_of(R"({"name": "a", "inputs": 2, "jvp": null})"));
  const Fact op = nth_operator(facts, 0, 0);
  CHECK(op[Key::inputs].text("x") == "x");
  CHECK(op[Key::inputs].truth(true));
  CHECK(op[Key::inputs].number() == 2.0);
  CHECK(op[Key::name].count(9) == 9);
  CHECK(op[Key::jvp].count(9) == 9);
  CHECK(op[Key::name][Key::name].said() == false);
  CHECK(op[Key::name].size() == 0);
}

TEST_CASE("inputs are counted in each of their spellings") {
  CHECK(inputs_text("0") == "0..0");
  CHECK(inputs_text("3") == "3..3");
  CHECK(inputs_text(R"({"min": 2, "max": 3})") == "2..3");
  CHECK(inputs_text(R"({"min": 4, "max": 3})") == "not said");
  CHECK(inputs_text("[]") == "0..0");
  CHECK(inputs_text(R"([{}, {"optional": true}, {"name": "x"}])") == "2..3");
  CHECK(inputs_text(R"([{}, {"variadic": true}])") == "1..");
  CHECK(inputs_text(R"([{"variadic": true}, {}, {"optional": true}])") == "1..");
  CHECK(inputs_text("[{}, 5]") == "not said");
  CHECK(inputs_text("null") == "not said");
}

TEST_CASE("facts that are put behind others keep their texts, numbers and places") {
  const std::string first =
      manifest_of(R"({"name": "a", "kernels": [{"platform": "cpu", "priority": 1.5}]})");
  const std::string second = manifest_of(
      R"({"name": "b", "x-note": {"q": [1]}, "kernels": [{"platform": "cpu", "priority": 2.5}], "bad": 1}, {"name": "a"})");
  Facts facts = read_text(first);
  facts.append(read_text(second));
  facts.append(Facts());
  facts.append(read_text("{"));
  facts.append(read_text(manifest_of(R"({"name": "c"})")));
  REQUIRE(facts.files.size() == 4);
  REQUIRE(facts.documents.size() == 3);
  CHECK(facts.documents[1].file == 1);
  CHECK(facts.documents[2].file == 3);
  const Fact b = nth_operator(facts, 1, 0);
  CHECK(b[Key::name].is("b"));
  CHECK(nth_operator(facts, 1, 1)[Key::name].name() == nth_operator(facts, 0, 0)[Key::name].name());
  for (const Fact kernel : b[Key::kernels].items()) CHECK(kernel[Key::priority].number() == 2.5);
  for (const Fact kernel : nth_operator(facts, 0, 0)[Key::kernels].items()) {
    CHECK(kernel[Key::priority].number() == 1.5);
  }
  const Location where = b[Key::name].where();
  CHECK(where.file == 1);
  CHECK(second.substr(where.offset, where.length) == "\"b\"");
  CHECK(nth_operator(facts, 2, 0)[Key::name].where().file == 3);
  std::string raw;
  for (const Fact member : b.items()) {
    if (member.node().type == NodeType::raw) raw = facts.names.text(member.node().value);
  }
  CHECK(raw == R"({"q": [1]})");
  REQUIRE(facts.problems.size() == 2);
  CHECK(facts.problems[0].where.file == 1);
  CHECK(facts.problems[1].where.file == 2);
  CHECK(facts.said[static_cast<std::size_t>(Key::priority)]);
}

TEST_CASE("a place of a fact holds large offsets and cuts long values") {
  Node node;
  node.set_place(Node::max_offset, 5);
  CHECK(node.offset() == Node::max_offset);
  CHECK(node.length() == 5);
  node.set_place(0x123456789, Node::max_length + 1000);
  CHECK(node.offset() == 0x123456789);
  CHECK(node.length() == Node::max_length);
  const Key last = static_cast<Key>(static_cast<int>(Key::key_count) - 1);
  node.key = last;
  node.type = NodeType::raw;
  CHECK((node.key == last));
  CHECK((node.type == NodeType::raw));
  CHECK(node.offset() == 0x123456789);
}

TEST_CASE("what is taken back leaves what stood before it") {
  Facts facts;
  FactWriter writer(facts);
  const std::uint32_t root = writer.open(Key::none, NodeType::object, 0);
  writer.add_text(Key::name, "a", 1, 1);
  const std::uint32_t list = writer.open(Key::tags, NodeType::list, 2);
  for (int i = 0; i < 10'000; ++i) writer.add_text(Key::none, std::to_string(i), 3, 1);
  writer.close(list, 9);
  writer.drop(list);
  writer.add(Key::inputs, NodeType::count, 4, 9, 1);
  writer.close(root, 10);
  const Fact object = facts.fact(root);
  CHECK(object.size() == 2);
  CHECK(object[Key::name].is("a"));
  CHECK(object[Key::inputs].count() == 4);
  CHECK_FALSE(object[Key::tags].said());
  CHECK(object.node().length() == 10);
}

TEST_CASE("a length at the edge of what a node holds is exact") {
  for (const std::uint64_t more : {std::uint64_t{0}, std::uint64_t{1}}) {
    Facts facts;
    FactWriter writer(facts);
    const std::uint32_t text = writer.next();
    writer.add_text(Key::name, "a", 7, Node::max_length - 1 + more);
    writer.add_text(Key::name, "b", 7, Node::max_length + more);
    CHECK(facts.length(text) == Node::max_length - 1 + more);
    CHECK(facts.length(text + 1) == Node::max_length + more);
    CHECK(facts.long_lengths.size() == more);
    writer.drop(text + 1);
    CHECK(facts.long_lengths.empty());
    writer.add_text(Key::name, "c", 7, std::uint64_t{1} << 33);
    CHECK(facts.length(text + 1) == Location::max_length);
  }
}

TEST_CASE("equal texts have one name, whatever they hold") {
  Names names;
  CHECK(names.intern("") == 0);
  CHECK(names.text(0) == "");
  CHECK(names.find("a") == Names::missing);
  const std::string zero("a\0b", 3);
  const Name with_zero = names.intern(zero);
  CHECK(names.intern("a") != with_zero);
  CHECK(names.text(with_zero) == zero);
  std::mt19937 random(11);
  std::vector<std::string> texts;
  std::vector<Name> given;
  for (int i = 0; i < 50'000; ++i) {
    std::string text = std::to_string(i) + std::string(random() % 40, 'x');
    if (i % 5000 == 0) text += std::string(100'000, static_cast<char>('a' + i / 5000));
    given.push_back(names.intern(text));
    texts.push_back(std::move(text));
  }
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (names.text(given[i]) != texts[i] || names.find(texts[i]) != given[i]) ++wrong;
    if (names.intern(texts[i]) != given[i]) ++wrong;
  }
  CHECK(wrong == 0);
  CHECK(names.size() == texts.size() + 3);
}

TEST_CASE("a chunked array keeps its elements where they are") {
  Chunked<int, 4> numbers;
  numbers.push_back(7);
  const int* first = &numbers[0];
  for (int i = 1; i < 1000; ++i) numbers.push_back(i);
  CHECK(&numbers[0] == first);
  CHECK(numbers.size() == 1000);
  CHECK(numbers[999] == 999);
  numbers.shrink_to(16);
  CHECK(numbers.size() == 16);
  numbers.push_back(-1);
  CHECK(numbers[16] == -1);
  CHECK(numbers[15] == 15);
  numbers.shrink_to(0);
  CHECK(numbers.empty());
}

TEST_CASE("digests are those of xxHash") {
  // Worked out by another implementation, over nothing, over `a`, 0, the length in eight bytes,
  // `b`, and over the same of a longer field.
  CHECK(Digest().hex() == "99aa06d3014798d86001c324468d497f");
  CHECK(Digest().add("a", "b").hex() == "f80645662dd712794e45c5781c5c04f1");
  const std::string longer(300, 'x');
  CHECK(Digest().add("rule", longer).hex() == "26a016b7d2e6ba4362035596aeffd7c5");
  CHECK(hash_text("") == 0x2d06800538d394c2);
  CHECK(hash_text("brainevent") == 0x1f88340381af78a8);
}

TEST_CASE("a field of a digest can't run into its neighbour") {
  CHECK(Digest().add("a", "bc").hex() != Digest().add("ab", "c").hex());
  CHECK(Digest().add("a", "b").add("c", "d").hex() != Digest().add("a", "bc").add("", "d").hex());
  CHECK(Digest().add("a", "").hex() != Digest().hex());
  CHECK(Digest().add("a", "b").add("c", "d").hex() != Digest().add("c", "d").add("a", "b").hex());
  Digest asked;
  asked.add("a", "b");
  CHECK(asked.hex() == asked.hex());
}

}  // namespace opseal::test
