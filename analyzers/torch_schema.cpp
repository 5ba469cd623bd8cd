#include "analyzers/torch_schema.h"

#include "opseal/text.h"

namespace opseal {
namespace {

constexpr std::string_view spaces = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(spaces);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

// Walks over a text and knows how deep in brackets it is; what is quoted counts for nothing.
class Walk {
 public:
  // Whether the byte lies outside quotation marks. `depth` is then that behind it.
  bool step(char byte) {
    if (quote_ != 0) {
      if (byte == quote_ && !escaped_) quote_ = 0;
      escaped_ = byte == '\\' && !escaped_;
      return false;
    }
    if (byte == '"' || byte == '\'') quote_ = byte;
    if (byte == '(' || byte == '[') ++depth_;
    if (byte == ')' || byte == ']') --depth_;
    return true;
  }
  int depth() const { return depth_; }

 private:
  char quote_ = 0;
  bool escaped_ = false;
  int depth_ = 0;
};

// The position of the bracket that closes the one at the beginning of the text, or npos.
std::size_t closing_bracket(std::string_view text) {
  Walk walk;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (walk.step(text[at]) && walk.depth() == 0) return at;
  }
  return std::string_view::npos;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  Walk walk;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!walk.step(text[at]) || text[at] != ',' || walk.depth() != 0) continue;
    parts.push_back(trimmed(text.substr(begin, at - begin)));
    begin = at + 1;
  }
  const std::string_view last = trimmed(text.substr(begin));
  if (!last.empty() || !parts.empty()) parts.push_back(last);
  return parts;
}

// The position of the first space outside brackets, which ends the type.
std::size_t end_of_type(std::string_view text) {
  Walk walk;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (walk.step(text[at]) && text[at] == ' ' && walk.depth() == 0) return at;
  }
  return text.size();
}

std::optional<TorchOperand> read_operand(std::string_view text) {
  const std::size_t end = end_of_type(text);
  TorchOperand operand;
  operand.type = text.substr(0, end);
  if (operand.type.empty()) return std::nullopt;
  const std::string_view rest = trimmed(text.substr(end));
  operand.name = rest.substr(0, rest.find('='));
  if (!operand.is_tensor()) return operand;
  const std::size_t open = operand.type.find('(');
  const std::size_t close = operand.type.find(')', open);
  if (open == std::string::npos || close == std::string::npos) return operand;
  operand.alias = operand.type.substr(open + 1, close - open - 1);
  operand.type.erase(open, close - open + 1);
  return operand;
}

bool read_operands(std::string_view text, std::vector<TorchOperand>& operands) {
  for (const std::string_view part : split(text)) {
    if (part == "*") continue;
    const std::optional<TorchOperand> operand = read_operand(part);
    if (!operand) return false;
    operands.push_back(*operand);
  }
  return true;
}

}  // namespace

bool TorchOperand::is_tensor() const {
  constexpr std::string_view word = "Tensor";
  return type.starts_with(word) &&
         (type.size() == word.size() ||
          std::string_view("?[(").find(type[word.size()]) != std::string_view::npos);
}

std::string torch_operator_name(std::string_view name) {
  return (name.find("::") == name.npos ? "aten::" : "") + std::string(name);
}

std::optional<TorchSchema> split_torch_schema(std::string_view text) {
  const std::size_t open = text.find('(');
  if (open == text.npos || trimmed(text.substr(0, open)).empty()) return std::nullopt;
  const std::string_view list = text.substr(open);
  const std::size_t close = closing_bracket(list);
  if (close == list.npos) return std::nullopt;
  std::string_view results = trimmed(list.substr(close + 1));
  if (!results.starts_with("->")) return std::nullopt;
  results = trimmed(results.substr(2));
  if (results.empty()) return std::nullopt;
  if (results.front() == '(' && closing_bracket(results) == results.size() - 1) {
    results = results.substr(1, results.size() - 2);
  }
  TorchSchema schema;
  schema.name = torch_operator_name(trimmed(text.substr(0, open)));
  if (!read_operands(list.substr(1, close - 1), schema.arguments)) return std::nullopt;
  if (!read_operands(results, schema.results)) return std::nullopt;
  return schema;
}

}  // namespace opseal
