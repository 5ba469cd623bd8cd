// Handlers of XLA's FFI without XLA's headers: what those check before they enter a user's
// function, in the same order and the same words, so that opseal's probes meet here what they meet
// in the wild. tests/live_probe_test.py does the same with the headers of real releases.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzers/probe/ffi_abi.h"

namespace fake {

namespace ffi = opseal::ffi;

// Opaque to handlers, made by the caller alone.
inline ffi::Error* make_error(const ffi::Frame* frame, std::int32_t code,
                              const std::string& message) {
  struct Arguments {
    std::size_t size;
    void* extensions;
    const char* message;
    std::int32_t code;
  } arguments{28, nullptr, message.c_str(), code};
  return static_cast<ffi::Error*>(frame->api->slots[0](&arguments));
}

// 0: any.
struct Operand {
  std::int32_t dtype = 0;
  std::int64_t rank = -1;
};

struct Attribute {
  std::string name;
  std::int32_t dtype = 0;
};

struct Binding {
  std::vector<Operand> arguments;
  std::vector<Operand> results;
  // Sorted by name; scalars.
  std::vector<Attribute> attributes;
  std::uint32_t traits = 0;
  std::int32_t stage = ffi::execute;
};

inline const char* name_of(std::int32_t dtype) {
  const ffi::DtypeInfo* info = ffi::find_dtype_number(dtype);
  return info == nullptr ? "INVALID" : info->name;
}

inline void decode(const std::vector<Operand>& bound, const ffi::Operands& given, const char* kind,
                   std::size_t& number, std::string& bad, std::string& diagnostics) {
  const auto refuse = [&](const std::string& text) {
    bad += (bad.empty() ? "" : ", ") + std::to_string(number);
    diagnostics += text;
  };
  for (std::size_t at = 0; at < bound.size(); ++at, ++number) {
    if (given.types[at] != ffi::buffer_argument) {
      refuse(std::string("Wrong ") + kind + " type: expected 1 but got " +
             std::to_string(given.types[at]));
      continue;
    }
    const auto* buffer = static_cast<const ffi::Buffer*>(given.values[at]);
    if (bound[at].dtype != 0 && buffer->dtype != bound[at].dtype) {
      refuse(std::string("Wrong buffer dtype: expected ") + name_of(bound[at].dtype) + " but got " +
             name_of(buffer->dtype));
    } else if (bound[at].rank >= 0 && buffer->rank != bound[at].rank) {
      refuse("Wrong buffer rank: expected " + std::to_string(bound[at].rank) + " but got " +
             std::to_string(buffer->rank));
    }
  }
}

inline std::string count_text(const char* what, std::size_t expected, std::int64_t given) {
  return std::string("[execute] Wrong number of ") + what + ": expected " +
         std::to_string(expected) + " but got " + std::to_string(given);
}

// Null: go on. What `done` says: an answer was given, be it a good one.
inline ffi::Error* enter(ffi::Frame* frame, const Binding& binding, bool& done) {
  done = true;
  const auto refuse = [frame](const std::string& text) {
    return make_error(frame, ffi::invalid_argument, text);
  };
  if (frame->size != ffi::frame_size) return refuse("Unexpected XLA_FFI_CallFrame size");
  if (frame->extensions != nullptr && frame->extensions->type == ffi::metadata_extension) {
    auto* metadata = reinterpret_cast<ffi::MetadataExtension*>(frame->extensions)->metadata;
    metadata->version.major = 0;
    metadata->version.minor = 3;
    metadata->traits = binding.traits;
    metadata->state_type = 0;
    return nullptr;
  }
  if (frame->stage != binding.stage) {
    constexpr const char* names[] = {"instantiate", "prepare", "initialize", "execute", "record"};
    return refuse(std::string("Wrong execution stage: expected `") + names[binding.stage] +
                  "` but got `" + names[frame->stage] + '`');
  }
  if (!binding.arguments.empty() &&
      frame->arguments.count != static_cast<std::int64_t>(binding.arguments.size())) {
    return refuse(count_text("arguments", binding.arguments.size(), frame->arguments.count));
  }
  if (!binding.results.empty() &&
      frame->results.count != static_cast<std::int64_t>(binding.results.size())) {
    return refuse(count_text("results", binding.results.size(), frame->results.count));
  }
  if (!binding.attributes.empty() &&
      frame->attributes.count != static_cast<std::int64_t>(binding.attributes.size())) {
    return refuse(count_text("attributes", binding.attributes.size(), frame->attributes.count));
  }
  std::size_t number = 0;
  std::string bad;
  std::string diagnostics;
  decode(binding.arguments, frame->arguments, "argument", number, bad, diagnostics);
  decode(binding.results, frame->results, "result", number, bad, diagnostics);
  for (std::size_t at = 0; at < binding.attributes.size(); ++at, ++number) {
    const Attribute& bound = binding.attributes[at];
    const ffi::ByteSpan& name = *frame->attributes.names[at];
    std::string text;
    if (std::string_view(name.bytes, name.length) != bound.name) {
      text =
          "Attribute name mismatch: " + std::string(name.bytes, name.length) + " vs " + bound.name;
    } else if (frame->attributes.types[at] != ffi::scalar_attribute) {
      text = "Wrong attribute type: expected scalar but got string";
    } else if (static_cast<ffi::Scalar*>(frame->attributes.values[at])->dtype != bound.dtype) {
      text = std::string("Wrong scalar data type: expected ") + name_of(bound.dtype) + " but got " +
             name_of(static_cast<ffi::Scalar*>(frame->attributes.values[at])->dtype);
    }
    if (text.empty()) continue;
    bad += (bad.empty() ? "" : ", ") + std::to_string(number);
    diagnostics += text;
  }
  if (!bad.empty()) {
    return refuse("[execute] Failed to decode all FFI handler operands (bad operands at: " + bad +
                  ")\nDiagnostics:\n" + diagnostics);
  }
  done = false;
  return nullptr;
}

inline ffi::Buffer& argument(ffi::Frame* frame, std::size_t at) {
  return *static_cast<ffi::Buffer*>(frame->arguments.values[at]);
}
inline ffi::Buffer& result(ffi::Frame* frame, std::size_t at) {
  return *static_cast<ffi::Buffer*>(frame->results.values[at]);
}
inline std::size_t elements(const ffi::Buffer& buffer) {
  std::size_t count = 1;
  for (std::int64_t axis = 0; axis < buffer.rank; ++axis) {
    count *= static_cast<std::size_t>(buffer.dims[axis]);
  }
  return count;
}

}  // namespace fake

// HANDLER(Name, Binding) { body that sees `frame` and returns an error or null }
#define HANDLER(NAME, ...)                                                            \
  static opseal::ffi::Error* NAME##_body([[maybe_unused]] opseal::ffi::Frame* frame); \
  extern "C" opseal::ffi::Error* NAME(opseal::ffi::Frame* frame) {                    \
    static const fake::Binding binding = __VA_ARGS__;                                 \
    bool done = false;                                                                \
    opseal::ffi::Error* error = fake::enter(frame, binding, done);                    \
    return done ? error : NAME##_body(frame);                                         \
  }                                                                                   \
  static opseal::ffi::Error* NAME##_body([[maybe_unused]] opseal::ffi::Frame* frame)
