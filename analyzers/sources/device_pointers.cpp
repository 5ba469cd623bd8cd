// `T* p = x.contiguous().data_ptr<T>();`: the tensor that owns the memory dies at the semicolon.

#include "analyzers/sources/device_pointers.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/device_sides.h"
#include "analyzers/sources/kept_expressions.h"
#include "analyzers/words.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Members that give a tensor of its own memory, always or where the layout asks for it. Arguments
// may say that nothing is to be done, which nobody relies on.
constexpr std::array<std::string_view, 22> copying{"contiguous",   "expect_contiguous",
                                                   "to",           "cpu",
                                                   "cuda",         "clone",
                                                   "toType",       "type_as",
                                                   "reshape",      "repeat",
                                                   "flip",         "pin_memory",
                                                   "roll",         "cumsum",
                                                   "index_select", "masked_select",
                                                   "argsort",      "nonzero",
                                                   "new_empty",    "new_zeros",
                                                   "new_ones",     "new_full"};

// Functions of torch that make a tensor.
constexpr std::array<std::string_view, 12> making{
    "empty",  "zeros",  "ones",  "full", "empty_like", "zeros_like",
    "arange", "tensor", "stack", "cat",  "full_like",  "ones_like"};

// Who asks for it has a tensor of which `contiguous` gives the tensor itself.
constexpr std::array<std::string_view, 4> asking{"is_contiguous", "CHECK_CONTIGUOUS", "CHECK_INPUT",
                                                 "is_non_overlapping_and_dense"};

constexpr std::size_t most_tokens = 256;
// Questions for a layout in one function.
constexpr std::size_t most_asked = 64;

bool is_pointer_call(const Token& token) {
  return token.is("data_ptr") || token.is("mutable_data_ptr") || token.is("const_data_ptr");
}

bool ends_statement(const Token& token) { return token.is(';') || token.is('{') || token.is('}'); }

bool is_access(const Token& token) { return token.is('.') || token.is("->"); }

class PointerReader {
 public:
  PointerReader(const PlainSource& source, std::vector<KeptPointer>& pointers)
      : source_(source),
        tokens_(source.unit.tokens),
        kept_(tokens_, source.shape.partners),
        pointers_(pointers) {}

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

  // A statement that asks for a layout.
  struct Question {
    std::uint32_t at = 0;
    std::unordered_set<std::uint32_t> names;
    // Of the function's; else it may be about any.
    bool names_argument = false;
  };

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
        if ((is_member && is_one_of(tokens_[at].text, copying)) ||
            (is_torch_name(at) && is_one_of(tokens_[at].text, making))) {
          copies = true;
          receiver.may_be_itself =
              receiver.may_be_itself && tokens_[at].text.ends_with("contiguous");
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

  // Whether the function has asked for the layout of this tensor before, by a check or a copy that
  // has a name: `CHECK_CONTIG(x)`, `x = x.contiguous();`.
  bool asks_for_layout(std::uint32_t scope, std::uint32_t at, const Token& tensor) {
    if (scope != asked_scope_) {
      asked_scope_ = scope;
      asked_.clear();
      const TokenRange body = source_.shape.scopes[scope].body;
      for (std::uint32_t token = body.begin; token < body.end && asked_.size() < most_asked;
           ++token) {
        if (asks_here(token)) asked_.push_back(question_at(token, scope));
        const std::uint32_t dense = dense_tensor(token);
        if (dense != no_token) asked_.push_back({token, {tokens_[dense].hash}, true});
      }
    }
    return std::any_of(asked_.begin(), asked_.end(), [&](const Question& asked) {
      return asked.at < at && (asked.names.contains(tensor.hash) || !asked.names_argument);
    });
  }

  bool asks_here(std::uint32_t at) const {
    const Token& token = tokens_[at];
    if (!token.is_identifier()) return false;
    if (is_one_of(token.text, asking)) return true;
    if (token.is("contiguous") || token.is("expect_contiguous")) {
      return at + 3 < tokens_.size() && tokens_[at + 1].is('(') && tokens_[at + 2].is(')') &&
             tokens_[at + 3].is(';');
    }
    // `MemoryFormat::Contiguous` asks for nothing.
    return !tokens_[at - 1].is("::") && lower(token.text).find("contig") != std::string::npos;
  }

  // Where the tensor is named that this call makes dense, whatever it was: `x.resize_(`, or
  // `x = torch::empty(`. No such call: no_token.
  std::uint32_t dense_tensor(std::uint32_t at) const {
    if (at < 4 || at + 1 >= tokens_.size() || !tokens_[at + 1].is('(')) return no_token;
    std::uint32_t name = no_token;
    if (tokens_[at].is("resize_") && is_access(tokens_[at - 1])) {
      name = at - 2;
    } else if (is_one_of(tokens_[at].text, making) && !tokens_[at].text.ends_with("_like") &&
               is_torch_name(at) && tokens_[at - 3].is('=')) {
      name = at - 4;
    }
    return name != no_token && tokens_[name].is_identifier() ? name : no_token;
  }

  bool is_torch_name(std::uint32_t at) const {
    return at > 1 && tokens_[at - 1].is("::") &&
           (tokens_[at - 2].is("torch") || tokens_[at - 2].is("at"));
  }

  // What the statement around a check names.
  Question question_at(std::uint32_t at, std::uint32_t scope) const {
    Question question;
    question.at = at;
    std::uint32_t begin = at;
    while (begin > 0 && at - begin < most_tokens && !ends_statement(tokens_[begin - 1])) --begin;
    for (std::uint32_t token = begin; token < tokens_.size() && token - begin < 2 * most_tokens;
         ++token) {
      if (ends_statement(tokens_[token])) break;
      if (tokens_[token].is_identifier()) question.names.insert(tokens_[token].hash);
    }
    const TokenRange parameters = source_.shape.scopes[scope].parameters;
    for (std::uint32_t one = parameters.begin; one < parameters.end; ++one) {
      const bool is_name = one + 1 == parameters.end || tokens_[one + 1].is(',');
      if (is_name && question.names.contains(tokens_[one].hash)) question.names_argument = true;
    }
    return question;
  }

  void read(std::uint32_t at) {
    const std::uint32_t end = behind_call(at);
    if (end == no_token) return;
    const Receiver receiver = receiver_before(at - 1);
    if (receiver.holder.empty() || !kept_.is_kept(receiver.start, end)) return;
    const std::uint32_t scope = function_around(source_, at);
    if (scope == no_scope) return;
    KeptPointer pointer;
    pointer.holder = receiver.holder;
    if (pointer.holder == "temporary" && receiver.may_be_itself &&
        asks_for_layout(scope, at, tokens_[receiver.start])) {
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
  KeptExpressions kept_;
  std::vector<KeptPointer>& pointers_;
  // The function that was looked at last, and where it asks for the layout of something.
  std::uint32_t asked_scope_ = no_scope;
  std::vector<Question> asked_;
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
    const bool by_arrow = before.ends_with("->");
    if (!by_arrow && !before.ends_with(".")) continue;
    before.remove_suffix(by_arrow ? 2 : 1);
    skip_blanks();
    if (before.ends_with(")") || before.ends_with("]")) return true;
  }
  return false;
}

void read_pointers(const PlainSource& source, std::vector<KeptPointer>& pointers) {
  PointerReader(source, pointers).run();
}

}  // namespace opseal
