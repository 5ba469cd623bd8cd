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
#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/declarations.h"
#include "analyzers/sources/device_code.h"
#include "analyzers/sources/placed_writer.h"
#include "analyzers/sources/primitives.h"
#include "analyzers/sources/targets.h"
#include "analyzers/sources/torch_cpp.h"
#include "analyzers/sources/torch_facts.h"
#include "analyzers/sources/torch_python.h"
#include "analyzers/sources/torch_table.h"
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
  std::vector<PrimitiveRecord> primitives;
  std::vector<Problem> problems;
};

class SourceLoader {
 public:
  SourceLoader(SourceFolder folder, unsigned threads)
      : folder_(std::move(folder)), threads_(std::max(1u, threads)) {
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
        cpp, registration_vocabulary(), [this](const std::string& path, std::string& bytes) {
          const auto found = std::lower_bound(paths_.begin(), paths_.end(), path);
          if (found == paths_.end() || *found != path) return false;
          const auto at = static_cast<std::size_t>(found - paths_.begin());
          return folder_.files[at].size <= most_bytes && read_bytes(folder_.files[at], bytes);
        });
    if (!cpp.empty()) tree.discover();
    records_.resize(paths_.size());
    devices_.resize(paths_.size());
    std::vector<std::uint32_t> tree_file(paths_.size(), no_file);
    for (FileId file = 0; file < tree.size(); ++file) {
      const auto found = std::lower_bound(paths_.begin(), paths_.end(), tree.path(file));
      tree_file[static_cast<std::size_t>(found - paths_.begin())] = file;
    }
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
        if (tree_file[at] == no_file) {
          read_python(number, bytes);
          continue;
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
    if (!may_hold_registrations(bytes)) return;
    try {
      PythonRegistrations found = find_python_registrations(bytes);
      read_torch_python(found.registrations, bytes, number, records_[number].torch_python);
      read_targets_python(found.registrations, bytes, number, records_[number].targets);
      read_primitives(found.registrations, number, records_[number].primitives);
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

  void find_declarations(std::vector<TorchRecord>& records) {
    Declarations declarations;
    std::set<std::string> names;
    bool short_names = false;
    for (const TorchRecord& record : records) {
      if (record.python || record.function.declared || record.function.name.empty()) continue;
      const std::string name(base_of(record.function.name));
      declarations.want(name);
      // Shorter ones can't be looked for, and are in most files anyway.
      if (name.size() >= 3) {
        names.insert(name);
      } else {
        short_names = true;
      }
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
    }
    add_delegated(torch_cpp, records);
    // What could not be read may be what is missing.
    for (const FileRecords& file : records_) {
      if (!file.problems.empty()) folder_.partial = true;
    }
    find_declarations(records);
    facts_.files.push_back(folder_.place);
    PlacedWriter writer(facts_, folder_.files);
    write_torch_document(records, writer);
    write_primitive_documents(writer);
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

  // The head of a document, with what is said of the tree; `files`: those that say something.
  void begin(std::string_view system, const std::set<std::uint32_t>& files,
             const std::vector<UndecidedName>& undecided, PlacedWriter& writer) {
    writer.begin(system);
    writer.tree(static_cast<std::uint32_t>(files.size()), folder_.partial, undecided);
  }

  // The targets of XLA are written with the primitives of JAX.
  void write_primitive_documents(PlacedWriter& writer) {
    std::vector<TargetRecord> targets;
    std::vector<PrimitiveRecord> records;
    std::vector<UndecidedName> undecided;
    for (FileRecords& file : records_) {
      for (TargetRecord& record : file.targets) {
        if (!record.lookup && record.name.text.empty()) {
          undecided.push_back({record.written, record.place});
        }
        targets.push_back(std::move(record));
      }
      for (PrimitiveRecord& record : file.primitives) records.push_back(std::move(record));
    }
    const bool registers = std::any_of(
        targets.begin(), targets.end(),
        [](const TargetRecord& record) { return !record.lookup && !record.name.text.empty(); });
    for (const std::string_view system : {"brainevent", "braintrace", "jax"}) {
      const std::vector<Primitive> primitives = primitives_of(system, records);
      const bool with_targets = system == "jax" && registers;
      if (primitives.empty() && !with_targets) continue;
      std::set<std::uint32_t> files;
      for (const Primitive& primitive : primitives) {
        for (const PrimitiveRecord* record : primitive.records) files.insert(record->place.file);
      }
      if (with_targets) {
        for (const TargetRecord& record : targets) files.insert(record.place.file);
      }
      begin(system, files, with_targets ? undecided : std::vector<UndecidedName>(), writer);
      write_primitives(primitives, writer);
      if (with_targets) write_targets(targets, folder_.partial, writer);
      writer.end();
    }
  }

  SourceFolder folder_;
  unsigned threads_;
  std::vector<std::string> paths_;
  std::vector<std::size_t> cpp_files_;
  std::vector<FileRecords> records_;
  std::vector<DeviceCode> devices_;
  Facts facts_;
};

}  // namespace

Facts load_sources(SourceFolder folder, unsigned threads) {
  return SourceLoader(std::move(folder), threads).load();
}

}  // namespace opseal
