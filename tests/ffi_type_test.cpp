// Names of handlers' types, as gcc and clang write them, and names that nobody should believe.

#include <doctest/doctest.h>

#include <string>

#include "analyzers/native/ffi_handlers.h"
#include "analyzers/native/mangled_type.h"

using namespace opseal;

namespace {

std::string type_text(std::string_view mangled) {
  const auto type = MangledType::parse(mangled);
  return type ? type->text_of(type->root()) : "none";
}

std::string operand_text(const FfiOperand& operand) {
  constexpr std::string_view kinds[] = {"buffer", "token", "remaining", "other"};
  std::string text(kinds[static_cast<std::size_t>(operand.kind)]);
  if (!operand.dtype.empty()) text += " " + operand.dtype;
  if (operand.rank >= 0) text += " rank " + std::to_string(operand.rank);
  return operand.optional ? text + " or none" : text;
}

// A signature in one line.
std::string signature_text(std::string_view mangled) {
  FfiSignature signature;
  if (!parse_handler_type(mangled, signature)) return "none";
  std::string text = signature.stage + "(";
  for (const auto& operand : signature.arguments) text += operand_text(operand) + "; ";
  text += ") -> (";
  for (const auto& operand : signature.results) text += operand_text(operand) + "; ";
  text += ") attributes (";
  for (const auto& attribute : signature.attributes) text += attribute + "; ";
  text += ") contexts (";
  for (const auto& context : signature.contexts) text += context + "; ";
  return text + ") " + signature.version_min + " to " + signature.version_max;
}

// Parts of names without substitutions, which compilers would make.
std::string bound(const std::string& tag, const std::string& type) {
  return "N3xla3ffi8internal" + std::to_string(tag.size()) + tag + "I" + type + "EE";
}
std::string buffer(const std::string& dtype, const std::string& rank) {
  return "N3xla3ffi6BufferILN3xla3ffi8DataTypeE" + dtype + "ELm" + rank + "EEE";
}

}  // namespace

TEST_CASE("types are read from their mangled names") {
  CHECK(type_text("i") == "int");
  CHECK(type_text("PKc") == "char const*");
  CHECK(type_text("PFvPviE") == "void (*)(void*, int)");
  CHECK(type_text("St6vectorIiSaIiEE") == "std::vector<int, std::allocator<int>>");
  CHECK(type_text("N1a1bIN1c1dES2_EE") == "a::b<c::d, c::d>");
  CHECK(type_text("N1a1bILNS_4kindE3ELb1ELin2EEE") == "a::b<(a::kind)3, true, -2>");
  CHECK(type_text("N1a1bIJifEEE") == "a::b<int, float>");
  CHECK(type_text("N1a1bIJEEE") == "a::b<>");
  CHECK(type_text("N1a4wrapIXadL_ZN1c1fEiEEEE") == "a::wrap<&c::f>");
  CHECK(type_text("Z1fvEUliE_") == "f::{lambda}");
  CHECK(type_text("N12_GLOBAL__N_11sE") == "(anonymous namespace)::s");
}

TEST_CASE("what is no type's name is none") {
  for (const std::string_view name : {"",       "N",       "N1a", "N1aI",
                                      "N1aIiE", "1",       "9ab", "99999999999999999999a",
                                      "S_",     "N1aS9_E", "PFE", "N1aIXplLi1ELi2EEEE",
                                      "ii",     "N1aE ",   "Z",   "L",
                                      "I",      "D",       "Dq",  "T",
                                      "LZ",     "N1aILEE"}) {
    INFO(name);
    CHECK(type_text(name) == "none");
  }
}

TEST_CASE("deep and growing names end") {
  CHECK(type_text(std::string(150, 'P') + "i") == "int" + std::string(150, '*'));
  CHECK(type_text(std::string(60000, 'P') + "i") == "none");
  CHECK(type_text(std::string(70000, '1') + "a") == "none");
  std::string nested;
  for (int i = 0; i < 20000; ++i) nested += "N1aI";
  CHECK(type_text(nested) == "none");
  // Each part is the one before it, twice: text that is written out would be 2^60 long.
  std::string doubling = "N1aIiiEE";
  constexpr std::string_view digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string whole = "1tIJ" + doubling;
  for (std::size_t i = 1; i < 30; ++i) {
    // Substitutions: `t`, `a`, `a<..>`, then each pair.
    const std::string last = std::string("S") + digits[i] + "_";
    whole += "S0_I" + last + last + "E";
  }
  whole += "EE";
  CHECK(type_text(whole).size() < 2100);
  CHECK(type_text(whole) != "none");
}

TEST_CASE("operands are read from the name of a handler's type") {
  const std::string handler = "N3xla3ffi7HandlerILNS0_14ExecutionStageE3EPFNS0_5ErrorE";
  CHECK(signature_text(
            handler +
            "P11CUstream_stNS0_16ScratchAllocatorESt17basic_string_viewIcSt11char_traitsIcEE"
            "NS0_9AnyBufferESB_NS0_6ResultISB_EESD_SD_EJNS0_8internal6CtxTagINS0_14"
            "PlatformStreamIS5_EEEENSH_IS6_EENSG_7AttrTagISA_EENSG_6ArgTagISB_EESP_NSG_6"
            "RetTagISB_EESR_SR_EEE") ==
        "execute(buffer; buffer; ) -> (buffer; buffer; buffer; ) attributes (string; ) contexts "
        "(stream; scratch; ) 0.2 to ");
  // Bare arguments: of headers before 0.2. Ranks and dtypes.
  CHECK(
      signature_text(handler + "EJ" + buffer("11", "18446744073709551615") + buffer("16", "2") +
                     bound("RetTag", buffer("17", "0")) + "EEE") ==
      "execute(buffer F32; buffer BF16 rank 2; ) -> (token TOKEN rank 0; ) attributes () contexts "
      "() 0.0 to 0.1");
}

TEST_CASE("stages, contexts and attributes bound the versions of the headers") {
  const auto handler = [](int stage, const std::string& what) {
    return signature_text("N3xla3ffi7HandlerILNS0_14ExecutionStageE" + std::to_string(stage) +
                          "EPFvvEJ" + what + "EEE");
  };
  CHECK(handler(0, "") == "instantiate() -> () attributes () contexts () 0.0 to ");
  CHECK(handler(4, "") == "record() -> () attributes () contexts () 0.4 to ");
  CHECK(handler(5, "") == "none");
  CHECK(handler(3, bound("CtxTag", "N3xla3ffi5StateI1pEE")) ==
        "execute() -> () attributes () contexts (state<p>; ) 0.0 to 0.2");
  CHECK(handler(3, bound("CtxTag", "N3xla3ffi5StateI1pLN3xla3ffi14ExecutionStageE0EEE")) ==
        "execute() -> () attributes () contexts (state<p>; ) 0.3 to ");
  CHECK(handler(3, bound("CtxTag", "N3xla3ffi6FfiApiE")) ==
        "execute() -> () attributes () contexts (api; ) 0.1 to 0.1");
  CHECK(handler(3, bound("CtxTag", "N3xla3ffi13CustomOptionsE")) ==
        "execute() -> () attributes () contexts (custom_options; ) 0.5 to ");
  CHECK(handler(3, bound("AttrsTag", "N3xla3ffi10DictionaryE")) ==
        "execute() -> () attributes (dictionary; ) contexts () 0.0 to ");
  CHECK(handler(3, bound("AttrsTag", "4pair")) ==
        "execute() -> () attributes (struct<pair>; ) contexts () 0.0 to ");
  CHECK(handler(3, bound("AttrTag", "N3xla3ffi4SpanIKlEE") + bound("AttrTag", "4mode") +
                       bound("AttrTag", "y")) ==
        "execute() -> () attributes (span<int64>; mode; uint64; ) contexts () 0.0 to ");
  CHECK(handler(3, bound("AttrTag", "St7variantIJbdEE")) ==
        "execute() -> () attributes (variant<bool, float64>; ) contexts () 0.0 to ");
  CHECK(handler(3, "N3xla3ffi8internal16RemainingArgsTagE" +
                       bound("OptionalRetTag", "N3xla3ffi9AnyBufferE")) ==
        "execute(remaining; ) -> (buffer or none; ) attributes () contexts () 0.1 to ");
  // Nobody knows a number 99; an argument that the user taught to decode itself.
  CHECK(handler(3, bound("ArgTag", buffer("99", "1")) + bound("ArgTag", "4mine")) ==
        "execute(buffer 99 rank 1; other; ) -> () attributes () contexts () 0.2 to ");
}

TEST_CASE("a handler's name cut or changed anywhere is read, or is none") {
  const std::string name =
      "N3xla3ffi7HandlerILNS0_14ExecutionStageE3EPFNS0_5ErrorEP11CUstream_stPNS_22Callbacks"
      "0123456789012EmNS0_13RemainingArgsENS0_13RemainingRetsEEJNS0_8internal6CtxTagINS0_14"
      "PlatformStreamIS5_EEEENSF_INS0_8UserDataIS6_EEEENSE_7AttrTagImEENSE_16RemainingArgsTag"
      "ENSE_16RemainingRetsTagEEEE";
  FfiSignature signature;
  REQUIRE(parse_handler_type(name, signature));
  REQUIRE(parse_handler_type("*" + name, signature));
  for (std::size_t size = 0; size < name.size(); ++size) {
    CHECK_FALSE(parse_handler_type(name.substr(0, size), signature));
  }
  int read = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = name;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      read += parse_handler_type(changed, signature) ? 1 : 0;
    }
  }
  // Letters of names may be others.
  CHECK(read > 100);
  CHECK(read < static_cast<int>(8 * name.size()));
}
