#include <doctest/doctest.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "analyzers/analyzers.h"
#include "cli/places.h"
#include "opseal/form.h"
#include "opseal/registration.h"
#include "tests/support.h"

namespace opseal::test {
namespace {

using namespace std::string_literals;

// A manifest with these operators, between the brackets of the list.
std::string manifest_of(const std::string& operators) {
  return R"({"opseal_manifest": 1, "system": "engine", "operators": [)" + operators + "]}";
}

Fact root(const Facts& facts) {
  REQUIRE(facts.documents.size() == 1);
  return facts.root(facts.documents.front());
}

Fact nth(const Fact& list, std::size_t wanted) {
  for (const Fact item : list.items()) {
    if (wanted-- == 0) return item;
  }
  return {};
}

Fact first_operator(const Facts& facts) { return nth(root(facts)[Key::operators], 0); }

// The bytes at a place.
std::string at(const Facts& facts, const Location& where) {
  return facts.files[where.file].bytes.substr(where.offset, where.length);
}

// The only problem: its bytes and its message.
void check_problem(const Facts& facts, const std::string& bytes, const std::string& message) {
  REQUIRE(facts.problems.size() == 1);
  const Problem& problem = facts.problems.front();
  CHECK(at(facts, problem.where) == bytes);
  CHECK(problem.message == message);
  CHECK(problem.severity == Severity::error);
}

void check_refused(const std::string& bytes, const std::string& message) {
  const Facts facts = read_text(bytes);
  INFO(bytes.substr(0, 200));
  CHECK(facts.documents.empty());
  CHECK(facts.nodes.empty());
  REQUIRE(!facts.problems.empty());
  CHECK(facts.problems.back().message == message);
}

}  // namespace

TEST_CASE("said, said to be absent and not said stay three things") {
  const Facts facts = read_text(manifest_of(
      R"({"name": "mv", "inputs": 2, "jvp": null, "kernels": [], "defaults": {}, "deprecated": false, "schema": ""})"));
  CHECK(facts.problems.empty());
  const Fact op = first_operator(facts);
  CHECK(op[Key::inputs].present());
  CHECK(op[Key::inputs].count() == 2);
  CHECK(op[Key::jvp].said());
  CHECK(op[Key::jvp].is_null());
  CHECK_FALSE(op[Key::jvp].present());
  CHECK(op[Key::kernels].present());
  CHECK(op[Key::kernels].is_list());
  CHECK(op[Key::kernels].size() == 0);
  CHECK(op[Key::defaults].is_map());
  CHECK(op[Key::defaults].size() == 0);
  CHECK(op[Key::deprecated].is_truth());
  CHECK_FALSE(op[Key::deprecated].truth(true));
  CHECK(op[Key::schema].is_text());
  CHECK(op[Key::schema].text("other") == "");
  CHECK_FALSE(op[Key::outputs].said());
  CHECK_FALSE(op[Key::jvp][Key::rules].said());
  CHECK_FALSE(op[Key::outputs].where().known());
  CHECK(facts.said[static_cast<std::size_t>(Key::jvp)]);
  CHECK_FALSE(facts.said[static_cast<std::size_t>(Key::outputs)]);
}

TEST_CASE("every fact of the recorded manifests has the bytes and the pointer of its value") {
  for (const auto& entry : std::filesystem::directory_iterator(source_dir() / "fixtures/_whole")) {
    if (entry.path().extension() != ".json") continue;
    const std::string bytes = read_file(entry.path());
    const nlohmann::json tree = nlohmann::json::parse(bytes);
    const Facts facts = read_text(bytes);
    INFO(entry.path().string());
    CHECK(facts.problems.empty());
    REQUIRE(facts.documents.size() == 1);
    std::size_t wrong = 0;
    for (std::uint32_t node = 0; node < facts.nodes.size(); ++node) {
      const Node& fact = facts.nodes[node];
      const bool name = fact.key == Key::entry_name ||
                        (fact.key == Key::extension && fact.type == NodeType::text);
      if (name) continue;
      const Location where = facts.place(node);
      const nlohmann::json value = nlohmann::json::parse(at(facts, where));
      const std::string pointer = logical_name(facts, where);
      if (value != tree.at(nlohmann::json::json_pointer(pointer))) ++wrong;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("a key that the format doesn't have is a problem with the nearest name") {
  const Facts facts = read_text(manifest_of(
      R"({"name": "a", "input": 2, "tags": ["t"]}, {"name": "b", "jvp": {"kind": "linear", "zzzzzzzz": [{"a": 1}]}})"));
  REQUIRE(facts.problems.size() == 2);
  CHECK(at(facts, facts.problems[0].where) == "\"input\"");
  CHECK(facts.problems[0].message == "unknown key `input` in `operators`; did you mean `inputs`?");
  CHECK(logical_name(facts, facts.problems[0].where) == "/operators/0");
  CHECK(facts.problems[1].message ==
        "unknown key `zzzzzzzz` in `jvp`; keys of your own begin with `x-`");
  CHECK(logical_name(facts, facts.problems[1].where) == "/operators/1/jvp");
  const Fact op = first_operator(facts);
  CHECK_FALSE(op[Key::inputs].said());
  CHECK(list_has(op[Key::tags], "t"));
  CHECK(nth(root(facts)[Key::operators], 1)[Key::jvp][Key::kind].is("linear"));
}

TEST_CASE("an unknown key of the document says so") {
  const Facts facts = read_text(R"({"opseal_manifest": 1, "operator": []})");
  check_problem(facts, "\"operator\"",
                "unknown key `operator` in the manifest; did you mean `operators`?");
}

TEST_CASE("of equal keys the first counts and both places are told") {
  const Facts facts = read_text(manifest_of(
      R"({"name": "a", "inputs": 2, "na\u006de": "b", "inputs": 3, "\u0069nputs": 4})"));
  REQUIRE(facts.problems.size() == 3);
  CHECK(at(facts, facts.problems[0].where) == R"("na\u006de")");
  CHECK(at(facts, facts.problems[0].related).substr(0, 6) == "\"name\"");
  CHECK(facts.problems[0].message == "key `name` stands twice in one object; the first one counts");
  CHECK(at(facts, facts.problems[1].where) == "\"inputs\"");
  CHECK(facts.problems[1].related.offset == facts.problems[2].related.offset);
  CHECK(first_operator(facts)[Key::name].is("a"));
  CHECK(first_operator(facts)[Key::inputs].count() == 2);
}

TEST_CASE("of equal entries of a map the first counts") {
  const Facts facts = read_text(manifest_of(
      R"({"name": "a", "defaults": {"cpu": "numba", "c\u0070u": "jax", "gpu": "x"}, "arity": {"rule": [1], "rule": [2]}})"));
  REQUIRE(facts.problems.size() == 2);
  CHECK(at(facts, facts.problems[0].where) == R"("c\u0070u")");
  CHECK(facts.problems[0].related.offset == facts.files[0].bytes.find("\"cpu\""));
  const Fact defaults = first_operator(facts)[Key::defaults];
  CHECK(defaults.size() == 2);
  CHECK(defaults.at("cpu").is("numba"));
  CHECK(defaults.at("gpu").is("x"));
  CHECK_FALSE(defaults.at("tpu").said());
  CHECK(nth(first_operator(facts)[Key::arity].at("rule"), 0).count() == 1);
}

TEST_CASE("the same entry in two maps is no repetition") {
  const Facts facts = read_text(manifest_of(
      R"({"name": "a", "defaults": {"cpu": "x"}}, {"name": "b", "defaults": {"cpu": "x"}, "arity": {"rule": [1]}})"));
  CHECK(facts.problems.empty());
}

TEST_CASE("a member of the wrong type is a problem and counts as not said") {
  const struct {
    const char* member;
    const char* bytes;
    const char* message;
  } cases[] = {
      {R"("inputs": "3")", "\"3\"",
       "a text as `inputs`, expected non-negative integer, list or object"},
      {R"("jvp": [1, {"a": 2}])", R"([1, {"a": 2}])", "a list as `jvp`, expected object or null"},
      {R"("package": {"a": []})", R"({"a": []})", "an object as `package`, expected text"},
      {R"("package": 1)", "1", "a number as `package`, expected text"},
      {R"("package": null)", "null", "null as `package`, expected text"},
      {R"("package": true)", "true", "a truth value as `package`, expected text"},
      {R"("deprecated": "yes")", "\"yes\"", "a text as `deprecated`, expected true or false"},
      {R"("deprecated": 1)", "1", "a number as `deprecated`, expected true or false"},
      {R"("tags": "a")", "\"a\"", "a text as `tags`, expected list"},
      {R"("defaults": ["cpu"])", R"(["cpu"])", "a list as `defaults`, expected object"},
      {R"("arity_source": "guess")", "\"guess\"",
       "`guess` is no word for `arity_source`, expected one of `traced`, `calls`, `rule`, `schema` "
       "and "
       "`declared`"},
      {R"("arity_source": "trace")", "\"trace\"",
       "`trace` is no word for `arity_source`; did you mean `traced`?"},
      {R"("inputs": -1)", "-1",
       "number out of range as `inputs`, expected an integer from 0 to 4294967295"},
      {R"("inputs": 4294967296)", "4294967296",
       "number out of range as `inputs`, expected an integer from 0 to 4294967295"},
      {R"("inputs": 2.5)", "2.5",
       "number out of range as `inputs`, expected an integer from 0 to 4294967295"},
      {R"("inputs": 1e999)", "1e999", "number too large for a double"},
      {R"("inputs": NaN)", "NaN", "`NaN` is not a value of JSON"},
      {R"("inputs": -Infinity)", "-Infinity", "`-Infinity` is not a number of JSON"},
      {R"("inputs": 03)", "03", "`03` is not a number of JSON"},
      {R"("deprecated": True)", "True", "`True` is not a value of JSON"},
      {R"("schema": "a\ud800b")", "\\u", "not an escape sequence of JSON"},
      {"\"schema\": \"a\xff\"", "\xff", "byte that is not UTF-8"},
      {"\"schema\": \"a\tb\"", "\t", "control byte in a text; write it as an escape"},
      {R"("\q": 1)", "\\q", "not an escape sequence of JSON"},
      {R"("location": {"line": 3})", "{", "object in `location` without its key `file`"},
  };
  for (const auto& one : cases) {
    INFO(one.member);
    const Facts facts = read_text(manifest_of("{\"name\": \"a\", "s + one.member +
                                              ", \"tags\": [\"t\"]}, {\"name\": \"b\"}"));
    // A second `tags` in the case about `tags` is a repetition besides.
    if (std::string_view(one.member).starts_with("\"tags\"")) {
      REQUIRE(facts.problems.size() == 2);
      CHECK(facts.problems[0].message == one.message);
      CHECK_FALSE(first_operator(facts)[Key::tags].said());
      continue;
    }
    check_problem(facts, one.bytes, one.message);
    const Fact op = first_operator(facts);
    CHECK(op[Key::name].is("a"));
    for (const Fact member : op.items()) {
      CHECK(member.said() == (member.key() == Key::name || member.key() == Key::tags));
    }
    CHECK(list_has(op[Key::tags], "t"));
    CHECK(nth(root(facts)[Key::operators], 1)[Key::name].is("b"));
  }
}

TEST_CASE("a bound below nothing is a problem, and one of nothing is none") {
  const Facts facts = read_text(manifest_of(
      R"({"name": "a", "kernels": [{"platform": "cpu", "precision": {"max_ulp": -3, "max_relative": 0, "max_absolute": -0.5}}]})"));
  REQUIRE(facts.problems.size() == 2);
  CHECK(facts.problems[0].message == "negative number as `max_ulp`, expected 0 or more");
  CHECK(at(facts, facts.problems[1].where) == "-0.5");
  const Fact bounds = nth(first_operator(facts)[Key::kernels], 0)[Key::precision];
  CHECK_FALSE(bounds[Key::max_ulp].said());
  CHECK(bounds[Key::max_relative].is_number());
}

TEST_CASE("an element of the wrong type stays in its list as unread") {
  const Facts facts = read_text(manifest_of(
      R"({"name": "a", "jvp": {"kind": "per_input", "rules": [null, 5, {"name": "f"}, {"positional": 1}, "g"]}, "tags": ["x", null, 3]}, 7, {"inputs": 1}, {"name": "c"})"));
  REQUIRE(facts.problems.size() == 7);
  const Fact rules = first_operator(facts)[Key::jvp][Key::rules];
  CHECK(rules.size() == 5);
  CHECK(nth(rules, 0).is_null());
  CHECK_FALSE(nth(rules, 1).said());
  CHECK(at(facts, nth(rules, 1).where()) == "5");
  CHECK(logical_name(facts, facts.problems[0].where) == "/operators/0/jvp/rules/1");
  CHECK(facts.problems[0].message == "a number as an element of `rules`, expected object or null");
  CHECK(nth(rules, 2)[Key::name].is("f"));
  CHECK_FALSE(nth(rules, 3).said());
  CHECK(at(facts, nth(rules, 3).where()) == R"({"positional": 1})");
  CHECK_FALSE(all_read(rules));
  CHECK(first_operator(facts)[Key::tags].size() == 3);
  const Fact operators = root(facts)[Key::operators];
  CHECK(operators.size() == 4);
  CHECK_FALSE(nth(operators, 1).said());
  CHECK_FALSE(nth(operators, 2).said());
  CHECK(nth(operators, 3)[Key::name].is("c"));
  int visited = 0;
  for_each_operator(facts, [&visited](const Fact&, const Fact&) { ++visited; });
  CHECK(visited == 2);
}

TEST_CASE("an entry of the wrong type stays in its map as unread") {
  const Facts facts = read_text(
      manifest_of(R"({"name": "a", "defaults": {"cpu": 1, "gpu": "x"}, "arity": {"rule": 3}})"));
  REQUIRE(facts.problems.size() == 2);
  CHECK(facts.problems[0].message == "a number as an element of `defaults`, expected text");
  CHECK(logical_name(facts, facts.problems[0].where) == "/operators/0/defaults/cpu");
  CHECK(first_operator(facts)[Key::defaults].size() == 2);
  CHECK_FALSE(first_operator(facts)[Key::defaults].at("cpu").said());
  CHECK(first_operator(facts)[Key::defaults].at("gpu").is("x"));
  CHECK_FALSE(first_operator(facts)[Key::arity].at("rule").said());
}

TEST_CASE("an operator whose name can't be read is one unread element") {
  const Facts facts =
      read_text(manifest_of("{\"name\": \"a\xc0\xaf\", \"inputs\": 1}, {\"name\": \"b\"}"));
  check_problem(facts, "\xc0", "byte that is not UTF-8");
  const Fact operators = root(facts)[Key::operators];
  CHECK(operators.size() == 2);
  CHECK_FALSE(nth(operators, 0).said());
}

TEST_CASE("a byte-order mark is a problem and the rest is read") {
  const Facts facts = read_text("\xef\xbb\xbf" + manifest_of(R"({"name": "a"})"));
  check_problem(facts, "\xef\xbb\xbf", "byte-order mark before the document; JSON has none");
  CHECK(first_operator(facts)[Key::name].is("a"));
  CHECK(at(facts, first_operator(facts)[Key::name].where()) == "\"a\"");
}

TEST_CASE("deep nesting under an unknown key or an `x-` key is a problem and the rest is read") {
  for (const std::size_t depth : {300u, 200'000u}) {
    const std::string deep = std::string(depth, '[') + std::string(depth, ']');
    const Facts facts = read_text(manifest_of(R"({"name": "a", "x-deep": )" + deep +
                                              R"(}, {"nam": )" + deep + R"(, "name": "b"})"));
    REQUIRE(facts.problems.size() == 3);
    CHECK(facts.problems[0].message == "nested deeper than 256 levels");
    CHECK(facts.problems[1].message == "unknown key `nam` in `operators`; did you mean `name`?");
    CHECK(facts.problems[2].message == "nested deeper than 256 levels");
    CHECK(nth(root(facts)[Key::operators], 1)[Key::name].is("b"));
    CHECK(first_operator(facts).size() == 1);
  }
}

TEST_CASE("keys that begin with `x-` are kept as written") {
  const std::string raw = R"({"a" :[1, 2.50, "\u00e9"],"b":null})";
  const Facts facts =
      read_text(R"({"x-top": 1, "opseal_manifest": 1, "operators": [{"x-note": )" + raw +
                R"(, "name": "a", "location": {"file": "f", "x-~/": [ ]}}]})");
  CHECK(facts.problems.empty());
  std::vector<std::string> kept;
  std::vector<std::string> pointers;
  for (std::uint32_t node = 0; node < facts.nodes.size(); ++node) {
    if (facts.nodes[node].type != NodeType::raw) continue;
    kept.emplace_back(facts.names.text(facts.nodes[node].value));
    CHECK(kept.back() == at(facts, facts.place(node)));
    pointers.push_back(logical_name(facts, facts.place(node)));
  }
  REQUIRE(kept.size() == 3);
  CHECK(kept[0] == "1");
  CHECK(kept[1] == raw);
  CHECK(kept[2] == "[ ]");
  CHECK(pointers[0] == "/x-top");
  CHECK(pointers[1] == "/operators/0/x-note");
  CHECK(pointers[2] == "/operators/0/location/x-~0~1");
  CHECK(first_operator(facts)[Key::name].is("a"));
}

TEST_CASE("of equal `x-` keys the first is kept and both places are told") {
  const Facts facts = read_text(manifest_of(R"({"name": "a", "x-a": 1, "x-b": 2, "\u0078-a": 3})"));
  check_problem(facts, R"("\u0078-a")",
                "key `x-a` stands twice in one object; the first one counts");
  CHECK(facts.problems[0].related.offset == facts.files[0].bytes.find("\"x-a\""));
  std::string kept;
  for (std::uint32_t node = 0; node < facts.nodes.size(); ++node) {
    if (facts.nodes[node].type == NodeType::raw) kept += facts.names.text(facts.nodes[node].value);
  }
  CHECK(kept == "12");
}

TEST_CASE("an object keeps a thousand `x-` keys, so that looking through it stays cheap") {
  std::string members;
  for (int i = 0; i < 1500; ++i) members += ", \"x-" + std::to_string(i) + "\": 0";
  const Facts facts = read_text(
      manifest_of(R"({"name": "a")" + members + R"(, "inputs": 1}, {"name": "b", "x-0": 0})"));
  check_problem(facts, "\"x-1000\"", "more than 1000 `x-` keys in one object");
  CHECK(first_operator(facts)[Key::inputs].count() == 1);
  CHECK(first_operator(facts).size() == 2 + 2 * 1000);
}

TEST_CASE("an `x-` value with a problem inside is left out") {
  const Facts facts = read_text(manifest_of(R"({"name": "a", "x-a": {"b": [NaN]}, "inputs": 1})"));
  check_problem(facts, "NaN", "`NaN` is not a value of JSON");
  CHECK(first_operator(facts).size() == 2);
}

TEST_CASE("another version of the format is refused") {
  const Facts facts = read_text(R"({"opseal_manifest": 2, "operators": [{"name": "a"}]})");
  check_problem(facts, "2", "manifest version 2, this opseal reads version 1");
  CHECK(facts.documents.empty());
  CHECK(facts.nodes.empty());
  check_refused(R"({"opseal_manifest": 0})", "manifest version 0, this opseal reads version 1");
  CHECK(read_text(R"({"opseal_manifest": 1.0})").problems.empty());
}

TEST_CASE("a document without a readable version is refused") {
  check_refused(R"({"operators": []})", "object in the document without its key `opseal_manifest`");
  check_refused(R"({"opseal_manifest": "1", "operators": []})",
                "a text as `opseal_manifest`, expected non-negative integer");
  check_refused(R"({"opseal_manifest": null})",
                "null as `opseal_manifest`, expected non-negative integer");
}

TEST_CASE("what breaks the grammar ends the file and nothing of it is kept") {
  check_refused("", "the document ends where an object is expected");
  check_refused("  \n ", "the document ends where an object is expected");
  check_refused("[]", "expected an object");
  check_refused("/ {}", "expected an object");
  check_refused(R"({"opseal_manifest": 1)", "the document ends where `,` or `}` is expected");
  check_refused(R"({"opseal_manifest": 1} x)", "something follows the end of the document");
  check_refused(R"({"opseal_manifest": 1}{})", "something follows the end of the document");
  check_refused(R"({"opseal_manifest": 1,})", "`,` before `}`");
  check_refused(R"({"opseal_manifest": 1, "operators": [{"name": "a"},]})", "`,` before `]`");
  check_refused(R"({"opseal_manifest" 1})", "expected `:` after a key");
  check_refused(R"({"opseal_manifest": 1, operators: []})", "expected a key in quotation marks");
  check_refused(R"({"opseal_manifest": 1 "operators": []})", "expected `,` or `}`");
  check_refused(R"({"opseal_manifest": 1, "operators": [{"name": "a]}]})",
                "text without a closing quotation mark");
  check_refused(R"({"opseal_manifest": 1, "operators": [;]})", "expected a value");
  check_refused(R"({"opseal_manifest": 1, "operators": [)",
                "the document ends where a value is expected");
}

TEST_CASE("a comment is told as one, wherever it stands") {
  const std::string hint = "; JSON has no comments";
  check_refused("// c\n{\"opseal_manifest\": 1}", "a comment, expected an object" + hint);
  check_refused("/* c */ {\"opseal_manifest\": 1}", "a comment, expected an object" + hint);
  check_refused("{ // c\n\"opseal_manifest\": 1}",
                "a comment, expected a key in quotation marks" + hint);
  check_refused("{\"opseal_manifest\": 1, \"tags\": /* c */ []}",
                "a comment, expected a value" + hint);
  check_refused("{\"opseal_manifest\": 1 // c\n}", "a comment, expected `,` or `}`" + hint);
  check_refused("{\"opseal_manifest\": 1} // c",
                "a comment follows the end of the document" + hint);
}

TEST_CASE("comments in front of a manifest don't hide what it is") {
  const std::string manifest = R"({"opseal_manifest": 1})";
  CHECK(accepts_manifest("// mine\n// too {\n" + manifest, true) == Accepts::yes);
  CHECK(accepts_manifest("\xef\xbb\xbf /* mine\n { */ //\n" + manifest, true) == Accepts::yes);
  const std::string rest(head_size, ' ');
  CHECK(accepts_manifest("/**/{ // the log\n\"operators\": []" + rest, false) ==
        Accepts::look_further);
  CHECK(accepts_manifest("/**/{ // the log\n\"others\": []" + rest, false) == Accepts::no);
  CHECK(accepts_manifest("// " + manifest, true) == Accepts::no);
  CHECK(accepts_manifest("/* " + manifest, true) == Accepts::no);
  CHECK(accepts_manifest("/*/ " + manifest, true) == Accepts::no);
  CHECK(accepts_manifest("# mine\n" + manifest, true) == Accepts::no);
  CHECK(accepts_manifest("// int main()\n{ return 0; }", true) == Accepts::no);
}

TEST_CASE("a word that nothing is near to is answered with all words") {
  const Facts facts = read_text(R"({"opseal_manifest": 1, "system": "tinyinfer"})");
  check_problem(facts, "\"tinyinfer\"",
                "`tinyinfer` is no word for `system`, expected one of `brainevent`, `jax`, "
                "`braintrace`, `torch`, `onnxruntime`, `tensorflow`, `tflite`, `tensorrt`, `ggml`, "
                "`tvm-ffi`, `executorch`, `fuel`, `torch-autograd`, `jax-derivatives`, `paddle`, "
                "`engine`, `triton`, `ctypes`, `mlx`, `torch-native` and `onnxruntime-extensions` "
                "(`engine` for a system of "
                "your own)");
  check_problem(read_text(R"({"opseal_manifest": 1, "system": "pytorch"})"), "\"pytorch\"",
                "`pytorch` is no word for `system`; did you mean `torch`?");
}

TEST_CASE("the address of a schema is a fact of the document alone") {
  const Facts facts = read_text(
      R"({"$schema": "a.json", "opseal_manifest": 1, "operators": [{"name": "a", "$schema": "b"}]})");
  CHECK(root(facts)[Key::schema_reference].is("a.json"));
  REQUIRE(facts.problems.size() == 1);
  CHECK(facts.problems[0].message ==
        "unknown key `$schema` in `operators`; did you mean `schema`?");
}

TEST_CASE("what is told of one file has an end, and reading goes on behind it") {
  std::string tags = "1";
  for (int i = 1; i < 250; ++i) tags += ",1";
  const std::string wrong = R"({"name": "a", "tags": [)" + tags + "]}";
  const Facts facts =
      read_text(manifest_of(wrong + R"(, {"name": "b", "x-n": [NaN], "inputs": 2})"));
  REQUIRE(facts.problems.size() == 101);
  CHECK(facts.problems[99].message == "a number as an element of `tags`, expected text");
  CHECK(facts.problems[100].message == "and 151 more problems");
  CHECK(facts.problems[100].where == Location{0, 0, 0});
  CHECK(facts.problems[100].severity == Severity::error);
  const Fact second = nth(root(facts)[Key::operators], 1);
  CHECK(second[Key::inputs].count() == 2);
  // A problem that is only counted makes its value unreadable all the same.
  CHECK(second.size() == 2);
  CHECK(first_operator(facts)[Key::tags].size() == 250);

  const Facts cut = read_text(manifest_of(wrong).substr(0, manifest_of(wrong).size() - 1));
  REQUIRE(cut.problems.size() == 102);
  CHECK(cut.problems[100].message == "and 150 more problems");
  CHECK(cut.problems[101].message == "the document ends where `,` or `}` is expected");
}

TEST_CASE("a hundred problems are all told, and one more is one more") {
  std::string tags = "1";
  for (int i = 1; i < 100; ++i) tags += ",1";
  CHECK(read_text(manifest_of(R"({"name": "a", "tags": [)" + tags + "]}")).problems.size() == 100);
  const Facts more = read_text(manifest_of(R"({"name": "a", "tags": [)" + tags + ",1]}"));
  REQUIRE(more.problems.size() == 101);
  CHECK(more.problems.back().message == "and 1 more problem");
}

TEST_CASE("of equal keys that the format doesn't have both places are told") {
  const Facts facts = read_text(
      manifest_of(R"({"zz": 1, "name": "a", "z\u007a": 2}, {"name": "b", "zz": 3, "x-a": 4})"));
  REQUIRE(facts.problems.size() == 3);
  CHECK(facts.problems[1].message == "key `zz` stands twice in one object");
  CHECK(at(facts, facts.problems[1].where) == R"("z\u007a")");
  CHECK(at(facts, facts.problems[1].related) == "\"zz\"");
  CHECK(facts.problems[2].message ==
        "unknown key `zz` in `operators`; keys of your own begin with `x-`");
}

TEST_CASE("equal `x-` keys are seen however many stand between them, but not inside a value") {
  std::string members = R"("x-first": {"a": 1, "a": 2})";
  for (int i = 0; i < 900; ++i) members += ", \"x-" + std::to_string(i) + "\": 0";
  const Facts facts = read_text(manifest_of(R"({"name": "a", )" + members + R"(, "x-first": 1})"));
  check_problem(facts, "\"x-first\"",
                "key `x-first` stands twice in one object; the first one counts");
  CHECK(at(facts, facts.problems[0].related) == "\"x-first\"");
  CHECK(facts.problems[0].related.offset == facts.files[0].bytes.find("\"x-first\""));
}

TEST_CASE("the place of an equal key has the bytes of that key") {
  const Facts facts = read_text(
      manifest_of(R"({"na\u006de": "a", "name": "b", "defaults": {"c\u0070u": "x", "cpu": "y"}})"));
  REQUIRE(facts.problems.size() == 2);
  CHECK(at(facts, facts.problems[0].related) == R"("na\u006de")");
  CHECK(at(facts, facts.problems[1].related) == R"("c\u0070u")");
}

TEST_CASE("small maps take as long behind a large one as in front of it") {
  std::string large = R"({"name": "a", "defaults": {"k": "x")";
  for (int i = 0; i < 300'000; ++i) large += ", \"" + std::to_string(i) + "\": \"x\"";
  large += "}}";
  std::string small = R"({"name": "b", "defaults": {"cpu": "x"}})";
  for (int i = 1; i < 40'000; ++i) small += R"(, {"name": "b", "defaults": {"cpu": "x"}})";
  const auto read = [](const std::string& operators) {
    const std::clock_t begin = std::clock();
    const Facts facts = read_text(manifest_of(operators));
    CHECK(facts.problems.empty());
    CHECK(root(facts)[Key::operators].size() == 40'001);
    return std::clock() - begin;
  };
  const std::clock_t in_front = read(small + ", " + large);
  const std::clock_t behind = read(large + ", " + small);
  CHECK(behind < 4 * in_front);
}

TEST_CASE("places of long values are exact, and what is taken back takes its length along") {
  const std::string text(200'000, 'x');
  const std::string operators = R"({"name": "a", "schema": ")" + text +
                                R"(", "tags": ["t"]}, {"schema": ")" + text +
                                R"("}, {"name": "b", "x-n": ")" + text + R"("})";
  const std::string bytes = manifest_of(operators);
  Facts facts = read_text(manifest_of(R"({"name": "c", "schema": ")" + text + "\"}"));
  facts.append(read_text(bytes));
  REQUIRE(facts.documents.size() == 2);
  const Fact second = facts.root(facts.documents[1]);
  CHECK(at(facts, second.where()) == bytes);
  CHECK(at(facts, second[Key::operators].where()) == "[" + operators + "]");
  CHECK(at(facts, nth(second[Key::operators], 0)[Key::schema].where()) == '"' + text + '"');
  CHECK(at(facts, nth(second[Key::operators], 0)[Key::tags].where()) == R"(["t"])");
  CHECK(at(facts, nth(second[Key::operators], 1).where()) == R"({"schema": ")" + text + "\"}");
  for (const Fact member : nth(second[Key::operators], 2).items()) {
    if (member.node().type == NodeType::raw) CHECK(at(facts, member.where()) == '"' + text + '"');
  }
  CHECK(std::is_sorted(facts.long_lengths.begin(), facts.long_lengths.end(),
                       [](const LongLength& a, const LongLength& b) { return a.node < b.node; }));
  // Of each document: itself, its operators, and of these the objects and the texts.
  CHECK(facts.long_lengths.size() == 4 + 7);
}

TEST_CASE("problems in front of a broken end are told too") {
  const Facts facts = read_text(R"({"opseal_manifest": 1, "operatorz": [], "system": "engine")");
  REQUIRE(facts.problems.size() == 2);
  CHECK(facts.problems[0].message ==
        "unknown key `operatorz` in the manifest; did you mean `operators`?");
  CHECK(facts.problems[1].where.offset == facts.files[0].bytes.size());
}

TEST_CASE("maps hold no maps, as the reader takes for granted") {
  for_each_named_form(
      manifest_form,
      [](const Form& form, void*) {
        for (const Field& field : form.fields) {
          const Form* value = field.form->map_value;
          while (value != nullptr && value->item != nullptr) value = value->item;
          if (value == nullptr) continue;
          INFO("key " << std::string(to_text(field.key)));
          CHECK(value->map_value == nullptr);
          CHECK(value->fields.empty());
        }
      },
      nullptr);
}

}  // namespace opseal::test
