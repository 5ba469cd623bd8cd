#include "analyzers/sources/load.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <utility>

#include "analyzers/source/plain_source.h"
#include "analyzers/source/source_tree.h"
#include "analyzers/sources/applied.h"
#include "analyzers/sources/archived_registrars.h"
#include "analyzers/sources/autograd_calls.h"
#include "analyzers/sources/build_files.h"
#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/declarations.h"
#include "analyzers/sources/device_code.h"
#include "analyzers/sources/device_conditions.h"
#include "analyzers/sources/dispatch_index.h"
#include "analyzers/sources/documents.h"
#include "analyzers/sources/dtype_conversions.h"
#include "analyzers/sources/engines.h"
#include "analyzers/sources/engines_cpp.h"
#include "analyzers/sources/extensions.h"
#include "analyzers/sources/file_records.h"
#include "analyzers/sources/handlers.h"
#include "analyzers/sources/imported_keys.h"
#include "analyzers/sources/kernel_names.h"
#include "analyzers/sources/kernel_writes.h"
#include "analyzers/sources/load_callers.h"
#include "analyzers/sources/load_code.h"
#include "analyzers/sources/load_files.h"
#include "analyzers/sources/load_keys.h"
#include "analyzers/sources/load_plugins.h"
#include "analyzers/sources/native_gradients.h"
#include "analyzers/sources/primitive_results.h"
#include "analyzers/sources/result_dtypes.h"
#include "analyzers/sources/static_tables.h"
#include "analyzers/sources/torch_libraries.h"
#include "analyzers/sources/torch_spaces.h"
#include "analyzers/sources/torch_wrappers.h"
#include "analyzers/sources/typed_tier.h"
#include "opseal/text.h"

namespace opseal {
namespace {

class SourceLoader {
 public:
  SourceLoader(SourceFolder folder, unsigned threads, std::string stated_macros,
               const TypedOptions& typed)
      : folder_(std::move(folder)),
        words_(folder_.files.size()),
        texts_([this](std::size_t file,
                      std::string& bytes) { return read_source_bytes(folder_.files[file], bytes); },
               &words_),
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
    for (std::size_t at = 0; at < paths_.size(); ++at) {
      if (!paths_[at].ends_with(".py")) cpp_files_.push_back(at);
    }
    tree_ = load_files(folder_, paths_, texts_, threads_, stated_macros_, words_, records_);
  }

  // The functions whose declarations are looked for.
  static bool is_wanted(const SourceFunction& function) {
    return !function.declared && !function.name.empty();
  }

  void find_declarations(std::vector<TorchRecord>& records) {
    Declarations declarations;
    std::set<std::string> names;
    const auto want = [&](const SourceFunction& function) {
      if (!is_wanted(function)) return;
      declarations.want(std::string(base_of(function.name)));
      names.emplace(base_of(function.name));
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
    const WordQuery any_name(names);
    std::string bytes;
    for (const std::size_t at : cpp_files_) {
      if (texts_.read_holding(any_name, at, bytes)) {
        declarations.scan(bytes, static_cast<std::uint32_t>(at));
      }
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
      const std::vector<std::string> names = join_device_code(records_.devices);
      if (names.empty()) break;
      const WordQuery any_name(names);
      bool found = false;
      for (const std::size_t at : cpp_files_) {
        if (records_.devices[at].was_read || !texts_.read_holding(any_name, at, bytes)) continue;
        read_plain(static_cast<std::uint32_t>(at), bytes, plain);
        read_device_code(plain, paths_[at], records_.devices[at]);
        found = true;
      }
      if (!found) break;
      if (round + 1 == most_rounds) join_device_code(records_.devices);
    }
    ask_python();
    ask_callers(records_.devices, paths_, texts_);
  }

  // Python may ask far from the call of an operator, and hand over the answer as one flag of many:
  // where some does, no launch is without a question.
  void ask_python() {
    if (!has_unasked_launch(records_.devices)) return;
    std::string bytes;
    for (std::size_t at = 0; at < paths_.size(); ++at) {
      if (!paths_[at].ends_with(".py") || !texts_.read(at, bytes)) continue;
      if (!python_asks_capability(bytes)) continue;
      forget_unasked(records_.devices);
      return;
    }
  }

  void join() {
    std::vector<TorchCpp> torch_cpp;
    std::vector<TorchRecord>& records = records_.torch;
    std::size_t count = 0;
    for (const FileRecords& file : records_.files) {
      count += file.torch_cpp.records.size() + file.torch_python.size();
    }
    records.reserve(count);
    for (FileRecords& file : records_.files) {
      for (TorchRecord& record : file.torch_cpp.records) records.push_back(std::move(record));
      for (TorchRecord& record : file.torch_python) records.push_back(std::move(record));
      torch_cpp.push_back(std::move(file.torch_cpp));
    }
    add_delegated(torch_cpp, records);
    name_imported_libraries(paths_, records);
    drop_idle_wrappers(paths_, texts_, records);
    name_open_spaces(records);
    // What could not be read may be what is missing.
    for (const FileRecords& file : records_.files) {
      if (!file.problems.empty()) folder_.partial = true;
    }
    count_applied(paths_, texts_, records_.files);
    settle_multiple_results(paths_, texts_, records_.files);
    find_extensions();
    find_foreign();
    find_covered_types(cpp_files_, texts_, records_.files);
    join_plugins(paths_, cpp_files_, texts_, records_.files, records_.plugins);
    find_declarations(records);
    find_choices(records);
    find_applied(cpp_files_, texts_, records);
    find_kernel_writes(cpp_files_, texts_, records);
    find_result_dtypes(cpp_files_, texts_, records);
    find_pairs();
    find_tables();
    find_built_names();
    find_static_registrars();
    join_devices();
    find_engines();
    find_imported_keys(paths_, texts_, records_.files);
    records_.suffixes = find_suffix_records(paths_, texts_);
    ask_types();
    find_archived();
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
    std::vector<TorchRecord> native;
    for (FileRecords& file : records_.files) {
      std::move(file.native_gradients.begin(), file.native_gradients.end(),
                std::back_inserter(native));
    }
    drop_registered(records, native);
    const std::size_t others = records.size();
    if (!folder_.partial) std::move(native.begin(), native.end(), std::back_inserter(records));
    const auto may_start = [this](std::size_t file) { return records_.files[file].may_dispatch; };
    const ConvertedFor converted =
        find_dispatches(paths_, cpp_files_, texts_, may_start, threads_, records);
    forget_handed_converted(converted, records, others);
    forget_converted(paths_, texts_, records);
    for (std::size_t at = 0; at < bound.size(); ++at) {
      bound[at]->dispatches = std::move(records[kernels + at].dispatches);
    }
    records_.native_gradients.assign(
        std::make_move_iterator(records.begin() + static_cast<std::ptrdiff_t>(others)),
        std::make_move_iterator(records.end()));
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
        find_extension_uses(records_.extensions, others, paths_, folder_.partial, texts_);
  }

  // Functions of C that Python calls through `ctypes`.
  void find_foreign() {
    std::vector<ForeignRecord> said;
    for (FileRecords& file : records_.files) {
      std::move(file.foreign.begin(), file.foreign.end(), std::back_inserter(said));
    }
    records_.foreign = join_foreign(std::move(said), paths_, cpp_files_, texts_);
  }

  void find_engines() {
    std::vector<std::vector<PythonTable>> tables;
    for (FileRecords& file : records_.files) tables.push_back(std::move(file.python_tables));
    records_.engines = find_python_engines(paths_, std::move(tables), texts_);
    CppMaps maps;
    for (FileRecords& file : records_.files) {
      std::move(file.maps.tables.begin(), file.maps.tables.end(), std::back_inserter(maps.tables));
      std::move(file.maps.literals.begin(), file.maps.literals.end(),
                std::back_inserter(maps.literals));
    }
    for (Engine& engine : find_cpp_engines(paths_, cpp_files_, texts_, std::move(maps))) {
      records_.engines.push_back(std::move(engine));
    }
  }

  // Names of kernels that host code joins when it runs.
  void find_built_names() {
    if (folder_.partial) return;
    std::vector<BuiltName> built;
    for (FileRecords& file : records_.files) {
      std::move(file.built_names.begin(), file.built_names.end(), std::back_inserter(built));
    }
    if (built.empty()) return;
    std::vector<AgreeingTables> tables =
        join_kernel_names(built, find_kernel_names(folder_, paths_, texts_));
    std::move(tables.begin(), tables.end(), std::back_inserter(records_.tables));
  }

  // Objects that fill the table of another file before `main`.
  void find_static_registrars() {
    std::vector<std::size_t> holding;
    for (const std::size_t at : cpp_files_) {
      if (records_.files[at].may_static_tables) holding.push_back(at);
    }
    for (RegistrarRecord& one : find_static_tables(paths_, cpp_files_, holding, texts_)) {
      records_.files[one.place.file].registrars.push_back(std::move(one));
    }
  }

  // Objects that register in files of static libraries which the linker leaves out. Last, since it
  // adds files to the tree that are no sources.
  void find_archived() {
    if (folder_.partial) return;
    std::map<std::uint32_t, RegistrarRecord> registering;
    for (const TorchRecord& record : records_.torch) {
      const bool registers = record.use == TorchUse::define || record.use == TorchUse::implement;
      if (record.python || !registers) continue;
      const auto [place, fresh] = registering.try_emplace(record.place.file);
      if (!fresh && place->second.place.offset < record.place.offset) continue;
      place->second.type = "TORCH_LIBRARY";
      place->second.place = record.place;
    }
    for (const FileRecords& file : records_.files) {
      for (const RegistrarRecord& record : file.registrars) {
        if (record.says_uses && !record.uses.empty() && !record.typed) {
          registering.emplace(record.place.file, record);
        }
      }
    }
    std::vector<std::uint32_t> files;
    for (const auto& [file, record] : registering) {
      if (!is_header_path(paths_[file])) files.push_back(file);
    }
    if (files.empty()) return;
    const std::vector<BuildFile> builds = build_files(folder_);
    CmakeTargets cmake;
    for (const BuildFile& build : builds) cmake.add(build.folder, build.text);
    std::map<std::uint32_t, std::uint32_t> added;
    for (const ArchivedRegistrar& one : find_archived_registrars(cmake, paths_, files, texts_)) {
      RegistrarRecord record;
      record.type = registering[one.file].type;
      record.name = registering[one.file].name;
      record.library = one.library;
      record.place = registering[one.file].place;
      for (std::size_t at = 0; at < one.targets.size(); ++at) {
        const CmakeWord& link = one.links[at];
        const auto [number, fresh] =
            added.try_emplace(link.file, static_cast<std::uint32_t>(paths_.size()));
        if (fresh) {
          folder_.files.push_back(builds[link.file].file);
          paths_.push_back(builds[link.file].file.path);
          records_.files.emplace_back();
          records_.devices.emplace_back();
        }
        record.loaded_by.push_back({one.targets[at], {number->second, link.offset, link.length}});
      }
      records_.files[one.file].registrars.push_back(std::move(record));
    }
  }

  // Tables over enumerations, which headers that hold none of them may declare.
  void find_tables() {
    std::vector<std::size_t> files;
    for (std::size_t at = 0; at < records_.files.size(); ++at) {
      if (records_.files[at].may_tables) files.push_back(at);
    }
    records_.tables = load_agreeing_tables(paths_, files, texts_);
    for (FileRecords& file : records_.files) {
      std::move(file.row_tables.begin(), file.row_tables.end(),
                std::back_inserter(records_.tables));
    }
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
    TypedTier tier(*tree_, paths_, cpp_files_, std::move(opened), std::move(root), texts_);
    if (!folder_.partial) tier.want_enumerators(files_of_pairs(paths_, asking_, naming_));
    tier.run(typed_, threads_, records_);
    add_typed_pairs(tier.enumerators());
  }

  // Those of which the text alone tells something else.
  void add_typed_pairs(std::map<std::size_t, StatedEnumerators> stated) {
    if (stated.empty() || folder_.partial) return;
    PairOptions options;
    options.described = folder_.pairs;
    options.stated = std::move(stated);
    std::vector<DispatchPair> pairs =
        load_dispatch_pairs(paths_, asking_, naming_, options, threads_, texts_);
    for (DispatchPair& pair : pairs) {
      pair.typed =
          std::none_of(records_.pairs.begin(), records_.pairs.end(),
                       [&pair](const DispatchPair& other) { return tell_the_same(pair, other); });
    }
    for (DispatchPair& pair : records_.pairs) {
      if (pair.python) pairs.push_back(std::move(pair));
    }
    records_.pairs = std::move(pairs);
  }

  // Support predicates and what they speak for.
  void find_pairs() {
    // What isn't given may be what serves a kind.
    if (folder_.partial) return;
    std::vector<DispatchPair> python;
    for (FileRecords& file : records_.files) {
      for (DispatchPair& pair : file.pairs) python.push_back(std::move(pair));
    }
    for (std::size_t at = 0; at < records_.files.size(); ++at) {
      if (records_.files[at].has_predicate) asking_.push_back(at);
      if (records_.files[at].may_predicate) naming_.push_back(at);
    }
    PairOptions options;
    options.described = folder_.pairs;
    records_.pairs = load_dispatch_pairs(paths_, asking_, naming_, options, threads_, texts_);
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
  WordIndex words_;
  const SourceTexts texts_;
  unsigned threads_;
  std::string stated_macros_;
  const TypedOptions& typed_;
  std::unique_ptr<SourceTree> tree_;
  std::vector<std::string> paths_;
  std::vector<std::size_t> cpp_files_;
  // Those that name a predicate, and those that only define functions that sound like one.
  std::vector<std::size_t> asking_;
  std::vector<std::size_t> naming_;
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
