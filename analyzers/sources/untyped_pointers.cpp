// What a function does with the tensors whose untyped pointer it casts: whether it, or who calls
// it, may know their dtype.

#include "analyzers/sources/untyped_pointers.h"

#include <algorithm>
#include <array>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/device_sides.h"
#include "analyzers/sources/untyped_reader.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

constexpr std::size_t most_parameters = 64;
constexpr std::uint32_t most_type_tokens = 8;
// Macros that name macros.
constexpr unsigned most_macros = 4;

// What may be another type of the same kind: an index is as often of 64 bits.
constexpr std::array<std::string_view, 2> fixed_types{"int", "int32_t"};

// Members that give the tensor, or one of its elements, again.
constexpr std::array<std::string_view, 14> passing{
    "contiguous", "expect_contiguous", "value",   "detach",  "clone",     "view",   "reshape",
    "squeeze",    "unsqueeze",         "flatten", "view_as", "transpose", "narrow", "select"};

// Members that tell nothing of the dtype.
constexpr std::array<std::string_view, 24> neutral{
    "size",       "sizes",     "dim",         "numel",         "is_cuda",        "is_cpu",
    "device",     "options",   "defined",     "has_value",     "stride",         "strides",
    "get_device", "sym_sizes", "sym_size",    "is_contiguous", "sym_numel",      "ndimension",
    "is_xpu",     "is_hip",    "device_type", "zero_",         "storage_offset", "is_sparse"};

constexpr std::array<std::string_view, 9> neutral_calls{
    "device_of", "empty_like", "zeros_like", "ones_like",        "full_like",
    "defined",   "is_cuda",    "CUDAGuard",  "OptionalCUDAGuard"};

// Checks by these words ask for something else, unless another part of the name speaks of types.
constexpr std::array<std::string_view, 8> other_checks{"CUDA",  "DEVICE", "GPU",   "CONTIG",
                                                       "SHAPE", "DIM",    "NUMEL", "DEFINED"};
constexpr std::array<std::string_view, 8> type_words{"INPUT", "TYPE", "INT",  "FLOAT",
                                                     "HALF",  "SAME", "LONG", "TENSOR"};

// What they are given is what macros ask.
constexpr std::array<std::string_view, 6> asserts{
    "TORCH_CHECK", "TORCH_INTERNAL_ASSERT", "AT_ASSERTM", "AT_ASSERT", "AT_CHECK", "assert"};

bool has_part(std::string_view word, const auto& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [word](std::string_view part) { return word.find(part) != word.npos; });
}

bool speaks_of_types(std::string_view word) {
  return word.find("type") != word.npos || word.find("Type") != word.npos ||
         word.find("TYPE") != word.npos || word == "kInt" || word == "kLong" || word == "to";
}

bool is_pointer_member(std::string_view word) {
  return word == "data_ptr" || word == "const_data_ptr" || word == "mutable_data_ptr";
}

}  // namespace

std::vector<UntypedParameter> UntypedReader::read(std::uint32_t number) {
  const Scope& scope = source_.shape.scopes[number];
  parameters_ = parameters_of(scope);
  names_.clear();
  if (parameters_.empty()) return {};
  for (std::size_t at = 0; at < parameters_.size(); ++at) {
    names_[parameters_[at].name->hash] = at;
  }
  std::vector<std::uint32_t> open;
  for (std::uint32_t at = scope.body.begin; at < scope.body.end; ++at) {
    const Token& token = tokens_[at];
    if (token.is('(') || token.is('{') || token.is('[')) open.push_back(at);
    if ((token.is(')') || token.is('}') || token.is(']')) && !open.empty()) open.pop_back();
    if (!token.is_identifier() || is_qualified(tokens_, at)) continue;
    const auto found = names_.find(token.hash);
    if (found != names_.end()) note(at, open, found->second);
  }
  return std::move(parameters_);
}

std::vector<UntypedParameter> UntypedReader::parameters_of(const Scope& scope) const {
  std::vector<UntypedParameter> parameters;
  const TokenRange range = scope.parameters;
  if (range.empty()) return parameters;
  for (const NamedParameter& one : named_parameters(
           Tokens(tokens_).subspan(range.begin, range.end - range.begin), most_parameters)) {
    if (!one.tensor || one.name->is("Tensor")) continue;
    UntypedParameter& made = parameters.emplace_back();
    made.name = one.name;
    made.position = one.position;
  }
  return parameters;
}

void UntypedReader::note(std::uint32_t at, const std::vector<std::uint32_t>& open,
                         std::size_t number) {
  UntypedParameter& parameter = parameters_[number];
  std::uint32_t next = at + 1;
  while (is(next, ".") || is(next, "->")) {
    const std::uint32_t member = next + 1;
    if (member + 1 >= tokens_.size() || !tokens_[member].is_identifier()) break;
    const std::string_view word = tokens_[member].text;
    const std::uint32_t close = source_.shape.partners[member + 1];
    const bool is_call = is(member + 1, "(") && close != no_token && close > member;
    if (is_one_of(word, neutral)) return;
    // `x.type().is_cuda()`
    if (word == "type" && is_call && is(close + 1, ".") && is(close + 2, "is_cuda")) return;
    if (!is_call || (!is_pointer_member(word) && !is_one_of(word, passing))) {
      // Also a typed pointer: it asks for the dtype itself.
      parameter.asked = true;
      return;
    }
    next = close + 1;
    if (is_pointer_member(word)) {
      note_pointer(at, next, parameter);
      return;
    }
  }
  note_use(at, next, open, number);
}

std::string_view UntypedReader::cast_before(std::uint32_t at) const {
  if (at < 4) return {};
  const bool named = is(at - 1, "(") && is(at - 2, ">");
  if (!named && !is(at - 1, ")")) return {};
  std::uint32_t star = named ? at - 3 : at - 2;
  while (star > 0 && is(star, "const")) --star;
  if (!is(star, "*")) return {};
  std::string_view type;
  for (std::uint32_t one = star; one-- > 0 && star - one < most_type_tokens;) {
    if (is(one, "<") || is(one, "(")) {
      const bool is_cast =
          !named || (one > 0 && (is(one - 1, "static_cast") || is(one - 1, "reinterpret_cast")));
      return is_cast ? type : std::string_view();
    }
    if (is(one, "const") || is(one, "::") || is(one, "std")) continue;
    if (!tokens_[one].is_identifier() || !type.empty()) return "other";
    type = tokens_[one].text;
  }
  return {};
}

void UntypedReader::note_pointer(std::uint32_t at, std::uint32_t end,
                                 UntypedParameter& parameter) const {
  const std::string_view cast = cast_before(at);
  if (cast.empty()) return;
  if (!is_one_of(cast, fixed_types) || (!parameter.cast.empty() && parameter.cast != cast)) {
    // It is chosen by something.
    parameter.unknown = true;
    return;
  }
  if (parameter.cast.empty()) parameter.pointer = Tokens(tokens_).subspan(at, end - at);
  parameter.cast = cast;
}

void UntypedReader::note_use(std::uint32_t at, std::uint32_t end,
                             const std::vector<std::uint32_t>& open, std::size_t number) {
  UntypedParameter& parameter = parameters_[number];
  if (is(end, "=") && end == at + 1) {
    // `x = x.contiguous();` is looked at on its other side.
    const auto found = end + 1 < tokens_.size() ? names_.find(tokens_[end + 1].hash) : names_.end();
    if (found == names_.end() || found->second != number) parameter.unknown = true;
    return;
  }
  if (at > 1 && is(at - 1, "=") && is(end, ";") && tokens_[at - 2].is_identifier()) {
    names_.try_emplace(tokens_[at - 2].hash, number);
    return;
  }
  if (at > 0 && is(at - 1, "return") && is(end, ";")) return;
  const std::uint32_t bracket = open.empty() ? no_token : open.back();
  if (bracket != no_token && is(bracket, "[") && (is(end, ",") || is(end, "]")) &&
      (is(at - 1, "&") || is(at - 1, ",") || is(at - 1, "["))) {
    // The captures of a lambda.
    return;
  }
  const bool is_argument = bracket != no_token && bracket > 0 && is(bracket, "(") &&
                           tokens_[bracket - 1].is_identifier();
  if (!is_argument || !asks_for_no_dtype(tokens_[bracket - 1].text, most_macros)) {
    parameter.unknown = true;
  }
}

bool UntypedReader::asks_for_no_dtype(std::string_view name, unsigned depth) const {
  if (is_one_of(name, neutral_calls) || followed_.contains(name)) return true;
  const auto macro = macros_.find(name);
  if (macro == macros_.end()) return has_part(name, other_checks) && !has_part(name, type_words);
  if (depth == 0) return false;
  const Tokens body = source_.directive(macro->second->body);
  for (std::size_t at = 0; at < body.size(); ++at) {
    if (!body[at].is_identifier()) continue;
    // `x.type().is_cuda()`
    if (body[at].is("type") && at + 4 < body.size() && body[at + 4].is("is_cuda")) continue;
    if (speaks_of_types(body[at].text)) return false;
    const bool is_call = at + 1 < body.size() && body[at + 1].is('(');
    const bool says_nothing =
        is_one_of(body[at].text, neutral) || is_one_of(body[at].text, asserts);
    if (!is_call || says_nothing || body[at].is(name)) continue;
    if (!asks_for_no_dtype(body[at].text, depth - 1)) return false;
  }
  return true;
}

namespace {}  // namespace

bool casts_untyped_pointers(std::string_view bytes) {
  if (bytes.find("data_ptr()") == bytes.npos) return false;
  for (const std::string_view cast : {"int*>", "int *>", "int32_t*>", "int32_t *>", "int*)",
                                      "int *)", "int32_t*)", "int32_t *)"}) {
    if (bytes.find(cast) != bytes.npos) return true;
  }
  return false;
}

void read_untyped_pointers(const PlainSource& source, std::vector<UntypedPointer>& pointers) {
  UntypedReader reader(source);
  std::uint32_t end = 0;
  const std::vector<Scope>& scopes = source.shape.scopes;
  for (std::uint32_t number = 0; number < scopes.size(); ++number) {
    const Scope& scope = scopes[number];
    if (scope.kind != ScopeKind::function || scope.body.begin < end) continue;
    end = std::max(end, scope.body.end);
    if (!is_host(side_of_function(source, number))) continue;
    for (const UntypedParameter& one : reader.read(number)) {
      if (one.cast.empty()) continue;
      UntypedPointer& pointer = pointers.emplace_back();
      pointer.function = base_of(function_name(source, number));
      pointer.name = one.name->text;
      pointer.holders.push_back({pointer.function, one.position});
      pointer.expression = text_of(one.pointer);
      pointer.cast = one.cast;
      if (one.asked) pointer.checked = true;
      if (!one.asked && !one.unknown) pointer.checked = false;
      pointer.when = source.unit.conditions[one.pointer.front().condition];
      pointer.place = place_of(one.pointer, source.unit.file);
    }
  }
}

}  // namespace opseal
