// The macros of paddle/phi/core/kernel_registry.h, and those for plugins:
//   PD_REGISTER_KERNEL(name, backend, layout, function, dtypes…) { … }

#include "analyzers/sources/paddle.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <set>
#include <utility>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/cpp_record.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

constexpr std::array<std::string_view, 4> macros{"PD_BUILD_PHI_KERNEL", "PD_CUSTOM_KERNEL_REGISTER",
                                                 "PD_REGISTER_KERNEL", "PD_REGISTER_PLUGIN_KERNEL"};

// C++ types of elements, without their namespaces.
constexpr std::pair<std::string_view, std::string_view> element_types[] = {
    {"bfloat16", "bf16"},       {"bool", "bool"},
    {"complex128", "c128"},     {"complex64", "c64"},
    {"double", "f64"},          {"float", "f32"},
    {"float16", "f16"},         {"float8_e4m3fn", "f8_e4m3fn"},
    {"float8_e5m2", "f8_e5m2"}, {"int", "i32"},
    {"int16_t", "i16"},         {"int32_t", "i32"},
    {"int64_t", "i64"},         {"int8_t", "i8"},
    {"pstring", "string"},      {"uint16_t", "u16"},
    {"uint32_t", "u32"},        {"uint64_t", "u64"},
    {"uint8_t", "u8"},
};

// Empty where the tokens are no type that is known.
std::string_view element_type(Tokens tokens) {
  if (!tokens.empty() && tokens.front().is("::")) tokens = tokens.subspan(1);
  while (tokens.size() > 2 && tokens[0].is_identifier() && tokens[1].is("::")) {
    tokens = tokens.subspan(2);
  }
  // `complex<float>`
  if (tokens.size() == 4 && tokens[0].is("complex") && tokens[1].is('<') && tokens[3].is('>')) {
    return tokens[2].is("float") ? "c64" : tokens[2].is("double") ? "c128" : "";
  }
  if (tokens.size() != 1) return {};
  for (const auto& [type, word] : element_types) {
    if (tokens[0].is(type)) return word;
  }
  return {};
}

bool is_word(Tokens tokens) { return tokens.size() == 1 && tokens.front().is_identifier(); }

// A backend whose kernels one branch of `#if` makes for AMD's devices and the other for all else is
// two platforms.
class Platforms {
 public:
  explicit Platforms(const std::vector<const PaddleRecord*>& kernels) {
    for (const PaddleRecord* kernel : kernels) {
      (kernel->for_amd ? amd_ : others_).insert(kernel->backend);
    }
  }

  std::string of(const PaddleRecord& kernel) const {
    const bool both = amd_.contains(kernel.backend) && others_.contains(kernel.backend);
    return kernel.for_amd && both ? "HIP " + kernel.backend : kernel.backend;
  }

 private:
  std::set<std::string_view> amd_;
  std::set<std::string_view> others_;
};

// What runs on the same device is asked in turn. Paddle's XPU is Baidu's, not Intel's.
void write_aliases(const SourcePlace& place, PlacedWriter& writer) {
  const std::uint32_t map = writer.open(Key::platform_aliases, NodeType::map, place);
  for (const auto& [name, meant] : std::initializer_list<std::pair<const char*, const char*>>{
           {"GPU", "cuda"}, {"GPUDNN", "cuda"}, {"KPS", "cuda"}, {"XPU", "kunlun"}}) {
    writer.text(Key::entry_name, name, place);
    writer.text(Key::entry_value, meant, place);
  }
  writer.close(map);
}

}  // namespace

void read_paddle_cpp(const SourceUnit& unit, const Invocations& found,
                     std::vector<PaddleRecord>& records) {
  const BuildCondition amd = BuildCondition::of("defined(PADDLE_WITH_HIP)");
  for (const Invocation& invocation : found.list) {
    if (invocation.form == InvocationForm::member || !is_one_of(invocation.name, macros)) continue;
    const std::vector<Tokens>& arguments = invocation.arguments;
    if (arguments.size() < 5 || !is_word(arguments[0]) || !is_word(arguments[1])) continue;
    auto record = record_at<PaddleRecord>(unit, invocation);
    record.name = {std::string(arguments[0][0].text), place_of(arguments[0], unit.file)};
    record.backend = arguments[1][0].text;
    record.function.name = text_of(arguments[3]);
    record.function.place = place_of(arguments[3], unit.file);
    record.says_dtypes = true;
    for (std::size_t at = 4; at < arguments.size(); ++at) {
      // A comma behind the last one.
      if (arguments[at].empty()) continue;
      const std::string_view word = element_type(arguments[at]);
      if (word.empty()) record.says_dtypes = false;
      record.dtypes.emplace_back(word);
    }
    std::sort(record.dtypes.begin(), record.dtypes.end());
    record.dtypes.erase(std::unique(record.dtypes.begin(), record.dtypes.end()),
                        record.dtypes.end());
    record.dtypes_place = place_of(arguments[4], unit.file);
    const SourcePlace last =
        place_of(arguments.back().empty() ? arguments[4] : arguments.back(), unit.file);
    if (last.offset >= record.dtypes_place.offset) {
      record.dtypes_place.length = last.offset + last.length - record.dtypes_place.offset;
    }
    record.for_amd = record.when.implies(amd);
    records.push_back(std::move(record));
  }
}

void write_paddle(const std::vector<PaddleRecord>& records, PlacedWriter& writer) {
  std::map<std::string_view, std::vector<const PaddleRecord*>> operators;
  for (const PaddleRecord& record : records) operators[record.name.text].push_back(&record);
  write_aliases(records.front().place, writer);
  const std::uint32_t list = writer.open_list(Key::operators);
  for (const auto& [name, kernels] : operators) {
    const SourcePlace& place = kernels.front()->place;
    const std::uint32_t object = writer.open(Key::none, NodeType::object, place);
    writer.text(Key::name, name, kernels.front()->name.place);
    const Platforms platforms(kernels);
    const std::uint32_t rows = writer.open(Key::kernels, NodeType::list, place);
    for (const PaddleRecord* kernel : kernels) {
      const std::uint32_t row = writer.open(Key::none, NodeType::object, kernel->place);
      writer.text(Key::platform, platforms.of(*kernel), kernel->place);
      if (kernel->says_dtypes) writer.texts(Key::dtypes, kernel->dtypes, kernel->dtypes_place);
      writer.function(Key::function, kernel->function);
      writer.text_if(Key::when, kernel->when.text(), kernel->place);
      writer.text_if(Key::macro, kernel->macro, kernel->place);
      writer.close(row);
    }
    writer.close(rows);
    const auto backward = operators.find(std::string(name) + "_grad");
    if (backward != operators.end()) {
      const PaddleRecord& first = *backward->second.front();
      const std::uint32_t gradient = writer.open(Key::gradient, NodeType::object, first.place);
      writer.text(Key::operator_, first.name.text, first.name.place);
      writer.close(gradient);
    }
    writer.close(object);
  }
  writer.close_list(list);
}

}  // namespace opseal
