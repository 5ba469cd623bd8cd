#include "rules/mangled_names.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

namespace opseal::test {
namespace {

bool same_function(std::string_view a, std::string_view b) {
  return read_function_name(a).hash == read_function_name(b).hash;
}
bool tagged(std::string_view mangled) { return read_function_name(mangled).names_architecture; }

}  // namespace

TEST_CASE("a kernel's function is its path without template arguments and parameters") {
  CHECK(function_path("_Z3addPf") == "add");
  CHECK(function_path("_ZN2ns3addIfEEvPT_") == "ns::add");
  CHECK(function_path("_ZN2ns5ClassIfLi4EE3runI6__halfJLb1ELin5EEEEvv") == "ns::Class::run");
  CHECK(function_path("_ZL4initi") == "init");
  CHECK(function_path("_ZN42_GLOBAL__N__0f1e2d3c_4_a_cu_00000000_000003addIdEEvPT_") ==
        "(anonymous namespace)::add");
  CHECK(function_path("_ZN12_GLOBAL__N_13addEPf") == "(anonymous namespace)::add");
  CHECK(function_path("_ZSt4fillIPiiEvT_S1_RKT0_") == "fill");
}

TEST_CASE("template arguments of every kind are stepped over") {
  // An enumerator, a function's address, a lambda, a pack, a decltype, a vector and a member
  // pointer.
  CHECK(function_path("_Z1kIL4Mode1EEvv") == "k");
  CHECK(function_path("_Z1kILN2ns4ModeE2EEvv") == "k");
  CHECK(function_path("_Z1kIXadL_Z3addPfEEEvv") == "k");
  CHECK(function_path("_Z1kIZ4mainEUlfE_EvT_") == "k");
  CHECK(function_path("_Z1kIJfdiEEvDpT_") == "k");
  CHECK(function_path("_Z1kIDF16bDv4_fEvT_T0_") == "k");
  CHECK(function_path("_Z1kIM5ClassFvfEEvT_") == "k");
  CHECK(function_path("_Z1kIA3_fFiiPKcEEvv") == "k");
  CHECK(function_path("_Z1kISt5tupleIJN2at6TensorES2_EEEvT_") == "k");
}

TEST_CASE("instantiations of one function are one function, others are others") {
  CHECK(same_function("_Z1kIfEvPT_", "_Z1kIN2ns4halfELi128EEvPT_"));
  CHECK(!same_function("_ZN1a1kIfEEvPT_", "_ZN1b1kIfEEvPT_"));
  CHECK(!same_function("_Z1kIfEvPT_", "_Z2kkIfEvPT_"));
  CHECK(!same_function("add", "sub"));
  CHECK(read_function_name("_Z1kIfEvPT_").instantiated);
  CHECK(!read_function_name("_ZN5ClassIfE3runEv").instantiated);
}

TEST_CASE("an architecture in the function's own name is seen, and in its arguments is not") {
  CHECK(tagged("gemm_sm90"));
  CHECK(tagged("_ZN4sm901kEv"));
  CHECK(tagged("_Z13MainloopSm100v"));
  CHECK(tagged("_Z11k_compute80v"));
  CHECK(tagged("_ZN6hopper1kIfEEvv"));
  CHECK(!tagged("_Z1kIN4arch4Sm90EEvv"));
  CHECK(!tagged("_Z1kILi90EEvv"));
  CHECK(!tagged("_ZN28CUB_300001_SM_750_800_900_NS4scanEv"));
  CHECK(!tagged("_Z7softmaxv"));
  CHECK(!tagged("_Z8plasma80v"));
  CHECK(!tagged("gemm_128x64"));
}

TEST_CASE("a name for a message has no parameters and is readable") {
  CHECK(readable_kernel("_ZN2ns3addIfLi4EEEvPT_") == "ns::add<float, 4>");
  CHECK(readable_kernel("_Z3addPf") == "add");
  CHECK(readable_kernel("add_f32") == "add_f32");
  CHECK(readable_kernel("_Z~broken") == "_Z~broken");
  CHECK(short_kernel("_ZN2ns3addIfLi4EEEvPT_") == "ns::add<float, 4>");
  const std::string type = "60" + std::string(60, 'x');
  CHECK(short_kernel("_ZN2ns3addI" + type + "EEvPT_") == "ns::add<...>");
}

TEST_CASE("names made to hurt are read in no time and little memory") {
  // Each argument holds the one before it twice.
  std::string doubling = "_Z1kI1A";
  for (int at = 0; at < 200; ++at) doubling += "I1BIS_S0_E";
  std::string deep = "_Z1kI" + std::string(100000, 'P') + "fEvv";
  std::string nested = "_Z1k";
  for (int at = 0; at < 20000; ++at) nested += "I1A";
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& name :
       {doubling, deep, nested, "_Z" + std::string(100000, '9') + "k", std::string("_ZN"),
        std::string("_ZNK"), std::string("_Z1kIL"), std::string("_Z1kIX"), std::string("_Z1kIS"),
        std::string("_Z1kID"), "_Z1kI" + std::string(50000, 'I')}) {
    CHECK(!readable_kernel(name).empty());
    CHECK(!function_path(name).empty());
    CHECK(read_function_name(name).hash != 0);
  }
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}

TEST_CASE("each cut of a name is read or refused") {
  const std::string name =
      "_ZN2ns5ClassIZ4mainEUlfE_LN2ns4ModeE2EXadL_Z3addPfEEE3runI6__halfJLb1EEEEvDpT_DF16b";
  for (std::size_t length = 0; length <= name.size(); ++length) {
    CHECK(!readable_kernel(name.substr(0, length)).empty() == (length > 0));
  }
}

TEST_CASE("what a kernel's dtype asks of the device stands in its name") {
  CHECK(dtype_need("_Z1kI13__nv_bfloat16EvPT_") == DtypeNeed::bf16);
  CHECK(dtype_need("gemm_bf16_f32") == DtypeNeed::bf16);
  CHECK(dtype_need("_Z1kI13__nv_fp8_e4m3EvPT_") == DtypeNeed::fp8);
  CHECK(dtype_need("_Z1kIN2cu11float_e2m1_tEEvv") == DtypeNeed::fp4);
  CHECK(dtype_need("_Z1kI6float4EvPT_") == DtypeNeed::none);
  CHECK(dtype_need("_Z1kI6__halfEvPT_") == DtypeNeed::fp16);
  CHECK(dtype_need("_Z1kIN3c104HalfEEvPT_") == DtypeNeed::fp16);
  CHECK(dtype_need("_Z1kI6__half13__nv_bfloat16EvPT_") == DtypeNeed::bf16);
  CHECK(least_capability(DtypeNeed::fp16) == 53);
  CHECK(least_capability(DtypeNeed::fp8) == 89);
}

}  // namespace opseal::test
