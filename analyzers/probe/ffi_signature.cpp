// How a handler made by XLA's headers refuses a call, in this order (measured on jaxlib 0.4.31 to
// 0.12): wrong size of the frame, wrong stage, wrong number of arguments, of results, of named
// attributes; then it decodes everything, collects what is wrong with each, and refuses again if
// anything is. Only behind that stands the user's function. Since jaxlib 0.8.2 a count is not
// looked at where the handler binds none of that kind.
//
//   Wrong execution stage: expected `execute` but got `prepare`
//   Wrong number of arguments: expected [at least ]2 but got -1
//   Failed to decode all FFI handler operands (bad operands at: 0, 2)
//   Diagnostics:
//   Wrong buffer dtype: expected F32 but got INVALIDAttribute name mismatch: 0000 vs alpha...
//
// The diagnostics stand one behind the other without anything between them. The least number of a
// handler with optional or further operands is printed too small, so it is found by trying.

#include "analyzers/probe/ffi_signature.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace opseal::ffi {
namespace {

// More than any handler binds; what asks for more is not followed.
constexpr std::size_t most_operands = 512;
constexpr int absurd_rank = 61;

// With what each diagnostic begins, so that one can be told from the next.
constexpr std::string_view openings[] = {"Wrong buffer dtype",
                                         "Wrong buffer rank",
                                         "Wrong argument type",
                                         "Wrong result type",
                                         "Attribute name mismatch",
                                         "Wrong attribute type",
                                         "Wrong scalar data type",
                                         "Wrong array data type",
                                         "Wrong number of attributes",
                                         "Unexpected attribute",
                                         "Failed to get",
                                         "Unknown attribute",
                                         "Expected ",
                                         "Unexpected "};

// The text behind `head` up to the next diagnostic, or nothing.
std::optional<std::string_view> behind(std::string_view message, std::string_view head) {
  const std::size_t at = message.find(head);
  if (at == message.npos) return {};
  std::string_view rest = message.substr(at + head.size());
  std::size_t end = rest.size();
  for (const std::string_view opening : openings) end = std::min(end, rest.find(opening));
  return rest.substr(0, end);
}

// The word between `expected ` and ` but got`, of the diagnostic that begins with `head`.
std::string expected_in(std::string_view message, std::string_view head) {
  const std::optional<std::string_view> text = behind(message, head);
  if (!text) return {};
  constexpr std::string_view before = "expected ";
  const std::size_t at = text->find(before);
  if (at == text->npos) return {};
  const std::string_view rest = text->substr(at + before.size());
  return std::string(rest.substr(0, rest.find(" but got")));
}

std::optional<long long> number_in(std::string_view text) {
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return {};
  return value;
}

const DtypeInfo* find_dtype_name(std::string_view name) {
  for (const DtypeInfo& dtype : dtypes) {
    if (name == dtype.name) return &dtype;
  }
  return nullptr;
}

class Recovery {
 public:
  Recovery(Handler* handler, int minor) : handler_(handler), minor_(minor) {}

  RecoveredSignature recover() {
    find_stage();
    find_counts();
    if (!signature_.ran && signature_.unread.empty()) {
      find_attributes();
      find_buffers(signature_.arguments, arguments_);
      find_buffers(signature_.results, results_);
    }
    return std::move(signature_);
  }

 private:
  // What the handler answers; empty: it ran.
  std::string attempt(std::int64_t arguments, std::int64_t results, std::int64_t attributes) {
    ++signature_.calls;
    Context context(minor_);
    CallFrame frame(context, stage_);
    frame.set_arguments(arguments_);
    frame.set_results(results_);
    frame.set_attributes(attributes_, false);
    frame.frame().arguments.count = arguments;
    frame.frame().results.count = results;
    frame.frame().attributes.count = attributes;
    const CallEnd end = call(handler_, frame);
    return end.how == CallEnd::How::returned ? std::string() : "! " + end.message;
  }
  std::string attempt() { return attempt(argument_count_, result_count_, attribute_count_); }

  void find_stage() {
    stage_ = prepare;
    const std::string message = attempt(-1, -1, -1);
    signature_.stage = message.empty() ? "" : "prepare";
    constexpr std::array<std::string_view, 5> names = {"instantiate", "prepare", "initialize",
                                                       "execute", "record"};
    const std::string wanted = expected_in(message, "Wrong execution stage");
    for (std::size_t at = 0; at < names.size(); ++at) {
      if (wanted != '`' + std::string(names[at]) + '`') continue;
      signature_.stage = names[at];
      stage_ = static_cast<std::int32_t>(at);
    }
  }

  // One count that a refusal names. False: it names none of these.
  bool learn_count(const std::string& message, std::string_view head, std::int64_t& count,
                   bool& more) {
    std::string wanted = expected_in(message, head);
    // `expected 2 attributes`: members of a struct, which is decoded.
    if (wanted.empty() || wanted.ends_with("attributes")) return false;
    constexpr std::string_view least = "at least ";
    const bool open = wanted.starts_with(least);
    if (open) wanted.erase(0, least.size());
    const std::optional<long long> number = number_in(wanted);
    if (!number || *number > static_cast<long long>(most_operands)) return false;
    more = more || open;
    const std::int64_t told = std::max<std::int64_t>(*number, 0);
    count = open && count >= told ? count + 1 : told;
    return count <= static_cast<std::int64_t>(most_operands);
  }

  void find_counts() {
    arguments_.assign(most_operands, refused_buffer());
    results_.assign(most_operands, refused_buffer());
    bool no_more = false;
    for (std::size_t turn = 0; turn < 4 * most_operands; ++turn) {
      const std::string message = attempt();
      if (message.empty()) {
        signature_.ran = true;
        break;
      }
      if (learn_count(message, "Wrong number of arguments", argument_count_,
                      signature_.more_arguments)) {
        continue;
      }
      if (learn_count(message, "Wrong number of results", result_count_, signature_.more_results)) {
        continue;
      }
      if (attribute_count_ < 0 &&
          learn_count(message, "Wrong number of attributes", attribute_count_, no_more)) {
        attributes_.assign(static_cast<std::size_t>(attribute_count_), {});
        for (std::size_t at = 0; at < attributes_.size(); ++at) {
          attributes_[at] = {dummy_name(at), string_attribute, 0, 1, {}};
        }
        continue;
      }
      if (message.find("Failed to decode") == message.npos) signature_.unread = message.substr(2);
      break;
    }
    argument_count_ = std::max<std::int64_t>(argument_count_, 0);
    result_count_ = std::max<std::int64_t>(result_count_, 0);
    attribute_count_ = std::max<std::int64_t>(attribute_count_, 0);
    arguments_.resize(static_cast<std::size_t>(argument_count_));
    results_.resize(static_cast<std::size_t>(result_count_));
    signature_.arguments.resize(arguments_.size());
    signature_.results.resize(results_.size());
  }

  void find_attributes() {
    if (attribute_count_ == 0) {
      // Refused for its operands, or for members of a struct.
      if (arguments_.empty() && results_.empty()) {
        signature_.attributes_unnamed = !signature_.ran;
      } else {
        signature_.attributes_unnamed = behind(attempt(), "Wrong number of attributes").has_value();
      }
      return;
    }
    // No attribute is called so: each is refused, and so is everything with it.
    const std::string names = attempt();
    signature_.attributes.resize(attributes_.size());
    for (std::size_t at = 0; at < attributes_.size(); ++at) {
      const std::optional<std::string_view> name =
          behind(names, "Attribute name mismatch: " + dummy_name(at) + " vs ");
      if (name) signature_.attributes[at].name = *name;
    }
    if (attributes_.size() == 1 && arguments_.empty() && results_.empty()) {
      // Nothing else could be refused: a value of the wrong kind is, unless it is a text.
      find_kind(0);
      return;
    }
    for (std::size_t at = 0; at < attributes_.size(); ++at) find_kind(at);
  }

  // The others keep names that nothing has.
  void find_kind(std::size_t at) {
    RecoveredAttribute& found = signature_.attributes[at];
    if (found.name.empty()) return;
    const Attribute dummy = attributes_[at];
    const bool alone = attributes_.size() == 1 && arguments_.empty() && results_.empty();
    // A dictionary runs nothing where a number is expected, and where a text is; whether one is
    // expected is told by a text.
    attributes_[at] = {found.name, alone ? array_attribute : string_attribute, 0, 1,
                       std::string(8, '\0')};
    if (alone) attributes_[at].elements = 0;
    const std::string message = attempt();
    found.kind = expected_in(message, "Wrong attribute type");
    if (found.kind.empty()) {
      found.kind =
          expected_in(message, "Wrong array data type").empty() ? (alone ? "" : "string") : "array";
    }
    // Older headers print the type of the number before the word.
    if (const std::size_t blank = found.kind.rfind(' '); blank != found.kind.npos) {
      found.kind.erase(0, blank + 1);
    }
    if (found.kind == "scalar" || found.kind == "array") {
      attributes_[at].type = found.kind == "scalar" ? scalar_attribute : array_attribute;
      attributes_[at].elements = 1;
      found.dtype = expected_in(
          attempt(), found.kind == "scalar" ? "Wrong scalar data type" : "Wrong array data type");
    }
    attributes_[at] = dummy;
  }

  // One operand at a time becomes a buffer, and the others stay what nobody accepts.
  void find_buffers(std::vector<RecoveredOperand>& found, std::vector<BufferView>& views) {
    // Without another thing to refuse, a handler that takes any buffer would run. Members of a
    // struct are refused always, since none is given.
    const std::size_t things = arguments_.size() + results_.size() + attributes_.size();
    if (things < 2 && !signature_.attributes_unnamed) return;
    for (std::size_t at = 0; at < views.size(); ++at) {
      views[at] = {0, {}, nullptr, buffer_argument};
      found[at].dtype = expected_in(attempt(), "Wrong buffer dtype");
      if (const DtypeInfo* dtype = find_dtype_name(found[at].dtype); dtype != nullptr) {
        views[at].dtype = dtype->number;
        views[at].dims.assign(absurd_rank, 0);
        const std::string rank = expected_in(attempt(), "Wrong buffer rank");
        if (const std::optional<long long> number = number_in(rank)) {
          found[at].rank = static_cast<int>(*number);
        }
      }
      views[at] = refused_buffer();
    }
  }

  static BufferView refused_buffer() { return {0, {}, nullptr, no_argument}; }

  // Sorted as their numbers are, and no name in C++.
  static std::string dummy_name(std::size_t at) {
    std::string digits = std::to_string(at);
    return std::string(4 - std::min<std::size_t>(digits.size(), 4), '0') + digits;
  }

  Handler* handler_;
  int minor_;
  RecoveredSignature signature_;
  std::int32_t stage_ = prepare;
  std::int64_t argument_count_ = -1;
  std::int64_t result_count_ = -1;
  std::int64_t attribute_count_ = -1;
  std::vector<BufferView> arguments_;
  std::vector<BufferView> results_;
  std::vector<Attribute> attributes_;
};

}  // namespace

RecoveredSignature recover_signature(Handler* handler, int minor) {
  return Recovery(handler, minor).recover();
}

}  // namespace opseal::ffi
