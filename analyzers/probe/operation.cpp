#include "analyzers/probe/operation.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "analyzers/probe/values.h"

namespace opseal::ffi {
namespace {

// Bytes of one buffer.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;

// Between elements that don't lie side by side; as ordinary a number as it is in the zones.
constexpr unsigned char gap_pattern = 0xC3;

std::size_t buffer_bytes(const ElementPlaces& places, const DtypeInfo& dtype) {
  const std::uint64_t bytes = std::uint64_t{places.room()} * dtype.bytes;
  if (bytes > most_bytes) throw std::invalid_argument("a buffer of this size is not made");
  return static_cast<std::size_t>(bytes);
}

// Elements side by side, from or into where they lie.
Bytes gather(std::span<const unsigned char> buffer, const ElementPlaces& places, std::size_t size) {
  if (places.places().empty()) return {buffer.begin(), buffer.end()};
  Bytes bytes(places.count() * size);
  for (std::size_t at = 0; at < places.count(); ++at) {
    std::memcpy(bytes.data() + at * size, buffer.data() + places.place(at) * size, size);
  }
  return bytes;
}

void scatter(const Bytes& bytes, const ElementPlaces& places, std::size_t size,
             std::span<unsigned char> buffer) {
  if (places.places().empty()) {
    std::copy(bytes.begin(), bytes.end(), buffer.begin());
    return;
  }
  std::fill(buffer.begin(), buffer.end(), gap_pattern);
  for (std::size_t at = 0; at < places.count(); ++at) {
    std::memcpy(buffer.data() + places.place(at) * size, bytes.data() + at * size, size);
  }
}

// The first byte between elements that was written to.
std::optional<std::int64_t> gap_trespass(std::span<const unsigned char> buffer,
                                         const ElementPlaces& places, std::size_t size) {
  if (places.places().empty() || size == 0) return {};
  std::vector<bool> owned(places.room(), false);
  for (const std::size_t place : places.places()) owned[place] = true;
  for (std::size_t byte = 0; byte < buffer.size(); ++byte) {
    if (!owned[byte / size] && buffer[byte] != gap_pattern) return static_cast<std::int64_t>(byte);
  }
  return {};
}

BufferView view_of(const QuestionOperand& operand, const ElementPlaces& places,
                   unsigned char* data) {
  BufferView view{operand.dtype, operand.dims, data + places.origin() * dtype_of(operand).bytes};
  view.strides = operand.strides.empty() ? dense_strides(operand.dims) : operand.strides;
  if (operand.dtype == token_dtype) view.data = nullptr;
  return view;
}

}  // namespace

const DtypeInfo& dtype_of(const QuestionOperand& operand) {
  const DtypeInfo* dtype = find_dtype_number(operand.dtype);
  if (dtype == nullptr) throw std::invalid_argument("no dtype has this number");
  return *dtype;
}

Operation::Operation(const Question& question, const KernelCall& call)
    : question_(question), call_(call) {
  for (const QuestionOperand& operand : question.arguments) {
    argument_places_.emplace_back(operand.dims, operand.strides);
    pristine_.emplace_back(argument_places_.back().count() * dtype_of(operand).bytes);
  }
  for (const QuestionOperand& operand : question.results) {
    result_places_.emplace_back(operand.dims, operand.strides);
  }
  for (Buffers* set : {&ending_, &starting_}) {
    const Side side = set == &ending_ ? Side::end : Side::start;
    for (std::size_t at = 0; at < question.arguments.size(); ++at) {
      set->arguments.emplace_back(
          buffer_bytes(argument_places_[at], dtype_of(question.arguments[at])),
          "argument_" + std::to_string(at), side);
    }
    for (std::size_t at = 0; at < question.results.size(); ++at) {
      // One that shares an argument's buffer has one of its own that nobody is handed.
      const QuestionOperand& operand = question.results[at];
      set->results.emplace_back(
          operand.shares < 0 ? buffer_bytes(result_places_[at], dtype_of(operand)) : 0,
          "result_" + std::to_string(at), side);
    }
  }
  seed(question.seed);
}

void Operation::seed(std::uint64_t seed) {
  for (std::size_t at = 0; at < pristine_.size(); ++at) {
    const std::string& stated = question_.arguments[at].bytes;
    if (!stated.empty()) {
      if (stated.size() != pristine_[at].size()) {
        throw std::invalid_argument("an argument's bytes are not as many as its shape says");
      }
      std::copy(stated.begin(), stated.end(), pristine_[at].begin());
      unite(at);
      continue;
    }
    if (question_.arguments[at].indexes) continue;
    fill_values(pristine_[at], dtype_of(question_.arguments[at]), seed * 31 + at);
    unite(at);
  }
}

bool Operation::seed_wild() {
  for (std::size_t at = 0; at < pristine_.size(); ++at) {
    const QuestionOperand& operand = question_.arguments[at];
    const bool stated = !operand.bytes.empty();
    const bool wild = !operand.indexes && !stated && fill_wild(pristine_[at], dtype_of(operand));
    if (operand.written && !wild) return false;
    unite(at);
  }
  return true;
}

bool Operation::seed_full(std::uint64_t seed) {
  bool any = false;
  for (std::size_t at = 0; at < pristine_.size(); ++at) {
    if (question_.arguments[at].indexes || !question_.arguments[at].bytes.empty()) continue;
    any = fill_full(pristine_[at], dtype_of(question_.arguments[at]), seed * 31 + at) || any;
    unite(at);
  }
  return any;
}

void Operation::unite(std::size_t argument) {
  const ElementPlaces& places = argument_places_[argument];
  if (places.places().empty()) return;
  const std::size_t size = dtype_of(question_.arguments[argument]).bytes;
  const std::span<unsigned char> bytes = ending_.arguments[argument].bytes();
  scatter(pristine_[argument], places, size, bytes);
  pristine_[argument] = gather(bytes, places, size);
}

CallEnd Operation::run(unsigned char poison, Side side) {
  Buffers& set = side == Side::end ? ending_ : starting_;
  last_ = &set;
  for (std::size_t at = 0; at < set.arguments.size(); ++at) {
    scatter(pristine_[at], argument_places_[at], dtype_of(question_.arguments[at]).bytes,
            set.arguments[at].bytes());
    set.arguments[at].mend();
  }
  for (std::size_t at = 0; at < set.results.size(); ++at) {
    const std::size_t size = dtype_of(question_.results[at]).bytes;
    const std::span<unsigned char> bytes = set.results[at].bytes();
    if (result_places_[at].places().empty()) {
      std::fill(bytes.begin(), bytes.end(), poison);
    } else if (question_.results[at].shares < 0) {
      scatter(Bytes(result_places_[at].count() * size, poison), result_places_[at], size, bytes);
    }
    set.results[at].mend();
  }
  std::vector<BufferView> arguments;
  for (std::size_t at = 0; at < set.arguments.size(); ++at) {
    arguments.push_back(
        view_of(question_.arguments[at], argument_places_[at], set.arguments[at].bytes().data()));
  }
  std::vector<BufferView> results;
  for (std::size_t at = 0; at < set.results.size(); ++at) {
    const std::int32_t shares = question_.results[at].shares;
    GuardedBuffer& buffer =
        shares < 0 ? set.results[at] : set.arguments.at(static_cast<std::size_t>(shares));
    results.push_back(view_of(question_.results[at], result_places(at), buffer.bytes().data()));
  }
  KernelEnd end = call_(std::move(arguments), std::move(results));
  lacked_ = std::move(end.lacked);
  return std::move(end.end);
}

std::vector<Bytes> Operation::results() const {
  std::vector<Bytes> copies;
  for (std::size_t at = 0; at < last_->results.size(); ++at) {
    copies.push_back(gather(result_buffer(at).bytes(), result_places(at),
                            dtype_of(question_.results[at]).bytes));
  }
  return copies;
}

std::vector<Bytes> Operation::arguments() const {
  std::vector<Bytes> copies;
  for (std::size_t at = 0; at < last_->arguments.size(); ++at) {
    copies.push_back(gather(last_->arguments[at].bytes(), argument_places_[at],
                            dtype_of(question_.arguments[at]).bytes));
  }
  return copies;
}

void Operation::find_trespasses(std::vector<BufferDamage>& found) const {
  const auto look = [&found](const std::vector<GuardedBuffer>& buffers,
                             const std::vector<ElementPlaces>& places,
                             const std::vector<QuestionOperand>& operands, const char* name) {
    for (std::size_t at = 0; at < buffers.size(); ++at) {
      std::optional<std::int64_t> byte = buffers[at].trespass();
      if (!byte && operands[at].shares < 0) {
        byte = gap_trespass(buffers[at].bytes(), places[at], dtype_of(operands[at]).bytes);
      }
      if (byte) found.push_back({name + std::to_string(at), *byte, 1});
    }
  };
  look(last_->arguments, argument_places_, question_.arguments, "argument ");
  look(last_->results, result_places_, question_.results, "result ");
}

void Operation::find_writes(bool declared, std::vector<BufferDamage>& found) const {
  for (std::size_t at = 0; at < last_->arguments.size(); ++at) {
    const QuestionOperand& operand = question_.arguments[at];
    if (operand.written != declared || pristine_[at].empty() || is_shared(at)) continue;
    const std::size_t size = dtype_of(operand).bytes;
    const Bytes bytes = gather(last_->arguments[at].bytes(), argument_places_[at], size);
    BufferDamage damage{"argument " + std::to_string(at), -1, 0};
    for (std::size_t element = 0; element * size < bytes.size(); ++element) {
      if (std::memcmp(bytes.data() + element * size, pristine_[at].data() + element * size, size) ==
          0) {
        continue;
      }
      if (damage.elements++ == 0) damage.index = static_cast<std::int64_t>(element);
    }
    if (declared ? damage.elements == 0 : damage.elements > 0) found.push_back(damage);
  }
}

bool Operation::is_shared(std::size_t argument) const {
  return std::any_of(question_.results.begin(), question_.results.end(),
                     [argument](const QuestionOperand& result) {
                       return result.shares == static_cast<std::int32_t>(argument);
                     });
}

const GuardedBuffer& Operation::result_buffer(std::size_t at) const {
  const std::int32_t shares = question_.results[at].shares;
  return shares < 0 ? last_->results[at] : last_->arguments.at(static_cast<std::size_t>(shares));
}

const ElementPlaces& Operation::result_places(std::size_t at) const {
  const std::int32_t shares = question_.results[at].shares;
  return shares < 0 ? result_places_[at] : argument_places_.at(static_cast<std::size_t>(shares));
}

}  // namespace opseal::ffi
