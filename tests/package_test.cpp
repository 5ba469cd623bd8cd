#include "analyzers/package/package.h"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

#include "analyzers/analyzers.h"
#include "cli/commands.h"
#include "opseal/registration.h"
#include "opseal/text.h"
#include "tests/archive_maker.h"
#include "tests/memory_input.h"
#include "tests/support.h"
#include "tests/tree.h"

namespace opseal::test {
namespace {

// What one file says, read by the analyzer that takes it.
Facts read_package(std::string bytes, const std::string& name) {
  InputFile input = memory_input(std::move(bytes), name);
  std::string error;
  const Analyzer* analyzer = find_analyzer(input, error);
  REQUIRE(error.empty());
  REQUIRE(analyzer != nullptr);
  return load_file(*analyzer, std::move(input));
}

bool is_recognised(const std::string& bytes) {
  const InputFile input = memory_input(bytes, "a");
  std::string error;
  return find_analyzer(input, error) != nullptr;
}

Fact only_root(const Facts& facts) {
  REQUIRE(facts.documents.size() == 1);
  return facts.root(facts.documents.front());
}

std::string joined(const Fact& list) { return join(texts_of(list), " "); }

std::string problems_of(const Facts& facts) {
  std::string text;
  for (const Problem& problem : facts.problems) {
    const std::string file = problem.where.known() ? facts.files[problem.where.file].path : "";
    text += file + ": " + problem.message + "\n";
  }
  return text;
}

// "path (alias, alias)" of each library.
std::string libraries_of(const Facts& facts) {
  std::string text;
  for (const Fact library : only_root(facts)[Key::libraries].items()) {
    text += std::string(library[Key::path].text());
    const std::string aliases = joined(library[Key::aliases]);
    text += aliases.empty() ? "\n" : " (" + aliases + ")\n";
  }
  return text;
}

// "file:line" of each place.
std::string places_of(const Fact& list) {
  std::string text;
  for (const Fact place : list.items()) {
    text += (text.empty() ? "" : " ") + std::string(place[Key::file].text()) + ':' +
            std::to_string(place[Key::line].count());
  }
  return text;
}

Fact library_at(const Facts& facts, std::string_view path) {
  for (const Fact library : only_root(facts)[Key::libraries].items()) {
    if (library[Key::path].is(path)) return library;
  }
  return {};
}

std::vector<Member> wheel_members() {
  return {
      {.path = "pkg/__init__.py",
       .bytes = "\"\"\"Loads libdoc.so.\"\"\"\nimport ctypes\nfrom . import _x\n"
                "ctypes.CDLL(here + '/libmore.so')\n"},
      {.path = "pkg/_x.cpython-311-x86_64-linux-gnu.so", .bytes = ptx_module("x")},
      {.path = "pkg/libmore.so.1", .bytes = ptx_module("more")},
      {.path = "pkg/libmore.so.1.2.3", .bytes = ptx_module("more")},
      {.path = "pkg-1.0.dist-info/METADATA",
       .bytes = "Metadata-Version: 2.1\nName: Pkg\nVersion: 1.0\n"
                "License: Terms\n         \n         Requires-Dist: nothing\n"
                "Requires-Dist: numpy>=1.2\n"
                "Requires-Dist: jaxlib; extra == \"cuda\"\n\nName: not this\n"},
      {.path = "pkg-1.0.dist-info/WHEEL",
       .bytes = "Wheel-Version: 1.0\nTag: cp311-cp311-manylinux2014_x86_64\n"
                "Tag: cp311-cp311-manylinux_2_17_x86_64\n"},
      {.path = "pkg-1.0.dist-info/RECORD",
       .bytes = "pkg/__init__.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\r\n"
                "\"pkg/a,b.txt\",,\r\n"},
  };
}

constexpr const char* wheel_name =
    "pkg-1.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl";

}  // namespace

TEST_CASE("a wheel states its metadata, its files and its libraries") {
  const Facts facts = read_package(make_archive(wheel_members(), "zip"), wheel_name);
  CHECK(problems_of(facts) == "");
  const Fact distribution = only_root(facts)[Key::distribution];
  CHECK(distribution[Key::kind].is("wheel"));
  CHECK(distribution[Key::name].is("Pkg"));
  CHECK(distribution[Key::version].is("1.0"));
  CHECK(joined(distribution[Key::tags]) ==
        "cp311-cp311-manylinux2014_x86_64 cp311-cp311-manylinux_2_17_x86_64");
  CHECK(joined(distribution[Key::requires_]) == "numpy>=1.2 jaxlib; extra == \"cuda\"");
  CHECK(joined(distribution[Key::loads]) == "libmore.so");
  CHECK(libraries_of(facts) ==
        "pkg/_x.cpython-311-x86_64-linux-gnu.so\npkg/libmore.so.1 (pkg/libmore.so.1.2.3)\n");

  std::string files;
  for (const Fact file : distribution[Key::files].items()) {
    files +=
        std::string(file[Key::path].text()) + ' ' + std::string(file[Key::digest].text()) + '\n';
  }
  CHECK(files ==
        "pkg/__init__.py "
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\npkg/a,b.txt \n");
}

TEST_CASE("a library says which Python lines import it and which name it") {
  const Facts facts = read_package(make_archive(wheel_members(), "zip"), wheel_name);
  const Fact extension = library_at(facts, "pkg/_x.cpython-311-x86_64-linux-gnu.so");
  CHECK(places_of(extension[Key::imported_by]) == "pkg/__init__.py:3");
  CHECK(!extension[Key::loaded_by].said());
  const Fact more = library_at(facts, "pkg/libmore.so.1");
  CHECK(places_of(more[Key::loaded_by]) == "pkg/__init__.py:4");
  CHECK(!more[Key::imported_by].said());
}

TEST_CASE("an extension in a folder of its own is found by its bare name") {
  const Facts facts = read_package(
      make_archive({{.path = "pkg/a.py", .bytes = "sys.path.append(lib)\nimport _x, y\n"},
                    {.path = "pkg/lib/_x.so", .bytes = ptx_module("x")},
                    {.path = "pkg/lib/y.so", .bytes = ptx_module("y")}},
                   "zip"),
      "a.zip");
  CHECK(places_of(library_at(facts, "pkg/lib/_x.so")[Key::imported_by]) == "pkg/a.py:2");
  CHECK(!library_at(facts, "pkg/lib/y.so")[Key::imported_by].said());
}

TEST_CASE("a place in a member names the member as a file of its own") {
  const Facts facts = read_package(make_archive(wheel_members(), "zip"), wheel_name);
  const Fact more = library_at(facts, "pkg/libmore.so.1");
  const std::string package(wheel_name);
  const InputFile& member = facts.files[more.where().file];
  CHECK(member.path == package + "!/pkg/libmore.so.1");
  CHECK(member.binary);
  CHECK(member.size == ptx_module("more").size());
  for (const Fact place : more[Key::loaded_by].items()) {
    CHECK(facts.files[place.where().file].path == package + "!/pkg/__init__.py");
  }
  const Fact root = only_root(facts);
  CHECK(facts.files[root[Key::distribution].where().file].path == package);
}

TEST_CASE("the dump of a package is a manifest that says the same") {
  const Facts facts = read_package(make_archive(wheel_members(), "zip"), wheel_name);
  std::ostringstream out;
  write_dump(facts, out);
  const Facts again = read_text(out.str());
  CHECK(problems_of(again) == "");
  CHECK(libraries_of(again) == libraries_of(facts));
  CHECK(places_of(library_at(again, "pkg/libmore.so.1")[Key::loaded_by]) == "pkg/__init__.py:4");
}

TEST_CASE("a wheel whose name and metadata differ in their tags is judged by its name, and told") {
  const Facts facts =
      read_package(make_archive(wheel_members(), "zip"), "pkg-1.0-1-py2.py3-none-any.whl");
  CHECK(joined(only_root(facts)[Key::distribution][Key::tags]) == "py2-none-any py3-none-any");
  CHECK(problems_of(facts).find("judged by the name") != std::string::npos);
}

TEST_CASE("a zip is no input unless it is a wheel or holds a member named like a library") {
  CHECK(!is_recognised(make_archive({{.path = "word/document.xml", .bytes = "<x/>"}}, "zip")));
  CHECK(!is_recognised(make_archive(
      {{.path = "arr_0.npy", .bytes = "x"}, {.path = "some.sort", .bytes = "x"}}, "zip")));
  CHECK(is_recognised(make_archive({{.path = "lib/arm64-v8a/libx.so", .bytes = "x"}}, "zip")));
  CHECK(is_recognised(make_archive({{.path = "libx.so.1", .bytes = "x"}}, "zip")));
  CHECK(is_recognised(make_archive({{.path = "p-1.dist-info/WHEEL", .bytes = ""}}, "zip")));
  CHECK(!is_recognised("PK\x03\x04 and nothing of a zip"));
}

TEST_CASE("a compressed file is an input only where it is a tar archive with a library") {
  for (const char* compression : {"none", "gzip", "bzip2", "xz", "zstd", "lz4"}) {
    INFO(compression);
    const std::vector<Member> members = {{.path = "./d/libx.so", .bytes = ptx_module("x")}};
    const std::string bytes = make_archive(members, "tar", compression);
    REQUIRE(is_recognised(bytes));
    const Facts facts = read_package(bytes, "a.tar");
    CHECK(problems_of(facts) == "");
    CHECK(libraries_of(facts) == "d/libx.so\n");
    CHECK(only_root(facts)[Key::distribution][Key::kind].is("archive"));
    CHECK(!is_recognised(make_archive({{.path = "a.txt", .bytes = "x"}}, "tar", compression)));
  }
  // A compressed file that is no archive, alone and longer than the head that is looked at.
  CHECK(!is_recognised(std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0", 20)));
  CHECK(!is_recognised("\x1f\x8b\x08" + std::string(100000, 'x')));
}

TEST_CASE("an archive packed twice is not unpacked twice") {
  const std::string tar =
      make_archive({{.path = "libx.so", .bytes = ptx_module("x")}}, "tar", "gzip");
  // A tar archive that is one member of nothing: gzip of gzip.
  const std::string twice = make_archive({{.path = "inner.tgz", .bytes = tar}}, "tar", "gzip");
  CHECK(!is_recognised(twice));
}

TEST_CASE("links are other names of a library") {
  const std::vector<Member> members = {
      {.path = "lib/libx.so", .symbolic_link = "libx.so.1"},
      {.path = "lib/libx.so.1", .symbolic_link = "./libx.so.1.2"},
      {.path = "lib/libx.so.1.2", .bytes = ptx_module("x")},
      {.path = "other/x.so", .hard_link = "lib/libx.so.1.2"},
      {.path = "lib/loop.so", .symbolic_link = "loop.so"},
      {.path = "lib/out.so", .symbolic_link = "../../libx.so"},
      {.path = "lib/libm.so", .symbolic_link = "/usr/lib/libm.so"},
  };
  const Facts facts = read_package(make_archive(members, "tar", "gzip"), "a.tar.gz");
  CHECK(problems_of(facts) == "");
  CHECK(libraries_of(facts) == "lib/libx.so.1.2 (lib/libx.so lib/libx.so.1 other/x.so)\n");
}

TEST_CASE("a conda package is read in both of its formats") {
  const std::string index =
      R"({"name": "pkg", "version": "2.0", "subdir": "linux-64", "depends": ["libstdcxx >=12"]})";
  const std::string paths =
      R"({"paths": [{"_path": "lib/libx.so.1", "path_type": "hardlink", "sha256": "00ff"}]})";
  const std::vector<Member> info = {{.path = "info/index.json", .bytes = index},
                                    {.path = "info/paths.json", .bytes = paths}};
  const std::vector<Member> content = {
      {.path = "lib/libx.so", .symbolic_link = "libx.so.1"},
      {.path = "lib/libx.so.1", .bytes = ptx_module("x")},
      {.path = "lib/python3.11/site-packages/pkg/_y.so", .bytes = ptx_module("y")},
      {.path = "lib/python3.11/site-packages/pkg/__init__.py", .bytes = "import pkg._y\n"}};
  std::vector<Member> both = info;
  both.insert(both.end(), content.begin(), content.end());
  const std::string old_format = make_archive(both, "tar", "bzip2");
  const std::string new_format = make_archive(
      {{.path = "metadata.json", .bytes = "{}"},
       {.path = "pkg-pkg-2.0-0.tar.zst", .bytes = make_archive(content, "tar", "zstd")},
       {.path = "info-pkg-2.0-0.tar.zst", .bytes = make_archive(info, "tar", "zstd")}},
      "zip", "none", "zip:compression=store");
  for (const std::string& bytes : {old_format, new_format}) {
    const Facts facts = read_package(bytes, "pkg-2.0-0.conda");
    CHECK(problems_of(facts) == "");
    const Fact distribution = only_root(facts)[Key::distribution];
    CHECK(distribution[Key::kind].is("conda"));
    CHECK(distribution[Key::name].is("pkg"));
    CHECK(joined(distribution[Key::tags]) == "linux-64");
    CHECK(joined(distribution[Key::requires_]) == "libstdcxx >=12");
    CHECK(distribution[Key::files].size() == 1);
    CHECK(libraries_of(facts) ==
          "lib/libx.so.1 (lib/libx.so)\nlib/python3.11/site-packages/pkg/_y.so\n");
    const Fact extension = library_at(facts, "lib/python3.11/site-packages/pkg/_y.so");
    CHECK(places_of(extension[Key::imported_by]) ==
          "lib/python3.11/site-packages/pkg/__init__.py:1");
  }
}

TEST_CASE("a Debian package is read by its control and data archives") {
  const std::vector<Member> control = {
      {.path = "./control",
       .bytes =
           "Package: libx1\nVersion: 1.2-3\nArchitecture: amd64\nPre-Depends: dpkg\n"
           "Depends: libc6 (>= 2.14),\n libstdc++6\nDescription: text\n libz in a description\n"},
      {.path = "./md5sums", .bytes = "d41d8cd98f00b204e9800998ecf8427e  usr/lib/libx.so.1\n"}};
  const std::vector<Member> data = {{.path = "./"},
                                    {.path = "./usr/lib/libx.so.1", .bytes = ptx_module("x")},
                                    {.path = "./usr/lib/libx.so", .symbolic_link = "libx.so.1"}};
  const std::string bytes =
      make_archive({{.path = "debian-binary", .bytes = "2.0\n"},
                    {.path = "control.tar.xz", .bytes = make_archive(control, "tar", "xz")},
                    {.path = "data.tar.zst", .bytes = make_archive(data, "tar", "zstd")}},
                   "ar");
  const Facts facts = read_package(bytes, "libx1.deb");
  CHECK(problems_of(facts) == "");
  const Fact distribution = only_root(facts)[Key::distribution];
  CHECK(distribution[Key::kind].is("deb"));
  CHECK(distribution[Key::name].is("libx1"));
  CHECK(distribution[Key::version].is("1.2-3"));
  CHECK(joined(distribution[Key::tags]) == "amd64");
  CHECK(joined(distribution[Key::requires_]) == "dpkg libc6 (>= 2.14) libstdc++6");
  for (const Fact file : distribution[Key::files].items()) {
    CHECK(file[Key::path].is("usr/lib/libx.so.1"));
    CHECK(file[Key::digest].is("md5:d41d8cd98f00b204e9800998ecf8427e"));
  }
  CHECK(libraries_of(facts) == "usr/lib/libx.so.1 (usr/lib/libx.so)\n");
}

TEST_CASE("what a package holds and opseal leaves out is told") {
  const Facts facts =
      read_package(make_archive({{.path = "libx.so", .bytes = ptx_module("x")},
                                 {.path = "inner.whl", .bytes = "PK"},
                                 {.path = "x.dll", .bytes = "MZ" + std::string(200, '\0')},
                                 {.path = "i32/x.so", .bytes = "\177ELF\1\1\1"},
                                 {.path = "../../etc/libz.so", .bytes = ptx_module("z")}},
                                "zip"),
                   "a.zip");
  const std::string problems = problems_of(facts);
  CHECK(problems.find("1 member whose path leads outside: `../../etc/libz.so`") !=
        std::string::npos);
  CHECK(problems.find("1 archive that opseal does not look into: `inner.whl`") !=
        std::string::npos);
  CHECK(problems.find("holds 1 library for Windows, macOS, 32-bit or big-endian systems, which "
                      "opseal does not read: `i32/x.so`") != std::string::npos);
  CHECK(libraries_of(facts) == "libx.so\n../../etc/libz.so\n");
}

TEST_CASE("a member that is named like a library and is none is told") {
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 15048\n";
  const Facts facts = read_package(
      make_archive({{.path = "libx.so", .bytes = ptx_module("x")},
                    {.path = "p/zero.so", .bytes = ""},
                    {.path = "p/libz.so.1", .bytes = pointer},
                    {.path = "p/link.so", .bytes = "libx.so"},
                    {.path = "p/libm.so", .bytes = "/* GNU ld script */\nGROUP ( libm.so.6 )\n"},
                    {.path = "p/empty.txt", .bytes = ""},
                    {.path = "p/odd.so", .bytes = std::string("\0\1\2", 3)}},
                   "zip"),
      "a.zip");
  CHECK(problems_of(facts) ==
        "a.zip: no library is behind a library's name, which loading fails for: `p/zero.so` is "
        "empty\n"
        "a.zip: no library is behind a library's name, which loading fails for: `p/libz.so.1` is a "
        "pointer of Git LFS, not the file that it stands for\n"
        "a.zip: no library is behind a library's name, which loading fails for: `p/link.so` is "
        "text\n");
  for (const Problem& problem : facts.problems) CHECK(problem.severity == Severity::warning);
}

TEST_CASE("starters for Windows in a wheel for every system are a note") {
  std::string starter(0x100, '\0');
  starter.replace(0, 2, "MZ");
  starter[0x3c] = '\x80';
  starter.replace(0x80, 2, "PE");
  const auto severity = [&](const std::string& name, bool python) {
    std::vector<Member> members = {
        {.path = "pip/t32.exe", .bytes = starter},
        {.path = "pip-1.0.dist-info/WHEEL", .bytes = "Wheel-Version: 1.0\n"}};
    if (python) members.push_back({.path = "pip/a.py", .bytes = "x = 1\n"});
    const Facts facts = read_package(make_archive(members, "zip"), name);
    REQUIRE(facts.problems.size() == 1);
    return facts.problems[0].severity;
  };
  CHECK(severity("pip-1.0-py3-none-any.whl", true) == Severity::note);
  CHECK(severity("pip-1.0-py3-none-any.whl", false) == Severity::error);
  CHECK(severity("pip-1.0-cp311-cp311-win_amd64.whl", true) == Severity::error);
}

TEST_CASE("a name that is not ASCII stays as it is") {
  const Facts facts = read_package(
      make_archive({{.path = "d\u00e9j\u00e0/libx.so", .bytes = ptx_module("x")}}, "tar"), "a.tar");
  CHECK(libraries_of(facts) == "d\u00e9j\u00e0/libx.so\n");
}

TEST_CASE("a damaged library in a good package keeps its path and is a problem") {
  const std::string elf = std::string("\x7f") + "ELF";
  const Facts facts = read_package(make_archive({{.path = "libx.so", .bytes = elf},
                                                 {.path = "liby.so", .bytes = ptx_module("y")}},
                                                "zip"),
                                   "a.zip");
  CHECK(libraries_of(facts) == "libx.so\nliby.so\n");
  REQUIRE(facts.problems.size() == 1);
  CHECK(facts.files[facts.problems.front().where.file].path == "a.zip!/libx.so");
}

TEST_CASE("a walk takes packages and passes over other zips and compressed files") {
  const Tree tree;
  tree.add("wheels/" + std::string(wheel_name), make_archive(wheel_members(), "zip"));
  tree.add("text.docx", make_archive({{.path = "word/document.xml", .bytes = "<x/>"}}, "zip"));
  tree.add("log.gz", "\x1f\x8b\x08 no more");
  const Audit audit = audit_paths({"."}, {});
  CHECK(audit.inputs == 1);
  CHECK(audit.other_files == 2);
  CHECK(problems_of(audit.facts) == "");
}

}  // namespace opseal::test
