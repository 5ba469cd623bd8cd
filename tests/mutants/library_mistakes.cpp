#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/mutants/families.h"

namespace opseal::test {
namespace {

constexpr const char* table = "libraries";

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// A path in the same folder.
std::string beside_path(const Place& place, const char* name) {
  const std::string path = text_of(place.item, "path");
  return path.substr(0, path.rfind('/') + 1) + name;
}

// Names of exported functions that C++ didn't change.
std::vector<std::string> functions_of(const Json& library) {
  std::vector<std::string> names;
  for (const Json& symbol : at(library, "exports")) {
    const std::string name = text_of(symbol, "name");
    if (text_of(symbol, "kind") == "function" && !name.starts_with("_")) names.push_back(name);
  }
  return names;
}

void erase_export(Json& library, const std::string& name) {
  Json kept = Json::array();
  for (Json& symbol : library["exports"]) {
    if (text_of(symbol, "name") != name) kept.push_back(std::move(symbol));
  }
  library["exports"] = std::move(kept);
}

bool declare_uncompiled(Place& place) {
  const std::vector<std::string> names = functions_of(place.item);
  if (names.empty()) return false;
  place.item["functions"] = names;
  place.item["functions"].push_back("compiled_elsewhere");
  return true;
}

bool lose_symbol(Place& place) {
  const std::vector<std::string> names = functions_of(place.item);
  if (names.empty()) return false;
  const std::string& name = names[place.random() % names.size()];
  place.beside["targets"] = Json::array({{{"name", "pkg." + name},
                                          {"platform", "gpu"},
                                          {"symbol", name},
                                          {"library", place.item["path"]}}});
  erase_export(place.item, name);
  return true;
}

bool leave_old_entry(Place& place) {
  if (!has(place.item, "exports")) return false;
  place.item["symbols_prefix"] = "op_";
  place.item["functions"] = Json::array({"add"});
  for (const char* name : {"op_add", "op_add_v1"}) {
    place.item["exports"].push_back({{"name", name}, {"kind", "function"}});
  }
  return true;
}

// The key of the cache leaves out which functions a build shall have.
bool ask_for_more(Place& place) {
  const std::vector<std::string> names = functions_of(place.item);
  if (names.empty()) return false;
  const std::string name = base_name(place.item["path"]);
  Json entry = {{"directory", "~/.cache/pkg"}, {"library", name}, {"functions", names}};
  entry["functions"].push_back("asked_for_later");
  place.beside["caches"] = Json::array({{{"name", "kernels"},

                                         {"entries", Json::array({entry})}}});
  return true;
}

// What is pinned to the package's own version is another part of it, and may bring anything.
bool has_other_parts(const Place& place) {
  const Json& package = at(place.manifest, "distribution");
  const std::string own = "==" + text_of(package, "version");
  for (const Json& required : at(package, "requires")) {
    if (std::string(required).find(own) != std::string::npos) return true;
  }
  return false;
}

bool need_unshipped(Place& place) {
  if (!has_items(place.item, "needed") || has_other_parts(place)) return false;
  place.item["needed"].push_back("libgfortran.so.5");
  return true;
}

bool need_other_version(Place& place) {
  if (!has_items(place.item, "needed") || has_other_parts(place)) return false;
  place.item["needed"].push_back("libshared.so.2");
  place.added.push_back({{"path", beside_path(place, "libshared.so.3")}, {"format", "elf"}});
  return true;
}

// A part that was built on a machine with another CUDA.
bool need_other_runtime(Place& place) {
  for (const Json& need : at(place.item, "needed")) {
    const std::string soname = need;
    if (!soname.starts_with("libcudart.so.")) continue;
    place.added.push_back({{"path", beside_path(place, "libextra_kernels.so")},
                           {"format", "elf"},
                           {"needed", Json::array({"libcudart.so.11.0"})}});
    return true;
  }
  return false;
}

bool search_build_folder(Place& place) {
  if (!has(place.item, "needed")) return false;
  place.item["run_path"] = Json::array({"$ORIGIN", "/home/builder/pkg/build/lib"});
  return true;
}

// A machine for builds that is newer than what the tag promises.
bool need_newer_libc(Place& place) {
  if (!has(at(place.item, "version_needs"), "libc.so.6")) return false;
  place.item["version_needs"]["libc.so.6"].push_back("GLIBC_2.38");
  return true;
}

// The tag of the stable interface, and a file that was named by the interpreter at hand.
bool name_one_interpreter(Place& place) {
  std::string path = text_of(place.item, "path");
  const std::string stem = path.substr(0, path.find('.'));
  bool module = false;
  for (const Json& registrar : at(place.item, "registrars")) {
    module = module || text_of(registrar, "symbol") == "PyInit_" + base_name(stem);
  }
  if (!module || !has(place.manifest, "distribution")) return false;
  place.item["path"] = stem + ".cpython-311-x86_64-linux-gnu.so";
  place.item["imported_by"] = Json::array({{{"file", "pkg/__init__.py"}, {"line", 3}}});
  place.item.erase("loaded_by");
  Json package = place.manifest["distribution"];
  package["tags"] = Json::array({"cp310-abi3-manylinux_2_28_x86_64"});
  place.beside["distribution"] = std::move(package);
  return true;
}

// A library that was added as package data, by a build that takes the package for pure Python.
bool promise_any_machine(Place& place) {
  if (text_of(place.item, "format") != "elf" || text_of(place.item, "type") != "shared" ||
      !has(place.manifest, "distribution")) {
    return false;
  }
  place.item["imported_by"] = Json::array({{{"file", "pkg/__init__.py"}, {"line", 3}}});
  Json package = place.manifest["distribution"];
  package["tags"] = Json::array({"py3-none-any"});
  place.beside["distribution"] = std::move(package);
  return true;
}

// Two packages with a file that a tool put into both.
bool share_path(Place& place) {
  if (!has(place.item, "distribution")) return false;
  const auto package = [](Json base, const char* name, const char* digest) {
    base["name"] = name;
    base["files"] = Json::array({{{"path", "tests/__init__.py"}, {"digest", digest}}});
    return base;
  };
  Json& own = place.item["distribution"];
  place.other = {{"opseal_manifest", 1},
                 {"distribution", package(own, "some-helpers", "sha256:00aa")}};
  own = package(own, text_of(own, "name").c_str(), "sha256:00bb");
  return true;
}

// What a hand-written engine registers from a library that it built itself.
Json own_library(const char* path, Json exports, Json content) {
  content["path"] = path;
  content["format"] = "elf";
  content["needed"] = Json::array({"libc.so.6"});
  content["exports"] = Json::array();
  for (const Json& name : exports) {
    content["exports"].push_back({{"name", name}, {"kind", "function"}});
  }
  return content;
}

// The kernel for the narrow dtype was written and never instantiated.
bool forget_instantiation(Place& place) {
  if (!has_items(place.item, "images")) return false;
  Json kernels = Json::array(
      {{{"name", "_Z9mv_kernelIfEvPKT_PS0_i"}}, {{"name", "_Z9mv_kernelIdEvPKT_PS0_i"}}});
  Json image = {
      {"container", 0}, {"kind", "sass"}, {"architecture", "sm_90"}, {"kernels", kernels}};
  Json handler = {{"symbol", "mv_own"},
                  {"stage", "execute"},
                  {"reaches", Json::array({kernels[0]["name"], kernels[1]["name"]})}};
  place.added.push_back(
      own_library("own/libmv.so", Json::array({"mv_own"}),
                  {{"images", Json::array({image})}, {"handlers", Json::array({handler})}}));
  place.beside["operators"] =
      Json::array({{{"name", "mv_own"},
                    {"kernels", Json::array({{{"platform", "cuda"},
                                              {"dtypes", {"float32", "float64", "float16"}},
                                              {"symbol", "mv_own"},
                                              {"library", "own/libmv.so"}}})}}});
  return true;
}

// A line of the table of symbols was copied, and only its kind changed.
bool copy_symbol(Place& place) {
  if (!has(place.item, "exports")) return false;
  place.added.push_back(own_library("own/libmv.so", {"mv_q4_0", "mv_q5_0"}, Json::object()));
  Json kernels = Json::array();
  for (const char* kind : {"q4_0", "q5_0"}) {
    kernels.push_back({{"platform", "cpu"},
                       {"dtypes", Json::array({kind})},
                       {"symbol", "mv_q4_0"},
                       {"library", "own/libmv.so"}});
  }
  place.beside["operators"] = Json::array({{{"name", "mv_own"}, {"kernels", kernels}}});
  return true;
}

// The second of two kernels is an alias until somebody writes it.
bool alias_kernel(Place& place) {
  if (!has(place.item, "exports")) return false;
  Json library = own_library("own/libmv.so", {"mv_fast", "mv_small"}, Json::object());
  library["exports"][1]["alias_of"] = "mv_fast";
  place.added.push_back(std::move(library));
  Json kernels = Json::array();
  for (const char* symbol : {"mv_fast", "mv_small"}) {
    kernels.push_back({{"platform", "cpu"},
                       {"dtypes", Json::array({"f32"})},
                       {"symbol", symbol},
                       {"library", "own/libmv.so"}});
  }
  place.beside["operators"] = Json::array({{{"name", "mv_own"}, {"kernels", kernels}}});
  return true;
}

// `-fvisibility=hidden` came, and the attribute of one function didn't.
bool hide_function(Place& place) {
  if (!has(place.item, "exports")) return false;
  Json user = own_library("own/libuser.so", Json::array(), Json::object());
  user["needed"].push_back("libcore.so");
  user["imports"] = Json::array({{{"name", "core_run"}, {"kind", "none"}}});
  Json core = own_library("own/libcore.so", {"core_start"}, Json::object());
  core["hidden"] = Json::array({{{"name", "core_run"}, {"kind", "function"}}});
  place.added.push_back(std::move(user));
  place.added.push_back(std::move(core));
  return true;
}

}  // namespace

std::vector<Mistake> library_mistakes() {
  return {
      {"export-missing", "a declared function that is in no source file", declare_uncompiled,
       table},
      {"export-missing", "a target's function that was renamed", lose_symbol, table},
      {"export-unreachable", "an entry point of an older interface", leave_old_entry, table},
      {"cache-superset-hit", "a function asked for after the build", ask_for_more, table},
      {"library-needs-missing", "a library that wasn't put into the package", need_unshipped,
       table},
      {"library-needs-missing", "another version put into the package", need_other_version, table},
      {"library-needs-missing", "a function that its library hides", hide_function, table},
      {"dtype-declared-uncovered", "a kernel that was not instantiated for a dtype",
       forget_instantiation, table},
      {"symbol-kind-mismatch", "the symbol of another kind, copied", copy_symbol, table},
      {"duplicate-alias-kernel", "a kernel that is an alias of the other", alias_kernel, table},
      {"library-runtime-skew", "a part built with another CUDA", need_other_runtime, table},
      {"runpath-absolute", "the run path of the build", search_build_folder, table},
      {"wheel-tag-glibc", "built on a newer system", need_newer_libc, table},
      {"wheel-abi3-suffix", "a module named by its interpreter", name_one_interpreter, table},
      {"wheel-tag-pure", "a library added as package data", promise_any_machine, table},
      {"package-path-clash", "tests installed at the top by two packages", share_path, ""},
  };
}

}  // namespace opseal::test
