// Cache directories as inputs: what is recognised, what is read, and what never is.

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <sstream>

#include "analyzers/caches.h"
#include "analyzers/folder.h"
#include "analyzers/sha256.h"
#include "cli/commands.h"
#include "cli/process.h"
#include "opseal/digest.h"
#include "opseal/text.h"
#include "tests/support.h"
#include "tests/tree.h"

namespace fs = std::filesystem;
using namespace std::string_literals;

namespace opseal::test {
namespace {

// The head of an ELF file (64 bits, little end first) that says where its tables are, and is as
// long as it says.
std::string elf(std::size_t size) {
  std::string bytes =
      "\x7f"
      "ELF\x02\x01\x01"s;
  bytes.resize(size);
  const std::size_t table = size - 64;
  bytes[40] = static_cast<char>(table & 0xff);
  bytes[41] = static_cast<char>(table >> 8);
  bytes[58] = 64;
  bytes[60] = 1;
  return bytes;
}

// As if everything at or below the path had been written two hours ago.
void age(const fs::path& path) {
  const auto then = fs::file_time_type::clock::now() - std::chrono::hours(2);
  std::vector<fs::path> all{path};
  for (const auto& entry : fs::recursive_directory_iterator(path)) all.push_back(entry.path());
  for (const fs::path& one : all) fs::last_write_time(one, then);
}

std::string dump_of(const Audit& audit) {
  std::ostringstream out;
  write_dump(audit.facts, out);
  return out.str();
}

std::string read_cache(const std::string& path) { return dump_of(audit_paths({path}, {})); }

bool has(const std::string& text, const std::string& part) {
  INFO("in: " << text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

constexpr const char* key = "0b31f62c9d5e4a70";
// sha256 of nothing, and the same in base32.
constexpr const char* hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr const char* hash32 = "4OYMIQUY7QOBJGX36TEJS35ZEQT24QPEMSNZGTFESWMRW6CSXBKQ";

std::string metadata(const std::string& digest) {
  return R"({"hash": ")" + digest +
         R"(", "target": {"backend": "cuda", "arch": 90}, "name": "scale"})";
}

std::string torch_build(const std::string& name) {
  return "ninja_required_version = 1.3\ncxx = c++\n\n"
         "cuda_cflags = -O2 -gencode=arch=compute_80,code=sm_80 "
         "-gencode=arch=compute_90a,code=sm_90a\n"
         "rule compile\n  command = $cxx -c $in -o $out\n\n"
         "build mv.o: compile /src/my$ kernels/mv.cpp\n\n"
         "build " +
         name + ": link mv.o\n\ndefault " + name + "\n";
}

}  // namespace

TEST_CASE("sha256 gives the digests of the standard") {
  const auto digest = [](std::string_view bytes) {
    Sha256 sha256;
    sha256.add(bytes);
    return sha256.hex();
  };
  CHECK(digest("") == hash);
  CHECK(digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(digest(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  CHECK(ContentDigest().hex() == "99aa06d3014798d86001c324468d497f");
}

TEST_CASE("a library is whole, empty, cut off, or none") {
  Tree tree;
  tree.add("whole", elf(1000));
  tree.add("empty", "");
  tree.add("cut", elf(1000).substr(0, 999));
  tree.add("head", elf(1000).substr(0, 20));
  tree.add("text", "404: not found\n");
  CHECK((library_state("whole") == LibraryState::whole));
  CHECK((library_state("empty") == LibraryState::empty));
  CHECK((library_state("cut") == LibraryState::cut));
  CHECK((library_state("head") == LibraryState::cut));
  CHECK((library_state("text") == LibraryState::foreign));
  CHECK((library_state("nothing") == LibraryState::unknown));
  CHECK((library_state(OPSEAL_BINARY) == LibraryState::whole));
}

TEST_CASE("names of entries are read by a pattern") {
  const auto read = [](std::string_view pattern, std::string_view text) {
    const std::optional<EntryNames> names = match_entry(pattern, 8, text);
    return names ? names->name + '|' + names->key : "no";
  };
  CHECK(read("{name}_{key}", "add_fast_0123abcd") == "add_fast|0123abcd");
  CHECK(read("{name}_{key}", "_0123abcd") == "no");
  CHECK(read("{name}_{key}", "add_0123abc") == "no");
  CHECK(read("{name}_{key}", "add_0123abcD") == "no");
  CHECK(read("{key}-{name}.bin", "0123abcd-add.bin") == "add|0123abcd");
  CHECK(read("{key}-{name}.bin", "0123abcd-.bin") == "no");
  CHECK(read("k{key}", "k0123abcd") == "|0123abcd");
  CHECK(read("k{key}", "k0123abcd0") == "no");
  CHECK(read("lib{name}", "libadd") == "add|");
  CHECK(read("{key}{name}{x}", "0123abcdadd{x}") == "add|0123abcd");
}

TEST_CASE("a directory of `name_key/name.so` is a cache, whatever it is called") {
  Tree tree;
  tree.add("some/where/add_"s + key + "/add.so", elf(1000));
  tree.add("some/where/add_fast_"s + key + "/add_fast.so", elf(1000).substr(0, 500));
  tree.add("some/where/gone_"s + key + "/.gone.12.ab.tmp.so", "x");
  tree.add("some/where/.build-12-abcdef01/add.so", "");
  age("some/where");
  tree.add("some/where/new_"s + key + "/readme", "");
  const std::string dump = read_cache(".");
  has(dump,
      R"("name":"kernix","kind":"disk","directory":"some/where","temporary":[".build-12-abcdef01"])");
  has(dump,
      R"({"directory":"add_0b31f62c9d5e4a70","name":"add","key":"0b31f62c9d5e4a70","library":"add.so","missing":[],"damaged":[]})");
  has(dump,
      R"("name":"add_fast","key":"0b31f62c9d5e4a70","library":"add_fast.so","missing":[],"damaged":["add_fast.so"])");
  has(dump,
      R"("name":"gone","key":"0b31f62c9d5e4a70","missing":["gone.so"],"damaged":[],"temporary":[".gone.12.ab.tmp.so"])");
  // A build may be at work in an entry that is new.
  has(dump, R"({"directory":"new_0b31f62c9d5e4a70","name":"new","key":"0b31f62c9d5e4a70"})");
  has(dump,
      R"({"path":"add_0b31f62c9d5e4a70/add.so","cache":"kernix","entry":"add_0b31f62c9d5e4a70"})");
}

TEST_CASE("directories that only look like entries make no cache") {
  Tree tree;
  tree.add("commit_"s + key + "/notes.txt", "");
  tree.add(std::string(hash) + "/blob.json", "{}");
  tree.add("build/build.ninja",
           "# CMAKE generated file: DO NOT EDIT!\nninja_required_version = 1.5\n");
  tree.add("other/build.ninja", "ninja_required_version = 1.3\nbuild app: link app.o\n");
  tree.add("a.json", R"({"opseal_manifest": 1})");
  const Audit audit = audit_paths({"."}, {});
  CHECK(audit.inputs == 1);
  CHECK(audit.facts.files.front().path == "a.json");
}

TEST_CASE("a key of triton's is held against the hash in the entry, at its place") {
  Tree tree;
  const fs::path entry = "cache/"s + hash32;
  tree.add(entry / "scale.json", metadata(hash));
  tree.add(entry / "scale.cubin", "");
  tree.add(entry / "__grp__scale.json",
           R"({"child_paths": {"scale.json": ")" + fs::absolute(entry / "scale.json").string() +
               R"(", "scale.cubin": ")" + fs::absolute(entry / "scale.cubin").string() +
               R"(", "scale.ptx": ")" + fs::absolute(entry / "scale.ptx").string() +
               R"(", "old": "/nowhere/at/all/scale.llir"}})");
  // A build may be at work in an entry that is new.
  const std::string fresh = read_cache("cache");
  has(fresh, R"("architectures":["sm_90"],"elsewhere":["/nowhere/at/all/scale.llir"])");
  CHECK(fresh.find("missing") == std::string::npos);
  age("cache");
  const Audit audit = audit_paths({"cache"}, {"cache-*"});
  const std::string dump = dump_of(audit);
  has(dump, R"("name":"scale","key":")"s + hash32 + R"(","recomputed_key":")" + hash32 + '"');
  has(dump,
      R"("functions":["scale"],"architectures":["sm_90"],"missing":["scale.ptx"],"damaged":["scale.cubin"],"elsewhere":["/nowhere/at/all/scale.llir"])");
  const Fact cache = *audit.facts.root(audit.facts.documents.front())[Key::caches].items().begin();
  const Fact read = *cache[Key::entries].items().begin();
  const Location place = read[Key::recomputed_key].where();
  CHECK(audit.facts.files[place.file].path == (entry / "scale.json").string());
  CHECK(place.offset == 9);
  CHECK(place.length == 66);
  CHECK(audit.facts.files[read[Key::key].where().file].path == entry.string());
  CHECK(audit.facts.files[cache[Key::name].where().file].path == "cache");
  has(text_report(audit), "__grp__scale.json:1:");
}

TEST_CASE("an entry of triton's under another's key is found, and so is a cut group") {
  Tree tree;
  const std::string other = "A"s + (hash32 + 1);
  tree.add(other + "/scale.json", metadata(hash));
  tree.add(other + "/__grp__scale.json", R"({"child_paths": {}})");
  tree.add(std::string(hash32) + "/scale.json", metadata(hash));
  tree.add(std::string(hash32) + "/__grp__scale.json", R"({"child_paths": {"a)");
  const Audit audit = audit_paths({"."}, {"cache-*"});
  CHECK(show(count_findings(audit)) == "cache-entry-broken error 1, cache-key-mismatch error 1, ");
  has(text_report(audit), "cache triton: scale: stands under the key");
  has(text_report(audit), "cache triton: scale: `__grp__scale.json` can't be loaded");
}

TEST_CASE("text files of an entry that are too large to be read are said") {
  Tree tree;
  const std::string large(std::size_t{2} << 20, ' ');
  const std::string other = "A"s + (hash32 + 1);
  tree.add("triton/"s + hash32 + "/__grp__scale.json", R"({"child_paths": {}})");
  tree.add("triton/"s + hash32 + "/scale.json", metadata(hash) + large);
  tree.add("triton/" + other + "/__grp__scale.json", R"({"child_paths": {}})" + large);
  tree.add("ext/mv/build.ninja", torch_build("mv.so"));
  tree.add("ext/large/build.ninja", torch_build("large.so") + large);
  const Audit audit = audit_paths({"triton", "ext"}, {"cache-*"});
  REQUIRE(audit.facts.problems.size() == 3);
  const std::string report = text_report(audit);
  for (const std::string& said :
       {"ext/large: problem: `build.ninja` is not read"s,
        "triton/"s + hash32 + ": problem: `scale.json` is not read",
        "triton/" + other + ": problem: `__grp__scale.json` is not read"}) {
    has(report, said);
  }
  CHECK(audit.findings.empty());
}

TEST_CASE("a build file with very many architectures is read in no time") {
  Tree tree;
  std::string flags = "cuda_cflags =";
  for (int number = 0; number < 60000; ++number) flags += " code=sm_" + std::to_string(number);
  tree.add("ext/mv/build.ninja", torch_build("mv.so") + flags + '\n');
  // Of this process alone: the machine may be busy.
  const std::clock_t start = std::clock();
  has(read_cache("ext"), R"("sm_59999")");
  CHECK((std::clock() - start) / CLOCKS_PER_SEC < 5);
}

TEST_CASE("an extension of pytorch's is told by its build file") {
  Tree tree;
  tree.add("ext/mv/build.ninja", torch_build("mv_v2.so"));
  tree.add("ext/mv/mv_v2.so", elf(1000));
  tree.add("ext/mv/lock", "");
  tree.add("ext/lost/build.ninja", torch_build("lost.so"));
  tree.add("ext/lost/lock", "");
  age("ext");
  tree.add("ext/running/build.ninja", torch_build("running.so"));
  const Audit audit = audit_paths({"ext"}, {"cache-*"});
  const std::string dump = dump_of(audit);
  has(dump,
      R"({"directory":"mv","name":"mv","library":"mv_v2.so","architectures":["sm_80","sm_90a"],"source_files":["/src/my kernels/mv.cpp"],"missing":[],"damaged":[]})");
  has(dump,
      R"("name":"lost","library":"lost.so","architectures":["sm_80","sm_90a"],"source_files":["/src/my kernels/mv.cpp"],"missing":["lost.so"],"damaged":[],"lock":"lock")");
  has(dump,
      R"("name":"running","library":"running.so","architectures":["sm_80","sm_90a"],"source_files":["/src/my kernels/mv.cpp"]})");
  // Of three libraries that are named one is there.
  CHECK(audit.facts.root(audit.facts.documents.front())[Key::libraries].size() == 1);
  CHECK(show(count_findings(audit)) == "cache-entry-broken warning 2, ");
  has(text_report(audit), "ext/lost/build.ninja:10:7: warning: cache torch_extensions: lost");
}

TEST_CASE("a cache that the configuration describes has its keys made again") {
  Tree tree;
  const std::string config =
      "[[cache]]\nname = 'tuned'\ndirectory = 'out/cache'\nentry = '{name}-{key}'\n"
      "library = 'lib{name}.so'\nmatch = 'prefix'\nhash = 'sha256'\ndigits = 16\n"
      "parts = [{text = 'v1;'}, {file = 'src/{name}.c'}, {digest_of = '{entry}/flags'}]\n";
  tree.add("opseal.toml", config);
  tree.add("src/add.c", "int add;");
  tree.add("src/mul.c", "int mul;");
  const auto key_of = [](const std::string& source) {
    Sha256 sha256;
    sha256.add("v1;" + source + hash);
    return sha256.hex().substr(0, 16);
  };
  tree.add("out/cache/add-" + key_of("int add;") + "/libadd.so", elf(500));
  tree.add("out/cache/add-" + key_of("int add;") + "/flags", "");
  tree.add("out/cache/mul-" + key_of("int add;") + "/libmul.so", elf(500));
  tree.add("out/cache/mul-" + key_of("int add;") + "/flags", "");
  tree.add("out/cache/sub-" + key_of("int add;") + "/libsub.so", elf(500));
  tree.add("out/cache/none/libnone.so", "");
  Options options;
  options.paths = {"out"};
  options.select = {"cache-*"};
  const Audit audit = run_audit(options);
  const std::string dump = dump_of(audit);
  has(dump, R"("name":"tuned","kind":"disk","match":"prefix","directory":"out/cache")");
  has(dump, R"("name":"add","key":")" + key_of("int add;") + R"(","recomputed_key":")" +
                key_of("int add;") + R"(","library":"libadd.so")");
  CHECK(show(count_findings(audit)) == "cache-key-mismatch warning 1, ");
  has(text_report(audit), "expected `" + key_of("int mul;"));
  has(text_report(audit), "key not made again: can't read `src/sub.c`");
}

TEST_CASE("a described cache says nothing of a library that may still be written") {
  Tree tree;
  tree.add("opseal.toml",
           "[[cache]]\nname = 'a'\ndirectory = 'a'\nentry = '{name}'\nlibrary = 'x.so'\n"
           "[[cache]]\nname = 'b'\ndirectory = 'b'\nentry = '{name}'\n");
  tree.add("a/mv/x.so", "");
  tree.add("b/mv.so", elf(500).substr(0, 300));
  Options options;
  options.paths = {"."};
  options.select = {"cache-*"};
  CHECK(run_audit(options).findings.empty());
  age("a");
  age("b");
  CHECK(show(count_findings(run_audit(options))) == "cache-entry-broken error 2, ");
}

TEST_CASE("a description that has no effect is said") {
  Tree tree;
  const std::string front = "[[cache]]\nname = 'far'\nentry = '{name}_{key}'\ndigits = 20\n";
  tree.add("in/add_"s + key + "/add.so", elf(500));
  fs::create_directory("far");
  const auto notes = [&](const std::string& config) {
    tree.add("opseal.toml", config);
    Options options;
    options.paths = {"in"};
    std::string text;
    for (const Problem& problem : run_audit(options).facts.problems) text += problem.message + '\n';
    return text;
  };
  CHECK(notes(front + "directory = 'far'\n") ==
        "`cache`: `far` is not read, since no given path holds its directory `" +
            (fs::current_path() / "far").string() + "`\n");
  CHECK(notes(front + "directory = 'in'\n") ==
        "none of 1 item fits `entry` `{name}_{key}` with a key of 20 digits\n");
  CHECK_THROWS_WITH_AS(notes(front + "directory = 'in'\n" + front + "directory = './in'\n"),
                       doctest::Contains("`far` and `far` describe one directory"), UsageError);
}

TEST_CASE("what describes no cache is a mistake with its place") {
  Tree tree;
  const std::string front = "[[cache]]\nname = 'a'\ndirectory = 'b'\n";
  const auto complaint = [&tree](const std::string& text) {
    tree.add("opseal.toml", text);
    try {
      read_config("opseal.toml");
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  CHECK(complaint(front + "entry = '{name}'\n") == "none");
  has(complaint(front), "opseal.toml:1:1: `cache` needs `name`, `directory` and `entry`");
  has(complaint(front + "entry = 'x'\n"), "`entry` has neither `{name}` nor `{key}`");
  has(complaint(front + "entry = '{key}{key}'\n"), "`{key}` twice");
  has(complaint(front + "entri = '{key}'\n"), "did you mean `entry`?");
  has(complaint(front + "entry = '{key}'\nhash = 'md5'\n"), "`md5` is no value of `hash`");
  has(complaint(front + "entry = '{key}'\nhash = 'xxh128'\ndigits = 33\n"), "has 32");
  has(complaint(front + "entry = '{key}'\ndigits = 4\n"), "from 8 to 64");
  has(complaint(front + "entry = '{name}'\nparts = [{text = 'a'}]\n"), "`parts` without `{key}`");
  has(complaint(front + "entry = '{key}'\nparts = [{txt = 'a'}]\n"), "did you mean `text`?");
  has(complaint(front + "entry = '{key}'\nparts = ['a']\n"), "`parts` is a list of tables");
  has(complaint("cache = 'a'\n"), "`cache` is a list of tables");
}

TEST_CASE("a cache stands beside other inputs, and its files are not read twice") {
  Tree tree;
  tree.add("ops.json",
           R"({"opseal_manifest": 1, "caches": [{"name": "kernix", "match": "prefix"}]})");
  tree.add("cache/add_"s + key + "/add.so", elf(500));
  tree.add("cache/add_"s + key + "/ops.json", R"({"opseal_manifest": 1})");
  tree.add("cache/add_fast_"s + key + "/add_fast.so", elf(500));
  tree.add("cache/notes.json", R"({"opseal_manifest": 1})");
  tree.add("z.json", R"({"opseal_manifest": 1, "caches": [{"name": "z", "match": "exact"}]})");
  const Audit audit = audit_paths({"."}, {"cache-*"});
  // The cache, the manifest beside its entries, and two above.
  CHECK(audit.inputs == 4);
  CHECK(show(count_findings(audit)) == "cache-prefix-bleed warning 1, ");
  const std::string report = text_report(audit);
  has(report, "ops.json:1:");
  has(report, "cache/add_fast_"s + key + ": entry that is found too");
  CHECK(audit_paths({"./cache", "cache", "."}, {"cache-*"}).inputs == 4);
}

TEST_CASE(
    "a cache in a repository is read as one, and one that git ignores where it is described") {
  Tree tree;
  if (run_process({"git", "init", "-q", "."}).status != 0) return;
  tree.add(".gitignore", "out/\n");
  tree.add("kept/cache/add_"s + key + "/add.so", elf(500));
  tree.add("kept/cache/add_"s + key + "/ops.json", R"({"opseal_manifest": 1})");
  tree.add("out/mul-12345678/lib.so", elf(500));
  const std::string description = "[[cache]]\nname = 'a'\nentry = '{name}-{key}'\ndigits = 8\n";
  const auto inputs = [&](const std::string& config) {
    tree.add("opseal.toml", config);
    Options options;
    options.paths = {"."};
    options.allow_empty = true;
    std::string names;
    const Audit audit = run_audit(options);
    for (const Document& document : audit.facts.documents) {
      if (!document.settings) names += audit.facts.files[document.file].path + ' ';
    }
    for (const std::string& remark : audit.settings.remarks) names += '[' + remark + ']';
    return names;
  };
  CHECK(inputs("") == "kept/cache ");
  CHECK(inputs(description + "directory = 'out'\n") == "kept/cache out ");
  CHECK(inputs(description + "directory = 'none'\n") ==
        "kept/cache [`cache`: no directory `" + (fs::current_path() / "none").string() + "`]");
  CHECK(inputs("exclude = ['kept']\n") == "");
}

TEST_CASE("an entry that can't be read is a problem with its place") {
  Tree tree;
  tree.add("cache/add_"s + key + "/add.so", elf(500));
  tree.add("cache/closed_"s + key + "/closed.so", elf(500));
  const fs::path closed = "cache/closed_"s + key;
  fs::permissions(closed, fs::perms::none);
  const Audit audit = audit_paths({"cache"}, {"cache-*"});
  fs::permissions(closed, fs::perms::owner_all);
  // Root reads everything.
  REQUIRE(audit.facts.problems.size() == (::geteuid() == 0 ? 0 : 1));
  if (!audit.facts.problems.empty()) has(text_report(audit), closed.string());
}

TEST_CASE("links are not followed out of an entry, and what is no file is not opened") {
  Tree tree;
  tree.add("outside.so", "no library");
  tree.add("cache/add_"s + key + "/add.so", elf(500));
  fs::create_directory("cache/linked_"s + key);
  fs::create_symlink("../../outside.so", "cache/linked_"s + key + "/linked.so");
  fs::create_directory_symlink("add_"s + key, "cache/other_"s + key);
  fs::create_directory("cache/pipe_"s + key);
  REQUIRE(::mkfifo(("cache/pipe_"s + key + "/pipe.so").c_str(), 0600) == 0);
  const Audit audit = audit_paths({"cache"}, {"cache-*"});
  const std::string dump = dump_of(audit);
  has(dump, R"("name":"linked","key":"0b31f62c9d5e4a70","library":"linked.so"})");
  has(dump, R"("name":"pipe","key":"0b31f62c9d5e4a70","library":"pipe.so"})");
  CHECK(dump.find("other_") == std::string::npos);
  CHECK(audit.findings.empty());
}

TEST_CASE("bytes of any kind in an entry end no run") {
  for (const std::string& bytes :
       {""s, "\0\0"s, "{"s, "[]"s, "{\"child_paths\": 3}"s, "{\"child_paths\": {\"a\": {}}}"s,
        "{\"hash\": \"\xff\", \"name\": 3, \"target\": [1]}"s, std::string(2 << 20, '{'),
        "{\"child_paths\": {\"a\": \"\\u0000/..//../\"}}"s}) {
    Tree tree;
    tree.add(std::string(hash32) + "/__grp__good.json", R"({"child_paths": {}})");
    tree.add(std::string(hash32) + "/good.json", bytes);
    tree.add(std::string(hash32) + "/__grp__bad.json", bytes);
    tree.add(std::string(hash32) + "/bad.so", bytes);
    const Audit audit = audit_paths({"."}, {"cache-*"});
    CHECK(audit.inputs == 1);
    CHECK(!text_report(audit).empty());
  }
  for (const std::string& lines :
       {"build \n"s, "build a: \n"s, "build $"s, "build : link\n"s, "build mv.so: link $\n"s,
        "build mv.so$"s, "cuda_cflags = code="s, "build "s + std::string(100'000, '$')}) {
    Tree tree;
    tree.add("mv/build.ninja", torch_build("mv.so") + lines);
    const Audit audit = audit_paths({"."}, {"cache-*"});
    CHECK(audit.inputs == 1);
    CHECK(!report(audit, "sarif").empty());
    CHECK(!report(audit, "json").empty());
  }
}

}  // namespace opseal::test
