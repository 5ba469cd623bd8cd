// What is stated about the files that a manifest names, and the digests that it takes.

#include "analyzers/artifacts.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "analyzers/analyzers.h"
#include "analyzers/sha256.h"
#include "opseal/digest.h"
#include "rules/artifacts.h"
#include "rules/key_texts.h"
#include "tests/support.h"

namespace fs = std::filesystem;

namespace opseal::test {
namespace {

std::string sha256(const std::string& bytes, std::size_t step) {
  Sha256 digest;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    digest.add(std::string_view(bytes).substr(at, step));
  }
  return digest.hex();
}

// "path: found", "path: missing" or "path: not said" for each library, and the digest.
std::string seen_in(const fs::path& folder, const std::string& libraries) {
  const fs::path path = folder / "ops.json";
  std::ofstream(path) << R"({"opseal_manifest": 1, "system": "engine", "libraries": )" << libraries
                      << '}';
  InputFile input;
  input.path = "ops.json";
  input.open_path = path.string();
  std::string error;
  const Analyzer* analyzer = find_analyzer(input, error);
  REQUIRE((analyzer != nullptr));
  Facts facts = load_file(*analyzer, input);
  REQUIRE(facts.problems.empty());
  state_artifacts({}, facts);
  std::string out;
  for (const Problem& problem : facts.problems) out += "note: " + problem.message + '\n';
  Artifacts(facts).for_each_library(
      facts, [&out](const Fact&, const Fact& library, const Fact& found, const Fact& digest) {
        out += library[Key::path].text();
        out += !found.said() ? ": not said" : found.truth() ? ": found" : ": missing";
        if (digest.said()) out += " " + std::string(digest.text());
        out += '\n';
      });
  return out;
}

// An empty folder that goes with the test.
class Folder {
 public:
  Folder() {
    path_ = fs::temp_directory_path() / ("opseal-artifacts-" + std::to_string(::getpid()));
    fs::remove_all(path_);
    fs::create_directories(path_ / "lib");
  }
  ~Folder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }
  void put(const std::string& name) const { std::ofstream(path_ / name) << "abc"; }

 private:
  fs::path path_;
};

}  // namespace

TEST_CASE("digests are those of the standards") {
  CHECK(Sha256().hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  const std::string long_text(1000000, 'a');
  for (const std::size_t step : {1u, 55u, 56u, 63u, 64u, 65u, 4096u}) {
    CHECK(sha256("abc", step) ==
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", step) ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(sha256(long_text, step) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  }
  CHECK(ContentDigest().hex() == "99aa06d3014798d86001c324468d497f");
}

TEST_CASE("a file is called missing only where the manifest lies beside what it names") {
  const Folder folder;
  const std::string two = R"([{"path": "lib/a.so"}, {"path": "lib/b.so"}])";
  CHECK(seen_in(folder.path(), two) == "lib/a.so: not said\nlib/b.so: not said\n");
  folder.put("lib/notes.txt");
  CHECK(seen_in(folder.path(), two) == "lib/a.so: not said\nlib/b.so: not said\n");
  folder.put("lib/other.so");
  CHECK(seen_in(folder.path(), two) == "lib/a.so: missing\nlib/b.so: missing\n");
  fs::remove(folder.path() / "lib/other.so");
  folder.put("lib/b.so");
  const std::string apart = R"([{"path": "build/a.so"}, {"path": "lib/b.so"}, {"path": "c.so"}])";
  CHECK(seen_in(folder.path(), apart) == "build/a.so: not said\nlib/b.so: found\nc.so: missing\n");
  fs::create_directories(folder.path() / "build");
  CHECK(seen_in(folder.path(), apart) == "build/a.so: missing\nlib/b.so: found\nc.so: missing\n");
  CHECK(seen_in(folder.path(), R"([{"path": "build/a.dylib"}, {"path": "lib/b.so"}])") ==
        "build/a.dylib: not said\nlib/b.so: found\n");
}

TEST_CASE("nothing outside the manifest's folder is looked at") {
  const Folder folder;
  folder.put("lib/b.so");
  fs::create_directories(folder.path() / "deep");
  CHECK(seen_in(folder.path() / "deep",
                R"([{"path": "../lib/b.so"}, {"path": "../lib/c.so"}, {"path": ""},)"
                R"( {"path": "/etc/passwd"}, {"path": "C:/a.so"}, {"path": "a\\b.so"}])") ==
        "../lib/b.so: not said\n../lib/c.so: not said\n: not said\n/etc/passwd: not said\n"
        "C:/a.so: not said\na\\b.so: not said\n");
}

TEST_CASE("what is not looked at is said, and a link leads to nothing outside") {
  const Folder folder;
  folder.put("lib/b.so");
  fs::create_directories(folder.path() / "deep");
  fs::create_directory_symlink("../lib", folder.path() / "deep/out");
  fs::create_symlink("b.so", folder.path() / "lib/c.so");
  const std::string digest = R"(, "digest": "sha256:)" + std::string(64, '0') + "\"";
  CHECK(
      seen_in(folder.path() / "deep",
              R"([{"path": "out/b.so")" + digest + R"(}, {"path": "out/c.so"}, {"path": "."}])") ==
      "note: `out/b.so` leads out of the folder of the manifest, so it is not looked at; the same "
      "holds for 1 further library\n"
      "out/b.so: not said\nout/c.so: not said\n.: not said\n");
  CHECK(seen_in(folder.path(), R"([{"path": "lib/c.so"}])") == "lib/c.so: found\n");
  std::ofstream(folder.path() / "lib/large.so");
  fs::resize_file(folder.path() / "lib/large.so", (std::uint64_t{2} << 30) + 1);
  CHECK(seen_in(folder.path(), R"([{"path": "lib/large.so")" + digest + "}]") ==
        "note: `lib/large.so` makes more than 2 GiB to read, so its digest is not compared\n"
        "lib/large.so: found\n");
  std::string many = R"([{"path": "lib/b.so"})";
  for (int library = 0; library < 4097; ++library) many += R"(, {"path": "no/a.so"})";
  CHECK(seen_in(folder.path(), many + "]")
            .starts_with("note: `no/a.so` stands behind so many other libraries that it is not "
                         "looked for; the same holds for 1 further library\n"));
}

TEST_CASE("a digest is taken where one is recorded that can be held against it") {
  const Folder folder;
  folder.put("lib/b.so");
  const std::string sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  CHECK(seen_in(folder.path(),
                R"([{"path": "lib/b.so", "digest": "sha256:)" + std::string(64, '0') + R"("}])") ==
        "lib/b.so: found sha256:" + sum + "\n");
  CHECK(seen_in(folder.path(),
                R"([{"path": "lib/b.so", "digest": "xxh128:)" + std::string(32, '0') + R"("}])") ==
        "lib/b.so: found xxh128:06b05ab6733a618578af5f94892f3950\n");
  for (const char* digest : {"sha256:00", "md5:00", "", "xxh128", "sha256:g"}) {
    CHECK(seen_in(folder.path(), R"([{"path": "lib/b.so", "digest": ")" + std::string(digest) +
                                     R"("}])") == "lib/b.so: found\n");
  }
}

TEST_CASE("a named file that is no library is a problem") {
  const Folder folder;
  const auto put = [&folder](const std::string& name, const std::string& text) {
    std::ofstream(folder.path() / name) << text;
  };
  put("empty.so", "");
  put("text.so.1", "hello\n");
  put("script.so", "/* GNU ld script */\nINPUT(libx.so.1)\n");
  put("kernels.metallib", "MTLB");
  put("man.json",
      R"({"opseal_manifest": 1, "libraries": [{"path": "empty.so"},)"
      R"( {"path": "text.so.1"}, {"path": "script.so"}, {"path": "kernels.metallib"}]})");
  InputFile file;
  file.path = "man.json";
  file.open_path = (folder.path() / "man.json").string();
  std::string problem;
  const Analyzer* analyzer = find_analyzer(file, problem);
  REQUIRE((analyzer != nullptr));
  Facts facts = load_file(*analyzer, std::move(file));
  state_artifacts([](const std::string&) { return Facts(); }, facts);
  std::string told;
  for (const Problem& one : facts.problems) told += one.message + "\n";
  CHECK(told ==
        "`empty.so` is empty, expected a library\n"
        "`text.so.1` is no library: neither ELF nor a container of device code\n");
}

TEST_CASE("what a manifest says about its files is not asked again") {
  const Folder folder;
  folder.put("lib/b.so");
  CHECK(seen_in(folder.path(), R"([{"path": "lib/b.so", "found": false}])") ==
        "lib/b.so: missing\n");
}

TEST_CASE("addresses are told from digests") {
  CHECK(address_in("<function f at 0x7f3a5c0012d0>") == "0x7f3a5c0012d0");
  CHECK(address_in("<obj at 0x10bfa2>") == "0x10bfa2");
  CHECK(address_in("f@0x00007f3a5c0012d0") == "0x00007f3a5c0012d0");
  for (const char* text : {"", "0x", "at 0x", "0x7f3a5c0012d0", "f-0x9f86d081884c7d65",
                           "f-7f3a5c0012d0", "f-0x7f3a5c0012d0a1", "look at 0x12"}) {
    INFO(text);
    CHECK(address_in(text) == "");
  }
}

TEST_CASE("absolute paths are told from other slashes") {
  CHECK(absolute_path_in("/usr/local/cuda") == "/usr/local/cuda");
  CHECK(absolute_path_in("-O3 -I/home/u/a -g") == "/home/u/a");
  CHECK(absolute_path_in("['-std=c++17', '/home/u/a.cu']") == "/home/u/a.cu");
  CHECK(absolute_path_in("C:\\cuda\\bin") == "C:\\cuda\\bin");
  for (const char* text :
       {"", "/", "a/b/c", "https://example.org/x", "-Iinclude/a", "a / b / c", "/x", "//"}) {
    INFO(text);
    CHECK(absolute_path_in(text) == "");
  }
}

}  // namespace opseal::test
