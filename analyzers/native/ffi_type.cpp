#include <algorithm>
#include <array>
#include <optional>

#include "analyzers/native/ffi_handlers.h"
#include "analyzers/native/mangled_type.h"

namespace opseal {
namespace {

// The handler is an object of a class that the headers of XLA's FFI make for it:
//
//   xla::ffi::Handler<stage, type of the user's function, what is bound...>
//
// Bound are, in the order of the function's parameters: an argument by its own type (headers before
// API 0.2) or `internal::ArgTag<type>`, `RetTag<type>`, `AttrTag<type>`, `AttrsTag<type>` for all
// attributes in one dictionary or struct, `CtxTag<type>`, `OptionalArgTag<type>`,
// `OptionalRetTag<type>`, `RemainingArgsTag` and `RemainingRetsTag`.

using Kind = MangledNode::Kind;
using Index = std::uint32_t;

// By the numbers of XLA_FFI_ExecutionStage.
constexpr std::array<std::string_view, 5> stages = {"instantiate", "prepare", "initialize",
                                                    "execute", "record"};

// By the numbers of XLA_FFI_DataType, which are those of xla::PrimitiveType, too.
constexpr std::array<std::string_view, 34> dtypes = {
    "INVALID",    "PRED",       "S8",   "S16",    "S32",      "S64",    "U8", "U16",
    "U32",        "U64",        "F16",  "F32",    "F64",      "",       "",   "C64",
    "BF16",       "TOKEN",      "C128", "F8E5M2", "F8E4M3FN", "S4",     "U4", "F8E4M3B11FNUZ",
    "F8E5M2FNUZ", "F8E4M3FNUZ", "S2",   "U2",     "F8E4M3",   "F8E3M4", "S1", "U1",
    "F4E2M1FN",   "F8E8M0FNU"};

// C++ types as specs spell them. `long` has 64 bits wherever XLA runs.
struct Spelling {
  std::string_view type;
  std::string_view spec;
};
constexpr Spelling attribute_types[] = {
    {"bool", "bool"},
    {"signed char", "int8"},
    {"short", "int16"},
    {"int", "int32"},
    {"long", "int64"},
    {"long long", "int64"},
    {"char", "uint8"},
    {"unsigned char", "uint8"},
    {"unsigned short", "uint16"},
    {"unsigned int", "uint32"},
    {"unsigned long", "uint64"},
    {"unsigned long long", "uint64"},
    {"float", "float32"},
    {"double", "float64"},
    {"std::complex<float>", "complex64"},
    {"std::complex<double>", "complex128"},
    {"xla::ffi::Dictionary", "dictionary"},
    {"xla::ffi::DataType", "dtype"},
};

// Contexts by the last part of their name within `xla::ffi`; `<>`: with the type they stand for.
constexpr Spelling context_types[] = {
    {"PlatformStream", "stream"},
    {"ScratchAllocator", "scratch"},
    {"ThreadPool", "thread_pool"},
    {"State", "state<>"},
    {"UserData", "user_data<>"},
    {"RunId", "run_id"},
    {"DeviceOrdinal", "device_ordinal"},
    {"Context", "context"},
    {"CustomOptions", "custom_options"},
    {"Extension", "extension<>"},
    {"FfiApi", "api"},
    {"FfiExecutionContext", "execution_context"},
    // Bound by handlers that are built into XLA itself.
    {"Stream", "stream"},
    {"Allocator", "allocator"},
};

constexpr std::string_view any_rank = "18446744073709551615";

class HandlerType {
 public:
  HandlerType(const MangledType& type, FfiSignature& out) : type_(type), out_(out) {}

  bool read() {
    if (type_.name_of(type_.root()) != "xla::ffi::Handler") return false;
    const std::vector<Index> arguments = type_.arguments_of(type_.root());
    if (arguments.size() < 2) return false;
    const std::optional<std::uint64_t> stage = enumerator(arguments[0]);
    if (!stage || *stage >= stages.size()) return false;
    out_.stage = stages[*stage];
    if (out_.stage == "record") at_least(4);
    read_function(arguments[1]);
    for (std::size_t i = 2; i < arguments.size(); ++i) read_bound(arguments[i]);
    out_.version_min = "0." + std::to_string(least_);
    if (greatest_) out_.version_max = "0." + std::to_string(*greatest_);
    return true;
  }

 private:
  // Minor API versions.
  void at_least(unsigned minor) { least_ = std::max(least_, minor); }
  void at_most(unsigned minor) {
    if (!greatest_ || *greatest_ > minor) greatest_ = minor;
  }

  std::optional<std::uint64_t> enumerator(Index index) const {
    const MangledNode& node = type_.node(index);
    if (node.kind != Kind::literal || node.text.empty() || node.text.size() > 9) return {};
    std::uint64_t number = 0;
    for (const char c : node.text) {
      if (c < '0' || c > '9') return {};
      number = number * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return number;
  }

  // A pointer to a function shows what it returns, and so does the wrapper that has it as its
  // argument; of a lambda nothing is known.
  void read_function(Index index) {
    const MangledNode& node = type_.node(index);
    if (node.kind != Kind::decorated) return;
    const MangledNode& function = type_.node(node.parts[0]);
    if (function.kind != Kind::function) return;
    out_.returns = type_.text_of(function.parts[0]);
    if (out_.returns == "xla::ffi::Future") at_least(1);
  }

  void read_bound(Index index) {
    const std::string name = type_.name_of(index);
    constexpr std::string_view internal = "xla::ffi::internal::";
    if (!name.starts_with(internal)) {
      at_most(1);
      out_.arguments.push_back(operand(index, false));
      return;
    }
    const std::string_view tag = std::string_view(name).substr(internal.size());
    if (tag == "RemainingArgsTag") {
      out_.arguments.push_back(remaining());
    } else if (tag == "RemainingRetsTag") {
      out_.results.push_back(remaining());
    } else {
      const std::vector<Index> of = type_.arguments_of(index);
      if (of.size() == 1) read_tagged(tag, of[0]);
    }
  }

  void read_tagged(std::string_view tag, Index of) {
    if (tag == "ArgTag") {
      at_least(2);
      out_.arguments.push_back(operand(of, false));
    } else if (tag == "OptionalArgTag") {
      at_least(1);
      out_.arguments.push_back(operand(of, true));
    } else if (tag == "RetTag") {
      out_.results.push_back(operand(of, false));
    } else if (tag == "OptionalRetTag") {
      at_least(1);
      out_.results.push_back(operand(of, true));
    } else if (tag == "AttrTag") {
      out_.attributes.push_back(attribute(of));
    } else if (tag == "AttrsTag") {
      const std::string text = attribute(of);
      out_.attributes.push_back(text == "dictionary" ? text : "struct<" + text + ">");
    } else if (tag == "CtxTag") {
      out_.contexts.push_back(context(of));
    }
  }

  static FfiOperand remaining() {
    FfiOperand operand;
    operand.kind = FfiOperand::Kind::remaining;
    return operand;
  }

  FfiOperand operand(Index index, bool optional) const {
    FfiOperand operand;
    operand.optional = optional;
    operand.type = type_.text_of(index);
    const std::string name = type_.name_of(index);
    if (name == "xla::ffi::AnyBuffer" || name == "xla::ffi::BufferBase") return operand;
    const std::vector<Index> of = type_.arguments_of(index);
    const std::optional<std::uint64_t> dtype = of.empty() ? std::nullopt : enumerator(of[0]);
    if (name != "xla::ffi::Buffer" || !dtype) {
      // Types that the user taught to decode themselves.
      operand.kind = FfiOperand::Kind::other;
      return operand;
    }
    operand.dtype = *dtype < dtypes.size() ? std::string(dtypes[*dtype]) : std::to_string(*dtype);
    if (operand.dtype == "TOKEN") operand.kind = FfiOperand::Kind::token;
    if (of.size() > 1 && type_.node(of[1]).text != any_rank) {
      if (const auto rank = enumerator(of[1])) operand.rank = static_cast<std::int64_t>(*rank);
    }
    return operand;
  }

  std::string attribute(Index index) const {
    const std::string name = type_.name_of(index);
    const std::vector<Index> of = type_.arguments_of(index);
    // `std::string_view`, with libc++ in an inline namespace.
    if (name.starts_with("std::") && name.ends_with("::basic_string_view")) return "string";
    if (name == "xla::ffi::Span" && of.size() == 1) return "span<" + attribute(plain(of[0])) + ">";
    if (name == "xla::ffi::Pointer" && of.size() == 1) return "pointer";
    if (name.starts_with("std::") && name.ends_with("::variant")) {
      std::string text = "variant<";
      for (const Index part : of) {
        if (part != of[0]) text += ", ";
        text += attribute(part);
      }
      return text + ">";
    }
    const std::string text = type_.text_of(index);
    const auto* known = std::find_if(std::begin(attribute_types), std::end(attribute_types),
                                     [&](const Spelling& row) { return row.type == text; });
    return known != std::end(attribute_types) ? std::string(known->spec) : text;
  }

  // Without `const`.
  Index plain(Index index) const {
    const MangledNode& node = type_.node(index);
    return node.kind == Kind::decorated && node.text == " const" ? node.parts[0] : index;
  }

  std::string context(Index index) {
    const std::string name = type_.name_of(index);
    constexpr std::string_view ffi = "xla::ffi::";
    const std::vector<Index> of = type_.arguments_of(index);
    if (name.starts_with(ffi)) {
      const std::string_view last = std::string_view(name).substr(ffi.size());
      note_versions(last, of.size());
      for (const Spelling& row : context_types) {
        if (row.type != last) continue;
        std::string text(row.spec);
        if (text.ends_with("<>")) {
          text.insert(text.size() - 1, of.empty() ? std::string() : type_.text_of(of[0]));
        }
        return text;
      }
    }
    return type_.text_of(index);
  }

  // What came and went with the headers' minor versions: 0.0 is that of jaxlib 0.4.31, 0.1 of up to
  // 0.8.0, 0.2 of up to 0.9.0, 0.3 of up to 0.11.0, 0.4 of 0.11.1 and 0.5 of 0.12.0.1.
  void note_versions(std::string_view context, std::size_t arguments) {
    if (context == "ThreadPool" || context == "RunId" || context == "DeviceOrdinal") at_least(1);
    if (context == "FfiApi" || context == "FfiExecutionContext") {
      at_least(1);
      at_most(1);
    }
    if (context == "Context") at_least(2);
    if (context == "State" && arguments == 1) at_most(2);
    if (context == "State" && arguments == 2) at_least(3);
    if (context == "Extension") at_least(4);
    if (context == "CustomOptions") at_least(5);
  }

  const MangledType& type_;
  FfiSignature& out_;
  unsigned least_ = 0;
  std::optional<unsigned> greatest_;
};

}  // namespace

bool parse_handler_type(std::string_view mangled, FfiSignature& signature) {
  // Before the name of a type that no other file can name.
  if (mangled.starts_with('*')) mangled.remove_prefix(1);
  const std::optional<MangledType> type = MangledType::parse(mangled);
  signature = {};
  return type && HandlerType(*type, signature).read();
}

}  // namespace opseal
