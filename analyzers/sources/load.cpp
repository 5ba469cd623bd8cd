#include "analyzers/sources/load.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <iterator>
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
#include "analyzers/sources/applied.h"
#include "analyzers/sources/autograd.h"
#include "analyzers/sources/autograd_calls.h"
#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/declarations.h"
#include "analyzers/sources/derivatives.h"
#include "analyzers/sources/device_code.h"
#include "analyzers/sources/device_conditions.h"
#include "analyzers/sources/dispatch_index.h"
#include "analyzers/sources/dispatch_pairs.h"
#include "analyzers/sources/documents.h"
#include "analyzers/sources/dtype_conversions.h"
#include "analyzers/sources/engines.h"
#include "analyzers/sources/engines_cpp.h"
#include "analyzers/sources/executorch.h"
#include "analyzers/sources/extensions.h"
#include "analyzers/sources/file_records.h"
#include "analyzers/sources/handlers.h"
#include "analyzers/sources/ignores.h"
#include "analyzers/sources/kernel_writes.h"
#include "analyzers/sources/key_makers.h"
#include "analyzers/sources/key_python.h"
#include "analyzers/sources/load_callers.h"
#include "analyzers/sources/load_code.h"
#include "analyzers/sources/load_plugins.h"
#include "analyzers/sources/memo_code.h"
#include "analyzers/sources/onnx.h"
#include "analyzers/sources/paddle.h"
#include "analyzers/sources/path_code.h"
#include "analyzers/sources/plugin_classes.h"
#include "analyzers/sources/primitives.h"
#include "analyzers/sources/registrars_cpp.h"
#include "analyzers/sources/registrars_python.h"
#include "analyzers/sources/result_dtypes.h"
#include "analyzers/sources/support_python.h"
#include "analyzers/sources/targets.h"
#include "analyzers/sources/tensorflow.h"
#include "analyzers/sources/torch_cpp.h"
#include "analyzers/sources/torch_libraries.h"
#include "analyzers/sources/torch_python.h"
#include "analyzers/sources/torch_spaces.h"
#include "analyzers/sources/torch_wrappers.h"
#include "analyzers/sources/triton.h"
#include "analyzers/sources/tvm.h"
#include "analyzers/sources/typed_tier.h"
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

class SourceLoader {
 public:
  SourceLoader(SourceFolder folder, unsigned threads, std::string stated_macros,
               const TypedOptions& typed)
      : folder_(std::move(folder)),
        threads_(std::max(1u, threads)),
        stated_macros_(std::move(stated_macros)),
        typed_(typed) {
    for (const InputFile& file : folder_.files) paths_.push_back(file.path);
  }

  Facts load() {
    read_files();
    join();
    return std::move(facts_);
  }

  // Needs: `load` was called.
  void add_macro_uses(MacroUses& uses) const {
    for (const FileRecords& file : records_.files) {
      for (const StatedMacroUse& one : file.stated_uses) {
        MacroUse& use = uses[one.macro];
        use.fits = use.fits || one.fits;
        if (one.fits || use.misfit) continue;
        use.misfit = {folder_.files[one.place.file], one.place.offset, one.place.length,
                      one.arguments};
      }
    }
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
    tree_ = std::make_unique<SourceTree>(
        cpp, registration_vocabulary(),
        [this](const std::string& path, std::string& bytes) {
          const auto found = std::lower_bound(paths_.begin(), paths_.end(), path);
          if (found == paths_.end() || *found != path) return false;
          const auto at = static_cast<std::size_t>(found - paths_.begin());
          return read_again(at, bytes);
        },
        stated_macros_);
    if (!cpp.empty()) tree_->discover();
    const SourceTree& tree = *tree_;
    records_.files.resize(paths_.size());
    records_.devices.resize(paths_.size());
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
        records_.files[at].ignores = read_ignores(bytes, number, tree_file[at] == no_file);
        if (tree_file[at] == no_file) {
          read_python(number, bytes);
          continue;
        }
        add_autograd(autograd_classes(bytes, number), paths_[at], records_.files[at].autograd);
        records_.files[at].has_predicate = predicates.occur_in(bytes);
        records_.files[at].may_predicate = may_name_predicate(bytes);
        records_.files[at].may_tables = may_hold_agreeing_tables(bytes);
        if (registrars.occur_in(bytes)) {
          read_registrars_cpp(number, bytes, records_.files[at].registrars);
        }
        const bool device_code = says_device_code(bytes);
        const bool keys = may_hold_keys(bytes);
        const bool maps = may_hold_maps(bytes);
        const bool memos = may_hold_memos(bytes);
        const bool plugins = may_hold_plugins(bytes);
        const bool paths = may_hold_path_caches(bytes);
        const bool makers = may_hold_key_makers(bytes);
        if (device_code || keys || maps || memos || plugins || paths || makers)
          read_plain(number, bytes, plain);
        if (device_code) {
          read_device_code(plain, paths_[at], records_.devices[at]);
          records_.devices[at].launches.accepted =
              accepted_lines(bytes, records_.files[at].ignores, "launch-unchecked");
        }
        if (keys) read_key_code(number, plain);
        if (memos) add_caches(number, read_memos(plain));
        if (paths) add_caches(number, read_path_caches(plain));
        if (makers) add_caches(number, read_key_makers(plain));
        if (plugins) read_plugins(plain, records_.files[at].plugins);
        if (maps) find_cpp_maps(plain, number, records_.files[at].maps);
        read_module_texts(bytes, records_.files[at].module_texts);
        if (tree.has_needle(bytes)) {
          preprocessor.run(tree_file[at], bytes, unit);
          find_invocations(unit, tree.vocabulary(), found);
          unit.file = number;
          read_torch_cpp(unit, found, records_.files[at].torch_cpp);
          read_targets_cpp(unit, found, records_.files[at].targets);
          read_onnx_cpp(unit, found, records_.files[at].onnx);
          read_paddle_cpp(unit, found, records_.files[at].paddle);
          read_tensorflow_cpp(unit, found, records_.files[at].tensorflow);
          read_handlers_cpp(unit, found, records_.files[at].handlers);
          read_annotations(unit, found, records_.files[at].annotations);
          read_executorch_cpp(unit, found, records_.files[at].executorch);
          read_extensions_cpp(unit, found, records_.files[at].extensions);
          read_tvm_cpp(unit, found, records_.files[at].tvm);
          for (const StatedUse& use : unit.stated_uses) {
            records_.files[at].stated_uses.push_back({std::string(use.macro),
                                                      {number, use.offset, use.length},
                                                      use.fits,
                                                      use.arguments});
          }
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
    records_.files[number].problems.back().severity = Severity::error;
    return false;
  }

  void read_key_code(std::uint32_t number, const PlainSource& plain) {
    records_.files[number].keys = read_keys(plain);
    for (const SourcePlace& place : records_.files[number].keys.idle) {
      note(number, "comment `opseal: cache-key(…)` above no function that could be judged",
           place.offset, place.length);
    }
  }

  void add_caches(std::uint32_t number, std::vector<PythonCache> caches) {
    for (PythonCache& cache : caches) {
      for (const std::string& word : cache.unknown_words) {
        note(number, quote(word) + " in a comment `opseal: cache-key(…)` is no word for an input",
             cache.place.offset, cache.place.length);
      }
      records_.files[number].caches.push_back({number, std::move(cache)});
    }
  }

  void read_python(std::uint32_t number, const std::string& bytes) {
    const bool registers = may_hold_registrations(bytes);
    const bool autograd = may_hold_autograd(bytes);
    const bool gradients = may_hold_gradients(bytes);
    const bool caches = may_hold_caches(bytes);
    const bool support = may_hold_support(bytes);
    const bool alternatives = may_hold_alternatives(bytes);
    const bool keys = may_hold_key_classes(bytes);
    const bool triton = may_hold_triton(bytes);
    const bool told =
        registers || autograd || gradients || caches || support || alternatives || triton;
    const bool tables = may_hold_tables(bytes);
    if (!told && !tables && !keys) return;
    try {
      const ParsedPython file(bytes);
      if (tables) records_.files[number].python_tables = find_python_tables(file);
      if (alternatives) {
        for (PythonAlternatives& one : find_python_alternatives(file)) {
          records_.files[number].alternatives.push_back({number, std::move(one)});
        }
      }
      if (support) {
        read_support_python(find_python_support(file), paths_[number], number,
                            records_.files[number].pairs);
      }
      if (keys) records_.files[number].keys = read_key_classes(file, number);
      if (caches) add_caches(number, find_python_caches(file));
      if (triton) records_.files[number].triton.push_back({number, find_python_triton(file)});
      if (autograd) {
        add_autograd(autograd_classes(find_python_autograd(file), number), paths_[number],
                     records_.files[number].autograd);
      }
      if (gradients) {
        read_tensorflow_python(find_python_gradients(file), number,
                               records_.files[number].tensorflow);
      }
      if (!registers) return;
      PythonRegistrations found = find_python_registrations(file);
      read_torch_python(found.registrations, bytes, number, records_.files[number].torch_python);
      read_targets_python(found.registrations, bytes, number, records_.files[number].targets);
      read_derivatives(found.registrations, number, records_.files[number].derivatives);
      read_primitives(found.registrations, number, records_.files[number].primitives);
      read_registrars_python(found.registrations, number, records_.files[number].registrars);
      read_tvm_python(found.registrations, number, records_.files[number].tvm);
      for (PythonProblem& problem : found.problems) {
        note(number, std::move(problem.message), problem.place.offset, problem.place.length);
      }
    } catch (const InputError& error) {
      // Most files have some dictionary, which alone says nothing.
      if (told)
        note(number, error.what(), error.offset,
             std::min<std::uint64_t>(error.length, Location::max_length));
    }
  }

  // `Location::file` is the number in the tree here.
  void note(std::uint32_t number, std::string message, std::uint64_t offset = 0,
            std::uint64_t length = 0) {
    const Location where{number, static_cast<std::uint32_t>(length), offset};
    records_.files[number].problems.push_back({where, std::move(message), {}, Severity::warning});
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
    for (const FileRecords& file : records_.files) {
      for (const HandlerRecord& handler : file.handlers) want(handler.function);
    }
    for (const ExtensionBlock& block : records_.extensions) {
      if (records_.extension_uses.uses.empty()) break;
      for (const BoundFunction& bound : block.functions) want(bound.function);
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
    for (FileRecords& file : records_.files) {
      for (HandlerRecord& handler : file.handlers) {
        if (is_wanted(handler.function)) complete_handler(handler, declarations, paths_);
      }
    }
    for (ExtensionBlock& block : records_.extensions) {
      for (BoundFunction& bound : block.functions) declarations.complete(bound.function, paths_);
    }
  }

  // Who calls a function that launches may stand in a file that says nothing of devices.
  void join_devices() {
    constexpr int most_rounds = 3;
    std::string bytes;
    PlainSource plain;
    for (int round = 0; round < most_rounds; ++round) {
      std::vector<std::string> names = join_device_code(records_.devices);
      if (names.empty()) break;
      const Needles needles(std::move(names));
      bool found = false;
      for (const std::size_t at : cpp_files_) {
        const InputFile& file = folder_.files[at];
        if (records_.devices[at].was_read || file.size > most_bytes || !read_bytes(file, bytes))
          continue;
        if (!needles.occur_in(bytes)) continue;
        read_plain(static_cast<std::uint32_t>(at), bytes, plain);
        read_device_code(plain, paths_[at], records_.devices[at]);
        found = true;
      }
      if (!found) break;
      if (round + 1 == most_rounds) join_device_code(records_.devices);
    }
    ask_python();
    ask_callers(records_.devices, paths_, read_);
  }

  // Python may ask far from the call of an operator, and hand over the answer as one flag of many:
  // where some does, no launch is without a question.
  void ask_python() {
    if (!has_unasked_launch(records_.devices)) return;
    std::string bytes;
    for (std::size_t at = 0; at < paths_.size(); ++at) {
      if (!paths_[at].ends_with(".py") || !read_again(at, bytes)) continue;
      if (!python_asks_capability(bytes)) continue;
      forget_unasked(records_.devices);
      return;
    }
  }

  void join() {
    std::vector<TorchCpp> torch_cpp;
    std::vector<TorchRecord>& records = records_.torch;
    for (FileRecords& file : records_.files) {
      for (TorchRecord& record : file.torch_cpp.records) records.push_back(std::move(record));
      for (TorchRecord& record : file.torch_python) records.push_back(std::move(record));
      torch_cpp.push_back(std::move(file.torch_cpp));
    }
    add_delegated(torch_cpp, records);
    name_imported_libraries(paths_, records);
    drop_idle_wrappers(paths_, read_, records);
    name_open_spaces(records);
    // What could not be read may be what is missing.
    for (const FileRecords& file : records_.files) {
      if (!file.problems.empty()) folder_.partial = true;
    }
    count_applied(paths_, read_, records_.files);
    find_extensions();
    join_plugins(paths_, cpp_files_, read_, records_.files, records_.plugins);
    find_declarations(records);
    find_choices(records);
    find_applied(cpp_files_, read_, records);
    find_kernel_writes(cpp_files_, read_, records);
    find_result_dtypes(cpp_files_, read_, records);
    find_pairs();
    find_tables();
    join_devices();
    find_engines();
    ask_types();
    write_documents(records_, folder_, paths_, facts_);
    if (facts_.documents.empty() && facts_.problems.empty()) facts_ = {};
  }

  // Where kernels choose by dtype, and functions of modules that are a forward or a backward.
  void find_choices(std::vector<TorchRecord>& records) {
    // Where not everything is given, a function that is handed on may choose by more.
    std::vector<BoundFunction*> bound;
    if (!folder_.partial) bound = gradient_functions(records_.extensions);
    const std::size_t kernels = records.size();
    for (const BoundFunction* function : bound) {
      TorchRecord record;
      record.use = TorchUse::implement;
      record.name = function->name;
      record.function = function->function;
      record.place = function->place;
      records.push_back(std::move(record));
    }
    find_dispatches(paths_, cpp_files_, read_, threads_, records);
    forget_converted(paths_, read_, records);
    for (std::size_t at = 0; at < bound.size(); ++at) {
      bound[at]->dispatches = std::move(records[kernels + at].dispatches);
    }
    records.resize(kernels);
  }

  // Modules of C++ and the Python that asks for them. What isn't given may be what defines a name.
  void find_extensions() {
    for (FileRecords& file : records_.files) {
      for (ExtensionBlock& block : file.extensions) {
        records_.extensions.push_back(std::move(block));
      }
    }
    std::set<std::string> others;
    for (FileRecords& file : records_.files) others.merge(file.module_texts);
    records_.extension_uses =
        find_extension_uses(records_.extensions, others, paths_, folder_.partial, read_);
  }

  void find_engines() {
    std::vector<std::vector<PythonTable>> tables;
    for (FileRecords& file : records_.files) tables.push_back(std::move(file.python_tables));
    records_.engines = find_python_engines(paths_, std::move(tables), read_);
    CppMaps maps;
    for (FileRecords& file : records_.files) {
      std::move(file.maps.tables.begin(), file.maps.tables.end(), std::back_inserter(maps.tables));
      std::move(file.maps.literals.begin(), file.maps.literals.end(),
                std::back_inserter(maps.literals));
    }
    for (Engine& engine : find_cpp_engines(paths_, cpp_files_, read_, std::move(maps))) {
      records_.engines.push_back(std::move(engine));
    }
  }

  bool read_again(std::size_t file, std::string& bytes) const {
    return folder_.files[file].size <= most_bytes && read_bytes(folder_.files[file], bytes);
  }

  // Tables over enumerations, which headers that hold none of them may declare.
  void find_tables() {
    std::vector<std::size_t> files;
    for (std::size_t at = 0; at < records_.files.size(); ++at) {
      if (records_.files[at].may_tables) files.push_back(at);
    }
    records_.tables = load_agreeing_tables(paths_, files, read_);
  }

  // Last, since what the text says is not asked for again.
  void ask_types() {
    if (!typed_.wanted || cpp_files_.empty()) return;
    std::vector<std::string> opened;
    for (const InputFile& file : folder_.files) opened.push_back(file.open_path);
    std::string root;
    if (!folder_.partial) {
      root = root_of_tree(folder_.place.path, paths_[cpp_files_[0]], opened[cpp_files_[0]]);
    }
    TypedTier tier(*tree_, paths_, cpp_files_, std::move(opened), std::move(root), read_);
    tier.run(typed_, threads_, records_);
  }

  // Support predicates and what they speak for.
  void find_pairs() {
    // What isn't given may be what serves a kind.
    if (folder_.partial) return;
    std::vector<DispatchPair> python;
    for (FileRecords& file : records_.files) {
      for (DispatchPair& pair : file.pairs) python.push_back(std::move(pair));
    }
    std::vector<std::size_t> asking;
    std::vector<std::size_t> naming;
    for (std::size_t at = 0; at < records_.files.size(); ++at) {
      if (records_.files[at].has_predicate) asking.push_back(at);
      if (records_.files[at].may_predicate) naming.push_back(at);
    }
    records_.pairs =
        load_dispatch_pairs(paths_, asking, naming, {folder_.pairs, {}}, threads_, read_);
    for (DispatchPair& pair : python) records_.pairs.push_back(std::move(pair));
    for (const PairDescription& described : folder_.pairs) {
      const bool is_there =
          std::any_of(records_.pairs.begin(), records_.pairs.end(),
                      [&](const DispatchPair& pair) { return pair.backend == described.name; });
      if (is_there) continue;
      facts_.problems.push_back({Location{0, 0, 0},
                                 "pair " + quote(described.name) +
                                     " of the configuration: its functions were not found below "
                                     "one folder, or decide by no enumeration",
                                 {},
                                 Severity::warning});
    }
  }

  SourceFolder folder_;
  // `read_again`, for those that look into files on their own.
  const ReadNumbered read_ = [this](std::size_t file, std::string& bytes) {
    return read_again(file, bytes);
  };
  unsigned threads_;
  std::string stated_macros_;
  const TypedOptions& typed_;
  std::unique_ptr<SourceTree> tree_;
  std::vector<std::string> paths_;
  std::vector<std::size_t> cpp_files_;
  TreeRecords records_;
  Facts facts_;
};

}  // namespace

Facts load_sources(SourceFolder folder, unsigned threads, const std::string& stated_macros,
                   MacroUses* uses, const TypedOptions& typed) {
  SourceLoader loader(std::move(folder), threads, stated_macros, typed);
  Facts facts = loader.load();
  if (uses != nullptr) loader.add_macro_uses(*uses);
  return facts;
}

}  // namespace opseal
