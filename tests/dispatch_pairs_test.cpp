// Support predicates beside the functions that dispatch, followed value by value.

#include "analyzers/sources/dispatch_pairs.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "analyzers/source/branches.h"
#include "tests/support.h"

namespace opseal::test {
namespace {

std::vector<DispatchPair> pairs_in(const std::string& text, const PairOptions& options = {}) {
  CodeFunctions code;
  code.add(0, "csrc/gpu.cpp", text);
  code.resolve_names(CodeFunctions());
  return find_dispatch_pairs(code, CodeFunctions(), options);
}

std::string names(const std::vector<KindName>& kinds) {
  std::string text;
  for (const KindName& kind : kinds) text += (text.empty() ? "" : " ") + kind.name;
  return text;
}

std::string served(const DispatchPair& pair) {
  std::string text;
  for (const DispatchEntry& entry : pair.entries) {
    text += (text.empty() ? "" : " ") + entry.kind.name + ":" + entry.kernel;
  }
  return text;
}

constexpr std::string_view kinds = "enum kind { K_A, K_B, K_C, K_D };\n";
constexpr std::string_view forward = R"(
// opseal: dispatch(gpu)
void forward(node* n) {
  switch (n->op) {
    case K_A: a(n); break;
    case K_B: b(n); break;
    case K_C: c(n); break;
    case K_D: d(n); break;
    default: abort();
  }
}
)";

std::string accepted(std::string_view body) {
  const std::vector<DispatchPair> pairs =
      pairs_in(std::string(kinds) +
               "// opseal: predicate(gpu)\nbool supports(device* dev, const node* op) {" +
               std::string(body) + "}" + std::string(forward));
  return pairs.size() == 1 ? names(pairs.front().accepted) : "no pair";
}

std::string fixture(const std::string& path) {
  std::ifstream stream(source_dir() / "fixtures" / path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string shape() {
  return fixture("claim-without-launch/quiet-sources/csrc/ops.h") +
         fixture("claim-without-launch/quiet-sources/csrc/gpu.cpp");
}

}  // namespace

TEST_CASE("a predicate is followed through conditions, variables and helpers") {
  CHECK(accepted("return op->op == K_A || op->op == K_B || (op->op == K_C && ready(dev));") ==
        "K_A K_B K_C");
  CHECK(accepted("if (op->op != K_A && op->op != K_B) return false; return true;") == "K_A K_B");
  CHECK(accepted("bool ok = false; switch (op->op) { case K_A: ok = true; break; "
                 "case K_B: ok = op->n > 1; break; default: break; } return ok;") == "K_A K_B");
  CHECK(accepted("const kind k = op->op; bool ok = k == K_A; ok |= k == K_D; return ok;") ==
        "K_A K_D");
  CHECK(accepted("switch (op->op) { case K_A: return op->n ? false : true; case K_B: "
                 "return false; case K_C: return true; default: return false; }") == "K_A K_C");
  // An operator behind another object is another question.
  CHECK(accepted("switch (op->op) { case K_A: case K_B: return true; case K_C: "
                 "if (op->src[0]->op == K_A) return true; return false; default: "
                 "return false; }") == "K_A K_B K_C");
}

TEST_CASE("an enumerator may be asked for by another name, and through a cast") {
  // The head of each stands before the functions.
  const auto with = [](const std::string& head, const std::string& body) {
    const std::vector<DispatchPair> pairs = pairs_in(
        std::string(kinds) + head + "// opseal: predicate(gpu)\nbool supports(const node* op) {" +
        body + "}" + std::string(forward));
    return pairs.size() == 1 ? names(pairs.front().accepted) : std::string("no pair");
  };
  const std::string asks = "return op->op == first || op->op == K_B;";
  CHECK(with("constexpr kind first = K_A;", asks) == "K_A K_B");
  CHECK(with("namespace { inline constexpr auto first{static_cast<kind>(K_A)}; }", asks) ==
        "K_A K_B");
  CHECK(with("#define FIRST (K_A)  // the old name\n",
             "switch (op->op) { case FIRST: case K_B: return true; default: return false; }") ==
        "K_A K_B");
  CHECK(with("enum code { C_A = int(K_A), C_B = (int)K_B };",
             "switch (static_cast<code>(op->op)) { case C_A: case C_B: return true; "
             "default: return false; }") == "K_A K_B");
  CHECK(with("struct names { static constexpr kind first = K_A; };",
             "return op->op == names::first || op->op == K_B;") == "K_A K_B");
  CHECK(with("", "const kind first = K_A; return op->op == first || op->op == K_B;") == "K_A K_B");
  CHECK(with("",
             "switch (std::to_underlying(op->op)) { case static_cast<int>(K_A): "
             "case int(K_B): return true; default: return false; }") == "K_A K_B");
  // What can't be told says nothing.
  CHECK(with("constexpr kind kFirst = pick(0);",
             "switch (op->op) { case kFirst: case K_B: return true; default: return false; }") ==
        "no pair");
  CHECK(with("constexpr kind kFirst = pick(0);", "return op->op == kFirst || op->op == K_B;") ==
        "no pair");
  CHECK(with("struct names { static constexpr kind first = K_A; };",
             "return op->op == others::first || op->op == K_B;") == "no pair");
  // A variable is no constant, and another function's constant is none here.
  CHECK(with("void f() { constexpr kind other = K_C; }",
             "kind other = find(op); return op->op == other || op->op == K_B;")
            .empty());
}

TEST_CASE("a backend with more labels than can be followed is left out") {
  PairOptions options;
  CHECK(pairs_in(shape(), options).size() == 1);
  options.most_labels = 100;
  CHECK(pairs_in(shape(), options).empty());
}

TEST_CASE("branches of the preprocessor are ways that a build may take") {
  CHECK(accepted("switch (op->op) { case K_A: return true; case K_B:\n#ifdef X\n return false;\n"
                 "#else\n return true;\n#endif\n case K_C: return false; default: "
                 "return false; }") == "K_A K_B");
  CHECK(accepted("switch (op->op) { case K_A: return true;\n#ifdef X\n case K_B: return true;\n"
                 "#endif\n default: return false; }") == "K_A K_B");
  // `#else` behind an `if` is not its `else`.
  CHECK(accepted("switch (op->op) { case K_A: return true; case K_B: {\n#ifdef X\n"
                 "if (op->n) { if (op->op == K_B) { return false; } }\n#endif\nreturn true; }"
                 "default: return false; }") == "K_A K_B");
  CHECK(accepted("switch (op->op) { case K_A: return true; case K_B: return false\n#ifdef X\n"
                 "|| op->n\n#endif\n; case K_C: return true;\n#if 0\ncase K_D: return true;\n"
                 "#endif\ndefault: return false; }") == "K_A K_B K_C");
}

TEST_CASE("a dispatch is what it does more than for a value without a label") {
  const std::vector<DispatchPair> pairs = pairs_in(std::string(kinds) + R"(
// opseal: predicate(gpu)
bool asks(const node* op) { return op->op == K_A || op->op == K_B || op->op == K_C; }
// opseal: dispatch(gpu)
bool run(node* n) {
  prepare(n);
  launcher f = nullptr;
  switch (n->op) {
    case K_A: f = launch_a; break;
    case K_B: return true;
    case K_D: LOG_ERROR("no"); return false;
    default: return false;
  }
  f(n);
  return true;
}
)");
  REQUIRE(pairs.size() == 1);
  CHECK(pairs[0].backend == "gpu");
  CHECK(served(pairs[0]) == "K_A:launch_a");
  REQUIRE(pairs[0].exceptions.size() == 1);
  CHECK(pairs[0].exceptions[0].first.name == "K_B");
}

TEST_CASE("a pair of the configuration names functions that nothing else would find") {
  PairOptions options;
  options.described.push_back({"gpu", "gpu.cpp:asks", {"run", "run_more"}, {"K_D"}, {"give_up"}});
  const std::string text = std::string(kinds) + R"(
bool asks(kind k) { return k == K_A || k == K_B || k == K_D; }
void run(kind k) { switch (k) { case K_A: a(); break; default: give_up(); } }
void run_more(kind k) { switch (k) { case K_B: b(); break; default: give_up(); } }
)";
  CHECK(pairs_in(text).empty());
  const std::vector<DispatchPair> pairs = pairs_in(text, options);
  REQUIRE(pairs.size() == 1);
  CHECK(served(pairs[0]) == "K_A:a K_B:b");
  CHECK(names(pairs[0].accepted) == "K_A K_B K_D");
  CHECK(names(pairs[0].refused) == "K_C");
  CHECK(pairs[0].otherwise.empty());
  CHECK(pairs[0].exceptions.size() == 1);
}

TEST_CASE("a pair of the configuration names members of classes, with a path or without") {
  const std::string text =
      std::string(kinds) +
      "bool Gpu::takes(const node* op) { return op->op == K_A || op->op == K_B; }\n"
      "void Gpu::run(node* n) { switch (n->op) { case K_A: a(n); break; "
      "case K_B: b(n); break; default: abort(); } }";
  for (const std::string_view start : {"csrc/gpu.cpp:Gpu::", "gpu.cpp:", "Gpu::", ""}) {
    CAPTURE(start);
    PairOptions options;
    options.described.push_back(
        {"gpu", std::string(start) + "takes", {std::string(start) + "run"}, {}, {}});
    CHECK(pairs_in(text, options).size() == 1);
  }
}

TEST_CASE("a predicate that asks for a dtype first is held against what the dispatch decides by") {
  const std::vector<DispatchPair> pairs = pairs_in(std::string(kinds) + R"(
enum type { T_A, T_B, T_C, T_D, T_E };
// opseal: predicate(gpu)
bool supports(const node* op) {
  switch (op->type) {
    case T_A:
    case T_B:
    case T_C:
    case T_D:
      return op->op == K_A || op->op == K_B;
    default:
      return false;
  }
}
)" + std::string(forward));
  REQUIRE(pairs.size() == 1);
  CHECK(pairs[0].enumeration == "kind");
  CHECK(names(pairs[0].accepted) == "K_A K_B");
}

TEST_CASE("a report changes no flag") {
  CHECK(accepted("bool ok = op->op == K_A; DEBUG_PRINT(\"%d\", ok); return ok;") == "K_A");
  CHECK(accepted("bool ok = op->op == K_A; change(&ok); return ok;").empty());
}

TEST_CASE("a second switch that turns nothing away may serve what it doesn't name") {
  const auto further = [](std::string_view otherwise) {
    const std::vector<DispatchPair> pairs = pairs_in(std::string(kinds) + R"(
enum sub { S_X, S_Y };
// opseal: predicate(gpu)
bool supports(const node* op) {
  switch (op->op) {
    case K_A:
      return true;
    case K_B:
      switch (op->sub) {
        case S_X:
        case S_Y:
          return true;
        default:
          return false;
      }
    default:
      return false;
  }
}
// opseal: dispatch(gpu)
void run(node* n) {
  switch (n->op) {
    case K_A: a(n); break;
    case K_B:
      switch (n->sub) {
        case S_X: x(n); break;
        default: )" + std::string(otherwise) + R"(
      }
      break;
    default: abort();
  }
}
)");
    return pairs.size() == 1 ? served(pairs[0]) : "no pair";
  };
  CHECK(further("any(n); break;") == "K_A:a K_B/S_X:x K_B/S_Y:default");
  CHECK(further("abort();") == "K_A:a K_B/S_X:x");
}

TEST_CASE("what a predicate asks and a kernel asserts is told with locals put in") {
  const std::vector<DispatchPair> pairs = pairs_in(std::string(kinds) + R"(
bool fits(const node* n) { return n->src[0]->rows % 4 == 0; }
void a(node* n) {
  const node* x = n->src[0];
  GGML_ASSERT(x->type == F32 && "text");
  CUDA_CHECK(copy(x));
  if (x->rows == 1) return;
  GGML_ASSERT(x->rows % 8 == 0);
}
// opseal: predicate(gpu)
bool supports(const node* op) {
  const node* x = op->src[0];
  switch (op->op) {
    case K_A: return fits(op);
    case K_B: return x->type == F16;
    default: return false;
  }
}
)" + std::string(forward));
  REQUIRE(pairs.size() == 1);
  REQUIRE(pairs[0].entries.size() >= 1);
  CHECK(names(pairs[0].entries[0].asserts) == "$->src[0]->type==F32&&\"text\"");
  REQUIRE(pairs[0].conditions.size() == 1);
  const auto& [kind, asked] = *pairs[0].conditions.begin();
  CHECK(kind == "K_A");
  CHECK(names(asked).find("$->src[0]->rows%4==0") != std::string::npos);
  CHECK(names(asked).find("F16") == std::string::npos);
}

TEST_CASE("each label that is taken out of a dispatch is missed") {
  const std::vector<DispatchPair> whole = pairs_in(shape());
  REQUIRE(whole.size() == 1);
  CHECK(whole[0].entries.size() == 9);
  for (const DispatchEntry& entry : whole[0].entries) {
    PairOptions options;
    const std::size_t slash = entry.kind.name.find('/');
    options.removed_label = entry.kind.name.substr(slash == std::string::npos ? 0 : slash + 1);
    INFO(options.removed_label);
    const std::vector<DispatchPair> pairs = pairs_in(shape(), options);
    REQUIRE(pairs.size() == 1);
    const auto left =
        std::find_if(pairs[0].entries.begin(), pairs[0].entries.end(),
                     [&](const DispatchEntry& one) { return one.kind.name == entry.kind.name; });
    CHECK(left == pairs[0].entries.end());
    CHECK(names(pairs[0].accepted).find(entry.kind.name) != std::string::npos);
  }
}

TEST_CASE("what is always accepted has no condition in its arm") {
  const std::vector<DispatchPair> pairs = pairs_in(shape());
  REQUIRE(pairs.size() == 1);
  CHECK(names(pairs[0].always) == "OP_NONE OP_ADD OP_MUL OP_SCALE");
}

TEST_CASE("a function that sets parameters for some kinds is no dispatch") {
  CHECK(pairs_in(std::string(kinds) +
                 "bool supports(const node* op) { return op->op != K_D; }\n"
                 "int size(const node* n) { switch (n->op) { case K_A: return big(n); "
                 "default: return 0; } }\ninterface i = {.supports_op = supports};")
            .empty());
}

TEST_CASE("values of another enumeration are counted where other code names them") {
  const auto mentions = [](const std::string& kernel) {
    std::string text;
    const std::vector<DispatchPair> pairs = pairs_in(std::string(kinds) +
                                                     R"(enum type { T_A, T_B, T_C };
// opseal: predicate(gpu)
bool supports(const node* op) {
  switch (op->op) {
    case K_A:
      switch (op->type) { case T_A: case T_B: return true; case T_C: return false; }
    default: return false;
  }
}
)" + std::string(forward) + kernel);
    REQUIRE(pairs.size() == 1);
    for (const AcceptedLabels& labels : pairs[0].tested) {
      for (const AcceptedLabel& label : labels.labels) {
        text += label.name + "=" + std::to_string(label.mentions) + " ";
      }
    }
    return text;
  };
  CHECK(mentions("") == "T_A=0 T_B=0 ");
  CHECK(mentions("void a(node* n) { run<T_A>(n); run<T_A>(n); }") == "T_A=2 T_B=0 ");
  CHECK(mentions("#define ROW(x) run<T_##x>\n") == "T_A=1 T_B=1 ");
  CHECK(mentions("#define ROW run<T_B>\n") == "T_A=0 T_B=1 ");
  // Kernels that are found by names that are put together need no value by name.
  CHECK(mentions("void a(node* n) { run(\"a_\" + type_name(n->type)); }") == "");
}

TEST_CASE("nesting without end is read to an end") {
  for (const char* unit : {"{", "if (x) ", "(", "switch (x) {", "!", "#if A\n", "case K_A:"}) {
    std::string body;
    for (int at = 0; at < 5000; ++at) body += unit;
    INFO(unit);
    CHECK_NOTHROW(pairs_in(std::string(kinds) + "bool supports(const node* op) { return " + body +
                           "}" + std::string(forward)));
    CHECK_NOTHROW(pairs_in(std::string(kinds) + "bool supports(const node* op) {" + body + "}" +
                           std::string(forward)));
  }
}

}  // namespace opseal::test
