#include <doctest/doctest.h>

#include "rules/symbol_abi.h"
#include "rules/system_libraries.h"
#include "rules/xla_versions.h"
#include "tests/support.h"

namespace opseal::test {
namespace {

TEST_CASE("the two forms of strings show in mangled names") {
  const std::string_view newer = "_ZN3foo4loadERKNSt7__cxx1112basic_stringIcSt11char_traitsIcEE";
  CHECK(has_new_string(newer));
  CHECK_FALSE(has_old_string(newer));
  CHECK(has_old_string("_ZN3foo4loadERKSs"));
  CHECK(has_old_string("_ZN3c105ErrorC2ENS_14SourceLocationESs"));
  // A name may hold the letters.
  CHECK_FALSE(has_old_string("_ZN3foo6KSsumaEv"));
  CHECK_FALSE(has_old_string("be_Ss"));
  CHECK(is_torch_symbol("_ZN3c106detail14torchCheckFailEPKcS2_jRKSs"));
  CHECK_FALSE(is_torch_symbol("_ZN3foo3c10Ev"));
}

TEST_CASE("a function is the same in both forms") {
  CHECK(function_part("_ZN3foo4nameB5cxx11Ev") == function_part("_ZN3foo4nameEv"));
  CHECK(function_part("_ZN3foo4loadERKSs") == function_part("_ZN3foo4loadEi"));
  CHECK(function_part("_ZN3foo4loadEi") != function_part("_ZN3foo4saveEi"));
  CHECK(function_part("_ZNK3foo4loadEi") != function_part("_ZN3foo4loadEi"));
  CHECK(function_part("_ZN3fooC2ERKSs") != function_part("_ZN3fooD2Ev"));
  CHECK(function_part("_Z3addi") != "");
  for (const char* none : {"", "_Z", "add", "_ZN", "_ZN99fooE", "_ZN18446744073709551616fooE",
                           "_ZN3foo", "_ZN3fooIiE3barEv", "_ZN0E", "_ZNB"}) {
    INFO(std::string(none));
    CHECK(function_part(none) == "");
  }
}

TEST_CASE("names of libraries are taken apart") {
  CHECK(soname_family("libfoo.so.2.1") == "libfoo.so");
  CHECK(soname_version("libfoo.so.2.1") == "2.1");
  CHECK(soname_version("libfoo.so") == "");
  CHECK(is_framework_library("libcudart.so.13"));
  CHECK(is_framework_library("libtorch_cpu.so"));
  CHECK_FALSE(is_framework_library("librocksdb.so.8"));
  CHECK_FALSE(is_framework_library("libnuma.so.1"));
  CHECK(is_base_library(PlatformBase::manylinux, "libstdc++.so.6"));
  CHECK_FALSE(is_base_library(PlatformBase::musllinux, "libstdc++.so.6"));
  CHECK(is_base_library(PlatformBase::musllinux, "libc.musl-x86_64.so.1"));
}

TEST_CASE("a requirement may bring the library that it is named after") {
  CHECK(may_bring("z3-solver>=4.13", "libz3.so.4.15"));
  CHECK(may_bring("apache-tvm-ffi<0.2", "libtvm_ffi.so"));
  CHECK(may_bring("pyarrow", "libarrow.so.2100"));
  CHECK(may_bring("torch", "libgomp.so.1"));
  CHECK_FALSE(may_bring("numpy", "libgomp.so.1"));
  CHECK_FALSE(may_bring("numpy>=1.20", "libnuma.so.1"));
  CHECK_FALSE(may_bring("", "libnuma.so.1"));
}

TEST_CASE("a requirement that is pinned to a version") {
  CHECK(asks_for_version("foo-ops-cu12==0.13.0", "0.13.0"));
  CHECK(asks_for_version("foo-ops (== 0.13.0) ; python_version > \"3\"", "0.13.0"));
  CHECK_FALSE(asks_for_version("foo-ops>=0.13.0", "0.13.0"));
  CHECK_FALSE(asks_for_version("foo-ops==0.13.1", "0.13.0"));
  CHECK_FALSE(asks_for_version("foo-ops==0.13.0; extra == \"cuda\"", "0.13.0"));
  CHECK_FALSE(asks_for_version("foo-ops==", ""));
}

TEST_CASE("a release of jaxlib has the interface of its headers") {
  const auto api = [](std::string_view release) { return api_of_jaxlib(*read_release(release)); };
  CHECK_FALSE(api("0.4.30"));
  CHECK(*api("0.4.31") == ApiVersion{0, 0});
  CHECK(*api("0.8.0") == ApiVersion{0, 1});
  CHECK(*api("0.9.0") == ApiVersion{0, 2});
  CHECK(*api("0.10.2") == ApiVersion{0, 3});
  CHECK(*api("0.11.1") == ApiVersion{0, 4});
  CHECK(*read_release("0.5") == Release{0, 5, 0});
  CHECK(*read_release("0.6.1rc1") == Release{0, 6, 1});
  CHECK_FALSE(read_release("newest"));
}

}  // namespace
}  // namespace opseal::test
