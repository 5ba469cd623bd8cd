#include "analyzers/sources/load.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "analyzers/input_error.h"
#include "analyzers/python/registrations.h"
#include "analyzers/source/invocations.h"
#include "analyzers/source/needles.h"
#include "analyzers/source/plain_source.h"
#include "analyzers/source/preprocessor.h"
#include "analyzers/source/source_tree.h"
#include "analyzers/sources/annotations.h"
#include "analyzers/sources/autograd.h"
#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/declarations.h"
#include "analyzers/sources/device_code.h"
#include "analyzers/sources/dispatch_index.h"
#include "analyzers/sources/dispatch_pairs.h"
#include "analyzers/sources/handlers.h"
#include "analyzers/sources/ignores.h"
#include "analyzers/sources/load_code.h"
#include "analyzers/sources/onnx.h"
#include "analyzers/sources/placed_writer.h"
#include "analyzers/sources/primitives.h"
#include "analyzers/sources/registrars_cpp.h"
#include "analyzers/sources/targets.h"
#include "analyzers/sources/tensorflow.h"
#include "analyzers/sources/torch_cpp.h"
#include "analyzers/sources/torch_facts.h"
#include "analyzers/sources/torch_python.h"
#include "analyzers/sources/torch_table.h"
#include "analyzers/sources/tvm.h"
#include "opseal/side_by_side.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Sources above this are data in the form of a source.
constexpr std::size_t most_bytes = std::size_t{32} << 20;

bool read_bytes(const InputFile& file, std::string& bytes) {
  if (file.open_path.empty()) {
    bytes = file.bytes;
    return true;
  }
  std::ifstream stream(file.open_path, std::ios::binary);
  if (!stream) return false;
  bytes.resize(static_cast<std::size_t>(file.size));
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(stream.gcount()));
  return !stream.bad();
}

// What one file says.
struct FileRecords {
  TorchCpp torch_cpp;
  std::vector<TorchRecord> torch_python;
  std::vector<TargetRecord> targets;
  std::vector<HandlerRecord> handlers;
  std::vector<AnnotationRecord> annotations;
  std::vector<TvmRecord> tvm;
  std::vector<PrimitiveRecord> primitives;
  std::vector<OnnxRecord> onnx;
  std::vector<AutogradRecord> autograd;
  std::vector<TensorflowRecord> tensorflow;
  std::vector<IgnoreComment> ignores;
  std::vector<RegistrarRecord> registrars;
  std::vector<Problem> problems;
  // It names a support predicate.
  bool has_predicate = false;
};

class SourceLoader {
 public:
  SourceLoader(SourceFolder folder, unsigned threads, std::string stated_macros)
      : folder_(std::move(folder)),
        threads_(std::max(1u, threads)),
        stated_macros_(std::move(stated_macros)) {
    for (const InputFile& file : folder_.files) paths_.push_back(file.path);
  }

  Facts load() {
    read_files();
    join();
    return std::move(facts_);
  }

 private:
  void read_files() {
    std::vector<std::string> cpp;
    for (std::size_t at = 0; at < paths_.size(); ++at) {
      if (!paths_[at].ends_with(".py")) {
        cpp.push_back(paths_[at]);
        cpp_files_.push_back(at);
      }
    }
    SourceTree tree(
        cpp, registration_vocabulary(),
        [this](const std::string& path, std::string& bytes) {
          const auto found = std::lower_bound(paths_.begin(), paths_.end(), path);
          if (found == paths_.end() || *found != path) return false;
          const auto at = static_cast<std::size_t>(found - paths_.begin());
          return folder_.files[at].size <= most_bytes && read_bytes(folder_.files[at], bytes);
        },
        stated_macros_);
    if (!cpp.empty()) tree.discover();
    records_.resize(paths_.size());
    devices_.resize(paths_.size());
    std::vector<std::uint32_t> tree_file(paths_.size(), no_file);
    for (FileId file = 0; file < tree.size(); ++file) {
      const auto found = std::lower_bound(paths_.begin(), paths_.end(), tree.path(file));
      tree_file[static_cast<std::size_t>(found - paths_.begin())] = file;
    }
    const Needles registrars(registrar_needles());
    const Needles predicates(predicate_needles(folder_.pairs));
    std::atomic<std::size_t> next{0};
    side_by_side(threads_, threads_, [&](std::size_t) {
      // Each thread has its own, kept from file to file.
      Preprocessor preprocessor(tree);
      SourceUnit unit;
      Invocations found;
      PlainSource plain;
      std::string bytes;
      for (std::size_t at = next++; at < paths_.size(); at = next++) {
        const auto number = static_cast<std::uint32_t>(at);
        if (!read_source(number, bytes)) continue;
        records_[at].ignores = read_ignores(bytes, number, tree_file[at] == no_file);
        if (tree_file[at] == no_file) {
          read_python(number, bytes);
          continue;
        }
        add_autograd(autograd_classes(bytes, number), paths_[at], records_[at].autograd);
        records_[at].has_predicate = predicates.occur_in(bytes);
        if (registrars.occur_in(bytes)) {
          read_registrars_cpp(number, bytes, records_[at].registrars);
        }
        if (says_device_code(bytes)) {
          read_plain(number, bytes, plain);
          read_device_code(plain, paths_[at], devices_[at]);
        }
        if (tree.has_needle(bytes)) {
          preprocessor.run(tree_file[at], bytes, unit);
          find_invocations(unit, tree.vocabulary(), found);
          unit.file = number;
          read_torch_cpp(unit, found, records_[at].torch_cpp);
          read_targets_cpp(unit, found, records_[at].targets);
          read_onnx_cpp(unit, found, records_[at].onnx);
          read_tensorflow_cpp(unit, found, records_[at].tensorflow);
          read_handlers_cpp(unit, found, records_[at].handlers);
          read_annotations(unit, found, records_[at].annotations);
          read_tvm_cpp(unit, found, records_[at].tvm);
          if (unit.truncated) {
            note(number,
                 "too much to be read as a whole: macros stay unexpanded from some place on");
          }
        }
      }
    });
  }

  bool read_source(std::uint32_t number, std::string& bytes) {
    const InputFile& file = folder_.files[number];
    if (file.size > most_bytes) {
      note(number, "not read, since it is larger than " + plural(most_bytes >> 20, "MiB", "MiB"));
      return false;
    }
    if (read_bytes(file, bytes)) return true;
    note(number, "can't be read");
    records_[number].problems.back().severity = Severity::error;
    return false;
  }

  void read_python(std::uint32_t number, const std::string& bytes) {
    const bool registers = may_hold_registrations(bytes);
    const bool autograd = may_hold_autograd(bytes);
    const bool gradients = may_hold_gradients(bytes);
    if (!registers && !autograd && !gradients) return;
    try {
      if (autograd) {
        add_autograd(autograd_classes(find_python_autograd(bytes), number), paths_[number],
                     records_[number].autograd);
      }
      if (gradients) {
        read_tensorflow_python(find_python_gradients(bytes), number, records_[number].tensorflow);
      }
      if (!registers) return;
      PythonRegistrations found = find_python_registrations(bytes);
      read_torch_python(found.registrations, bytes, number, records_[number].torch_python);
      read_targets_python(found.registrations, bytes, number, records_[number].targets);
      read_primitives(found.registrations, number, records_[number].primitives);
      read_tvm_python(found.registrations, number, records_[number].tvm);
      for (PythonProblem& problem : found.problems) {
        note(number, std::move(problem.message), problem.place.offset, problem.place.length);
      }
    } catch (const InputError& error) {
      note(number, error.what(), error.offset,
           std::min<std::uint64_t>(error.length, Location::max_length));
    }
  }

  // `Location::file` is the number in the tree here.
  void note(std::uint32_t number, std::string message, std::uint64_t offset = 0,
            std::uint64_t length = 0) {
    const Location where{number, static_cast<std::uint32_t>(length), offset};
    records_[number].problems.push_back({where, std::move(message), {}, Severity::warning});
  }

  // The functions whose declarations are looked for.
  static bool is_wanted(const SourceFunction& function) {
    return !function.declared && !function.name.empty();
  }

  void find_declarations(std::vector<TorchRecord>& records) {
    Declarations declarations;
    std::set<std::string> names;
    bool short_names = false;
    const auto want = [&](const SourceFunction& function) {
      if (!is_wanted(function)) return;
      const std::string name(base_of(function.name));
      declarations.want(name);
      // Shorter ones can't be looked for, and are in most files anyway.
      if (name.size() >= 3) {
        names.insert(name);
      } else {
        short_names = true;
      }
    };
    for (const TorchRecord& record : records) {
      if (!record.python) want(record.function);
    }
    for (const FileRecords& file : records_) {
      for (const HandlerRecord& handler : file.handlers) want(handler.function);
    }
    if (!declarations.wants_any()) return;
    const Needles needles({names.begin(), names.end()});
    std::string bytes;
    for (const std::size_t at : cpp_files_) {
      const InputFile& file = folder_.files[at];
      if (file.size > most_bytes || !read_bytes(file, bytes)) continue;
      if (short_names || needles.occur_in(bytes))
        declarations.scan(bytes, static_cast<std::uint32_t>(at));
    }
    for (TorchRecord& record : records) {
      if (!record.python) declarations.complete(record.function, paths_);
    }
    for (FileRecords& file : records_) {
      for (HandlerRecord& handler : file.handlers) {
        if (is_wanted(handler.function)) complete_handler(handler, declarations, paths_);
      }
    }
  }

  // Who calls a function that launches may stand in a file that says nothing of devices.
  void join_devices() {
    constexpr int most_rounds = 2;
    std::string bytes;
    PlainSource plain;
    for (int round = 0; round < most_rounds; ++round) {
      std::vector<std::string> names = join_device_code(devices_);
      if (names.empty()) return;
      const Needles needles(std::move(names));
      bool found = false;
      for (const std::size_t at : cpp_files_) {
        const InputFile& file = folder_.files[at];
        if (devices_[at].was_read || file.size > most_bytes || !read_bytes(file, bytes)) continue;
        if (!needles.occur_in(bytes)) continue;
        read_plain(static_cast<std::uint32_t>(at), bytes, plain);
        read_device_code(plain, paths_[at], devices_[at]);
        found = true;
      }
      if (!found) return;
    }
    join_device_code(devices_);
  }

  void join() {
    std::vector<TorchCpp> torch_cpp;
    std::vector<TorchRecord> records;
    for (FileRecords& file : records_) {
      for (TorchRecord& record : file.torch_cpp.records) records.push_back(std::move(record));
      for (TorchRecord& record : file.torch_python) records.push_back(std::move(record));
      torch_cpp.push_back(std::move(file.torch_cpp));
      for (IgnoreComment& one : file.ignores) ignores_.push_back(std::move(one));
    }
    add_delegated(torch_cpp, records);
    // What could not be read may be what is missing.
    for (const FileRecords& file : records_) {
      if (!file.problems.empty()) folder_.partial = true;
    }
    find_declarations(records);
    find_dispatches(
        paths_, cpp_files_,
        [this](std::size_t file, std::string& bytes) {
          return folder_.files[file].size <= most_bytes && read_bytes(folder_.files[file], bytes);
        },
        threads_, records);
    facts_.files.push_back(folder_.place);
    PlacedWriter writer(facts_, folder_.files);
    write_torch_document(records, writer);
    write_primitive_documents(writer);
    write_onnx_document(writer);
    write_autograd_document(writer);
    write_tensorflow_document(writer);
    write_tvm_document(writer);
    write_code_document(writer);
    write_registrar_document(writer);
    join_devices();
    write_device_code(devices_, paths_, folder_.partial, writer);
    for (FileRecords& file : records_) {
      for (Problem& problem : file.problems) {
        problem.where.file = writer.file_of(problem.where.file);
        facts_.problems.push_back(std::move(problem));
      }
    }
    if (facts_.documents.empty() && facts_.problems.empty()) facts_ = {};
  }

  void write_torch_document(const std::vector<TorchRecord>& records, PlacedWriter& writer) {
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
    for (FileRecords& file : records_) {
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
    for (FileRecords& file : records_) {
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
    for (FileRecords& file : records_) {
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
    for (FileRecords& file : records_) {
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
    for (FileRecords& file : records_) {
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

  // What the code itself does, beside what it registers.
  void write_code_document(PlacedWriter& writer) {
    // What isn't given may be what serves a kind.
    if (folder_.partial) return;
    std::vector<std::size_t> asking;
    for (std::size_t at = 0; at < records_.size(); ++at) {
      if (records_[at].has_predicate) asking.push_back(at);
    }
    const std::vector<DispatchPair> pairs = load_dispatch_pairs(
        paths_, asking, {folder_.pairs, {}}, threads_, [this](std::size_t at, std::string& bytes) {
          return folder_.files[at].size <= most_bytes && read_bytes(folder_.files[at], bytes);
        });
    for (const PairDescription& described : folder_.pairs) {
      const bool is_there = std::any_of(pairs.begin(), pairs.end(), [&](const DispatchPair& pair) {
        return pair.backend == described.name;
      });
      if (is_there) continue;
      facts_.problems.push_back({Location{0, 0, 0},
                                 "pair " + quote(described.name) +
                                     " of the configuration: its functions were not found below "
                                     "one folder, or decide by no enumeration",
                                 {},
                                 Severity::warning});
    }
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
    for (FileRecords& file : records_) {
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

  SourceFolder folder_;
  unsigned threads_;
  std::string stated_macros_;
  std::vector<std::string> paths_;
  std::vector<std::size_t> cpp_files_;
  std::vector<FileRecords> records_;
  std::vector<IgnoreComment> ignores_;
  std::vector<DeviceCode> devices_;
  Facts facts_;
};

}  // namespace

Facts load_sources(SourceFolder folder, unsigned threads, const std::string& stated_macros) {
  return SourceLoader(std::move(folder), threads, stated_macros).load();
}

}  // namespace opseal
