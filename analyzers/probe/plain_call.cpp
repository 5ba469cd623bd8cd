#include "analyzers/probe/plain_call.h"

#include <ffi.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "analyzers/probe/values.h"

namespace opseal::ffi {
namespace {

// More than a C compiler has to take.
constexpr std::size_t most_arguments = 127;

ffi_type* type_of(std::int32_t dtype) {
  const DtypeInfo* info = find_dtype_number(dtype);
  const std::string_view word = info == nullptr ? "" : info->word;
  if (word == "bool" || word == "u8") return &::ffi_type_uint8;
  if (word == "i8") return &::ffi_type_sint8;
  if (word == "i16") return &::ffi_type_sint16;
  if (word == "u16") return &::ffi_type_uint16;
  if (word == "i32") return &::ffi_type_sint32;
  if (word == "u32") return &::ffi_type_uint32;
  if (word == "i64") return &::ffi_type_sint64;
  if (word == "u64") return &::ffi_type_uint64;
  if (word == "f32") return &::ffi_type_float;
  if (word == "f64") return &::ffi_type_double;
  throw std::invalid_argument("a number of this dtype is not handed over by value");
}

bool is_pointer(const PlainArgument& argument) {
  return argument.kind != PlainArgument::Kind::value &&
         argument.kind != PlainArgument::Kind::stride;
}

// Whole numbers as an array of a dtype of so many bytes: little endian, the low bytes come first.
std::vector<unsigned char> array_of(const std::vector<std::int64_t>& numbers, std::int64_t factor,
                                    std::size_t size) {
  std::vector<unsigned char> bytes(numbers.size() * size);
  for (std::size_t at = 0; at < numbers.size(); ++at) {
    const std::int64_t number = numbers[at] * factor;
    std::memcpy(bytes.data() + at * size, &number, size);
  }
  return bytes;
}

class Call {
 public:
  Call(const PlainInterface& plain, std::vector<BufferView> arguments,
       std::vector<BufferView> results)
      : plain_(plain), operands_(std::move(arguments)) {
    if (plain.returned >= 0) returned_ = results.at(static_cast<std::size_t>(plain.returned));
    for (BufferView& result : results) operands_.push_back(std::move(result));
    // Their addresses are handed over.
    pointers_.resize(plain.arguments.size());
    numbers_.resize(plain.arguments.size());
    arrays_.resize(plain.arguments.size());
    for (std::size_t at = 0; at < plain.arguments.size(); ++at) set(at);
  }

  KernelEnd run(void* function) {
    ffi_cif description;
    const std::int32_t dtype_returned = plain_.returned >= 0 ? returned_.dtype : plain_.status;
    ffi_type* returned = dtype_returned == 0 ? &::ffi_type_void : type_of(dtype_returned);
    if (::ffi_prep_cif(&description, FFI_DEFAULT_ABI, static_cast<unsigned>(types_.size()),
                       returned, types_.data()) != FFI_OK) {
      throw std::invalid_argument("libffi doesn't know such a call");
    }
    // A whole number is returned as wide as a register.
    std::array<unsigned char, 16> status{};
    static_assert(sizeof(ffi_arg) <= sizeof status);
    ::ffi_call(&description, reinterpret_cast<void (*)()>(function), status.data(), values_.data());
    KernelEnd end;
    if (plain_.returned >= 0) {
      // Little endian: the low bytes come first.
      std::memcpy(returned_.data, status.data(), find_dtype_number(returned_.dtype)->bytes);
      return end;
    }
    if (plain_.status == 0) return end;
    const DtypeInfo* dtype = find_dtype_number(plain_.status);
    const double number = value_at(status, *dtype, 0).value_or(0);
    if (number != 0) {
      end.end.how = CallEnd::How::failed;
      end.end.code = static_cast<std::int32_t>(number);
      end.end.message = "it returns " + std::to_string(static_cast<std::int64_t>(number));
    }
    return end;
  }

 private:
  void set(std::size_t at) {
    const PlainArgument& argument = plain_.arguments[at];
    using Kind = PlainArgument::Kind;
    if (argument.kind == Kind::value) {
      std::memcpy(numbers_[at].data(), argument.bytes.data(),
                  std::min(argument.bytes.size(), numbers_[at].size()));
    } else if (argument.kind != Kind::null) {
      set_operand(at, operands_.at(argument.operand));
    }
    types_.push_back(is_pointer(argument) ? &::ffi_type_pointer : type_of(argument.dtype));
    values_.push_back(is_pointer(argument) ? static_cast<void*>(&pointers_[at])
                                           : static_cast<void*>(numbers_[at].data()));
  }

  void set_operand(std::size_t at, const BufferView& operand) {
    const PlainArgument& argument = plain_.arguments[at];
    using Kind = PlainArgument::Kind;
    if (argument.kind == Kind::data) {
      pointers_[at] = operand.data;
      return;
    }
    const DtypeInfo* element = find_dtype_number(operand.dtype);
    const DtypeInfo* dtype = find_dtype_number(argument.dtype);
    if (element == nullptr || dtype == nullptr) {
      throw std::invalid_argument("no dtype has this number");
    }
    const std::int64_t factor = argument.in_bytes ? element->bytes : 1;
    if (argument.kind == Kind::stride) {
      const std::int64_t stride = operand.strides.at(argument.axis) * factor;
      std::memcpy(numbers_[at].data(), &stride, sizeof stride);
      return;
    }
    arrays_[at] = array_of(argument.kind == Kind::strides ? operand.strides : operand.dims, factor,
                           dtype->bytes);
    pointers_[at] = arrays_[at].data();
  }

  const PlainInterface& plain_;
  std::vector<BufferView> operands_;
  BufferView returned_;
  std::vector<void*> pointers_;
  std::vector<std::array<unsigned char, 8>> numbers_;
  std::vector<std::vector<unsigned char>> arrays_;
  std::vector<ffi_type*> types_;
  std::vector<void*> values_;
};

}  // namespace

KernelCall plain_call(void* function, const PlainInterface& plain) {
  if (plain.arguments.size() > most_arguments) {
    throw std::invalid_argument("a function of so many arguments is not called");
  }
  return [function, &plain](std::vector<BufferView> arguments, std::vector<BufferView> results) {
    Call call(plain, std::move(arguments), std::move(results));
    KernelEnd end;
    try {
      end = call.run(function);
    } catch (const std::exception& exception) {
      end.end.how = CallEnd::How::threw;
      end.end.message = exception.what();
    } catch (...) {
      // What it is only its own library knows.
      end.end.how = CallEnd::How::threw;
      end.end.message = "an exception that is no std::exception";
    }
    return end;
  };
}

}  // namespace opseal::ffi
