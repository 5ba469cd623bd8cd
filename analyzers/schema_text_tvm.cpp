// tvm-ffi's `type_schema`: `{"type": "ffi.Function", "named_args": {"params": [T], "return":
// [T]}}`, or `"args": [result, parameter, ...]`; T is `{"type": word, "args": [T], "name": word}`.
// Facts: tvm/ffi/reflection/registry.h and python/tvm_ffi/core (TypeSchema).

#include <algorithm>

#include "opseal/schema_text.h"

namespace opseal {
namespace {

// Walks JSON in place, since a `JsonReader` keeps nothing of the bytes behind it and the views of a
// schema must outlive the walk. A text that is no JSON ends the walk.
class Walk {
 public:
  explicit Walk(std::string_view text) : text_(text) {}

  char peek() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
      ++at_;
    }
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  // Calls `member(key)`, which has to take the value.
  template <typename Member>
  void object(Member member) {
    if (!take('{')) return;
    while (good_ && peek() != '}') {
      const std::string_view key = word();
      take(':');
      if (good_) member(key);
      if (peek() != '}') take(',');
    }
    take('}');
  }

  template <typename Item>
  void list(Item item) {
    if (!take('[')) return;
    while (good_ && peek() != ']') {
      item();
      if (peek() != ']') take(',');
    }
    take(']');
  }

  std::string_view word() {
    if (!take('"')) return {};
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size()) {
      good_ = false;
      return {};
    }
    return text_.substr(start, at_++ - start);
  }

  // Any value, brackets within it counted and not entered, so that depth costs nothing.
  void skip() {
    std::size_t depth = 0;
    do {
      const char byte = peek();
      if (byte == '"') {
        word();
      } else if (byte == '{' || byte == '[') {
        ++depth;
        ++at_;
      } else if (byte == '}' || byte == ']') {
        if (depth == 0) good_ = false;
        --depth;
        ++at_;
      } else if (byte == ',' || byte == ':') {
        if (depth == 0) good_ = false;
        ++at_;
      } else {
        const std::size_t start = at_;
        while (at_ < text_.size() &&
               std::string_view(",:{}[]\" \n\t\r").find(text_[at_]) == std::string_view::npos) {
          ++at_;
        }
        if (at_ == start) good_ = false;
      }
    } while (good_ && depth > 0);
  }

  bool good() const { return good_; }

 private:
  bool take(char byte) {
    if (good_ && peek() == byte) {
      ++at_;
      return true;
    }
    good_ = false;
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool good_ = true;
};

// Nested types beyond this say nothing that a rule asks for.
constexpr int most_levels = 8;

void read_type(Walk& walk, SchemaOperand& operand, int level) {
  if (walk.peek() != '{' || level == most_levels) {
    walk.skip();
    return;
  }
  SchemaOperand inner;
  bool has_inner = false;
  walk.object([&](std::string_view key) {
    if (key == "type" && walk.peek() == '"') {
      operand.type = walk.word();
    } else if (key == "name" && walk.peek() == '"') {
      operand.name = walk.word();
    } else if (key == "args" && walk.peek() == '[') {
      walk.list([&] {
        SchemaOperand member;
        read_type(walk, member, level + 1);
        if (!has_inner) inner = member;
        has_inner = true;
      });
    } else {
      walk.skip();
    }
  });
  if (!has_inner) return;
  if (operand.type == "Optional") {
    operand.type = inner.type;
    operand.lists = inner.lists;
    operand.optional = true;
  } else if (operand.type == "ffi.Array" || operand.type == "ffi.List") {
    operand.type = inner.type;
    operand.lists = inner.lists + 1;
  }
}

void read_types(Walk& walk, std::vector<SchemaOperand>& operands) {
  if (walk.peek() != '[') {
    walk.skip();
    return;
  }
  walk.list([&] { read_type(walk, operands.emplace_back(), 0); });
}

}  // namespace

std::optional<OperatorSchema> read_tvm_schema(std::string_view text) {
  OperatorSchema schema;
  schema.says_mutation = false;
  bool function = false;
  bool parameters = false;
  Walk walk(text);
  walk.object([&](std::string_view key) {
    if (key == "type" && walk.peek() == '"') {
      function = walk.word() == "ffi.Function";
    } else if (key == "named_args" && walk.peek() == '{') {
      walk.object([&](std::string_view part) {
        if (part == "params") {
          parameters = true;
          read_types(walk, schema.inputs);
        } else if (part == "return") {
          read_types(walk, schema.outputs);
        } else {
          walk.skip();
        }
      });
    } else if (key == "args" && walk.peek() == '[') {
      std::vector<SchemaOperand> types;
      read_types(walk, types);
      if (types.empty()) return;
      parameters = true;
      schema.outputs.assign(types.begin(), types.begin() + 1);
      schema.inputs.assign(types.begin() + 1, types.end());
    } else {
      walk.skip();
    }
  });
  if (!walk.good() || walk.peek() != '\0' || !function || !parameters) return {};
  std::erase_if(schema.outputs, [](const SchemaOperand& output) { return output.type == "None"; });
  return schema;
}

}  // namespace opseal
