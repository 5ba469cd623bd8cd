#include "analyzers/sources/written_parameters.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

// Calls within calls that are followed.
constexpr unsigned most_depth = 4;
constexpr std::uint64_t most_steps = 20'000'000;
// Tokens between a name and what is done with it: `x.view({-1}).select(0, 1).copy_(y)`.
constexpr std::uint32_t longest_chain = 64;

// Methods that end in `_` and leave the memory as it is.
bool writes_memory(std::string_view method) {
  constexpr std::array<std::string_view, 14> others = {
      "requires_grad_", "share_memory_", "rename_",    "detach_",  "retain_grad_",
      "squeeze_",       "unsqueeze_",    "transpose_", "t_",       "as_strided_",
      "resize_",        "resize_as_",    "set_",       "swapdims_"};
  return method.size() > 2 && method.ends_with('_') && !method.ends_with("__") &&
         !is_one_of(method, others);
}

// What hands back the same memory.
bool is_view(std::string_view method) {
  constexpr std::array<std::string_view, 17> words = {"view",
                                                      "select",
                                                      "slice",
                                                      "narrow",
                                                      "squeeze",
                                                      "unsqueeze",
                                                      "permute",
                                                      "t",
                                                      "detach",
                                                      "data",
                                                      "transpose",
                                                      "data_ptr",
                                                      "mutable_data_ptr",
                                                      "accessor",
                                                      "packed_accessor",
                                                      "packed_accessor32",
                                                      "packed_accessor64"};
  return is_one_of(method, words);
}

bool assigns(const Token& token) {
  constexpr std::array<std::string_view, 9> words = {
      "=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "<<="};
  return token.kind == TokenKind::punctuator && is_one_of(token.text, words);
}

bool begins_statement(const Token& before) {
  return before.is(';') || before.is('{') || before.is('}') || before.is(')') || before.is("else");
}

}  // namespace

// One reading of one body.
class WriteScan {
  // What a name stands for: the memory of a parameter, as a tensor or in another form.
  struct Held {
    std::size_t parameter = 0;
    bool tensor = false;
  };

 public:
  WriteScan(WrittenParameters& all, const CodeFunction& function)
      : all_(all),
        function_(function),
        tokens_(all.code_.tokens_of(function)),
        partners_(all.code_.files()[function.file]->partners),
        written_(function.parameters.size()) {
    const std::vector<bool> tensors = read_types();
    for (std::size_t at = 0; at < function.parameters.size(); ++at) {
      if (!function.parameters[at].empty()) holds_[function.parameters[at]] = {at, tensors[at]};
    }
  }

  WrittenParameters::Written run() {
    for (std::uint32_t at = function_.body.begin; at < function_.body.end; ++at) {
      const Token& token = tokens_[at];
      if (token.is("<<<") || (token.is("<<") && tokens_[at + 1].is('<'))) look_at_launch(at);
      if (!token.is_identifier()) continue;
      const std::uint32_t open = behind_template(at + 1);
      if (open < function_.body.end && tokens_[open].is('(')) look_at_call(at, open);
      if (!is_plain(at)) continue;
      keep_alias(at);
      const auto held = holds_.find(token.text);
      if (held != holds_.end()) look_at_name(at, held->second);
    }
    return std::move(written_);
  }

 private:
  // `x += y` writes where `x` is a tensor, and goes on to other memory where it is a pointer.
  std::vector<bool> read_types() const {
    std::vector<bool> tensors(written_.size(), false);
    const std::uint32_t open = function_.name_token + 1;
    if (open >= tokens_.size() || !tokens_[open].is('(')) return tensors;
    const std::uint32_t close = partners_[open];
    if (close == no_token || close <= open) return tensors;
    const std::vector<Tokens> parts = split_typed(tokens_.subspan(open + 1, close - open - 1));
    for (std::size_t at = 0; at < parts.size() && at < tensors.size(); ++at) {
      tensors[at] = std::any_of(parts[at].begin(), parts[at].end(),
                                [](const Token& token) { return token.is("Tensor"); });
    }
    return tensors;
  }

  // Behind the `<T, 4>` of a call; `at` where there is none.
  std::uint32_t behind_template(std::uint32_t at) const {
    return behind_angles(tokens_.first(function_.body.end), at, longest_chain);
  }

  // No member and no part of a longer name.
  bool is_plain(std::uint32_t at) const {
    return !is_qualified(tokens_, at) && !tokens_[at + 1].is("::");
  }

  void write(std::size_t parameter, std::uint32_t at) {
    if (!written_[parameter]) written_[parameter] = at;
  }

  // `auto y = x.view({-1});`, `float* y = x.data_ptr<float>();`, `auto y = x.accessor<float, 2>()`.
  void keep_alias(std::uint32_t at) {
    const Token& before = tokens_[at - 1];
    const bool declared = before.is_identifier()
                              ? !before.is("return") && !before.is("else")
                              : before.is('*') || before.is('&') || before.is('>');
    if (!tokens_[at + 1].is('=')) {
      // Another thing of the name: a local one, or the parameter of a lambda.
      const bool is_type =
          before.is_identifier() ? !before.is("const") : tokens_[at - 2].is("Tensor");
      const Token& next = tokens_[at + 1];
      const bool ends = next.is(';') || next.is('[') || next.is(')') || next.is(',');
      if (declared && is_type && ends) holds_.erase(tokens_[at].text);
      return;
    }
    if (!declared && !begins_statement(before)) return;
    if (before.is('*') && begins_statement(tokens_[at - 2])) return;
    const std::uint32_t end = end_of(at + 2);
    const std::optional<Held> same = end > at + 2 ? memory_of(at + 2, end) : std::optional<Held>();
    if (!declared && !same) {
      holds_.erase(tokens_[at].text);
    } else if (declared) {
      holds_.erase(tokens_[at].text);
      if (same) holds_[tokens_[at].text] = *same;
    }
  }

  // The `;` or `,` that ends the expression at `at`; `at` where it is a long one.
  std::uint32_t end_of(std::uint32_t at) const {
    const std::uint32_t first = at;
    for (; at < function_.body.end; ++at) {
      if (tokens_[at].is(';') || tokens_[at].is(',') || tokens_[at].is(')')) return at;
      if (at - first > longest_chain) return first;
      if (tokens_[at].is('<')) at = std::max(at, behind_template(at) - 1);
      const bool opens = tokens_[at].is('(') || tokens_[at].is('[') || tokens_[at].is('{');
      if (opens && partners_[at] != no_token && partners_[at] > at) at = partners_[at];
    }
    return first;
  }

  // The parameter whose memory an expression is, offsets and casts included: `x`,
  // `reinterpret_cast<T*>(x.data_ptr())`, `(float*)x + n`.
  std::optional<Held> memory_of(std::uint32_t at, std::uint32_t end) {
    for (int casts = 0; casts < 4 && at < end; ++casts) {
      if (tokens_[at].is('(') && partners_[at] != no_token && partners_[at] + 1 < end &&
          tokens_[partners_[at] - 1].is('*')) {
        at = partners_[at] + 1;
      } else if (tokens_[at].is("reinterpret_cast") || tokens_[at].is("static_cast")) {
        std::uint32_t open = at + 1;
        while (open < end && !tokens_[open].is('(')) ++open;
        if (open >= end || partners_[open] == no_token || partners_[open] >= end) return {};
        // What stands behind the cast may be anything.
        if (partners_[open] + 1 != end && !tokens_[partners_[open] + 1].is('+')) return {};
        end = partners_[open];
        at = open + 1;
      } else {
        break;
      }
    }
    if (at >= end || !tokens_[at].is_identifier() || !is_plain(at)) return {};
    const auto held = holds_.find(tokens_[at].text);
    if (held == holds_.end()) return {};
    const std::uint32_t behind = behind_views(at + 1, end);
    if (behind != end && !tokens_[behind].is('+')) return {};
    const bool pointer =
        std::any_of(tokens_.begin() + at, tokens_.begin() + behind, [](const Token& token) {
          return token.text.ends_with("data_ptr") || token.text.find("accessor") != token.text.npos;
        });
    return Held{held->second.parameter, held->second.tensor && !pointer};
  }

  // Behind `.view(…)`, `[…]` and the like that keep the memory.
  std::uint32_t behind_views(std::uint32_t at, std::uint32_t end) const {
    const std::uint32_t first = at;
    while (at + 2 < end && at - first < longest_chain) {
      if (tokens_[at].is('.') && is_view(tokens_[at + 1].text)) {
        std::uint32_t open = at + 2;
        if (open < end && tokens_[open].is('<')) {
          while (open < end && open - at < longest_chain && !tokens_[open].is('(')) ++open;
        }
        if (open >= end || !tokens_[open].is('(') || partners_[open] == no_token) return at;
        at = partners_[open] + 1;
      } else {
        return at;
      }
    }
    return at;
  }

  void look_at_name(std::uint32_t name, const Held& held) {
    const std::uint32_t end = function_.body.end;
    const std::uint32_t limit =
        std::min<std::uint32_t>(end, name + 1 + static_cast<std::uint32_t>(longest_chain) * 4);
    std::uint32_t at = name + 1;
    bool part = false;
    while (at + 1 < limit) {
      if (tokens_[at].is('[') && partners_[at] != no_token && partners_[at] > at) {
        at = partners_[at] + 1;
        part = true;
        continue;
      }
      const std::uint32_t behind = behind_views(at, limit);
      if (behind == at) break;
      at = behind;
    }
    if (at + 2 >= end) return;
    if (tokens_[at].is('.') && tokens_[at + 2].is('(') && held.tensor &&
        writes_memory(tokens_[at + 1].text)) {
      return write(held.parameter, name);
    }
    const Token& before = tokens_[name - 1];
    if (part && assigns(tokens_[at]) && begins_statement(before))
      return write(held.parameter, name);
    if (!part && held.tensor && assigns(tokens_[at]) && !tokens_[at].is('=') &&
        begins_statement(before)) {
      return write(held.parameter, name);
    }
    // `*x = y;`
    if (!part && at == name + 1 && tokens_[at].is('=') && before.is('*') &&
        begins_statement(tokens_[name - 2])) {
      write(held.parameter, name);
    }
  }

  // `kernel<T><<<grid, block>>>(x)`
  void look_at_launch(std::uint32_t at) {
    const auto far = static_cast<std::uint32_t>(longest_chain) * 4;
    std::uint32_t name = at - 1;
    if (tokens_[name].is('>')) {
      const std::uint32_t first = at > far ? at - far : 0;
      std::uint32_t depth = 0;
      for (; name > first; --name) {
        if (tokens_[name].is('>')) ++depth;
        if (tokens_[name].is('<') && --depth == 0) break;
      }
      if (name <= first) return;
      --name;
    }
    if (!tokens_[name].is_identifier()) return;
    const std::uint32_t end = std::min(function_.body.end, at + far);
    for (at += 1; at + 3 < end; ++at) {
      const bool opens = tokens_[at].is('(') || tokens_[at].is('{') || tokens_[at].is('[');
      if (opens && partners_[at] != no_token && partners_[at] > at) {
        at = partners_[at];
      } else if (tokens_[at].is('>') && tokens_[at + 1].is('>') && tokens_[at + 2].is('>')) {
        if (tokens_[at + 3].is('(')) look_at_call(name, at + 3);
        return;
      }
    }
  }

  void look_at_call(std::uint32_t name, std::uint32_t open) {
    const std::uint32_t close = partners_[open];
    if (close == no_token || close <= open + 1 || close > function_.body.end) return;
    const std::string_view called = tokens_[name].text;
    // What is copied to in batches are the addresses that the first argument holds.
    const bool batch = called.find("emcpyBatch") != called.npos;
    const bool first_only =
        called.find("tomicAdd") != called.npos || called.find("tomicMax") != called.npos ||
        (called.find("emcpy") != called.npos && !batch) || called.find("emset") != called.npos ||
        (called.ends_with("_out") && is_of_torch(name));
    const CodeFunction* callee =
        first_only || tokens_[name - 1].is('.') || tokens_[name - 1].is("->")
            ? nullptr
            : all_.code_.find(called, function_.file);
    if (!first_only && (callee == nullptr || callee == &function_)) return;
    std::uint32_t begin = open + 1;
    for (std::size_t place = 0; begin < close; ++place) {
      const std::uint32_t end = end_of(begin);
      if (end == begin || end > close) return;
      std::uint32_t value = begin;
      if (tokens_[value].is('&')) ++value;
      const std::optional<Held> memory =
          value == begin ? memory_of(value, end) : address_of(value, end);
      if (memory && (first_only || writes(*callee, place))) write(memory->parameter, value);
      if (first_only) return;
      begin = end + 1;
    }
  }

  // `&x[i]`
  std::optional<Held> address_of(std::uint32_t at, std::uint32_t end) const {
    const auto held = holds_.find(tokens_[at].text);
    if (held == holds_.end() || at + 1 >= end || !tokens_[at + 1].is('[')) return {};
    std::uint32_t behind = at + 1;
    while (behind < end && tokens_[behind].is('[') && partners_[behind] != no_token) {
      behind = partners_[behind] + 1;
    }
    return behind == end ? std::optional<Held>(held->second) : std::nullopt;
  }

  // `at::add_out(x, …)`
  bool is_of_torch(std::uint32_t name) const {
    return tokens_[name - 1].is("::") &&
           (tokens_[name - 2].is("at") || tokens_[name - 2].is("torch"));
  }

  bool writes(const CodeFunction& callee, std::size_t place) {
    const WrittenParameters::Written& written = all_.of(callee);
    return place < written.size() && written[place].has_value();
  }

  WrittenParameters& all_;
  const CodeFunction& function_;
  const Tokens tokens_;
  const std::vector<std::uint32_t>& partners_;
  // By name, the parameter whose memory it is.
  std::unordered_map<std::string_view, Held> holds_;
  WrittenParameters::Written written_;
};

const WrittenParameters::Written& WrittenParameters::of(const CodeFunction& function) {
  // Of one that calls itself nothing is known meanwhile.
  const auto [entry, added] = known_.try_emplace(&function);
  if (!added) return entry->second;
  steps_ += function.body.end - function.body.begin;
  if (depth_ >= most_depth || steps_ > most_steps || function.body.begin < 2) return entry->second;
  ++depth_;
  Written written = WriteScan(*this, function).run();
  --depth_;
  return known_[&function] = std::move(written);
}

}  // namespace opseal
