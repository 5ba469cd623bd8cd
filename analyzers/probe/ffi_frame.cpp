#include "analyzers/probe/ffi_frame.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace opseal::ffi {
namespace {

CallEnd guarded_call(Handler* handler, Frame& frame) {
  CallEnd end;
  try {
    frame.future = nullptr;
    const Error* error = handler(&frame);
    if (error == nullptr && frame.future != nullptr) error = wait_for(frame.future);
    if (error != nullptr) {
      end.how = CallEnd::How::failed;
      end.code = error->code;
      end.message = error->message;
    }
  } catch (const std::exception& exception) {
    end.how = CallEnd::How::threw;
    end.message = exception.what();
  } catch (...) {
    // What it is only its own library knows.
    end.how = CallEnd::How::threw;
    end.message = "an exception that is no std::exception";
  }
  return end;
}

}  // namespace

CallFrame::CallFrame(Context& context, std::int32_t stage) {
  frame_.size = frame_size;
  frame_.api = &api();
  frame_.context = &context;
  frame_.stage = stage;
  frame_.arguments.size = operands_size;
  frame_.results.size = operands_size;
  frame_.attributes.size = attributes_size;
}

Operands CallFrame::operands_of(Side& side) {
  side.buffers.clear();
  side.types.clear();
  side.pointers.clear();
  side.buffers.reserve(side.views.size());
  for (BufferView& view : side.views) {
    side.buffers.push_back({buffer_size, nullptr, view.dtype, view.data,
                            static_cast<std::int64_t>(view.dims.size()), view.dims.data()});
    side.types.push_back(view.type);
    side.pointers.push_back(&side.buffers.back());
  }
  return {operands_size, nullptr, static_cast<std::int64_t>(side.views.size()), side.types.data(),
          side.pointers.data()};
}

void CallFrame::set_arguments(std::vector<BufferView> buffers) {
  arguments_.views = std::move(buffers);
  frame_.arguments = operands_of(arguments_);
}

void CallFrame::set_results(std::vector<BufferView> buffers) {
  results_.views = std::move(buffers);
  frame_.results = operands_of(results_);
}

void CallFrame::set_attributes(std::vector<Attribute> attributes, bool sorted) {
  attributes_ = std::move(attributes);
  if (sorted) {
    std::sort(attributes_.begin(), attributes_.end(),
              [](const Attribute& a, const Attribute& b) { return a.name < b.name; });
  }
  const std::size_t count = attributes_.size();
  names_.assign(count, {});
  name_pointers_.assign(count, nullptr);
  types_.assign(count, 0);
  pointers_.assign(count, nullptr);
  scalars_.assign(count, {});
  arrays_.assign(count, {});
  strings_.assign(count, {});
  dictionaries_.assign(count, Attributes{attributes_size, nullptr, 0, nullptr, nullptr, nullptr});
  for (std::size_t at = 0; at < count; ++at) {
    Attribute& attribute = attributes_[at];
    names_[at] = {attribute.name.data(), attribute.name.size()};
    name_pointers_[at] = &names_[at];
    types_[at] = attribute.type;
    switch (attribute.type) {
      case scalar_attribute:
        scalars_[at] = {attribute.dtype, attribute.bytes.data()};
        pointers_[at] = &scalars_[at];
        break;
      case array_attribute:
        arrays_[at] = {attribute.dtype, attribute.elements, attribute.bytes.data()};
        pointers_[at] = &arrays_[at];
        break;
      case string_attribute:
        strings_[at] = {attribute.bytes.data(), attribute.bytes.size()};
        pointers_[at] = &strings_[at];
        break;
      case dictionary_attribute:
        pointers_[at] = &dictionaries_[at];
        break;
    }
  }
  frame_.attributes = {
      attributes_size,       nullptr,         static_cast<std::int64_t>(count), types_.data(),
      name_pointers_.data(), pointers_.data()};
}

CallEnd call(Handler* handler, CallFrame& frame) { return guarded_call(handler, frame.frame()); }

MetadataAnswer ask_metadata(Handler* handler) {
  constexpr std::int32_t unfilled = -1;
  Metadata metadata{};
  metadata.size = metadata_size;
  metadata.version = {version_size, nullptr, unfilled, unfilled};
  MetadataExtension extension{{metadata_extension_size, metadata_extension, nullptr}, &metadata};
  Context context(-1);
  CallFrame frame(context, execute);
  frame.frame().extensions = &extension.base;
  // Handlers from before the handshake go on to their checks: these counts no handler takes.
  frame.frame().arguments.count = -1;
  frame.frame().results.count = -1;
  frame.frame().attributes.count = -1;
  MetadataAnswer answer;
  answer.end = call(handler, frame);
  answer.answered = metadata.version.major != unfilled;
  if (answer.answered) {
    answer.major = metadata.version.major;
    answer.minor = metadata.version.minor;
    answer.traits = metadata.traits;
    answer.state_type = metadata.state_type;
  }
  return answer;
}

}  // namespace opseal::ffi
