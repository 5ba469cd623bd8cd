#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "analyzers/python/tables.h"
#include "analyzers/sources/agreeing_tables.h"
#include "analyzers/sources/alternatives_python.h"
#include "analyzers/sources/annotations.h"
#include "analyzers/sources/autograd.h"
#include "analyzers/sources/built_names.h"
#include "analyzers/sources/cache_facts.h"
#include "analyzers/sources/derivatives.h"
#include "analyzers/sources/device_code.h"
#include "analyzers/sources/dispatch_pairs.h"
#include "analyzers/sources/engines_cpp.h"
#include "analyzers/sources/executorch.h"
#include "analyzers/sources/extensions.h"
#include "analyzers/sources/foreign.h"
#include "analyzers/sources/handlers.h"
#include "analyzers/sources/ignores.h"
#include "analyzers/sources/key_code.h"
#include "analyzers/sources/library_suffixes.h"
#include "analyzers/sources/mlx.h"
#include "analyzers/sources/onnx.h"
#include "analyzers/sources/onnx_python.h"
#include "analyzers/sources/paddle.h"
#include "analyzers/sources/plugin_classes.h"
#include "analyzers/sources/primitives.h"
#include "analyzers/sources/records.h"
#include "analyzers/sources/registrars_cpp.h"
#include "analyzers/sources/targets.h"
#include "analyzers/sources/tensorflow.h"
#include "analyzers/sources/torch_cpp.h"
#include "analyzers/sources/triton.h"
#include "analyzers/sources/tvm.h"
#include "analyzers/sources/twin_bindings.h"
#include "opseal/facts.h"

namespace opseal {

// A use of a macro that the configuration explains.
struct StatedMacroUse {
  std::string macro;
  SourcePlace place;
  bool fits = false;
  std::uint32_t arguments = 0;
};

// What one file says.
struct FileRecords {
  TorchCpp torch_cpp;
  std::vector<TorchRecord> torch_python;
  std::vector<TargetRecord> targets;
  std::vector<HandlerRecord> handlers;
  std::vector<AnnotationRecord> annotations;
  std::vector<TvmRecord> tvm;
  std::vector<ExecutorchRecord> executorch;
  std::vector<ExtensionBlock> extensions;
  // Names that it may give to modules of C++.
  std::set<std::string> module_texts;
  std::vector<PrimitiveRecord> primitives;
  std::vector<OnnxRecord> onnx;
  std::vector<PaddleRecord> paddle;
  std::vector<AutogradRecord> autograd;
  std::vector<DerivativeRecord> derivatives;
  std::vector<TensorflowRecord> tensorflow;
  std::vector<CacheRecord> caches;
  std::vector<OnnxFunctionRecord> onnx_functions;
  KeyCode keys;
  std::vector<IgnoreComment> ignores;
  // Of Python; those of C++ are found in whole folders.
  std::vector<DispatchPair> pairs;
  std::vector<AlternativesRecord> alternatives;
  PluginRecords plugins;
  std::vector<TritonRecord> triton;
  std::vector<ForeignRecord> foreign;
  std::vector<MlxPrimitive> mlx;
  std::vector<TorchRecord> native_gradients;
  std::vector<PythonTable> python_tables;
  std::vector<AgreeingTables> row_tables;
  std::vector<BuiltName> built_names;
  std::vector<MethodBinding> methods;
  CppMaps maps;
  std::vector<RegistrarRecord> registrars;
  std::vector<StatedMacroUse> stated_uses;
  std::vector<Problem> problems;
  // It names a support predicate.
  bool has_predicate = false;
  // It defines a function that sounds like one.
  bool may_predicate = false;
  // Tables over an enumeration may stand in it.
  bool may_tables = false;
  // A table of a registry may stand in it, which registrars fill before `main`.
  bool may_static_tables = false;
  // It has a word by which code chooses by dtype, or may make a macro that does.
  bool may_dispatch = false;
  // It puts names together, or hands plugins to their runtime.
  bool may_paste = false;
  bool registers_plugins = false;
};

// What a tree says, once its files are joined.
struct TreeRecords {
  // By number of the file; a problem's `Location::file` is that number.
  std::vector<FileRecords> files;
  std::vector<TorchRecord> torch;
  std::vector<DispatchPair> pairs;
  // What holds the tables of the tree.
  std::vector<AgreeingTables> tables;
  std::vector<ExtensionBlock> extensions;
  ExtensionTree extension_uses;
  ForeignTree foreign;
  std::vector<TorchRecord> native_gradients;
  PluginRecords plugins;
  std::vector<Engine> engines;
  std::vector<SuffixRecord> suffixes;
  // By number of the file.
  std::vector<DeviceCode> devices;
};

}  // namespace opseal
