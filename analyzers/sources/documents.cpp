#include "analyzers/sources/documents.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "analyzers/sources/engines.h"
#include "analyzers/sources/key_records.h"
#include "analyzers/sources/load_code.h"
#include "analyzers/sources/native_gradients.h"
#include "analyzers/sources/placed_writer.h"
#include "analyzers/sources/torch_facts.h"
#include "analyzers/sources/torch_table.h"

namespace opseal {
namespace {

class DocumentWriter {
 public:
  DocumentWriter(TreeRecords& records, const SourceFolder& folder,
                 const std::vector<std::string>& paths, Facts& facts)
      : records_(records), folder_(folder), paths_(paths), facts_(facts) {}

  void run() {
    ignores_ = gathered(&FileRecords::ignores);
    facts_.files.push_back(folder_.place);
    PlacedWriter writer(facts_, folder_.files);
    write_torch_document(writer);
    write_primitive_documents(writer);
    write_onnx_document(writer);
    write_onnx_function_document(writer);
    write_paddle_document(writer);
    write_autograd_document(writer);
    write_derivative_document(writer);
    write_triton_document(writer);
    write_tensorflow_document(writer);
    write_tvm_document(writer);
    write_executorch_document(writer);
    write_extension_document(writer);
    write_twin_document(writer);
    write_foreign_document(writer);
    write_mlx_document(writer);
    write_native_document(writer);
    write_plugin_documents(writer);
    write_pair_document(writer);
    write_registrar_document(writer);
    write_engine_documents(writer);
    write_cache_document(writer);
    write_device_document(writer);
    for (FileRecords& file : records_.files) {
      for (Problem& problem : file.problems) {
        problem.where.file = writer.file_of(problem.where.file);
        facts_.problems.push_back(std::move(problem));
      }
    }
  }

 private:
  // What all files say of one kind, in their order; it is taken out of them.
  template <typename Record>
  std::vector<Record> gathered(std::vector<Record> FileRecords::*kind) {
    std::vector<Record> all;
    for (FileRecords& file : records_.files) {
      for (Record& record : file.*kind) all.push_back(std::move(record));
      (file.*kind).clear();
    }
    return all;
  }

  template <typename Record>
  static std::set<std::uint32_t> files_of(const std::vector<Record>& records) {
    std::set<std::uint32_t> files;
    for (const Record& record : records) files.insert(record.place.file);
    return files;
  }

  void write_torch_document(PlacedWriter& writer) {
    const std::vector<TorchRecord>& records = records_.torch;
    const TorchTable table = join_torch(records, paths_, folder_.partial);
    if (table.operators.empty() && table.lookups.empty()) return;
    std::vector<UndecidedName> undecided;
    for (const TorchRecord* record : table.undecided) {
      undecided.push_back({record->written, record->place});
    }
    const std::set<std::uint32_t> files = files_of(records);
    begin("torch", files, undecided, writer);
    write_torch(table, writer);
    writer.end();
  }

  void write_tvm_document(PlacedWriter& writer) {
    const std::vector<TvmRecord> records = gathered(&FileRecords::tvm);
    const std::set<std::uint32_t> files = files_of(records);
    const bool registers = std::any_of(records.begin(), records.end(),
                                       [](const TvmRecord& record) { return !record.lookup; });
    if (!registers) return;
    begin("tvm-ffi", files, {}, writer);
    write_tvm(records, paths_, writer);
    writer.end();
  }

  void write_executorch_document(PlacedWriter& writer) {
    const std::vector<ExecutorchRecord> records = gathered(&FileRecords::executorch);
    const std::set<std::uint32_t> files = files_of(records);
    if (records.empty()) return;
    begin("executorch", files, {}, writer);
    write_executorch(records, paths_, writer);
    writer.end();
  }

  void write_plugin_documents(PlacedWriter& writer) {
    for (const PluginKind kind : {PluginKind::tensorrt, PluginKind::onnxruntime}) {
      std::set<std::uint32_t> files;
      for (const PluginClass& one : records_.plugins.classes) {
        if (one.kind == kind) files.insert(one.place.file);
      }
      if (files.empty()) continue;
      begin(kind == PluginKind::tensorrt ? "tensorrt" : "onnxruntime", files, {}, writer);
      write_plugins(records_.plugins, kind, folder_.partial, writer);
      writer.end();
    }
  }

  void write_extension_document(PlacedWriter& writer) {
    const ExtensionTree& tree = records_.extension_uses;
    if (tree.modules.empty() && tree.uses.empty()) return;
    std::set<std::uint32_t> files;
    for (const ExtensionUse& use : tree.uses) files.insert(use.place.file);
    for (const ExtensionModule& module : tree.modules) {
      for (const ExtensionFunction& function : module.functions) {
        files.insert(function.bound->place.file);
      }
    }
    std::vector<UndecidedName> undecided;
    for (const ExtensionModule& module : tree.modules) {
      if (module.open) {
        undecided.push_back({module.name, module.functions.front().bound->place});
      }
    }
    begin({}, files, undecided, writer);
    write_extensions(tree, writer);
    writer.end();
  }

  // Methods of classes that are bound in two files.
  void write_twin_document(PlacedWriter& writer) {
    const std::vector<MethodBinding> twins = twin_bindings(gathered(&FileRecords::methods));
    if (twins.empty()) return;
    begin({}, files_of(twins), {}, writer);
    write_twin_bindings(twins, paths_, writer);
    writer.end();
  }

  // The head of a document, with what is said of the tree; `files`: those that say something.
  void begin(std::string_view system, const std::set<std::uint32_t>& files,
             const std::vector<UndecidedName>& undecided, PlacedWriter& writer) {
    writer.begin(system);
    writer.tree(static_cast<std::uint32_t>(files.size()), folder_.partial, undecided, ignores_);
    // They are the tree's, and one document of it has them.
    ignores_.clear();
  }

  // The targets of XLA are written with the primitives of JAX.
  void write_primitive_documents(PlacedWriter& writer) {
    const std::vector<TargetRecord> targets = gathered(&FileRecords::targets);
    const std::vector<HandlerRecord> handlers = gathered(&FileRecords::handlers);
    const std::vector<AnnotationRecord> annotations = gathered(&FileRecords::annotations);
    const std::vector<PrimitiveRecord> records = gathered(&FileRecords::primitives);
    std::vector<UndecidedName> undecided;
    for (const TargetRecord& record : targets) {
      if (!record.lookup && !record.if_handler && record.name.text.empty()) {
        undecided.push_back({record.written, record.place});
      }
    }
    const bool registers =
        !handlers.empty() ||
        std::any_of(targets.begin(), targets.end(), [](const TargetRecord& record) {
          return !record.lookup && !record.if_handler && !record.name.text.empty();
        });
    for (const std::string_view system : {"brainevent", "braintrace", "jax"}) {
      const std::vector<Primitive> primitives = primitives_of(system, records);
      const bool with_targets = system == "jax" && registers;
      const bool with_annotations = system == "brainevent" && !annotations.empty();
      if (primitives.empty() && !with_targets && !with_annotations) continue;
      std::set<std::uint32_t> files;
      for (const Primitive& primitive : primitives) {
        for (const PrimitiveRecord* record : primitive.records) files.insert(record->place.file);
      }
      if (with_targets) {
        files.merge(files_of(targets));
        files.merge(files_of(handlers));
      }
      if (with_annotations) files.merge(files_of(annotations));
      begin(system, files, with_targets ? undecided : std::vector<UndecidedName>(), writer);
      PrimitivesKnown whole;
      if (system == "jax") {
        whole.transposes = knows_all(PythonKind::primitive_transpose, records);
        whole.batching = knows_all(PythonKind::primitive_batching, records);
      }
      write_primitives(primitives, whole, writer);
      if (with_annotations) write_annotations(annotations, writer);
      if (with_targets) write_targets(targets, handlers, folder_.partial, writer);
      writer.end();
    }
  }

  // No such rule is registered on a primitive that only the running code knows.
  bool knows_all(PythonKind kind, const std::vector<PrimitiveRecord>& records) const {
    if (folder_.partial) return false;
    return std::none_of(records.begin(), records.end(), [kind](const PrimitiveRecord& record) {
      return record.said.kind == kind && !record.said.name.decided();
    });
  }

  void write_onnx_document(PlacedWriter& writer) {
    const std::vector<OnnxRecord> records = gathered(&FileRecords::onnx);
    std::vector<UndecidedName> undecided;
    std::set<std::uint32_t> files;
    for (const OnnxRecord& record : records) {
      if (!record.decided) undecided.push_back({record.written, record.place});
      if (record.use == OnnxUse::kernel && record.decided) files.insert(record.place.file);
    }
    if (files.empty()) return;
    begin("onnxruntime", files, undecided, writer);
    write_onnx(records, folder_.partial, writer);
    writer.end();
  }

  void write_onnx_function_document(PlacedWriter& writer) {
    const std::vector<OnnxFunctionRecord> records = gathered(&FileRecords::onnx_functions);
    if (records.empty()) return;
    begin("onnxruntime-extensions", files_of(records), {}, writer);
    write_onnx_functions(records, writer);
    writer.end();
  }

  void write_paddle_document(PlacedWriter& writer) {
    const std::vector<PaddleRecord> records = gathered(&FileRecords::paddle);
    if (records.empty()) return;
    begin("paddle", files_of(records), {}, writer);
    write_paddle(records, writer);
    writer.end();
  }

  void write_autograd_document(PlacedWriter& writer) {
    const std::vector<AutogradRecord> records = gathered(&FileRecords::autograd);
    const std::set<std::uint32_t> files = files_of(records);
    if (records.empty()) return;
    begin(autograd_system, files, {}, writer);
    write_autograd(records, writer);
    writer.end();
  }

  void write_derivative_document(PlacedWriter& writer) {
    std::vector<DerivativeRecord> records;
    std::set<std::uint32_t> files;
    for (FileRecords& file : records_.files) {
      for (DerivativeRecord& record : file.derivatives) {
        files.insert(record.place.file);
        records.push_back(std::move(record));
      }
    }
    if (records.empty()) return;
    begin(derivatives_system, files, {}, writer);
    write_derivatives(records, paths_, writer);
    writer.end();
  }

  void write_triton_document(PlacedWriter& writer) {
    std::vector<TritonRecord> records;
    for (FileRecords& file : records_.files) {
      for (TritonRecord& record : file.triton) records.push_back(std::move(record));
    }
    const std::vector<TritonStart> starts = join_triton(records, paths_);
    if (starts.empty()) return;
    std::set<std::uint32_t> files;
    for (const TritonStart& start : starts) files.insert({start.kernel_file, start.launch_file});
    begin(triton_system, files, {}, writer);
    write_triton(starts, paths_, writer);
    writer.end();
  }

  void write_tensorflow_document(PlacedWriter& writer) {
    const std::vector<TensorflowRecord> records = gathered(&FileRecords::tensorflow);
    const std::set<std::uint32_t> files = files_of(records);
    std::vector<UndecidedName> undecided;
    for (const TensorflowRecord& record : records) {
      if (record.name.text.empty()) undecided.push_back({record.written, record.place});
    }
    if (undecided.size() == records.size()) return;
    begin("tensorflow", files, undecided, writer);
    write_tensorflow(records, folder_.partial, writer);
    writer.end();
  }

  void write_foreign_document(PlacedWriter& writer) {
    const ForeignTree& tree = records_.foreign;
    if (tree.uses.empty()) return;
    std::set<std::uint32_t> files;
    for (const ForeignUse& use : tree.uses) files.insert(use.file);
    for (const CFunction& function : tree.functions) files.insert(function.place.file);
    begin(foreign_system, files, {}, writer);
    write_foreign(tree, writer);
    writer.end();
  }

  void write_native_document(PlacedWriter& writer) {
    const std::vector<TorchRecord>& functions = records_.native_gradients;
    std::set<std::uint32_t> files;
    for (const TorchRecord& function : functions) {
      if (!function.dispatches.empty()) files.insert(function.place.file);
    }
    if (files.empty()) return;
    begin(native_system, files, {}, writer);
    write_native_gradients(functions, paths_, writer);
    writer.end();
  }

  void write_mlx_document(PlacedWriter& writer) {
    const std::vector<MlxPrimitive> primitives = gathered(&FileRecords::mlx);
    if (primitives.empty()) return;
    begin(mlx_system, files_of(primitives), {}, writer);
    write_mlx(primitives, writer);
    writer.end();
  }

  void write_pair_document(PlacedWriter& writer) {
    const std::vector<DispatchPair>& pairs = records_.pairs;
    const std::vector<AgreeingTables>& tables = records_.tables;
    std::vector<AlternativesRecord> alternatives;
    std::set<std::uint32_t> files;
    for (FileRecords& file : records_.files) {
      for (AlternativesRecord& record : file.alternatives) {
        files.insert(record.file);
        alternatives.push_back(std::move(record));
      }
    }
    if (pairs.empty() && tables.empty() && alternatives.empty()) return;
    for (const AgreeingTables& one : tables) {
      for (const KindTable& table : one.tables) files.insert(table.name.place.file);
    }
    for (const DispatchPair& pair : pairs) {
      files.insert({pair.predicate.place.file, pair.table.place.file});
    }
    begin(system_of(pairs), files, {}, writer);
    const std::uint32_t dispatch = writer.open_list(Key::dispatch);
    write_dispatch_pairs(pairs, writer);
    write_agreeing_tables(tables, writer);
    write_alternatives(alternatives, writer);
    writer.close_list(dispatch);
    writer.end();
  }

  void write_registrar_document(PlacedWriter& writer) {
    std::vector<RegistrarRecord> registrars = gathered(&FileRecords::registrars);
    std::set<std::uint32_t> files = files_of(registrars);
    add_repeated_owners(registrars, files);
    if (registrars.empty()) return;
    begin("engine", files, {}, writer);
    write_registrars(registrars, writer);
    writer.end();
  }

  // Blocks of C++ that take one namespace as a whole, where there are several.
  void add_repeated_owners(std::vector<RegistrarRecord>& registrars,
                           std::set<std::uint32_t>& files) const {
    std::map<std::string_view, std::vector<const TorchRecord*>> owners;
    for (const TorchRecord& record : records_.torch) {
      if (record.use != TorchUse::own || record.python || record.space.open) continue;
      owners[record.space.text].push_back(&record);
    }
    for (const auto& [space, blocks] : owners) {
      if (blocks.size() < 2) continue;
      for (const TorchRecord* block : blocks) {
        RegistrarRecord record;
        record.type = "TORCH_LIBRARY";
        record.space = space;
        record.when = block->when;
        record.place = block->place;
        files.insert(record.place.file);
        registrars.push_back(std::move(record));
      }
    }
  }

  // One for each, since each has a way of its own to treat a second registration.
  void write_engine_documents(PlacedWriter& writer) {
    for (Engine& engine : records_.engines) {
      if (!settle_engine(engine, folder_.partial)) continue;
      std::set<std::uint32_t> files{engine.place.file};
      for (const EngineEntry& entry : engine.entries) files.insert(entry.place.file);
      begin("engine", files, {}, writer);
      write_engine(engine, writer);
      writer.end();
    }
  }

  void write_cache_document(PlacedWriter& writer) {
    const std::vector<CacheRecord> caches = gathered(&FileRecords::caches);
    std::set<std::uint32_t> files;
    for (const CacheRecord& record : caches) {
      files.insert(record.file);
      if (record.tail > 0) files.insert(record.tail_file);
    }
    std::vector<const KeyCode*> code;
    for (const FileRecords& file : records_.files) code.push_back(&file.keys);
    const std::vector<KeyRecord> keys = join_keys(code);
    for (const KeyRecord& record : keys) files.insert(record.place.file);
    for (const SuffixRecord& record : records_.suffixes) {
      files.insert(record.chosen.file);
      for (const SuffixRecord::Lookup& lookup : record.lookups) files.insert(lookup.place.file);
    }
    if (files.empty()) return;
    begin({}, files, {}, writer);
    const std::uint32_t list = writer.open_list(Key::caches);
    write_caches(caches, writer);
    write_suffixes(records_.suffixes, writer);
    write_keys(keys, writer);
    writer.close_list(list);
    writer.end();
  }

  void write_device_document(PlacedWriter& writer) {
    const std::set<std::uint32_t> files = files_with_device_code(records_.devices, paths_);
    if (files.empty()) return;
    begin({}, files, {}, writer);
    write_device_code(records_.devices, files, folder_.partial, writer);
    writer.end();
  }

  TreeRecords& records_;
  const SourceFolder& folder_;
  const std::vector<std::string>& paths_;
  Facts& facts_;
  std::vector<IgnoreComment> ignores_;
};

}  // namespace

void write_documents(TreeRecords& records, const SourceFolder& folder,
                     const std::vector<std::string>& paths, Facts& facts) {
  DocumentWriter(records, folder, paths, facts).run();
}

}  // namespace opseal
