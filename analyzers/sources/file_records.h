#pragma once

#include <vector>

#include "analyzers/sources/annotations.h"
#include "analyzers/sources/autograd.h"
#include "analyzers/sources/cache_facts.h"
#include "analyzers/sources/device_code.h"
#include "analyzers/sources/dispatch_pairs.h"
#include "analyzers/sources/engines.h"
#include "analyzers/sources/executorch.h"
#include "analyzers/sources/handlers.h"
#include "analyzers/sources/ignores.h"
#include "analyzers/sources/onnx.h"
#include "analyzers/sources/primitives.h"
#include "analyzers/sources/records.h"
#include "analyzers/sources/registrars_cpp.h"
#include "analyzers/sources/targets.h"
#include "analyzers/sources/tensorflow.h"
#include "analyzers/sources/torch_cpp.h"
#include "analyzers/sources/tvm.h"
#include "opseal/facts.h"

namespace opseal {

// What one file says.
struct FileRecords {
  TorchCpp torch_cpp;
  std::vector<TorchRecord> torch_python;
  std::vector<TargetRecord> targets;
  std::vector<HandlerRecord> handlers;
  std::vector<AnnotationRecord> annotations;
  std::vector<TvmRecord> tvm;
  std::vector<ExecutorchRecord> executorch;
  std::vector<PrimitiveRecord> primitives;
  std::vector<OnnxRecord> onnx;
  std::vector<AutogradRecord> autograd;
  std::vector<TensorflowRecord> tensorflow;
  std::vector<CacheRecord> caches;
  std::vector<IgnoreComment> ignores;
  std::vector<RegistrarRecord> registrars;
  std::vector<Problem> problems;
  // It names a support predicate.
  bool has_predicate = false;
};

// What a tree says, once its files are joined.
struct TreeRecords {
  // By number of the file; a problem's `Location::file` is that number.
  std::vector<FileRecords> files;
  std::vector<TorchRecord> torch;
  std::vector<DispatchPair> pairs;
  std::vector<Engine> engines;
  // By number of the file.
  std::vector<DeviceCode> devices;
};

}  // namespace opseal
