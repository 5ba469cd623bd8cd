#include <algorithm>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/cpp_record.h"
#include "analyzers/sources/targets.h"

namespace opseal {
namespace {

// The stages of a bundle in the order of its fields (`XLA_FFI_Handler_Bundle`).
constexpr std::string_view bundle_stages[] = {"instantiate", "prepare", "initialize", "execute"};

bool is_null(Tokens tokens) {
  return tokens.empty() ||
         (tokens.size() == 1 && (tokens[0].is("nullptr") || tokens[0].is("NULL")));
}

// The name of a table's entry: `d["x"] = …` and `d[PREFIX "x"] = …` in front of the value.
bool read_entry_name(Tokens all, std::uint32_t value, const std::vector<std::uint32_t>& partners,
                     std::uint32_t file, TargetRecord& record) {
  // The value may be qualified.
  while (value >= 2 && all[value - 1].is("::") && all[value - 2].is_identifier()) value -= 2;
  if (value < 2 || !all[value - 1].is('=') || !all[value - 2].is(']')) return false;
  const std::uint32_t close = value - 2;
  const std::uint32_t open = partners[close];
  if (open == no_token || open >= close) return false;
  const Tokens key = all.subspan(open + 1, close - open - 1);
  bool only_strings = false;
  record.name.text = string_value(key, &only_strings);
  if (!only_strings || key.empty()) record.name.text.clear();
  record.written = text_of(key);
  record.name.place = place_of(key, file);
  return true;
}

class TargetReader {
 public:
  TargetReader(const SourceUnit& unit, const Invocations& found, std::vector<TargetRecord>& out)
      : unit_(unit), found_(found), out_(out) {}

  void run() {
    for (const Invocation& invocation : found_.list) {
      if (invocation.name == "XLA_FFI_REGISTER_HANDLER") {
        read_registration(invocation);
      } else if (invocation.name.starts_with("Encapsulate") &&
                 invocation.form == InvocationForm::call) {
        read_entry(invocation);
      }
    }
  }

 private:
  // `XLA_FFI_REGISTER_HANDLER(api, "name", "CUDA", Handler, traits)`
  void read_registration(const Invocation& invocation) {
    const std::vector<Tokens>& arguments = invocation.arguments;
    if (arguments.size() < 4) return;
    TargetRecord record = record_at<TargetRecord>(unit_, invocation);
    bool only_strings = false;
    record.name.text = string_value(arguments[1], &only_strings);
    if (!only_strings) record.name.text.clear();
    record.name.place = place_of(arguments[1], unit_.file);
    record.written = text_of(arguments[1]);
    record.platform.text = string_value(arguments[2], &only_strings);
    if (!only_strings) record.platform.text.clear();
    record.platform.place = place_of(arguments[2], unit_.file);
    record.api_version = 1;
    record.handler_kind = "typed";
    if (!arguments[3].empty() && arguments[3].front().is('{')) {
      // The commas in braces divide nothing.
      const std::size_t close = closing_bracket(arguments[3], 0);
      const std::vector<Tokens> parts =
          split_arguments(arguments[3].subspan(1, std::max<std::size_t>(close, 1) - 1));
      for (std::size_t at = 0; at < parts.size() && at < std::size(bundle_stages); ++at) {
        if (!is_null(parts[at])) record.stages.emplace_back(bundle_stages[at]);
      }
      if (!parts.empty()) record.function = read_kernel_argument(parts.back(), unit_.file).function;
    } else {
      record.function = read_kernel_argument(arguments[3], unit_.file).function;
    }
    if (arguments.size() > 4) {
      for (const Token& token : arguments[4]) {
        if (token.text.starts_with("XLA_FFI_HANDLER_TRAITS_"))
          record.traits.emplace_back(token.text);
      }
    }
    out_.push_back(std::move(record));
  }

  void read_entry(const Invocation& invocation) {
    TargetRecord record = record_at<TargetRecord>(unit_, invocation);
    const Tokens all = unit_.tokens;
    if (!read_entry_name(all, invocation.name_token, found_.partners, unit_.file, record)) return;
    if (invocation.name == "EncapsulateFfiHandler" || invocation.name == "EncapsulateFFI") {
      record.handler_kind = "typed";
    } else if (invocation.name == "EncapsulateFunction") {
      record.handler_kind = "untyped";
    }
    if (!invocation.arguments.empty()) {
      record.function = read_kernel_argument(invocation.arguments.front(), unit_.file).function;
    }
    out_.push_back(std::move(record));
  }

  const SourceUnit& unit_;
  const Invocations& found_;
  std::vector<TargetRecord>& out_;
};

}  // namespace

void read_targets_cpp(const SourceUnit& unit, const Invocations& found,
                      std::vector<TargetRecord>& records) {
  TargetReader(unit, found, records).run();
}

}  // namespace opseal
