// REGISTER_OP("Name").Input("x: T").Output("y: T").Attr("T: {half, float} = DT_FLOAT")…;
// REGISTER_KERNEL_BUILDER(Name("Name").Device(DEVICE_GPU).TypeConstraint<float>("T"),
// Class<float>); The words within the texts are those of
// tensorflow/core/framework/op_def_builder.h.

#include <algorithm>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/cpp_record.h"
#include "analyzers/sources/tensorflow.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

// Tokens behind `REGISTER_OP(…)` that are looked at for its chain.
constexpr std::size_t longest_chain = 20000;
// Those of all chains of a file.
constexpr std::size_t most_steps = 8'000'000;

constexpr std::pair<std::string_view, std::string_view> cpp_types[] = {
    {"bfloat16", "bfloat16"},   {"bool", "bool"},       {"complex128", "complex128"},
    {"complex64", "complex64"}, {"double", "double"},   {"float", "float"},
    {"half", "half"},           {"int", "int32"},       {"int16", "int16"},
    {"int16_t", "int16"},       {"int32", "int32"},     {"int32_t", "int32"},
    {"int64", "int64"},         {"int64_t", "int64"},   {"int8", "int8"},
    {"int8_t", "int8"},         {"string", "string"},   {"tstring", "string"},
    {"uint16", "uint16"},       {"uint16_t", "uint16"}, {"uint32", "uint32"},
    {"uint32_t", "uint32"},     {"uint64", "uint64"},   {"uint64_t", "uint64"},
    {"uint8", "uint8"},         {"uint8_t", "uint8"},
};

// `name: rest`.
bool split_spec(std::string_view text, std::string_view& name, std::string_view& rest) {
  const std::size_t colon = text.find(':');
  if (colon == text.npos) return false;
  name = trimmed(text.substr(0, colon));
  rest = trimmed(text.substr(colon + 1));
  return !name.empty() && !rest.empty();
}

// `{half, float} = DT_FLOAT`. Not a list of texts, whose elements have quotes.
bool read_type_list(std::string_view text, std::vector<std::string>& types) {
  if (!text.starts_with('{')) return false;
  const std::size_t close = text.find('}');
  if (close == text.npos || text.find_first_of("'\"") < close) return false;
  text = text.substr(1, close - 1);
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = trimmed(text.substr(0, comma));
    if (!word.empty()) types.emplace_back(word);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return !types.empty();
}

bool literal(Tokens tokens, std::string& text) {
  while (tokens.size() > 2 && tokens.front().is('(') && tokens.back().is(')')) {
    tokens = tokens.subspan(1, tokens.size() - 2);
  }
  bool only_strings = false;
  text = string_value(tokens, &only_strings);
  return only_strings && !tokens.empty();
}

bool read_cpp_type(Tokens tokens, std::vector<std::string>& types) {
  while (tokens.size() > 2 && tokens[0].is_identifier() && tokens[1].is("::")) {
    tokens = tokens.subspan(2);
  }
  if (tokens.size() != 1) return false;
  std::string_view word = tokens[0].text;
  std::string_view enumerator;
  if (word.starts_with("DT_")) enumerator = word.substr(3);
  for (const auto& [cpp, name] : cpp_types) {
    std::string upper(cpp);
    for (char& byte : upper) {
      if (byte >= 'a' && byte <= 'z') byte = static_cast<char>(byte - 'a' + 'A');
    }
    if (enumerator.empty() ? word == cpp : enumerator == upper) {
      types.emplace_back(name);
      return true;
    }
  }
  return false;
}

class TensorflowReader {
 public:
  TensorflowReader(const SourceUnit& unit, const Invocations& found,
                   std::vector<TensorflowRecord>& out)
      : unit_(unit), found_(found), out_(out) {}

  void run() {
    const bool whole = calls_are_known();
    for (const Invocation& invocation : found_.list) {
      if (invocation.form == InvocationForm::member || invocation.arguments.empty()) continue;
      if (invocation.name == "REGISTER_OP") {
        read_definition(invocation);
      } else if (invocation.name == "REGISTER_KERNEL_BUILDER") {
        read_kernel(invocation, whole);
      }
    }
  }

 private:
  // A group of types that isn't known here may register a kernel for each.
  bool calls_are_known() {
    const std::vector<Token>& tokens = unit_.tokens;
    for (std::size_t at = 0; at + 1 < tokens.size(); ++at) {
      if (!tokens[at].is_identifier() || !tokens[at].text.starts_with("TF_CALL_")) continue;
      if (!tokens[at + 1].is('(')) continue;
      TensorflowRecord record;
      record.use = TensorflowUse::kernel;
      record.place = place_of(Tokens(tokens).subspan(at, 1), unit_.file);
      record.written = tokens[at].text;
      out_.push_back(std::move(record));
      return false;
    }
    return true;
  }

  void name(Tokens tokens, TensorflowRecord& record) const {
    if (!literal(tokens, record.name.text)) record.name.text.clear();
    record.name.place = place_of(tokens, unit_.file);
    record.written = text_of(tokens);
  }

  void read_definition(const Invocation& invocation) {
    TensorflowRecord record = record_at<TensorflowRecord>(unit_, invocation);
    name(invocation.arguments.front(), record);
    const Tokens all = unit_.tokens;
    const std::size_t begin = invocation.close + 1;
    if (begin < all.size() && all[begin].is('.') && steps_ <= most_steps) {
      const Tokens behind = all.subspan(begin, chain_length(all.subspan(begin)));
      // A chain may stand in another one.
      steps_ += behind.size();
      record.says_operands = steps_ <= most_steps && read_specification(behind, record);
    }
    if (!record.says_operands) {
      record.inputs.clear();
      record.outputs.clear();
      record.types.clear();
    }
    record.says_types = record.says_operands;
    out_.push_back(std::move(record));
  }

  // Up to the end of the statement.
  static std::size_t chain_length(Tokens tokens) {
    const std::size_t end = std::min(tokens.size(), longest_chain);
    std::size_t at = 0;
    for (std::size_t depth = 0; at < end; ++at) {
      if (tokens[at].is('(') || tokens[at].is('{')) ++depth;
      if (tokens[at].is(')') || tokens[at].is('}')) {
        if (depth == 0) break;
        --depth;
      }
      if (tokens[at].is(';') && depth == 0) break;
    }
    return at;
  }

  bool read_specification(Tokens chain, TensorflowRecord& record) const {
    std::vector<std::string> lists;
    const std::uint32_t condition = chain.front().condition;
    for (const ChainLink& link : read_chain(chain)) {
      const bool input = link.name == "Input";
      if (!input && link.name != "Output" && link.name != "Attr") continue;
      std::string text;
      std::string_view key;
      std::string_view rest;
      // Which of two branches holds only a build knows.
      if (chain[link.at].condition != condition) return false;
      if (!literal(link.arguments, text) || !split_spec(text, key, rest)) return false;
      if (link.name == "Attr") {
        std::vector<std::string> types;
        if (rest.starts_with("list(")) {
          lists.emplace_back(key);
        } else if (read_type_list(rest, types)) {
          record.types.emplace_back(std::string(key), std::move(types));
        }
        continue;
      }
      TensorflowOperand operand{std::string(key), std::string(rest), false};
      operand.variadic = rest.find('*') != rest.npos;
      (input ? record.inputs : record.outputs).push_back(std::move(operand));
    }
    for (std::vector<TensorflowOperand>* operands : {&record.inputs, &record.outputs}) {
      for (TensorflowOperand& operand : *operands) {
        if (std::find(lists.begin(), lists.end(), operand.type) != lists.end()) {
          operand.variadic = true;
        }
      }
    }
    return true;
  }

  // `whole`: the file's kernels are all of those that it registers.
  void read_kernel(const Invocation& invocation, bool whole) {
    const std::vector<Tokens>& arguments = invocation.arguments;
    if (arguments.size() < 2) return;
    const Tokens builder = arguments.front();
    const auto named = std::find_if(builder.begin(), builder.end(),
                                    [](const Token& token) { return token.is("Name"); });
    const auto at = static_cast<std::size_t>(named - builder.begin());
    if (at + 1 >= builder.size() || !builder[at + 1].is('(')) return;
    const std::size_t close = closing_bracket(builder, at + 1);
    if (close >= builder.size()) return;
    TensorflowRecord record = record_at<TensorflowRecord>(unit_, invocation);
    record.use = TensorflowUse::kernel;
    name(builder.subspan(at + 2, close - at - 2), record);
    record.says_types = whole;
    if (close + 1 < builder.size() && builder[close + 1].is('.')) {
      for (const ChainLink& link : read_chain(builder.subspan(close + 1))) read_link(link, record);
    }
    const Tokens first = arguments[1];
    const Tokens last = arguments.back();
    if (!first.empty() && !last.empty()) {
      Tokens all(first.data(), last.data() + last.size());
      record.function = {text_of(all), place_of(all, unit_.file)};
    }
    out_.push_back(std::move(record));
  }

  static void read_link(const ChainLink& link, TensorflowRecord& record) {
    if (link.name == "Device") {
      if (link.arguments.empty()) return;
      const std::string_view device = link.arguments.back().text;
      if (!literal(link.arguments, record.platform)) record.platform.clear();
      if (device.starts_with("DEVICE_")) record.platform = device.substr(7);
    } else if (link.name == "Label") {
      if (!literal(link.arguments, record.label)) record.label = text_of(link.arguments);
    } else if (link.name == "TypeConstraint") {
      const std::vector<Tokens> arguments = split_typed(link.arguments);
      std::string variable;
      std::vector<std::string> types;
      bool good = !arguments.empty() && literal(arguments[0], variable);
      if (!link.template_arguments.empty()) {
        good = good && read_cpp_type(link.template_arguments, types);
      } else {
        good = good && arguments.size() == 2 && read_cpp_type(arguments[1], types);
      }
      if (good) {
        record.types.emplace_back(std::move(variable), std::move(types));
      } else {
        record.says_types = false;
      }
    }
  }

  const SourceUnit& unit_;
  const Invocations& found_;
  std::vector<TensorflowRecord>& out_;
  std::size_t steps_ = 0;
};

}  // namespace

void read_tensorflow_cpp(const SourceUnit& unit, const Invocations& found,
                         std::vector<TensorflowRecord>& records) {
  TensorflowReader(unit, found, records).run();
}

}  // namespace opseal
