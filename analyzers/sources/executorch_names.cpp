// runtime/core/exec_aten/util/scalar_type_util.h: `should_include_kernel_dtype(op_name, dtype)`.

#include "analyzers/sources/executorch_names.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/cpp_record.h"

namespace opseal {
namespace {

constexpr std::size_t most_records = 512;
// From the name of the variable to its text.
constexpr std::uint32_t most_tokens = 6;

bool takes_context(Tokens head) {
  return std::any_of(head.begin(), head.end(), [](const Token& token) {
    return token.is("KernelRuntimeContext") || token.is("RuntimeContext");
  });
}

class OperatorNames {
 public:
  OperatorNames(const CodeFunctions& code, std::uint32_t number,
                std::vector<RegistrarRecord>& records)
      : code_(code), file_(*code.files().front()), number_(number), records_(records) {}

  void run() {
    const Tokens tokens = file_.unit.tokens;
    for (const auto& function : code_.functions()) {
      if (function->name_token >= function->body.begin) continue;
      const Tokens head =
          tokens.subspan(function->name_token, function->body.begin - function->name_token);
      if (!takes_context(head)) continue;
      function_ = function.get();
      for (std::uint32_t at = function->body.begin; at < function->body.end; ++at) {
        if (!tokens[at].is_identifier()) continue;
        if (tokens[at].is("op_name")) {
          add(text_behind(at, function->body.end));
        } else if (tokens[at].text.starts_with("ET_SWITCH_")) {
          add(text_among(at, function->body.end));
        }
      }
    }
  }

 private:
  const Token& at(std::uint32_t index) const { return file_.unit.tokens[index]; }

  // `op_name[] = "x"`, `DEFINE_NAME(op_name, "x")`; elsewhere it is only used.
  std::uint32_t text_behind(std::uint32_t name, std::uint32_t end) const {
    bool given = false;
    for (std::uint32_t index = name + 1; index < std::min(end, name + most_tokens); ++index) {
      if (at(index).is_string()) return given ? index : no_token;
      const bool defines =
          at(index).is(',') && name >= 2 && at(name - 2).is("ET_DEFINE_OPERATOR_NAME");
      given = given || at(index).is('=') || defines;
      if (!given && !at(index).is('[') && !at(index).is(']')) return no_token;
    }
    return no_token;
  }

  // The text that is an argument of a call by itself.
  std::uint32_t text_among(std::uint32_t name, std::uint32_t end) const {
    if (name + 1 >= end || !at(name + 1).is('(')) return no_token;
    for (std::uint32_t index = name + 2; index + 1 < end; ++index) {
      const Token& token = at(index);
      if (token.is('{') || token.is(')')) return no_token;
      if (token.is('(')) {
        const std::uint32_t close = file_.partners[index];
        if (close == no_token || close <= index) return no_token;
        index = close;
        continue;
      }
      if (token.is_string()) {
        return at(index - 1).is(',') && at(index + 1).is(',') ? index : no_token;
      }
    }
    return no_token;
  }

  void add(std::uint32_t text) {
    if (text == no_token || records_.size() >= most_records) return;
    bool only_strings = false;
    const std::string name =
        string_value(Tokens(file_.unit.tokens).subspan(text, 1), &only_strings);
    if (!only_strings || name.empty()) return;
    RegistrarRecord record;
    record.type = base_of(function_->name);
    record.of_operator = name;
    record.place = {number_, at(text).offset, at(text).length};
    const bool known = !records_.empty() && records_.back().type == record.type &&
                       records_.back().of_operator == name;
    if (!known) records_.push_back(std::move(record));
  }

  const CodeFunctions& code_;
  const CodeFile& file_;
  std::uint32_t number_;
  std::vector<RegistrarRecord>& records_;
  const CodeFunction* function_ = nullptr;
};

}  // namespace

void read_operator_names(const CodeFunctions& code, std::uint32_t number,
                         std::vector<RegistrarRecord>& records) {
  OperatorNames(code, number, records).run();
}

}  // namespace opseal
