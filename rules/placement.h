#pragma once

#include <string_view>

#include "opseal/facts.h"

namespace opseal {

// Systems in which an operator that one device lacks runs on the host by itself, so that a shorter
// list is a decision about speed, and so common that it says nothing (of 198 operators that ONNX
// Runtime serves on CPU and CUDA, 88 differ).
inline bool places_per_operator(const Fact& manifest) {
  for (const std::string_view system :
       {"onnxruntime", "tensorflow", "tflite", "executorch", "ggml"}) {
    if (manifest[Key::system].is(system)) return true;
  }
  return false;
}

}  // namespace opseal
