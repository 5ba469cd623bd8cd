// The macros of onnxruntime/core/framework/op_kernel.h:
//   ONNX_OPERATOR_[VERSIONED_][TWO_|THREE_][TYPED_]KERNEL_EX(
//       name, domain, since[, until][, types…], provider, builder, class)
//   ONNX_OPERATOR_[VERSIONED_][TWO_|THREE_][TYPED_]KERNEL_CLASS_NAME(
//       provider, domain, since[, until][, types…], name)

#include <algorithm>
#include <charconv>
#include <optional>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/cpp_record.h"
#include "analyzers/sources/onnx.h"

namespace opseal {
namespace {

constexpr std::string_view prefix = "ONNX_OPERATOR_";
constexpr std::string_view kernel_suffix = "KERNEL_EX";
constexpr std::string_view class_suffix = "KERNEL_CLASS_NAME";
// onnxruntime_lite_custom_op.h: `CreateLiteCustomOp("name", "provider", function[, outputs[, since,
// until]])`, `CreateLiteCustomOp<Class>("name", "provider"[, since, until])`.
constexpr std::string_view lite_function = "CreateLiteCustomOp";
constexpr std::string_view table_function = "BuildKernelCreateInfo";

// How many words of a macro's arguments say versions and types.
struct MacroForm {
  bool known = false;
  bool versioned = false;
  std::size_t types = 0;
};

MacroForm form_of(std::string_view macro, std::string_view suffix) {
  MacroForm form;
  if (!macro.starts_with(prefix) || !macro.ends_with(suffix)) return form;
  macro.remove_prefix(prefix.size());
  macro.remove_suffix(std::min(suffix.size(), macro.size()));
  if (macro.starts_with("VERSIONED_")) {
    form.versioned = true;
    macro.remove_prefix(std::string_view("VERSIONED_").size());
  }
  form.known = true;
  if (macro == "TYPED_") {
    form.types = 1;
  } else if (macro == "TWO_TYPED_") {
    form.types = 2;
  } else if (macro == "THREE_TYPED_") {
    form.types = 3;
  } else {
    form.known = macro.empty();
  }
  return form;
}

// The constants of onnxruntime/core/graph/constants.h.
constexpr std::pair<std::string_view, std::string_view> domains[] = {
    {"kMLDomain", "ai.onnx.ml"},
    {"kMSDmlDomain", "com.microsoft.dml"},
    {"kMSDomain", "com.microsoft"},
    {"kMSExperimentalDomain", "com.microsoft.experimental"},
    {"kMSInternalNHWCDomain", "com.ms.internal.nhwc"},
    {"kMSNchwcDomain", "com.microsoft.nchwc"},
    {"kOnnxDomain", "ai.onnx"},
    {"kOnnxDomainAlias", "ai.onnx"},
    {"kPytorchAtenDomain", "org.pytorch.aten"},
};

// Providers whose name is spelled otherwise than the constant.
constexpr std::pair<std::string_view, std::string_view> providers[] = {
    {"Acl", "ACL"},   {"Cann", "CANN"}, {"Cpu", "CPU"},
    {"Cuda", "CUDA"}, {"Rocm", "ROCM"}, {"Snpe", "SNPE"},
};

bool is_word(Tokens tokens) {
  return !tokens.empty() && tokens.back().is_identifier() &&
         std::all_of(tokens.begin(), tokens.end(),
                     [](const Token& token) { return token.is_identifier() || token.is("::"); });
}

bool read_domain(Tokens tokens, std::string& domain) {
  bool only_strings = false;
  domain = string_value(tokens, &only_strings);
  if (only_strings && !tokens.empty()) {
    if (domain.empty()) domain = "ai.onnx";
    return true;
  }
  if (!is_word(tokens)) return false;
  const std::string_view constant = tokens.back().text;
  for (const auto& [name, value] : domains) {
    if (name == constant) {
      domain = value;
      return true;
    }
  }
  // A domain of the project, by the name of its constant.
  domain = constant;
  return constant.starts_with('k');
}

bool read_provider(Tokens tokens, std::string& provider) {
  bool only_strings = false;
  provider = string_value(tokens, &only_strings);
  if (only_strings && !tokens.empty()) return true;
  if (!is_word(tokens)) return false;
  std::string_view constant = tokens.back().text;
  constexpr std::string_view suffix = "ExecutionProvider";
  if (!constant.starts_with('k') || !constant.ends_with(suffix)) return false;
  constant.remove_prefix(1);
  constant.remove_suffix(suffix.size());
  for (const auto& [name, value] : providers) {
    if (name == constant) constant = value;
  }
  provider = std::string(constant) + std::string(suffix);
  return true;
}

bool read_number(Tokens tokens, std::uint32_t& number) {
  if (tokens.size() != 1 || tokens[0].kind != TokenKind::number) return false;
  const std::string_view text = tokens[0].text;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// Versions and types, which stand together; `at` is moved behind them.
bool read_selection(const MacroForm& form, const std::vector<Tokens>& arguments, std::size_t& at,
                    OnnxKernelKey& key) {
  if (!read_number(arguments[at++], key.since)) return false;
  if (form.versioned) {
    std::uint32_t until = 0;
    if (!read_number(arguments[at++], until)) return false;
    key.until = until;
  }
  for (std::size_t i = 0; i < form.types; ++i) {
    if (i > 0) key.types += '_';
    key.types += text_of(arguments[at++]);
  }
  return true;
}

class OnnxReader {
 public:
  OnnxReader(const SourceUnit& unit, const Invocations& found, std::vector<OnnxRecord>& out)
      : unit_(unit), found_(found), out_(out) {}

  void run() {
    for (const Invocation& invocation : found_.list) {
      if (invocation.form == InvocationForm::call && invocation.name.starts_with(lite_function)) {
        read_lite(invocation);
        continue;
      }
      if (invocation.form == InvocationForm::member || !invocation.name.starts_with(prefix)) {
        continue;
      }
      if (const MacroForm form = form_of(invocation.name, kernel_suffix); form.known) {
        read_kernel(invocation, form);
      } else if (const MacroForm row = form_of(invocation.name, class_suffix); row.known) {
        read_row(invocation, row);
      }
    }
  }

 private:
  void read_kernel(const Invocation& invocation, const MacroForm& form) {
    const std::vector<Tokens>& arguments = invocation.arguments;
    const std::size_t before_provider = 3 + (form.versioned ? 1 : 0) + form.types;
    if (arguments.size() < before_provider + 3) return;
    OnnxRecord record = start(invocation, arguments[0]);
    std::size_t at = 2;
    record.decided = is_word(arguments[0]) && read_domain(arguments[1], record.key.domain) &&
                     read_selection(form, arguments, at, record.key) &&
                     read_provider(arguments[before_provider], record.key.provider);
    record.says_constraints = read_onnx_constraints(arguments[before_provider + 1], record);
    // Template arguments of the class were divided.
    const Tokens last = arguments.back();
    const Tokens first = arguments[before_provider + 2];
    if (!first.empty() && !last.empty()) {
      const Tokens all(first.data(), last.data() + last.size());
      record.function = {text_of(all), place_of(all, unit_.file)};
    }
    out_.push_back(std::move(record));
  }

  // Of a custom operator the domain is said where it is put into one.
  void read_lite(const Invocation& invocation) {
    const std::vector<Tokens>& arguments = invocation.arguments;
    if (arguments.size() < 2) return;
    OnnxRecord record = start(invocation, arguments[0]);
    bool only_strings = false;
    record.key.name = string_value(arguments[0], &only_strings);
    if (!only_strings || record.key.name.empty()) return;
    if (!read_provider(arguments[1], record.key.provider)) return;
    record.decided = true;
    const TokenRange type = invocation.template_arguments;
    const bool is_class = !type.empty();
    const Tokens function = is_class
                                ? Tokens(unit_.tokens).subspan(type.begin, type.end - type.begin)
                            : arguments.size() > 2 ? arguments[2]
                                                   : Tokens();
    if (!function.empty()) record.function = {text_of(function), place_of(function, unit_.file)};
    const std::size_t versions = is_class ? 2 : 4;
    std::uint32_t until = 0;
    if (arguments.size() > versions + 1 && read_number(arguments[versions], record.key.since) &&
        read_number(arguments[versions + 1], until)) {
      record.key.until = until;
    }
    out_.push_back(std::move(record));
  }

  void read_row(const Invocation& invocation, const MacroForm& form) {
    const std::optional<OnnxUse> use = use_of(invocation);
    if (!use) return;
    const std::vector<Tokens>& arguments = invocation.arguments;
    if (arguments.size() != 4 + (form.versioned ? 1 : 0) + form.types) return;
    OnnxRecord record = start(invocation, arguments.back());
    record.use = *use;
    std::size_t at = 2;
    record.decided = is_word(arguments.back()) &&
                     read_provider(arguments[0], record.key.provider) &&
                     read_domain(arguments[1], record.key.domain) &&
                     read_selection(form, arguments, at, record.key);
    out_.push_back(std::move(record));
  }

  OnnxRecord start(const Invocation& invocation, Tokens name) const {
    OnnxRecord record = record_at<OnnxRecord>(unit_, invocation);
    record.key.name = text_of(name);
    record.written = record.key.name;
    record.name_place = place_of(name, unit_.file);
    return record;
  }

  // `BuildKernelCreateInfo<class X>` where it is used and not where it is defined; `class X;`.
  std::optional<OnnxUse> use_of(const Invocation& invocation) const {
    const std::vector<Token>& tokens = unit_.tokens;
    std::uint32_t at = invocation.name_token;
    const bool is_class = at > 0 && tokens[at - 1].is("class");
    if (is_class) --at;
    if (at >= 2 && tokens[at - 1].is('<') && tokens[at - 2].is(table_function)) {
      const bool defines =
          at >= 3 && tokens[at - 3].is_identifier() && !tokens[at - 3].is("return");
      return defines ? std::nullopt : std::optional(OnnxUse::row);
    }
    const bool ends = invocation.close + 1 < tokens.size() && tokens[invocation.close + 1].is(';');
    return is_class && ends ? std::optional(OnnxUse::declaration) : std::nullopt;
  }

  const SourceUnit& unit_;
  const Invocations& found_;
  std::vector<OnnxRecord>& out_;
};

}  // namespace

void read_onnx_cpp(const SourceUnit& unit, const Invocations& found,
                   std::vector<OnnxRecord>& records) {
  OnnxReader(unit, found, records).run();
}

}  // namespace opseal
