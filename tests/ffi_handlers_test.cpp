// Handlers recovered from libraries that are built for this, stripped, at several levels.

#include "analyzers/native/ffi_handlers.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/elf_libraries.h"

using namespace opseal;

namespace {

struct Library {
  explicit Library(std::string content)
      : bytes(std::move(content)), elf(Bytes(bytes)), code(elf), symbols(elf.dynamic_symbols()) {
    handlers = find_ffi_handlers(code, symbols);
  }
  const FfiHandler* find(std::string_view symbol) const {
    const auto handler = std::find_if(handlers.begin(), handlers.end(),
                                      [&](const auto& row) { return row.symbol == symbol; });
    return handler != handlers.end() ? &*handler : nullptr;
  }

  std::string bytes;
  Elf elf;
  HostCode code;
  std::vector<ElfSymbol> symbols;
  std::vector<FfiHandler> handlers;
};

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += text + ";";
  return all;
}

void check_handlers(const Library& library) {
  CHECK(mentions_ffi_handlers(library.elf));
  REQUIRE(library.handlers.size() == 7);

  const FfiHandler* scale = library.find("scale");
  REQUIRE(scale != nullptr);
  CHECK(scale->signature.stage == "execute");
  REQUIRE(scale->signature.arguments.size() == 1);
  CHECK(scale->signature.arguments[0].dtype == "F32");
  CHECK(scale->signature.arguments[0].rank == -1);
  REQUIRE(scale->signature.results.size() == 1);
  CHECK(scale->signature.results[0].dtype == "S32");
  CHECK(scale->signature.results[0].rank == 2);
  CHECK(joined(scale->signature.attributes) == "float32;");
  CHECK(joined(scale->signature.contexts) == "stream;");
  CHECK(scale->signature.version_min == "0.2");
  CHECK_FALSE(scale->ambiguous);
  CHECK(library.code.is_function(scale->address));

  const FfiHandler* both = library.find("both");
  REQUIRE(both != nullptr);
  CHECK(both->signature.arguments.size() == 2);
  CHECK(both->signature.arguments[0].dtype.empty());
  CHECK(joined(both->signature.attributes) == "span<int64>;Mode;");
  CHECK(both->signature.version_max == "0.1");

  const FfiHandler* make_plan = library.find("make_plan");
  REQUIRE(make_plan != nullptr);
  CHECK(make_plan->signature.stage == "instantiate");
  CHECK(joined(make_plan->signature.attributes) == "dictionary;");

  const FfiHandler* use_plan = library.find("use_plan");
  REQUIRE(use_plan != nullptr);
  REQUIRE(use_plan->signature.arguments.size() == 3);
  CHECK(use_plan->signature.arguments[0].kind == FfiOperand::Kind::token);
  CHECK(use_plan->signature.arguments[1].optional);
  CHECK(use_plan->signature.arguments[2].kind == FfiOperand::Kind::remaining);
  CHECK(joined(use_plan->signature.contexts) == "state<Plan>;");
  CHECK(use_plan->signature.version_min == "0.3");

  const FfiHandler* secret = library.find("secret");
  REQUIRE(secret != nullptr);
  CHECK(secret->signature.stage == "prepare");
  CHECK(secret->signature.returns.empty());

  const FfiHandler* either = library.find("either");
  REQUIRE(either != nullptr);
  CHECK(either->ambiguous);

  const FfiHandler* handed_out = library.find("");
  REQUIRE(handed_out != nullptr);
  CHECK(handed_out->signature.results.size() == 2);
  CHECK(handed_out->address == 0);
  CHECK(library.bytes.compare(handed_out->offset, 18, "N3xla3ffi7HandlerI") == 0);

  CHECK(library.find("registrations") == nullptr);
  CHECK(library.find("legacy") == nullptr);
}

}  // namespace

TEST_CASE("handlers are found in stripped libraries, whatever was inlined") {
  for (const char* name :
       {"handlers_O0.so", "handlers_O1.so", "handlers_O2.so", "handlers_O3.so"}) {
    INFO(name);
    check_handlers(Library(test::read_file(test::elf_library(name))));
  }
}

TEST_CASE("handlers are found without section headers") {
  check_handlers(
      Library(test::without_sections(test::read_file(test::elf_library("handlers_O2.so")))));
}

TEST_CASE("handlers that are hidden are named by the symbol table") {
  const Library library(test::read_file(test::elf_library("handlers_hidden.so")));
  const auto hidden = [&](std::string_view name) {
    return std::find_if(library.handlers.begin(), library.handlers.end(),
                        [&](const auto& row) { return row.local_symbol == name; });
  };
  CHECK(library.find("scale") == nullptr);
  const auto scale = hidden("scale");
  REQUIRE(scale != library.handlers.end());
  CHECK(scale->symbol.empty());
  CHECK(joined(scale->signature.contexts) == "stream;");
  CHECK(library.code.is_function(scale->address));
  CHECK(hidden("secret") != library.handlers.end());
  CHECK(hidden("legacy") == library.handlers.end());
}

TEST_CASE("a library without handlers has none") {
  const Library library(test::read_file(test::elf_library("symbols.so")));
  CHECK_FALSE(mentions_ffi_handlers(library.elf));
  CHECK(library.handlers.empty());
}

TEST_CASE("damaged libraries with handlers end as errors or with less") {
  const std::string whole = test::read_file(test::elf_library("handlers_O2.so"));
  const auto handlers_of = [](std::string bytes) -> std::size_t {
    try {
      return Library(std::move(bytes)).handlers.size();
    } catch (const InputError&) {
      return 0;
    }
  };
  for (std::size_t size = 0; size < whole.size(); size += 61) {
    CHECK(handlers_of(whole.substr(0, size)) <= 7);
  }
  for (std::size_t at = 0; at < whole.size(); at += 13) {
    std::string changed = whole;
    changed[at] = static_cast<char>(~changed[at]);
    CHECK(handlers_of(std::move(changed)) <= 9);
  }
}
