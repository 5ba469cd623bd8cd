// Which of the tensors that a function is given are sure to be dense: `x = x.contiguous();`,
// `CHECK_CONTIGUOUS(x)`, or the same in who calls it.

#include "analyzers/sources/tensor_layouts.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/device_sides.h"
#include "analyzers/words.h"
#include "opseal/text.h"

namespace opseal {
namespace {

constexpr std::size_t most_parameters = 64;
constexpr std::uint32_t most_tokens = 256;
// Tokens of a call's arguments.
constexpr std::uint32_t most_arguments = 4096;
// Functions of one name.
constexpr std::size_t most_meanings = 16;

// Members that tell nothing of the layout.
constexpr std::array<std::string_view, 24> neutral_members{
    "size",       "sizes",   "dim",        "numel",     "scalar_type", "dtype",
    "device",     "options", "is_cuda",    "defined",   "has_value",   "element_size",
    "get_device", "type",    "nbytes",     "sym_size",  "sym_sizes",   "device_type",
    "itemsize",   "is_cpu",  "ndimension", "sym_numel", "value",       "is_floating_point"};

constexpr std::array<std::string_view, 6> neutral_calls{"device_of", "empty_like", "zeros_like",
                                                        "ones_like", "full_like",  "defined"};

// Checks by these words ask for something else.
constexpr std::array<std::string_view, 14> other_checks{"CUDA",  "DEVICE", "GPU",  "SAME",   "DIM",
                                                        "SHAPE", "SIZE",   "TYPE", "NUMEL",  "EQ",
                                                        "HALF",  "FLOAT",  "INT",  "DEFINED"};

bool is_pointer_member(std::string_view word) {
  return word == "data_ptr" || word == "const_data_ptr" || word == "mutable_data_ptr";
}

bool is_check(std::string_view word) {
  return word.find("CHECK") != word.npos || word.find("TENSOR") != word.npos ||
         word.find("ASSERT") != word.npos;
}

bool is_output(std::string_view name) {
  const std::string word = lower(name);
  return word.find("out") != word.npos || word.find("res") != word.npos ||
         word.find("ret") != word.npos || word.find("work") != word.npos ||
         word.find("buf") != word.npos || word.find("tmp") != word.npos || word == "y" ||
         word.find("dst") != word.npos;
}

struct Parameter {
  const Token* name = nullptr;
  std::size_t position = 0;
  bool dense = false;
  bool other = false;
  // Of the first pointer.
  Tokens pointer;
};

class LayoutReader {
 public:
  explicit LayoutReader(const PlainSource& source) : source_(source), tokens_(source.unit.tokens) {}

  // What a function makes sure of.
  std::vector<Parameter> read(std::uint32_t number, bool only_tensors) {
    const Scope& scope = source_.shape.scopes[number];
    std::vector<Parameter> parameters = parameters_of(scope, only_tensors);
    if (parameters.empty()) return parameters;
    std::unordered_map<std::uint32_t, Parameter*> by_name;
    for (Parameter& one : parameters) by_name[one.name->hash] = &one;
    std::vector<std::uint32_t> open;
    for (std::uint32_t at = scope.body.begin; at < scope.body.end; ++at) {
      const Token& token = tokens_[at];
      if (token.is('(') || token.is('{') || token.is('[')) open.push_back(at);
      if ((token.is(')') || token.is('}') || token.is(']')) && !open.empty()) open.pop_back();
      if (!token.is_identifier()) continue;
      const auto found = by_name.find(token.hash);
      if (found == by_name.end() || is_qualified(tokens_, at)) continue;
      note(at, open, *found->second);
    }
    return parameters;
  }

 private:
  std::vector<Parameter> parameters_of(const Scope& scope, bool only_tensors) const {
    std::vector<Parameter> parameters;
    const TokenRange range = scope.parameters;
    if (range.empty()) return parameters;
    for (const NamedParameter& one : named_parameters(
             Tokens(tokens_).subspan(range.begin, range.end - range.begin), most_parameters)) {
      if (one.name->is("Tensor") || (only_tensors && !one.tensor)) continue;
      if (only_tensors && ((one.by_reference && !one.is_const) || is_output(one.name->text))) {
        continue;
      }
      Parameter& made = parameters.emplace_back();
      made.name = one.name;
      made.position = one.position;
    }
    return parameters;
  }

  void note(std::uint32_t at, const std::vector<std::uint32_t>& open, Parameter& parameter) const {
    std::uint32_t next = at + 1;
    // `x.value().data_ptr()`, `x->data_ptr()`
    for (int steps = 0; steps < 2; ++steps) {
      if (next + 3 < tokens_.size() && tokens_[next].is('.') && tokens_[next + 1].is("value") &&
          tokens_[next + 2].is('(')) {
        next += 4;
      }
    }
    if (next + 1 < tokens_.size() && (tokens_[next].is('.') || tokens_[next].is("->"))) {
      note_member(at, next + 1, parameter);
      return;
    }
    if (next < tokens_.size() && tokens_[next].is('=')) {
      parameter.other = true;
      return;
    }
    // The captures of a lambda.
    if (!open.empty() && tokens_[open.back()].is('[')) return;
    const std::uint32_t bracket = open.empty() ? no_token : open.back();
    if (bracket == no_token || bracket == 0 || !tokens_[bracket].is('(') ||
        !tokens_[bracket - 1].is_identifier()) {
      parameter.other = true;
      return;
    }
    note_call(tokens_[bracket - 1].text, parameter);
  }

  void note_member(std::uint32_t at, std::uint32_t member, Parameter& parameter) const {
    const std::string_view word = tokens_[member].text;
    if (word == "contiguous" || word == "is_contiguous" || word == "expect_contiguous" ||
        word == "is_non_overlapping_and_dense") {
      parameter.dense = true;
    } else if (is_pointer_member(word)) {
      if (!parameter.pointer.empty()) return;
      std::uint32_t end = member;
      while (end + 1 < tokens_.size() && end - at < most_tokens && !tokens_[end].is('(')) ++end;
      const std::uint32_t close = source_.shape.partners[end];
      const std::uint32_t last = close != no_token && close > end ? close : end;
      parameter.pointer = Tokens(tokens_).subspan(at, last + 1 - at);
    } else if (word == "numel" || word == "dim") {
      // Of one element there is only one layout.
      const bool compares = member + 4 < tokens_.size() && tokens_[member + 3].is("==");
      const Token& number = tokens_[std::min<std::size_t>(member + 4, tokens_.size() - 1)];
      if (compares && (number.is("1") || number.is("0")) && (word == "numel" || number.is("0"))) {
        parameter.other = true;
      }
    } else if (!is_one_of(word, neutral_members)) {
      parameter.other = true;
    }
  }

  void note_call(std::string_view name, Parameter& parameter) const {
    if (is_one_of(name, neutral_calls)) return;
    const std::string word = lower(name);
    if (word.find("contig") != word.npos || word.find("check_input") != word.npos ||
        word.find("checkinput") != word.npos || word.find("dense") != word.npos) {
      parameter.dense = true;
      return;
    }
    const bool asks_else = is_check(name) && std::any_of(other_checks.begin(), other_checks.end(),
                                                         [name](std::string_view part) {
                                                           return name.find(part) != name.npos;
                                                         });
    if (!asks_else) parameter.other = true;
  }

  const PlainSource& source_;
  const std::vector<Token>& tokens_;
};

}  // namespace

void read_layouts(const PlainSource& source, std::vector<LayoutFunction>& functions) {
  LayoutReader reader(source);
  std::uint32_t end = 0;
  const std::vector<Scope>& scopes = source.shape.scopes;
  for (std::uint32_t number = 0; number < scopes.size(); ++number) {
    const Scope& scope = scopes[number];
    if (scope.kind != ScopeKind::function || scope.body.begin < end) continue;
    end = std::max(end, scope.body.end);
    if (!is_host(side_of_function(source, number))) continue;
    LayoutFunction function;
    function.name = base_of(function_name(source, number));
    bool sure = false;
    bool unsure = false;
    for (const Parameter& one : reader.read(number, true)) {
      if (one.pointer.empty() && !one.dense) continue;
      LayoutArgument argument;
      argument.name = one.name->text;
      argument.position = one.position;
      if (one.dense) {
        argument.contiguous = true;
        sure = true;
      } else if (!one.other) {
        argument.contiguous = false;
        unsure = true;
      }
      const Tokens shown = one.pointer.empty() ? Tokens(one.name, 1) : one.pointer;
      argument.expression = text_of(shown);
      argument.when = source.unit.conditions[shown.front().condition];
      argument.place = place_of(shown, source.unit.file);
      function.arguments.push_back(std::move(argument));
    }
    if (sure && unsure) functions.push_back(std::move(function));
  }
}

void read_layout_callers(const PlainSource& source, std::vector<LayoutFunction*>& functions) {
  std::unordered_map<std::uint32_t, std::vector<LayoutFunction*>> by_name;
  for (LayoutFunction* function : functions) {
    std::vector<LayoutFunction*>& same = by_name[hash_of(function->name)];
    if (same.size() < most_meanings) {
      same.push_back(function);
    } else {
      // Too many for a call to tell which.
      for (LayoutArgument& argument : function->arguments) argument.contiguous.reset();
    }
  }
  LayoutReader reader(source);
  const std::vector<Token>& tokens = source.unit.tokens;
  const std::vector<Scope>& scopes = source.shape.scopes;
  std::uint32_t end = 0;
  for (std::uint32_t number = 0; number < scopes.size(); ++number) {
    const Scope& scope = scopes[number];
    if (scope.kind != ScopeKind::function || scope.body.begin < end) continue;
    end = std::max(end, scope.body.end);
    std::vector<Parameter> parameters;
    bool known = false;
    for (std::uint32_t at = scope.body.begin; at + 1 < scope.body.end; ++at) {
      if (!tokens[at].is_identifier()) continue;
      const auto found = by_name.find(tokens[at].hash);
      if (found == by_name.end()) continue;
      if (!known) parameters = reader.read(number, false);
      known = true;
      const std::uint32_t close = source.shape.partners[at + 1];
      const bool is_call = tokens[at + 1].is('(') && close != no_token && close > at + 1 &&
                           close - at < most_arguments;
      const std::vector<Tokens> given =
          is_call ? split_call_arguments(Tokens(tokens).subspan(at + 2, close - at - 2))
                  : std::vector<Tokens>();
      for (LayoutFunction* function : found->second) {
        for (LayoutArgument& argument : function->arguments) {
          if (argument.contiguous != std::optional(false)) continue;
          // A mere name may be called with anything; so may one argument that isn't seen.
          if (!is_call) continue;
          if (argument.position >= given.size() || given[argument.position].empty()) {
            argument.contiguous.reset();
            continue;
          }
          const Tokens value = given[argument.position];
          const auto parameter = std::find_if(
              parameters.begin(), parameters.end(),
              [&](const Parameter& one) { return one.name->hash == value.front().hash; });
          // Its own tensor, as it was given, and it doesn't look at it either.
          const bool passes_on = value.size() == 1 && parameter != parameters.end();
          if (!passes_on || parameter->dense) argument.contiguous.reset();
        }
      }
    }
  }
}

void read_layout_python(std::string_view bytes, std::vector<LayoutFunction*>& functions) {
  for (LayoutFunction* function : functions) {
    for (LayoutArgument& argument : function->arguments) {
      if (argument.contiguous != std::optional(false)) continue;
      const std::string call = argument.name + ".contiguous()";
      if (bytes.find(call) != bytes.npos) argument.contiguous.reset();
    }
  }
}

}  // namespace opseal
