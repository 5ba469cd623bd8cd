#include "analyzers/sources/load_files.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "analyzers/byte_source.h"
#include "analyzers/input_error.h"
#include "analyzers/python/registrations.h"
#include "analyzers/source/invocations.h"
#include "analyzers/source/needles.h"
#include "analyzers/source/plain_source.h"
#include "analyzers/source/preprocessor.h"
#include "analyzers/sources/annotations.h"
#include "analyzers/sources/autograd.h"
#include "analyzers/sources/derivatives.h"
#include "analyzers/sources/device_code.h"
#include "analyzers/sources/dispatch_pairs.h"
#include "analyzers/sources/dispatches.h"
#include "analyzers/sources/documents.h"
#include "analyzers/sources/engines_cpp.h"
#include "analyzers/sources/executorch.h"
#include "analyzers/sources/extensions.h"
#include "analyzers/sources/handlers.h"
#include "analyzers/sources/ignores.h"
#include "analyzers/sources/key_makers.h"
#include "analyzers/sources/key_python.h"
#include "analyzers/sources/memo_code.h"
#include "analyzers/sources/native_gradients.h"
#include "analyzers/sources/onnx.h"
#include "analyzers/sources/paddle.h"
#include "analyzers/sources/path_code.h"
#include "analyzers/sources/plugin_classes.h"
#include "analyzers/sources/primitives.h"
#include "analyzers/sources/registrars_cpp.h"
#include "analyzers/sources/registrars_python.h"
#include "analyzers/sources/row_tables.h"
#include "analyzers/sources/static_tables.h"
#include "analyzers/sources/support_python.h"
#include "analyzers/sources/targets.h"
#include "analyzers/sources/tensorflow.h"
#include "analyzers/sources/torch_cpp.h"
#include "analyzers/sources/torch_python.h"
#include "analyzers/sources/triton.h"
#include "analyzers/sources/tvm.h"
#include "opseal/side_by_side.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Sources above this are data in the form of a source.
constexpr std::size_t most_bytes = std::size_t{32} << 20;

class FileLoader {
 public:
  FileLoader(const SourceFolder& folder, const std::vector<std::string>& paths,
             const SourceTexts& texts, unsigned threads, const std::string& stated_macros,
             WordIndex& words, TreeRecords& records)
      : folder_(folder),
        paths_(paths),
        texts_(texts),
        threads_(threads),
        words_(words),
        records_(records),
        dispatches_(starts_of(dispatch_vocabulary())),
        predicates_(predicate_needles(folder.pairs)),
        macro_starts_(SourceTree::macro_starts()),
        mentions_(paths.size()),
        starts_(paths.size()) {
    records_.files.resize(paths_.size());
    records_.devices.resize(paths_.size());
    std::vector<std::string> cpp;
    for (const std::string& path : paths_) {
      if (!path.ends_with(".py")) cpp.push_back(path);
    }
    tree_ = std::make_unique<SourceTree>(
        std::move(cpp), registration_vocabulary(),
        [&all = paths_, &given = texts_](const std::string& path, std::string& bytes) {
          const std::size_t number = number_of(path, all);
          return number < all.size() && given.read(number, bytes);
        },
        stated_macros);
    for (FileId file = 0; file < tree_->size(); ++file) {
      numbers_.push_back(static_cast<std::uint32_t>(number_of(tree_->path(file), paths_)));
    }
  }

  std::unique_ptr<SourceTree> run() {
    read_each();
    tree_->discover(
        [this](FileId file, const WordQuery& any) { return words_.may_hold(numbers_[file], any); },
        [this](FileId file) { return starts_[numbers_[file]] != 0; });
    read_registrations();
    return std::move(tree_);
  }

 private:
  // The number of all of them where there is none.
  static std::size_t number_of(const std::string& path, const std::vector<std::string>& paths) {
    const auto found = std::lower_bound(paths.begin(), paths.end(), path);
    const bool is_there = found != paths.end() && *found == path;
    return is_there ? static_cast<std::size_t>(found - paths.begin()) : paths.size();
  }

  // What `SourceTree::discover` looks for in headers, and readers in files.
  static std::vector<std::string> starts_of(const Vocabulary& vocabulary) {
    std::vector<std::string> words(vocabulary.needles.begin(), vocabulary.needles.end());
    for (std::string& word : SourceTree::macro_starts()) words.push_back(std::move(word));
    return words;
  }

  // What the text of a file alone tells.
  void read_each() {
    std::vector<char> in_tree(paths_.size(), 0);
    for (const std::uint32_t number : numbers_) in_tree[number] = 1;
    std::atomic<std::size_t> next{0};
    side_by_side(threads_, threads_, [&](std::size_t) {
      PlainSource plain;
      std::string bytes;
      for (std::size_t at = next++; at < paths_.size(); at = next++) {
        const auto number = static_cast<std::uint32_t>(at);
        if (!read_source(number, bytes)) continue;
        words_.add(at, bytes);
        const bool is_python = in_tree[at] == 0;
        records_.files[at].ignores = read_ignores(bytes, number, is_python);
        if (is_python) {
          read_python(number, bytes);
        } else {
          read_cpp(number, bytes, plain);
        }
      }
    });
  }

  void read_cpp(std::uint32_t number, const std::string& bytes, PlainSource& plain) {
    FileRecords& file = records_.files[number];
    mentions_[number] = tree_->has_needle(bytes);
    starts_[number] = mentions_[number] != 0 || macro_starts_.occur_in(bytes);
    add_autograd(autograd_classes(bytes, number), paths_[number], file.autograd);
    file.has_predicate = predicates_.occur_in(bytes);
    file.may_predicate = may_name_predicate(bytes);
    file.may_tables = may_hold_agreeing_tables(bytes);
    file.may_static_tables = may_hold_static_table(bytes);
    file.may_dispatch = dispatches_.occur_in(bytes);
    file.may_paste = bytes.find("##") != bytes.npos;
    file.registers_plugins = registers_plugins(bytes);
    if (may_hold_registrars(bytes)) read_registrars_cpp(number, bytes, file.registrars);
    read_module_texts(bytes, file.module_texts);
    const bool device_code = says_device_code(bytes);
    const bool keys = may_hold_keys(bytes);
    const bool maps = may_hold_maps(bytes);
    const bool memos = may_hold_memos(bytes);
    const bool plugins = may_hold_plugins(bytes);
    const bool paths = may_hold_path_caches(bytes);
    const bool makers = may_hold_key_makers(bytes);
    const bool mlx = may_hold_mlx(bytes);
    const bool gradients = may_hold_native_gradients(bytes);
    const bool rows = may_hold_row_tables(bytes);
    const bool built = may_build_names(bytes);
    const bool methods = may_bind_methods(bytes);
    if (!device_code && !keys && !maps && !memos && !plugins && !paths && !makers && !mlx &&
        !gradients && !rows && !built && !methods) {
      return;
    }
    read_plain(number, bytes, plain);
    if (device_code) {
      read_device_code(plain, paths_[number], records_.devices[number]);
      records_.devices[number].launches.accepted =
          accepted_lines(bytes, file.ignores, "launch-unchecked");
    }
    if (keys) read_key_code(number, plain);
    if (gradients) read_native_gradients(plain, file.native_gradients);
    if (rows) find_row_tables(plain, number, file.row_tables);
    if (methods) read_method_bindings(plain, number, file.methods);
    if (built) read_built_names(plain, number, file.built_names);
    if (mlx) read_mlx(plain, file.mlx);
    if (memos) add_caches(number, read_memos(plain));
    if (paths) add_caches(number, read_path_caches(plain));
    if (makers) add_caches(number, read_key_makers(plain));
    if (plugins) read_plugins(plain, file.plugins);
    if (maps) find_cpp_maps(plain, number, file.maps);
  }

  // What macros of the project may say, whose names are known now.
  void read_registrations() {
    const WordQuery macros(tree_->project_macros());
    std::atomic<FileId> next{0};
    side_by_side(threads_, threads_, [&](std::size_t) {
      // Each thread has its own, kept from file to file.
      Preprocessor preprocessor(*tree_);
      SourceUnit unit;
      Invocations found;
      std::string bytes;
      for (FileId file = next++; file < tree_->size(); file = next++) {
        const std::uint32_t number = numbers_[file];
        if (mentions_[number] == 0 && !words_.may_hold(number, macros)) continue;
        if (!texts_.read(number, bytes) || !tree_->has_needle(bytes)) continue;
        preprocessor.run(file, bytes, unit);
        find_invocations(unit, tree_->vocabulary(), found);
        unit.file = number;
        read_unit(unit, found, records_.files[number]);
        if (!unit.truncated) continue;
        note(number, "too much to be read as a whole: macros stay unexpanded from some place on");
      }
    });
  }

  static void read_unit(const SourceUnit& unit, const Invocations& found, FileRecords& file) {
    read_torch_cpp(unit, found, file.torch_cpp);
    read_targets_cpp(unit, found, file.targets);
    read_onnx_cpp(unit, found, file.onnx);
    read_paddle_cpp(unit, found, file.paddle);
    read_tensorflow_cpp(unit, found, file.tensorflow);
    read_handlers_cpp(unit, found, file.handlers);
    read_annotations(unit, found, file.annotations);
    read_executorch_cpp(unit, found, file.executorch);
    read_extensions_cpp(unit, found, file.extensions);
    read_tvm_cpp(unit, found, file.tvm);
    for (const StatedUse& use : unit.stated_uses) {
      file.stated_uses.push_back(
          {std::string(use.macro), {unit.file, use.offset, use.length}, use.fits, use.arguments});
    }
  }

  bool read_source(std::uint32_t number, std::string& bytes) {
    const InputFile& file = folder_.files[number];
    if (file.size > most_bytes) {
      note(number, "not read, since it is larger than " + plural(most_bytes >> 20, "MiB", "MiB"));
      return false;
    }
    if (read_source_bytes(file, bytes)) return true;
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
    const bool foreign = may_hold_foreign(bytes);
    const bool misses = may_hold_miss_errors(bytes);
    const bool told =
        registers || autograd || gradients || caches || support || alternatives || triton;
    const bool tables = may_hold_tables(bytes);
    if (!told && !tables && !keys && !foreign && !misses) return;
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
      if (misses) {
        read_miss_errors(find_miss_errors(file), number, records_.files[number].registrars);
      }
      if (foreign) records_.files[number].foreign.push_back({number, find_python_foreign(file)});
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
      const bool targets = std::any_of(
          found.registrations.begin(), found.registrations.end(),
          [](const PythonRegistration& one) { return one.kind == PythonKind::ffi_target; });
      if (targets) {
        read_repeated_targets(find_repeated_targets(file), number,
                              records_.files[number].registrars);
      }
      read_onnx_python(found.registrations, number, records_.files[number].onnx_functions);
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

  const SourceFolder& folder_;
  const std::vector<std::string>& paths_;
  const SourceTexts& texts_;
  unsigned threads_;
  WordIndex& words_;
  TreeRecords& records_;
  const Needles dispatches_;
  const Needles predicates_;
  std::unique_ptr<SourceTree> tree_;
  // By number in the tree.
  std::vector<std::uint32_t> numbers_;
  const Needles macro_starts_;
  // Whether a file mentions a word of the vocabulary itself.
  std::vector<char> mentions_;
  // The same, or what a macro that registers may begin with.
  std::vector<char> starts_;
};

}  // namespace

bool read_source_bytes(const InputFile& file, std::string& bytes) {
  if (file.size > most_bytes) return false;
  if (file.open_path.empty()) {
    bytes = file.bytes;
    return true;
  }
  ByteSource source = ByteSource::file(file.open_path);
  bytes.resize(static_cast<std::size_t>(file.size));
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const std::size_t got = source.read(bytes.data() + filled, bytes.size() - filled);
    if (got == 0) break;
    filled += got;
  }
  bytes.resize(filled);
  return source.error().empty();
}

std::unique_ptr<SourceTree> load_files(const SourceFolder& folder,
                                       const std::vector<std::string>& paths,
                                       const SourceTexts& texts, unsigned threads,
                                       const std::string& stated_macros, WordIndex& words,
                                       TreeRecords& records) {
  return FileLoader(folder, paths, texts, threads, stated_macros, words, records).run();
}

}  // namespace opseal
