#include "rules/kernel_dtypes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace opseal::test {
namespace {

// Names of all dtypes of a kernel, sorted; `?` in front where it isn't clear.
std::string shown(std::string_view mangled) {
  const KernelDtypes dtypes = read_kernel_dtypes(mangled);
  std::vector<std::string> names;
  for (const Dtype* dtype : dtypes.all) names.emplace_back(dtype->name);
  std::sort(names.begin(), names.end());
  std::string text = dtypes.clear ? "" : "?";
  for (const std::string& name : names) text += (text.empty() || text == "?" ? "" : " ") + name;
  return text;
}

bool may_take(std::string_view mangled, std::string_view dtype) {
  return read_kernel_dtypes(mangled).may_take(*find_dtype(dtype));
}

}  // namespace

TEST_CASE("the dtypes of a kernel stand in its template arguments") {
  CHECK(shown("_Z2mvIfEvPKT_PS0_i") == "f32");
  CHECK(shown("_Z2mvI6__halfEvPKT_PS1_i") == "f16");
  CHECK(shown("_Z2mvI13__nv_bfloat16dEvPKT_PT0_") == "bf16 f64");
  CHECK(shown("_Z2mvIN3c104HalfEEvPKT_") == "f16");
  CHECK(shown("_Z2mvI13__nv_fp8_e4m3EvPT_") == "f8_e4m3fn");
  CHECK(shown("_Z2mvI13__nv_fp8_e5m2EvPT_") == "f8_e5m2");
  CHECK(shown("_Z2mvIaEvPT_") == "i8");
  CHECK(shown("_Z2mvIhEvPT_") == "u8");
  CHECK(shown("_Z2mvIxEvPT_") == "i64");
  CHECK(shown("_Z2mvIN3c107complexIfEEEvPT_").find("c64") != std::string::npos);
  CHECK(read_kernel_dtypes("_Z2mvILi4EfEvPKT0_").arguments.size() == 2);
  CHECK((read_kernel_dtypes("_Z2mvILi4EfEvPKT0_").arguments[0] == nullptr));
}

TEST_CASE("tensor cores' own format serves f32") {
  CHECK(shown("_Z4gemmIN7cutlass10tfloat32_tEEvPT_") == "f32");
  CHECK(shown("_Z9gemm_tf32Pf") == "f32");
}

TEST_CASE("a type of no known dtype may be one") {
  CHECK(shown("_Z3mapIf5AddOpEvPT_") == "?f32");
  CHECK(shown("_Z2mvIfEvPT_P6Params") == "?f32");
  CHECK(shown("_Z2mvIf9Fp8TraitsLb1EEvPT_").front() != '?');
  CHECK(shown("_Z2mvIfLi4ELb1EEvPT_") == "f32");
}

TEST_CASE("inside of other types, behind pointers and in names they count, too") {
  CHECK(shown("_Z2mvI6TraitsI6__halfLi4EEEvT_") == "f16");
  CHECK(shown("_Z2mvPKfPfi") == "f32");
  CHECK(shown("_Z6mv_f16PKvi") == "?f16");
  CHECK(shown("mv_bf16") == "bf16");
  CHECK(shown("_Z8matmulF8I4ModeEvv").starts_with("?"));
}

TEST_CASE("what says nothing, or may say another thing, isn't clear") {
  CHECK(shown("_Z2mvPKvPv") == "?");
  CHECK(shown("_Z2mvILi4EEv6Params") == "?");
  CHECK(shown("_Z2mvIL5DType2EfEvPKT0_") == "?f32");
  CHECK(shown("mv") == "?");
  CHECK(shown("") == "?");
}

TEST_CASE("CUDA's vectors are no narrow dtypes") {
  CHECK(shown("_Z2mvI4int4EvPT_") == "i32");
  CHECK(shown("_Z2mvI6float4EvPT_") == "f32");
  CHECK(shown("_Z2mvI7__half2EvPT_") == "f16");
}

TEST_CASE("values are moved by whole numbers of their width") {
  CHECK(may_take("_Z2mvItEvPT_", "bf16"));
  CHECK(may_take("_Z2mvIjEvPT_", "f32"));
  CHECK(!may_take("_Z2mvIjEvPT_", "f16"));
  CHECK(!may_take("_Z2mvIfEvPT_", "f16"));
  CHECK(may_take("_Z2mvIcEvPT_", "f8_e4m3fn"));
  CHECK(may_take("_Z2mvI6float2EvPT_", "c64"));
}

TEST_CASE("names that are cut anywhere are read or refused") {
  const std::string name = "_ZN2ns2mvINS_6TraitsI6__halfLi4EEEfEEvPKT0_PS4_";
  const std::vector<const Dtype*> whole = read_kernel_dtypes(name).all;
  REQUIRE(whole.size() == 2);
  for (std::size_t end = 0; end <= name.size(); ++end) {
    INFO(name.substr(0, end));
    for (const Dtype* dtype : read_kernel_dtypes(name.substr(0, end)).all) {
      CHECK(std::find(whole.begin(), whole.end(), dtype) != whole.end());
    }
  }
}

}  // namespace opseal::test
