#include "analyzers/sources/result_dtypes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "analyzers/sources/code_functions.h"
#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/scalar_types.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

constexpr std::string_view unknown = "?";
// Names of names, and calls of calls.
constexpr std::size_t max_depth = 6;
// No operator has so many results.
constexpr std::size_t most_results = 16;
// Tokens of a function that are looked at.
constexpr std::size_t most_tokens = 100'000;
// Of one value.
constexpr std::size_t longest_value = 512;

using Ranks = std::vector<std::optional<std::uint32_t>>;

class ResultReader {
 public:
  ResultReader(Tokens body, const std::vector<std::string_view>& parameters)
      : body_(body.first(std::min(body.size(), most_tokens))),
        parameters_(parameters.begin(), parameters.end()) {}

  // What each `return` hands back, as long as all say the same.
  struct Told {
    std::vector<std::string> dtypes;
    Ranks ranks;
  };

  Told run() {
    Told told;
    bool first = true;
    bool dtypes = true;
    bool ranks = true;
    read_names();
    for (std::size_t at = 0; at < body_.size(); ++at) {
      // What a lambda hands back is its own.
      if (body_[at].is('[') && is_lambda(at)) {
        at = end_of_lambda(at);
        continue;
      }
      if (!body_[at].is("return")) continue;
      const Tokens value = up_to_semicolon(at + 1);
      std::vector<std::string> of_dtypes;
      Ranks of_ranks;
      for (const Tokens part : parts_of(value)) {
        of_dtypes.push_back(dtype_of(part, 0));
        of_ranks.push_back(rank_of(part, 0));
      }
      dtypes = dtypes && (first || of_dtypes == told.dtypes);
      ranks = ranks && (first || of_ranks == told.ranks);
      told = {std::move(of_dtypes), std::move(of_ranks)};
      first = false;
      at += value.size();
    }
    if (!dtypes) told.dtypes.clear();
    if (!ranks) told.ranks.clear();
    return told;
  }

 private:
  // None where it is longer than any that makes a tensor.
  Tokens up_to_semicolon(std::size_t begin) const {
    const Tokens near = body_.first(std::min(body_.size(), begin + longest_value));
    std::size_t end = begin;
    while (end < near.size() && !near[end].is(';')) {
      if (near[end].is('(') || near[end].is('{') || near[end].is('[')) {
        const std::size_t close = closing_bracket(near, end);
        if (close >= near.size()) return {};
        end = close;
      }
      ++end;
    }
    return near.subspan(begin, end - begin);
  }

  // `[&] {`, `[&](…) {`, not `x[…]`.
  bool is_lambda(std::size_t at) const {
    if (at > 0 && (body_[at - 1].is_identifier() || body_[at - 1].is(']') || body_[at - 1].is(')')))
      return body_[at - 1].is("return");
    return true;
  }

  std::size_t end_of_lambda(std::size_t at) const {
    const std::size_t capture = closing_bracket(body_, at);
    std::size_t next = capture + 1;
    if (next < body_.size() && body_[next].is('(')) next = closing_bracket(body_, next) + 1;
    while (next < body_.size() && !body_[next].is('{') && !body_[next].is(';') &&
           !body_[next].is(')') && !body_[next].is(',')) {
      ++next;
    }
    if (next >= body_.size() || !body_[next].is('{')) return std::min(capture, body_.size() - 1);
    return std::min(closing_bracket(body_, next), body_.size() - 1);
  }

  // `auto y = …;`, and the parameters by whose dtype something is chosen.
  void read_names() {
    for (std::size_t at = 0; at + 2 < body_.size(); ++at) {
      if (!body_[at].is_identifier()) continue;
      note_reshaped(at);
      const bool member = at > 0 && (body_[at - 1].is('.') || body_[at - 1].is("->"));
      if (!member && body_[at + 1].is('=')) {
        Given& given = given_[body_[at].text];
        ++given.times;
        given.value = up_to_semicolon(at + 2);
      }
      if (body_[at].text.find("DISPATCH") != std::string_view::npos && body_[at + 1].is('(') &&
          at + 5 < body_.size() && body_[at + 3].is('.') && asks_dtype(body_[at + 4])) {
        chosen_.insert(body_[at + 2].text);
      }
      // `x.dtype() == torch::kHalf`: others may never come here.
      if (body_[at + 1].is('.') && asks_dtype(body_[at + 2]) && at + 5 < body_.size() &&
          (body_[at + 5].is("==") || body_[at + 5].is("!="))) {
        checked_.insert(body_[at].text);
      }
    }
  }

  // `y.resize_({m, n})`, and what an operator writes to, `at::mm_out(y, a, b)`.
  void note_reshaped(std::size_t at) {
    if (body_[at + 1].is('.') && body_[at + 2].is_identifier() &&
        is_one_of(body_[at + 2].text,
                  {"resize_", "resize_as_", "unsqueeze_", "squeeze_", "set_", "as_strided_",
                   "unsafeGetTensorImpl", "set_data", "sparse_resize_"})) {
      reshaped_.insert(body_[at].text);
    }
    // `at::native::resize_output(y, …)`
    const std::string_view name = body_[at].text;
    if (!body_[at + 1].is('(') || !body_[at + 2].is_identifier()) return;
    if (name.ends_with("_out") || name.ends_with("_outf")) written_.insert(body_[at + 2].text);
    // The last argument of those that end so.
    if (name.ends_with("_outf")) {
      const std::size_t close = closing_bracket(body_, at + 1);
      if (close < body_.size() && body_[close - 1].is_identifier()) {
        written_.insert(body_[close - 1].text);
      }
    }
    if (name.starts_with("resize_")) reshaped_.insert(body_[at + 2].text);
  }

  // A mere place that an operator gives the shape it makes: `at::empty({0, 0})`.
  static bool is_place(const std::vector<Tokens>& sizes) {
    return std::all_of(sizes.begin(), sizes.end(), [](Tokens size) {
      return size.size() == 1 && !size.front().is_identifier();
    });
  }

  static bool asks_dtype(const Token& token) {
    return token.is("scalar_type") || token.is("dtype") || token.is("type");
  }

  // The values of one `return`; none where there are too many.
  static std::vector<Tokens> parts_of(Tokens value) {
    while (value.size() > 2 && value.front().is('(') &&
           closing_bracket(value, 0) + 1 == value.size()) {
      value = value.subspan(1, value.size() - 2);
    }
    if (value.empty()) return {};
    // `{y, z}`, `std::make_tuple(y, z)`, `std::tuple<Tensor, Tensor>(y, z)`.
    std::size_t open = 0;
    while (open < value.size() && !value[open].is('{') && !value[open].is('(')) ++open;
    const bool list =
        open < value.size() && closing_bracket(value, open) + 1 == value.size() &&
        (open == 0 || std::any_of(value.begin(), value.begin() + static_cast<std::ptrdiff_t>(open),
                                  [](const Token& token) {
                                    return token.is("make_tuple") || token.is("tuple") ||
                                           token.is("tie");
                                  }));
    if (!list) return {value};
    std::vector<Tokens> parts = split_arguments(value.subspan(open + 1, value.size() - open - 2));
    if (parts.size() > most_results) parts.clear();
    return parts;
  }

  // The bracket of `a::f(…)` and `x.f(…)`, which are a call as a whole; 0 where it is none.
  static std::size_t opening_of_call(Tokens value) {
    std::size_t open = 0;
    while (open < value.size() &&
           (value[open].is_identifier() || value[open].is("::") || value[open].is('.'))) {
      ++open;
    }
    const bool is_call = open < value.size() && value[open].is('(') &&
                         closing_bracket(value, open) + 1 == value.size();
    return is_call ? open : 0;
  }

  // Dimensions of the tensor that an expression makes by a shape that is written out.
  std::optional<std::uint32_t> rank_of(Tokens value, std::size_t depth,
                                       bool written = false) const {
    if (value.empty() || depth > max_depth) return {};
    if (value.size() == 1) {
      const auto given = given_.find(value.front().text);
      if (given == given_.end() || given->second.times != 1) return {};
      if (parameters_.contains(value.front().text)) return {};
      if (reshaped_.contains(value.front().text)) return {};
      return rank_of(given->second.value, depth + 1,
                     written || written_.contains(value.front().text));
    }
    const std::size_t open = opening_of_call(value);
    if (open == 0) return {};
    const std::string_view name = value[open - 1].text;
    const bool method = open == 3 && value[1].is('.');
    if (method && is_one_of(name, {"clone", "contiguous", "to", "t", "transpose"})) {
      return rank_of(value.first(1), depth + 1);
    }
    const bool makes =
        method ? is_one_of(name, {"new_empty", "new_zeros", "new_ones", "view", "reshape"})
               : is_one_of(name, {"empty", "zeros", "ones", "full"});
    if (!makes) return {};
    const std::vector<Tokens> arguments =
        split_arguments(value.subspan(open + 1, value.size() - open - 2));
    if (arguments.empty() || arguments[0].size() < 3 || !arguments[0].front().is('{') ||
        closing_bracket(arguments[0], 0) + 1 != arguments[0].size()) {
      return {};
    }
    const std::vector<Tokens> sizes =
        split_arguments(arguments[0].subspan(1, arguments[0].size() - 2));
    // `{shape}` may be a copy of a vector, and `{0}` what another operator writes to.
    if (sizes.size() == 1 && sizes[0].size() == 1 &&
        (sizes[0][0].is_identifier() || sizes[0][0].is("0"))) {
      return {};
    }
    if (written && is_place(sizes)) return {};
    return static_cast<std::uint32_t>(sizes.size());
  }

  std::string of_name(std::string_view name, std::size_t depth) {
    const auto given = given_.find(name);
    if (parameters_.contains(name)) {
      const bool kept = given == given_.end();
      const bool several = chosen_.contains(name) && !checked_.contains(name);
      return kept && several ? "$" + std::string(name) : std::string(unknown);
    }
    if (given == given_.end() || given->second.times != 1) return std::string(unknown);
    return dtype_of(given->second.value, depth + 1);
  }

  // The dtype of the tensor that an expression makes.
  std::string dtype_of(Tokens value, std::size_t depth) {
    if (value.empty() || depth > max_depth) return std::string(unknown);
    if (value.size() == 1) {
      return value.front().is_identifier() ? of_name(value.front().text, depth)
                                           : std::string(unknown);
    }
    const std::size_t open = opening_of_call(value);
    if (open == 0) return std::string(unknown);
    const std::string_view name = value[open - 1].text;
    const std::vector<Tokens> arguments =
        split_arguments(value.subspan(open + 1, value.size() - open - 2));
    constexpr std::array<std::string_view, 4> makers{"empty", "zeros", "ones", "full"};
    constexpr std::array<std::string_view, 4> likes{"empty_like", "zeros_like", "ones_like",
                                                    "full_like"};
    constexpr std::array<std::string_view, 3> news{"new_empty", "new_zeros", "new_ones"};
    const bool method = open == 3 && value[1].is('.');
    if (!method && is_one_of(name, makers)) {
      return arguments.size() < 2 ? std::string(unknown) : of_options(arguments.back(), depth + 1);
    }
    if (!method && is_one_of(name, likes)) {
      if (arguments.size() == 1) return dtype_of(arguments[0], depth + 1);
      return arguments.empty() ? std::string(unknown) : of_options(arguments.back(), depth + 1);
    }
    if (method && is_one_of(name, news)) {
      return arguments.size() == 1 ? of_name(value[0].text, depth)
                                   : of_options(arguments.back(), depth + 1);
    }
    if (method && (name == "clone" || name == "contiguous")) return of_name(value[0].text, depth);
    return std::string(unknown);
  }

  // The dtype that `TensorOptions` say.
  std::string of_options(Tokens options, std::size_t depth) {
    if (options.empty() || depth > max_depth) return std::string(unknown);
    if (const std::string_view plain = scalar_type_of(options); !plain.empty()) {
      return std::string(plain);
    }
    if (options.size() == 1 && options.front().is_identifier()) {
      const auto given = given_.find(options.front().text);
      if (given == given_.end() || given->second.times != 1) return std::string(unknown);
      return of_options(given->second.value, depth + 1);
    }
    std::size_t said = 0;
    std::string dtype(unknown);
    for (std::size_t at = 0; at + 1 < options.size(); ++at) {
      if (!options[at].is("dtype") || !options[at + 1].is('(')) continue;
      const std::size_t close = closing_bracket(options, at + 1);
      if (close >= options.size()) return std::string(unknown);
      if (close == at + 2) continue;
      ++said;
      dtype = of_dtype(options.subspan(at + 2, close - at - 2), depth);
      at = close;
    }
    if (said > 0) return said == 1 ? dtype : std::string(unknown);
    // `x.options()`, also with a device behind it.
    const bool own = options.size() >= 5 && options[0].is_identifier() && options[1].is('.') &&
                     options[2].is("options") && options[3].is('(') && options[4].is(')');
    return own ? of_name(options[0].text, depth) : std::string(unknown);
  }

  // `torch::kHalf`, `x.dtype()`, `x.scalar_type()`.
  std::string of_dtype(Tokens dtype, std::size_t depth) {
    if (const std::string_view plain = scalar_type_of(dtype); !plain.empty()) {
      return std::string(plain);
    }
    const bool asks = dtype.size() == 5 && dtype[0].is_identifier() && dtype[1].is('.') &&
                      (dtype[2].is("dtype") || dtype[2].is("scalar_type"));
    return asks ? of_name(dtype[0].text, depth) : std::string(unknown);
  }

  struct Given {
    Tokens value;
    std::size_t times = 0;
  };

  Tokens body_;
  std::set<std::string_view> parameters_;
  std::map<std::string_view, Given> given_;
  std::set<std::string_view> chosen_;
  // Those that get another shape where they stand, and those that an operator writes to.
  std::set<std::string_view> reshaped_;
  std::set<std::string_view> written_;
  std::set<std::string_view> checked_;
};

using OperatorNames = std::set<std::pair<std::string, std::string>>;

// Operators with a backward of their own: what dtype their gradient has.
void add_forwards(const std::vector<TorchRecord>& records, OperatorNames& names) {
  OperatorNames choosing;
  for (const TorchRecord& record : records) {
    if (record.use != TorchUse::implement || record.python || record.dispatches.empty()) continue;
    choosing.emplace(record.space.text, record.name.text);
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> words{{
      {"_backward", "_forward"},
      {"_backward", ""},
      {"_bwd", "_fwd"},
      {"_bwd", ""},
      {"_grad", "_forward"},
      {"_grad", ""},
  }};
  for (const auto& [space, name] : choosing) {
    for (const auto& [back, forth] : words) {
      const std::size_t at = name.rfind(back);
      if (at == std::string::npos) continue;
      std::string other = name;
      other.replace(at, back.size(), forth);
      if (choosing.contains({space, other})) names.emplace(space, std::move(other));
    }
  }
}

bool tells(const std::vector<std::string>& results) {
  return std::any_of(results.begin(), results.end(),
                     [](const std::string& one) { return one != unknown; });
}

}  // namespace

std::vector<std::string> result_dtypes_of(Tokens body,
                                          const std::vector<std::string_view>& parameters) {
  std::vector<std::string> dtypes = ResultReader(body, parameters).run().dtypes;
  return tells(dtypes) ? dtypes : std::vector<std::string>();
}

void find_result_dtypes(const std::vector<std::size_t>& numbers, const SourceTexts& texts,
                        std::vector<TorchRecord>& records) {
  OperatorNames told;
  for (const TorchRecord& record : records) {
    const SourceFunction& function = record.function;
    const bool counted = std::any_of(function.ranks.begin(), function.ranks.end(),
                                     [](const auto& rank) { return rank.has_value(); });
    if (record.use == TorchUse::fake && (tells(function.results) || counted)) {
      told.emplace(record.space.text, record.name.text);
    }
  }
  add_forwards(records, told);
  if (told.empty()) return;
  // By name of their function; shorter names can't be looked for.
  std::map<std::string, std::vector<TorchRecord*>, std::less<>> kernels;
  for (TorchRecord& record : records) {
    if (record.use != TorchUse::implement || record.python) continue;
    if (!told.contains({record.space.text, record.name.text})) continue;
    const std::string name(base_of(record.function.name));
    if (name.size() >= 3) kernels[name].push_back(&record);
  }
  if (kernels.empty()) return;
  std::vector<std::string> names;
  for (const auto& [name, list] : kernels) names.push_back(name);
  const WordQuery any_name(names);
  std::map<std::string, std::vector<ResultReader::Told>, std::less<>> found;
  std::string bytes;
  for (const std::size_t number : numbers) {
    if (!texts.read_holding(any_name, number, bytes)) continue;
    CodeFunctions code;
    code.add(static_cast<std::uint32_t>(number), {}, bytes);
    for (const auto& function : code.functions()) {
      const auto wanted = kernels.find(base_of(function->name));
      if (wanted == kernels.end()) continue;
      const Tokens tokens = code.tokens_of(*function);
      const Tokens body =
          tokens.subspan(function->body.begin, function->body.end - function->body.begin);
      found[wanted->first].push_back(ResultReader(body, function->parameters).run());
    }
  }
  for (const auto& [name, list] : kernels) {
    const auto results = found.find(name);
    // Of several functions of one name, which is meant isn't known.
    if (results == found.end() || results->second.size() != 1) continue;
    for (TorchRecord* record : list) {
      const ResultReader::Told& told_by = results->second.front();
      if (tells(told_by.dtypes)) record->function.results = told_by.dtypes;
      record->function.ranks = told_by.ranks;
    }
  }
}

}  // namespace opseal
