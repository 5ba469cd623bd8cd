// What code that is built for this shows: kernels that it registers, and what reaches them.

#include "analyzers/native/host_links.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "analyzers/native/read_only_data.h"
#include "tests/elf_libraries.h"

using namespace opseal;

namespace {

using Texts = std::vector<std::string_view>;

const Texts kernels_asked = {"_Z5scalePfi", "_Z3addPfS_", "_Z6unusedv", "_Z6spokenv", "_Z4gonev"};

std::string joined(const Texts& names) {
  std::string all;
  for (const std::string_view name : names) all.append(name).append(";");
  return all;
}

std::uint64_t address_of(const Elf& elf, std::string_view symbol) {
  for (const ElfSymbol& row : elf.dynamic_symbols()) {
    if (row.name == symbol) return row.value;
  }
  return 0;
}

// Those among `names` that stand in read-only data, in their order.
std::vector<std::string_view> names_there(const Elf& elf,
                                          const std::vector<std::string_view>& names) {
  std::vector<bool> there(names.size());
  for (const NamePlace& place : locate_names(elf, names)) there[place.name] = true;
  std::vector<std::string_view> found;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (there[i]) found.push_back(names[i]);
  }
  return found;
}

void check_links(const std::string& bytes) {
  const Elf elf{Bytes(bytes)};
  HostCode code(elf);
  CHECK(joined(names_there(elf, kernels_asked)) == "_Z5scalePfi;_Z3addPfS_;_Z6unusedv;_Z6spokenv;");

  const std::vector<HostKernel> kernels = find_host_kernels(code, kernels_asked);
  REQUIRE(kernels.size() == 4);
  CHECK(kernels[0].stub == address_of(elf, "_Z12launch_scalePv"));
  CHECK(kernels[1].stub == address_of(elf, "_Z10launch_addPv"));
  CHECK(kernels[2].stub == address_of(elf, "_Z13launch_unusedPv"));
  CHECK(kernels[3].name == "_Z6spokenv");
  CHECK(kernels[3].stub == 0);

  const auto reached = [&](std::string_view symbol) {
    return joined(reachable_kernels(code, kernels, address_of(elf, symbol)));
  };
  CHECK(reached("scale") == "_Z5scalePfi;");
  CHECK(reached("both") == "_Z5scalePfi;_Z3addPfS_;");
  CHECK(reached("make_plan").empty());
  CHECK(reached("no such function").empty());
}

// A file of nothing but read-only data, without section headers, at address 0x1000.
class DataFile {
 public:
  explicit DataFile(std::string_view data) {
    bytes_
        .append(
            "\x7F"
            "ELF\x02\x01\x01",
            7)
        .resize(16);
    put(3, 2);
    put(62, 2);
    put(1, 4);
    put(0, 8);
    put(64, 8);
    put(0, 8);
    put(0, 4);
    put(64, 2);
    put(56, 2);
    put(1, 2);
    put(0, 6);
    put(1, 4);
    put(4, 4);
    put(120, 8);
    put(0x1000, 8);
    put(0x1000, 8);
    put(data.size(), 8);
    put(data.size(), 8);
    put(1, 8);
    bytes_ += data;
  }
  std::string found(const Texts& names) const {
    const Elf elf{Bytes(bytes_)};
    return joined(names_there(elf, names));
  }

 private:
  void put(std::uint64_t number, std::size_t bytes) {
    for (; bytes > 0; --bytes, number >>= 8) bytes_ += static_cast<char>(number & 0xFF);
  }

  std::string bytes_;
};

}  // namespace

TEST_CASE("kernels are led to their stubs, and handlers to kernels, in stripped libraries") {
  for (const char* name :
       {"handlers_O0.so", "handlers_O1.so", "handlers_O2.so", "handlers_O3.so"}) {
    INFO(name);
    check_links(test::read_file(test::elf_library(name)));
  }
}

TEST_CASE("kernels are led to their stubs without section headers") {
  check_links(test::without_sections(test::read_file(test::elf_library("handlers_O2.so"))));
}

TEST_CASE("a name stands in data behind any byte, and before a zero") {
  const DataFile file(std::string("\x80_Z3addv\0_Z4axpyf\0one_Z3twov\0_Z5openv", 37));
  CHECK(file.found({"_Z3addv", "_Z4axpyf", "_Z3twov"}) == "_Z3addv;_Z4axpyf;_Z3twov;");
  // Not at the end of a text, and without a zero behind it.
  CHECK(file.found({"_Z3add", "one", "_Z5openv", "Z9", ""}).empty());
  // Shorter than eight bytes, which are told apart by fewer.
  CHECK(file.found({"v", "_Z3twov", "w", "twov"}) == "v;_Z3twov;twov;");
  CHECK(file.found({}).empty());
}

TEST_CASE("names that are ends of others are all found") {
  std::string data;
  std::vector<std::string> kept;
  // `a`, `ba`, `cba` ...: of a text each end is a name.
  for (char c = 'a'; c <= 'p'; ++c) kept.push_back(c + (kept.empty() ? "" : kept.back()));
  data = kept.back();
  data += '\0';
  Texts names(kept.begin(), kept.end());
  CHECK(DataFile(data).found(names) == joined(names));
  std::reverse(names.begin(), names.end());
  CHECK(DataFile(data).found(names) == joined(names));
  // Nothing of it ends so.
  names = {"ab", "xa", "pa", "abcdefghijklmnop"};
  CHECK(DataFile(data).found(names).empty());
}

TEST_CASE("long names that differ in one byte are told apart") {
  for (const std::size_t length : {5u, 8u, 9u, 40u, 3000u}) {
    std::string name = "_Z" + std::string(length, 'k');
    const DataFile file("\1" + name + '\0');
    CHECK(file.found({name}) == name + ";");
    for (const std::size_t at : {std::size_t{0}, length / 2, length + 1}) {
      std::string other = name;
      other[at] = static_cast<char>(other[at] + 1);
      CHECK(file.found({other}).empty());
      CHECK(file.found({other, name}) == name + ";");
    }
  }
}
