#include "opseal/dtypes.h"

#include <doctest/doctest.h>

#include <string>

namespace opseal::test {
namespace {

std::string name_of(std::string_view word) {
  const Dtype* dtype = find_dtype(word);
  return dtype == nullptr ? "none" : std::string(dtype->name);
}

}  // namespace

TEST_CASE("every spelling of the table is read as a dtype") {
  for (const std::string_view spelling : dtype_spellings()) {
    INFO(spelling);
    CHECK(read_dtype(spelling).reading == DtypeReading::dtype);
  }
}

TEST_CASE("systems spell one dtype each in their way") {
  for (const char* word : {"f16", "float16", "Half", "torch.half", "at::kHalf", "tensor(float16)",
                           "DT_HALF", "kTfLiteFloat16", "fp16", "<f2", "__half", "GGML_TYPE_F16"}) {
    INFO(word);
    CHECK(name_of(word) == "f16");
  }
  CHECK(name_of("Q4K") == "q4_k");
  CHECK(name_of("GGML_TYPE_IQ4_XS") == "iq4_xs");
  CHECK(name_of("f8E4M3FN") == "f8_e4m3fn");
  CHECK(name_of("torch.float") == "f32");
  CHECK(name_of("tensor(float)") == "f32");
  CHECK(name_of("int32_t") == "i32");
}

TEST_CASE("a word of two meanings is neither of them for certain and may be both") {
  const Dtype& either = *find_dtype("float");
  CHECK(same_dtype(either, *find_dtype("float32")));
  CHECK(same_dtype(*find_dtype("float64"), either));
  CHECK_FALSE(same_dtype(either, *find_dtype("float16")));
  CHECK_FALSE(same_dtype(*find_dtype("float32"), *find_dtype("float64")));
}

TEST_CASE("a composed type is as readable as its parts") {
  CHECK(read_dtype("optional(seq(tensor(bool)))").reading == DtypeReading::composed);
  CHECK(read_dtype("map(string,tensor(float))").reading == DtypeReading::composed);
  CHECK(read_dtype("map(int64, flaot)").part == "flaot");
  CHECK(read_dtype("seq(tensor(float)").reading == DtypeReading::unknown);
  CHECK(read_dtype(std::string(150, '(')).reading == DtypeReading::unknown);
  std::string deep = "float";
  for (int i = 0; i < 20; ++i) deep = "seq(" + deep + ")";
  CHECK(read_dtype(deep).reading == DtypeReading::unknown);
}

TEST_CASE("scalar names must add up") {
  for (const char* word : {"F8E9", "float33", "f8_e4m4", "int23", "complex65", "bfloat17"}) {
    INFO(word);
    CHECK(read_dtype(word).reading == DtypeReading::impossible);
  }
  for (const char* word : {"float8_e2m5", "int7", "uint4b8", "float6_e3m2f", "i33", "ue5m3"}) {
    INFO(word);
    CHECK(read_dtype(word).reading == DtypeReading::well_formed);
  }
}

TEST_CASE("names of files are not names of block types") {
  CHECK(read_dtype("Q4_K_M").reading == DtypeReading::file_format);
  CHECK(read_dtype("UD-Q4_K_XL").reading == DtypeReading::file_format);
  CHECK(read_dtype("Q4_K").reading == DtypeReading::dtype);
  CHECK(read_dtype("q4_k_r4").reading == DtypeReading::well_formed);
}

TEST_CASE("only a slip of the keyboard is a misspelling") {
  CHECK(misspelt_dtype("flaot32") == "float32");
  CHECK(misspelt_dtype("unit8") == "uint8");
  CHECK(misspelt_dtype("bflot16") == "bfloat16");
  CHECK(find_dtype(misspelt_dtype("Q5_O")) == find_dtype("q5_0"));
  for (const char* word :
       {"ufloat8", "int8_block", "packed", "awq", "float", "hif8", "half4", "q9_o"}) {
    INFO(word);
    CHECK(misspelt_dtype(word).empty());
  }
}

}  // namespace opseal::test
