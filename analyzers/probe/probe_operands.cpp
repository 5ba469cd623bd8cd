#include "analyzers/probe/probe_operands.h"

namespace opseal {

void write_probe_operands(FactWriter& writer, const Location& place, Key key,
                          const std::vector<ffi::QuestionOperand>& operands) {
  const auto behind = static_cast<std::uint32_t>(place.offset + place.length);
  const std::uint32_t list = writer.open(key, NodeType::list, place.offset);
  for (const ffi::QuestionOperand& operand : operands) {
    const std::uint32_t object = writer.open(Key::none, NodeType::object, place.offset);
    const ffi::DtypeInfo* dtype = ffi::find_dtype_number(operand.dtype);
    const std::uint32_t dtypes = writer.open(Key::dtypes, NodeType::list, place.offset);
    if (dtype != nullptr) {
      writer.add_text(Key::none, dtype->word, place.offset, place.length);
    }
    writer.close(dtypes, behind);
    const std::uint32_t shape = writer.open(Key::shape, NodeType::list, place.offset);
    for (const std::int64_t extent : operand.dims) {
      writer.add(Key::none, NodeType::count, static_cast<std::uint32_t>(extent), place.offset,
                 place.length);
    }
    writer.close(shape, behind);
    if (!operand.strides.empty()) {
      const std::uint32_t strides = writer.open(Key::strides, NodeType::list, place.offset);
      for (const std::int64_t stride : operand.strides) {
        writer.add_real(Key::none, static_cast<double>(stride), place.offset, place.length);
      }
      writer.close(strides, behind);
    }
    writer.close(object, behind);
  }
  writer.close(list, behind);
}

}  // namespace opseal
