#include "analyzers/sources/documents.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "analyzers/sources/engines.h"
#include "analyzers/sources/load_code.h"
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
    for (FileRecords& file : records_.files) {
      for (IgnoreComment& one : file.ignores) ignores_.push_back(std::move(one));
    }
    facts_.files.push_back(folder_.place);
    PlacedWriter writer(facts_, folder_.files);
    write_torch_document(writer);
    write_primitive_documents(writer);
    write_onnx_document(writer);
    write_autograd_document(writer);
    write_tensorflow_document(writer);
    write_tvm_document(writer);
    write_executorch_document(writer);
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
  void write_torch_document(PlacedWriter& writer) {
    const std::vector<TorchRecord>& records = records_.torch;
    const TorchTable table = join_torch(records, paths_, folder_.partial);
    if (table.operators.empty() && table.lookups.empty()) return;
    std::vector<UndecidedName> undecided;
    for (const TorchRecord* record : table.undecided) {
      undecided.push_back({record->written, record->place});
    }
    std::set<std::uint32_t> files;
    for (const TorchRecord& record : records) files.insert(record.place.file);
    begin("torch", files, undecided, writer);
    write_torch(table, writer);
    writer.end();
  }

  void write_tvm_document(PlacedWriter& writer) {
    std::vector<TvmRecord> records;
    std::set<std::uint32_t> files;
    for (FileRecords& file : records_.files) {
      for (TvmRecord& record : file.tvm) {
        files.insert(record.place.file);
        records.push_back(std::move(record));
      }
    }
    const bool registers = std::any_of(records.begin(), records.end(),
                                       [](const TvmRecord& record) { return !record.lookup; });
    if (!registers) return;
    begin("tvm-ffi", files, {}, writer);
    write_tvm(records, paths_, writer);
    writer.end();
  }

  void write_executorch_document(PlacedWriter& writer) {
    std::vector<ExecutorchRecord> records;
    std::set<std::uint32_t> files;
    for (FileRecords& file : records_.files) {
      for (ExecutorchRecord& record : file.executorch) {
        files.insert(record.place.file);
        records.push_back(std::move(record));
      }
    }
    if (records.empty()) return;
    begin("executorch", files, {}, writer);
    write_executorch(records, paths_, writer);
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
    std::vector<TargetRecord> targets;
    std::vector<HandlerRecord> handlers;
    std::vector<AnnotationRecord> annotations;
    std::vector<PrimitiveRecord> records;
    std::vector<UndecidedName> undecided;
    for (FileRecords& file : records_.files) {
      for (AnnotationRecord& one : file.annotations) annotations.push_back(std::move(one));
      for (HandlerRecord& handler : file.handlers) handlers.push_back(std::move(handler));
      for (TargetRecord& record : file.targets) {
        if (!record.lookup && !record.if_handler && record.name.text.empty()) {
          undecided.push_back({record.written, record.place});
        }
        targets.push_back(std::move(record));
      }
      for (PrimitiveRecord& record : file.primitives) records.push_back(std::move(record));
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
        for (const TargetRecord& record : targets) files.insert(record.place.file);
        for (const HandlerRecord& handler : handlers) files.insert(handler.place.file);
      }
      if (with_annotations) {
        for (const AnnotationRecord& one : annotations) files.insert(one.place.file);
      }
      begin(system, files, with_targets ? undecided : std::vector<UndecidedName>(), writer);
      write_primitives(primitives, writer);
      if (with_annotations) write_annotations(annotations, writer);
      if (with_targets) write_targets(targets, handlers, folder_.partial, writer);
      writer.end();
    }
  }

  void write_onnx_document(PlacedWriter& writer) {
    std::vector<OnnxRecord> records;
    std::vector<UndecidedName> undecided;
    std::set<std::uint32_t> files;
    for (FileRecords& file : records_.files) {
      for (OnnxRecord& record : file.onnx) {
        if (!record.decided) undecided.push_back({record.written, record.place});
        if (record.use == OnnxUse::kernel && record.decided) files.insert(record.place.file);
        records.push_back(std::move(record));
      }
    }
    if (files.empty()) return;
    begin("onnxruntime", files, undecided, writer);
    write_onnx(records, folder_.partial, writer);
    writer.end();
  }

  void write_autograd_document(PlacedWriter& writer) {
    std::vector<AutogradRecord> records;
    std::set<std::uint32_t> files;
    for (FileRecords& file : records_.files) {
      for (AutogradRecord& record : file.autograd) {
        files.insert(record.place.file);
        records.push_back(std::move(record));
      }
    }
    if (records.empty()) return;
    begin(autograd_system, files, {}, writer);
    write_autograd(records, writer);
    writer.end();
  }

  void write_tensorflow_document(PlacedWriter& writer) {
    std::vector<TensorflowRecord> records;
    std::vector<UndecidedName> undecided;
    std::set<std::uint32_t> files;
    for (FileRecords& file : records_.files) {
      for (TensorflowRecord& record : file.tensorflow) {
        if (record.name.text.empty()) undecided.push_back({record.written, record.place});
        files.insert(record.place.file);
        records.push_back(std::move(record));
      }
    }
    if (undecided.size() == records.size()) return;
    begin("tensorflow", files, undecided, writer);
    write_tensorflow(records, folder_.partial, writer);
    writer.end();
  }

  void write_pair_document(PlacedWriter& writer) {
    const std::vector<DispatchPair>& pairs = records_.pairs;
    if (pairs.empty()) return;
    std::set<std::uint32_t> files;
    for (const DispatchPair& pair : pairs) {
      files.insert({pair.predicate.place.file, pair.table.place.file});
    }
    begin(system_of(pairs), files, {}, writer);
    write_dispatch_pairs(pairs, writer);
    writer.end();
  }

  void write_registrar_document(PlacedWriter& writer) {
    std::vector<RegistrarRecord> registrars;
    std::set<std::uint32_t> files;
    for (FileRecords& file : records_.files) {
      for (RegistrarRecord& record : file.registrars) {
        files.insert(record.place.file);
        registrars.push_back(std::move(record));
      }
    }
    if (registrars.empty()) return;
    begin("engine", files, {}, writer);
    write_registrars(registrars, writer);
    writer.end();
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
    std::vector<CacheRecord> caches;
    std::set<std::uint32_t> files;
    for (FileRecords& file : records_.files) {
      for (CacheRecord& record : file.caches) {
        files.insert(record.file);
        caches.push_back(std::move(record));
      }
    }
    if (caches.empty()) return;
    begin({}, files, {}, writer);
    write_caches(caches, writer);
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
