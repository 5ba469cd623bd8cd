// `T* p = x.contiguous().data_ptr<T>();`: the tensor that owns the memory dies at the semicolon.

#include "analyzers/sources/device_pointers.h"

#include <algorithm>
#include <array>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/device_sides.h"
#include "analyzers/words.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Members that give a tensor of its own memory, always or where the layout asks for it. Arguments
// may say that nothing is to be done, which nobody relies on.
constexpr std::array<std::string_view, 11> copying{
    "contiguous", "to",     "cpu",  "cuda",         "clone",        "toType",
    "reshape",    "repeat", "flip", "index_select", "masked_select"};

// Functions of torch that make a tensor.
constexpr std::array<std::string_view, 12> making{
    "empty",  "zeros",  "ones",  "full", "empty_like", "zeros_like",
    "arange", "tensor", "stack", "cat",  "full_like",  "ones_like"};

// Who asks for it has a tensor of which `contiguous` gives the tensor itself.
constexpr std::array<std::string_view, 4> asking{"is_contiguous", "CHECK_CONTIGUOUS", "CHECK_INPUT",
                                                 "is_non_overlapping_and_dense"};

constexpr std::size_t most_tokens = 256;

bool is_pointer_call(const Token& token) {
  return token.is("data_ptr") || token.is("mutable_data_ptr") || token.is("const_data_ptr");
}

bool is_access(const Token& token) { return token.is('.') || token.is("->"); }

class PointerReader {
 public:
  PointerReader(const PlainSource& source, std::vector<KeptPointer>& pointers)
      : source_(source), tokens_(source.unit.tokens), pointers_(pointers) {}

  void run() {
    for (std::uint32_t at = 1; at + 2 < tokens_.size(); ++at) {
      if (is_pointer_call(tokens_[at]) && is_access(tokens_[at - 1])) read(at);
    }
  }

 private:
  std::uint32_t opening(std::uint32_t close) const {
    const std::uint32_t open = source_.shape.partners[close];
    return open != no_token && open < close ? open : no_token;
  }

  // Where `data_ptr<T>()` ends, or no_token where it isn't called.
  std::uint32_t behind_call(std::uint32_t at) const {
    ++at;
    if (tokens_[at].is('<')) {
      std::size_t depth = 0;
      for (std::size_t steps = 0; at < tokens_.size() && steps < most_tokens; ++at, ++steps) {
        if (tokens_[at].is('<')) ++depth;
        if (tokens_[at].is('>') && --depth == 0) break;
      }
      ++at;
    }
    if (at >= tokens_.size() || !tokens_[at].is('(')) return no_token;
    const std::uint32_t close = source_.shape.partners[at];
    return close == no_token || close < at ? no_token : close + 1;
  }

  struct Receiver {
    // Of its first token.
    std::uint32_t start = 0;
    std::string_view holder;
    // Nothing but `contiguous` makes it a temporary.
    bool may_be_itself = false;
  };

  // What stands before the `.` at `end`, read backwards.
  Receiver receiver_before(std::uint32_t end) const {
    Receiver receiver{end, "named", true};
    bool calls = false;
    bool copies = false;
    for (std::size_t steps = 0; receiver.start > 0 && steps < most_tokens; ++steps) {
      std::uint32_t at = receiver.start - 1;
      if (tokens_[at].is(']')) {
        const std::uint32_t open = opening(at);
        if (open == no_token) return {end, {}, false};
        receiver.start = open;
        continue;
      }
      if (tokens_[at].is(')')) {
        const std::uint32_t open = opening(at);
        if (open == no_token || open == 0 || !tokens_[open - 1].is_identifier()) {
          return {end, {}, false};
        }
        calls = true;
        at = open - 1;
        const bool is_member = at > 0 && is_access(tokens_[at - 1]);
        const bool is_torch = at > 1 && tokens_[at - 1].is("::") &&
                              (tokens_[at - 2].is("torch") || tokens_[at - 2].is("at"));
        if ((is_member && is_one_of(tokens_[at].text, copying)) ||
            (is_torch && is_one_of(tokens_[at].text, making))) {
          copies = true;
          receiver.may_be_itself = receiver.may_be_itself && tokens_[at].is("contiguous");
        }
      } else if (!tokens_[at].is_identifier()) {
        break;
      }
      receiver.start = at;
      if (at == 0 || (!is_access(tokens_[at - 1]) && !tokens_[at - 1].is("::"))) break;
      receiver.start = at - 1;
    }
    if (calls) receiver.holder = copies ? std::string_view("temporary") : std::string_view();
    return receiver;
  }

  // `= expression;` or `return expression;`, with casts around the expression.
  bool is_kept(std::uint32_t start, std::uint32_t end) const {
    constexpr int most_casts = 4;
    for (int casts = 0; casts < most_casts; ++casts) {
      if (end >= tokens_.size() || start == 0) return false;
      const Token& before = tokens_[start - 1];
      if (tokens_[end].is(';')) {
        if (before.is("return")) return true;
        if (before.is('=')) return true;
        // `(T*)expression`
        if (!before.is(')')) return false;
        const std::uint32_t open = opening(start - 1);
        if (open == no_token || start < 3 || !tokens_[start - 2].is('*')) return false;
        start = open;
        continue;
      }
      // `reinterpret_cast<T*>(expression)`
      if (!tokens_[end].is(')') || !before.is('(') || start < 2 || !tokens_[start - 2].is('>')) {
        return false;
      }
      std::uint32_t at = start - 2;
      std::size_t depth = 0;
      bool to_pointer = false;
      for (std::size_t steps = 0; steps < most_tokens; ++steps, --at) {
        if (tokens_[at].is('>')) ++depth;
        if (tokens_[at].is('*')) to_pointer = true;
        if (tokens_[at].is('<') && --depth == 0) break;
        if (at == 0) return false;
      }
      if (at == 0 || !to_pointer || !tokens_[at - 1].text.ends_with("_cast")) return false;
      start = at - 1;
      ++end;
    }
    return false;
  }

  // Whether the function has asked for the layout before, by a check or a copy that has a name:
  // `CHECK_CONTIG(x)`, `x = x.contiguous();`.
  bool asks_for_layout(std::uint32_t scope, std::uint32_t at) {
    if (scope != asked_scope_) {
      asked_scope_ = scope;
      const TokenRange body = source_.shape.scopes[scope].body;
      for (asked_at_ = body.begin; asked_at_ < body.end; ++asked_at_) {
        if (asks_here(asked_at_)) break;
      }
    }
    return asked_at_ < at;
  }

  bool asks_here(std::uint32_t at) const {
    const Token& token = tokens_[at];
    if (!token.is_identifier()) return false;
    if (is_one_of(token.text, asking)) return true;
    if (token.is("contiguous")) {
      return at + 3 < tokens_.size() && tokens_[at + 1].is('(') && tokens_[at + 2].is(')') &&
             tokens_[at + 3].is(';');
    }
    return lower(token.text).find("contig") != std::string::npos;
  }

  void read(std::uint32_t at) {
    const std::uint32_t end = behind_call(at);
    if (end == no_token) return;
    const Receiver receiver = receiver_before(at - 1);
    if (receiver.holder.empty() || !is_kept(receiver.start, end)) return;
    const std::uint32_t scope = function_around(source_, at);
    if (scope == no_scope) return;
    KeptPointer pointer;
    pointer.holder = receiver.holder;
    if (pointer.holder == "temporary" && receiver.may_be_itself && asks_for_layout(scope, at)) {
      return;
    }
    const Tokens expression = Tokens(tokens_).subspan(receiver.start, end - receiver.start);
    pointer.expression = text_of(expression);
    pointer.function = source_.shape.scopes[scope].name;
    pointer.when = source_.unit.conditions[tokens_[at].condition];
    pointer.place = place_of(expression, source_.unit.file);
    pointers_.push_back(std::move(pointer));
  }

  const PlainSource& source_;
  const std::vector<Token>& tokens_;
  std::vector<KeptPointer>& pointers_;
  // The function that was looked at last, and where it first asks for the layout; its end where it
  // doesn't.
  std::uint32_t asked_scope_ = no_scope;
  std::uint32_t asked_at_ = 0;
};

bool is_blank(char byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

}  // namespace

bool takes_pointers_of_calls(std::string_view bytes) {
  constexpr std::string_view call = "data_ptr";
  for (std::size_t at = bytes.find(call); at != bytes.npos; at = bytes.find(call, at + 1)) {
    std::string_view before = bytes.substr(0, at);
    for (const std::string_view prefix : {"mutable_", "const_"}) {
      if (before.ends_with(prefix)) before.remove_suffix(prefix.size());
    }
    const auto skip_blanks = [&before] {
      // More would be no chain of calls.
      for (int steps = 0; steps < 128 && !before.empty() && is_blank(before.back()); ++steps) {
        before.remove_suffix(1);
      }
    };
    skip_blanks();
    if (!before.ends_with(".")) continue;
    before.remove_suffix(1);
    skip_blanks();
    if (before.ends_with(")") || before.ends_with("]")) return true;
  }
  return false;
}

void read_pointers(const PlainSource& source, std::vector<KeptPointer>& pointers) {
  PointerReader(source, pointers).run();
}

}  // namespace opseal
