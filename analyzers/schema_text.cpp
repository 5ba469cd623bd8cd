// torch's schema language. Facts: torch/csrc/jit/frontend/function_schema_parser.cpp and
// schema_type_parser.cpp.

#include "opseal/schema_text.h"

#include <algorithm>
#include <iterator>

#include "analyzers/words.h"

namespace opseal {
namespace {

bool is_space(char byte) { return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r'; }

// The end of a quoted text that begins at `at`, its mark included; npos when it has none.
std::size_t quote_end(std::string_view text, std::size_t at) {
  const char mark = text[at];
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == mark) {
      return at + 1;
    }
  }
  return text.npos;
}

// The end of a bracketed text that begins at `at`; npos when it has none.
std::size_t bracket_end(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    const char byte = text[at];
    if (byte == '"' || byte == '\'') {
      at = quote_end(text, at);
      if (at == text.npos) return at;
      continue;
    }
    if (byte == '(' || byte == '[') ++depth;
    if ((byte == ')' || byte == ']') && --depth == 0) return at + 1;
    ++at;
  }
  return text.npos;
}

// Calls `visit(part)` for the parts between commas that stand in no bracket; false where brackets
// or quotation marks have no end.
template <typename Visit>
bool split(std::string_view text, Visit visit) {
  if (trimmed(text).empty()) return true;
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char byte = text[at];
    if (byte == '"' || byte == '\'') {
      at = quote_end(text, at);
    } else if (byte == '(' || byte == '[') {
      at = bracket_end(text, at);
    } else {
      if (byte == ',') {
        if (!visit(trimmed(text.substr(start, at - start)))) return false;
        start = at + 1;
      }
      ++at;
    }
    if (at == text.npos) return false;
  }
  return visit(trimmed(text.substr(start)));
}

// Types that take parameters in parentheses; behind any other type they hold an alias mark.
bool is_generic(std::string_view type) {
  constexpr std::string_view words[] = {"Await",    "Dict", "Future", "List", "NamedTuple",
                                        "Optional", "RRef", "Tuple",  "Union"};
  return std::find(std::begin(words), std::end(words), type) != std::end(words);
}

class OperandText {
 public:
  explicit OperandText(std::string_view text) : text_(text) {}

  bool read(SchemaOperand& operand) {
    if (!read_type(operand) || !read_marks(operand)) return false;
    skip_space();
    const std::size_t start = at_;
    while (at_ < text_.size() && is_word_byte(text_[at_])) ++at_;
    operand.name = text_.substr(start, at_ - start);
    skip_space();
    // The older spelling: `int[2] stride` was once `int stride[2]`.
    if (at_ < text_.size() && text_[at_] == '[' && !read_list(operand)) return false;
    skip_space();
    if (at_ == text_.size()) return true;
    if (text_[at_] != '=') return false;
    operand.has_default = true;
    operand.default_value = trimmed(text_.substr(at_ + 1));
    return true;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  bool read_type(SchemaOperand& operand) {
    const std::size_t start = at_;
    while (at_ < text_.size() && (is_word_byte(text_[at_]) || text_[at_] == '.')) ++at_;
    operand.type = text_.substr(start, at_ - start);
    // A tuple is written as its members in parentheses.
    if (at_ < text_.size() && text_[at_] == '(' && (at_ == start || is_generic(operand.type))) {
      at_ = bracket_end(text_, at_);
      if (at_ == text_.npos) return false;
      operand.type = text_.substr(start, at_ - start);
    }
    return !operand.type.empty();
  }

  bool read_marks(SchemaOperand& operand) {
    const std::size_t start = at_;
    while (at_ < text_.size()) {
      // `Tensor (a!)`, `Tensor ? x`, `Tensor []x`: a blank means nothing to torch.
      const std::size_t next = text_.find_first_not_of(" \t\r\n", at_);
      if (next != text_.npos &&
          std::string_view("(?[!").find(text_[next]) != std::string_view::npos)
        at_ = next;
      if (text_[at_] == '?') {
        operand.optional = true;
        ++at_;
      } else if (text_[at_] == '[') {
        // In `Tensor?[]` the members are optional and the list is not.
        operand.optional = false;
        if (!read_list(operand)) return false;
      } else if (text_[at_] == '!') {
        // Written to, and in a set of its own: short for `(a!)`.
        operand.alias = text_.substr(at_++, 1);
      } else if (text_[at_] == '(') {
        const std::size_t end = bracket_end(text_, at_);
        if (end == text_.npos) return false;
        operand.alias = trimmed(text_.substr(at_ + 1, end - at_ - 2));
        at_ = end;
      } else {
        break;
      }
    }
    operand.marks = text_.substr(start, at_ - start);
    return true;
  }

  bool read_list(SchemaOperand& operand) {
    at_ = bracket_end(text_, at_);
    ++operand.lists;
    return at_ != text_.npos;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

bool read_operands(std::string_view text, std::vector<SchemaOperand>& operands, bool& more) {
  bool keyword_only = false;
  // Few have more, and growing by one and one costs more than the reading.
  operands.reserve(6);
  return split(text, [&](std::string_view part) {
    if (part == "...") {
      more = true;
      return true;
    }
    if (part == "*") {
      keyword_only = true;
      return true;
    }
    SchemaOperand operand;
    if (!OperandText(part).read(operand)) return false;
    operand.keyword_only = keyword_only;
    operands.push_back(operand);
    return true;
  });
}

// The names that torch gives where it infers a schema from a C++ signature.
bool is_inferred(const std::vector<SchemaOperand>& operands) {
  return !operands.empty() &&
         std::all_of(operands.begin(), operands.end(), [](const SchemaOperand& operand) {
           return operand.name.size() > 1 && operand.name[0] == '_' &&
                  operand.name.find_first_not_of("0123456789", 1) == std::string_view::npos;
         });
}

}  // namespace

std::string torch_type_text(const SchemaOperand& operand) {
  std::string marks(operand.marks);
  const std::size_t open = marks.find('(');
  if (open != marks.npos) marks.erase(open, marks.find(')', open) - open + 1);
  std::erase_if(marks, [](char byte) { return byte == '!' || is_space(byte); });
  return std::string(operand.type) + marks;
}

std::optional<OperatorSchema> read_torch_schema(std::string_view text) {
  text = trimmed(text);
  const std::size_t open = text.find('(');
  if (open == text.npos) return {};
  OperatorSchema schema;
  schema.name = trimmed(text.substr(0, open));
  if (schema.name.find_first_of(" \"'{}[],=") != text.npos) return {};
  const std::size_t close = bracket_end(text, open);
  if (close == text.npos) return {};
  if (!read_operands(text.substr(open + 1, close - open - 2), schema.inputs, schema.more_inputs)) {
    return {};
  }
  std::string_view results = trimmed(text.substr(close));
  if (!results.starts_with("->")) return {};
  results = trimmed(results.substr(2));
  if (results.starts_with('(') && bracket_end(results, 0) == results.size()) {
    results = results.substr(1, results.size() - 2);
  } else if (results.empty()) {
    return {};
  }
  if (!read_operands(results, schema.outputs, schema.more_outputs)) return {};
  schema.says_mutation = !is_inferred(schema.inputs);
  return schema;
}

std::optional<OperatorSchema> read_schema(const Fact& schema) {
  if (!schema.is_text()) return {};
  const std::string_view text = trimmed(schema.text());
  return text.starts_with('{') ? read_tvm_schema(text) : read_torch_schema(text);
}

}  // namespace opseal
