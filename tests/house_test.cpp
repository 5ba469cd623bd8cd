// Rules about the code itself: what the folders hold, who includes whom, how long a file may be.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/process.h"
#include "opseal/form.h"
#include "rules/rules.h"
#include "tests/support.h"

namespace fs = std::filesystem;

namespace opseal::test {
namespace {

using Words = std::set<std::string>;

std::string text_of(const Words& words) {
  std::string out;
  for (const std::string& word : words) out += word + "\n";
  return out;
}

// What git tracks, or would: generated and ignored files are nobody's house.
std::vector<std::string> tracked_files() {
  const ProcessResult list = run_process({"git", "-C", source_dir().string(), "ls-files",
                                          "--cached", "--others", "--exclude-standard"});
  std::vector<std::string> files;
  std::istringstream lines(list.output);
  for (std::string line; std::getline(lines, line);) {
    if (fs::exists(source_dir() / line)) files.push_back(line);
  }
  return files;
}

bool is_code(const std::string& path) { return path.ends_with(".cpp") || path.ends_with(".h"); }

std::string folder_of(const std::string& path) {
  return path.starts_with("include/") ? "include/opseal" : path.substr(0, path.find('/'));
}

// The arguments of each line `MACRO(argument...` of a table.
std::vector<std::string> table_lines(const std::string& path, const std::string& macro) {
  std::vector<std::string> entries;
  std::istringstream lines(read_file(source_dir() / path));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(macro + "(")) {
      entries.push_back(line.substr(macro.size() + 1, line.find_first_of(",)") - macro.size() - 1));
    }
  }
  return entries;
}

std::string with(std::string text, char from, char to) {
  std::replace(text.begin(), text.end(), from, to);
  return text;
}

// Headers of other projects, and the files that may include them.
const std::map<std::string, Words> third_party = {
    {"archive.h", {"analyzers/package/archive_reader.cpp"}},
    {"archive_entry.h", {"analyzers/package/archive_reader.cpp"}},
    {"xxhash.h", {"include/opseal/digest.h"}},
    {"CLI/CLI.hpp", {"cli/options.cpp"}},
    {"immintrin.h", {"analyzers/source/needles.cpp"}},
    {"linux/capability.h", {"analyzers/probe/sandbox.cpp"}},
    {"ucontext.h", {"analyzers/probe/guarded_buffer.cpp"}},
    {"lz4.h", {"analyzers/native/decompress.cpp"}},
    {"ffi.h", {"analyzers/probe/plain_call.cpp"}},
    {"seccomp.h", {"analyzers/probe/system_calls.cpp"}},
    {"tree_sitter/api.h", {"analyzers/python/syntax.cpp"}},
    {"toml++/toml.h", {"cli/config.cpp"}},
    {"yaml-cpp/eventhandler.h", {"analyzers/yaml_tree.cpp"}},
    {"yaml-cpp/yaml.h", {"analyzers/yaml_tree.cpp"}},
    {"zlib.h", {"analyzers/native/elf_compressed.cpp"}},
    {"zstd.h", {"analyzers/native/decompress.cpp", "analyzers/native/elf_compressed.cpp"}},
    {"clang-c/Index.h", {"analyzers/clang/library.h"}},
    {"cxxabi.h", {"rules/mangled_names.cpp"}},
    {"nlohmann/json_fwd.hpp", {"analyzers/torch_schema_json.h", "cli/json_text.h"}},
    {"nlohmann/json.hpp",
     {"analyzers/clang/compile_commands.cpp", "analyzers/native_functions.cpp",
      "analyzers/package/conda.cpp", "analyzers/probe/framework_child.cpp",
      "analyzers/probe/framework_operators.cpp", "analyzers/torch_schema_json.cpp",
      "cli/config_schema.cpp", "cli/dump.cpp", "cli/export_twice.cpp", "cli/json_text.cpp",
      "cli/report_json.cpp", "cli/report_sarif.cpp", "cli/schema.cpp"}},
};

// Of our own headers: folder -> prefixes of what its files may include.
const std::map<std::string, std::vector<std::string>> directions = {
    {"include/opseal", {"opseal/"}},
    {"analyzers", {"opseal/", "analyzers/"}},
    {"rules", {"opseal/", "rules/"}},
    {"compare",
     {"opseal/", "compare/", "rules/architectures.h", "rules/glibc_versions.h",
      "rules/device_kernels.h", "rules/hollow_bodies.h", "rules/system_libraries.h",
      "rules/kernel_key.h", "rules/lost_kernels.h", "rules/platform_tag.h", "rules/served_dtypes.h",
      "rules/two_dumps.h"}},
    {"cli",
     {"opseal/",
      "cli/",
      "compare/changes.h",
      "analyzers/analyzers.h",
      "analyzers/artifacts.h",
      "analyzers/native/library_stand_in.h",
      "analyzers/byte_source.h",
      "analyzers/cache_description.h",
      "analyzers/caches.h",
      "analyzers/clang/child.h",
      "analyzers/export.h",
      "analyzers/hidden_symbols.h",
      "analyzers/join.h",
      "analyzers/probe/child.h",
      "analyzers/probe/ffi_question.h",
      "analyzers/probe/framework_child.h",
      "analyzers/probe/frameworks.h",
      "analyzers/probe/orphans.h",
      "analyzers/probe/handed_child.h",
      "analyzers/probe/probes.h",
      "analyzers/sources/load.h",
      "analyzers/sources/pair_description.h",
      "analyzers/sources/pair_proposals.h",
      "analyzers/native_functions.h",
      "rules/fleet_words.h",
      "rules/probe_verdicts.h",
      "rules/rules.h"}},
};

// Empty, or what is wrong with an include line of a file.
std::string wrong_include(const std::string& path, const std::string& header, bool own) {
  const std::string folder = folder_of(path);
  if (folder == "tests" || folder == "bench") return "";
  if (own) {
    const auto allowed = directions.find(folder);
    if (allowed == directions.end()) return "a folder that the table of directions doesn't know";
    const bool fine =
        std::any_of(allowed->second.begin(), allowed->second.end(),
                    [&header](const auto& prefix) { return header.starts_with(prefix); });
    return fine ? "" : folder + " may not include " + header;
  }
  static const std::regex standard("[a-z_]+");
  static const std::regex posix(
      "(sys/[a-z]+|dirent|dlfcn|fcntl|poll|sched|signal|spawn|unistd)\\.h");
  if (std::regex_match(header, standard)) return "";
  if (std::regex_match(header, posix)) {
    return folder == "analyzers" || folder == "cli" ? "" : folder + " does no I/O: " + header;
  }
  const auto allowed = third_party.find(header);
  if (allowed != third_party.end() && allowed->second.count(path) > 0) return "";
  return "only the table of third-party headers says who may include <" + header + ">";
}

}  // namespace

TEST_CASE("the table of rules, the files and the fixtures are the same rules") {
  const std::vector<std::string> lines = table_lines("rules/rules.def", "OPSEAL_RULE");
  CHECK(std::is_sorted(lines.begin(), lines.end()));
  const Words table(lines.begin(), lines.end());
  CHECK(table.size() == lines.size());
  CHECK(table.size() == all_rules().size());

  Words files;
  for (const fs::directory_entry& entry : fs::directory_iterator(source_dir() / "rules")) {
    const fs::path& path = entry.path();
    // A source with a header is a helper, not a rule.
    if (path.extension() != ".cpp" || fs::exists(fs::path(path).replace_extension(".h"))) continue;
    files.insert(path.stem().string());
  }
  CHECK(text_of(files) == text_of(table));

  Words folders;
  for (const std::string& name : folders_in(source_dir() / "fixtures")) {
    if (!name.starts_with("_")) folders.insert(with(name, '-', '_'));
  }
  CHECK(text_of(folders) == text_of(table));

  Words ids;
  for (std::size_t i = 0; i < all_rules().size(); ++i) {
    const std::string id(all_rules()[i]->id);
    INFO(id);
    CHECK(with(id, '-', '_') == lines.at(i));
    CHECK(ids.insert(id).second);
    CHECK(find_rule(id) == all_rules()[i]);
    CHECK(std::regex_match(id, std::regex("[a-z0-9]+(-[a-z0-9]+)*")));
  }
}

TEST_CASE("the table of keys is sorted, and the format uses every key") {
  const std::vector<std::string> keys = table_lines("include/opseal/keys.def", "OPSEAL_KEY");
  CHECK(std::is_sorted(keys.begin(), keys.end()));
  CHECK(Words(keys.begin(), keys.end()).size() == keys.size());

  Words used;
  for_each_named_form(
      manifest_form,
      [](const Form& form, void* context) {
        Words& found = *static_cast<Words*>(context);
        INFO("form " << std::string(form.name));
        CHECK(form.fields.size() <= max_fields);
        Words here;
        for (const Field& field : form.fields) {
          CHECK(field.form != nullptr);
          const std::string key(to_text(field.key));
          INFO("key " << key);
          CHECK(here.insert(key).second);
          found.insert(key);
        }
      },
      &used);
  Words all;
  for (std::size_t key = static_cast<std::size_t>(Key::extension) + 1;
       key < static_cast<std::size_t>(Key::key_count); ++key) {
    all.insert(std::string(to_text(static_cast<Key>(key))));
  }
  CHECK(all.size() == keys.size());
  CHECK(text_of(used) == text_of(all));
}

TEST_CASE("includes follow the directions between the folders") {
  static const std::regex include("\\s*#\\s*include\\s*([<\"])([^>\"]+)[>\"].*");
  std::size_t seen = 0;
  for (const std::string& path : tracked_files()) {
    // Sources in fixtures are inputs.
    if (!is_code(path) || path.starts_with("fixtures/")) continue;
    std::istringstream lines(read_file(source_dir() / path));
    for (std::string line; std::getline(lines, line);) {
      std::smatch match;
      if (!std::regex_match(line, match, include)) continue;
      ++seen;
      INFO(path << ": " << line);
      CHECK(wrong_include(path, match[2], match[1] == "\"") == "");
    }
  }
  CHECK(seen > 100);
}

TEST_CASE("a wrong include is noticed") {
  CHECK(wrong_include("rules/a.cpp", "analyzers/analyzers.h", true) != "");
  CHECK(wrong_include("rules/a.cpp", "nlohmann/json.hpp", false) != "");
  CHECK(wrong_include("rules/a.cpp", "unistd.h", false) != "");
  CHECK(wrong_include("cli/a.cpp", "analyzers/json_reader.h", true) != "");
  CHECK(wrong_include("cli/a.cpp", "rules/kernel_key.h", true) != "");
  CHECK(wrong_include("analyzers/a.cpp", "cli/audit.h", true) != "");
  CHECK(wrong_include("include/opseal/a.h", "rules/rules.h", true) != "");
  CHECK(wrong_include("include/opseal/a.h", "xxhash.h", false) != "");
  CHECK(wrong_include("other/a.cpp", "opseal/facts.h", true) != "");
  CHECK(wrong_include("rules/a.cpp", "opseal/rule.h", true) == "");
  CHECK(wrong_include("rules/a.cpp", "string_view", false) == "");
}

TEST_CASE("no file is longer than 600 lines") {
  for (const std::string& path : tracked_files()) {
    if (!is_code(path) && !path.ends_with(".py") && !path.ends_with(".txt") &&
        !path.ends_with(".def"))
      continue;
    if (path.starts_with("fixtures/")) continue;
    const std::string bytes = read_file(source_dir() / path);
    INFO(path);
    CHECK(std::count(bytes.begin(), bytes.end(), '\n') <= 600);
  }
}

TEST_CASE("the top folder holds what it is meant to hold") {
  const Words allowed = {".ci",
                         ".clang-format",
                         ".clang-tidy",
                         ".editorconfig",
                         ".github",
                         ".gitignore",
                         ".pre-commit-hooks.yaml",
                         "CMakeLists.txt",
                         "CMakePresets.json",
                         "LICENSE",
                         "README.md",
                         "action.yml",
                         "analyzers",
                         "bench",
                         "cli",
                         "compare",
                         "dev",
                         "docs",
                         "fixtures",
                         "include",
                         "rules",
                         "tests"};
  const std::vector<std::string> files = tracked_files();
  CHECK(files.size() > 100);
  for (const std::string& path : files) {
    INFO(path);
    CHECK(allowed.count(path.substr(0, path.find('/'))) == 1);
  }
}

}  // namespace opseal::test
