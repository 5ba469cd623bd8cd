#include "analyzers/sources/foreign.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace opseal {
namespace {

using Names = std::set<std::string, std::less<>>;

constexpr std::size_t most_names = 20'000;
constexpr std::size_t most_macros = 64;
// Arguments of a call that aren't all written out.
constexpr std::size_t any_number = 1'000'000;

// Where the module of a dotted name would stand, without `.py`: `pkg/lib` of `.lib` in
// `pkg/use.py`. Of one that isn't relative, how the path ends.
std::string module_path(std::string_view dotted, std::string_view importer) {
  std::string folder;
  if (dotted.starts_with('.')) {
    folder = importer.substr(0, importer.rfind('/') == importer.npos ? 0 : importer.rfind('/'));
    dotted.remove_prefix(1);
    while (dotted.starts_with('.')) {
      dotted.remove_prefix(1);
      const std::size_t slash = folder.rfind('/');
      folder.resize(slash == std::string::npos ? 0 : slash);
    }
  }
  std::string path = folder.empty() ? std::string() : folder + "/";
  for (const char byte : dotted) path += byte == '.' ? '/' : byte;
  return path;
}

// `from . import lib`, where that is a file of the tree and no name of the package.
class Modules {
 public:
  explicit Modules(const std::vector<std::string>& paths) {
    constexpr std::string_view package = "/__init__.py";
    for (const std::string& path : paths) {
      std::string_view name = path;
      if (!name.ends_with(".py")) continue;
      name.remove_suffix(name.ends_with(package) ? package.size() : 3);
      by_last_[std::string(name.substr(name.rfind('/') + 1))].push_back(name);
    }
  }

  bool has(std::string_view dotted, std::string_view importer) const {
    const auto found = by_last_.find(dotted.substr(dotted.rfind('.') + 1));
    if (found == by_last_.end()) return false;
    const std::string wanted = module_path(dotted, importer);
    const bool relative = dotted.starts_with('.');
    return std::any_of(found->second.begin(), found->second.end(), [&](std::string_view path) {
      return path == wanted || (!relative && path.ends_with("/" + wanted));
    });
  }

 private:
  std::map<std::string, std::vector<std::string_view>, std::less<>> by_last_;
};

// Functions that may be those of a C library.
Names wanted_names(std::vector<ForeignRecord>& records, const std::vector<std::string>& paths) {
  // What another file imports may be a library that this one loads.
  Names libraries;
  for (const ForeignRecord& record : records) {
    libraries.insert(record.said.libraries.begin(), record.said.libraries.end());
  }
  Names names;
  const Modules modules(paths);
  for (ForeignRecord& record : records) {
    // By name, since a file calls what it imports many times.
    std::map<std::string_view, bool, std::less<>> known;
    std::vector<PythonForeign> uses = std::move(record.said.uses);
    record.said.uses.clear();
    for (PythonForeign& use : uses) {
      if (!use.imported.empty()) {
        const std::string_view name = use.imported;
        const auto [seen, is_new] = known.emplace(name, false);
        if (is_new) {
          seen->second = libraries.contains(name.substr(name.rfind('.') + 1)) &&
                         !modules.has(name, paths[record.file]);
        }
        if (!seen->second) continue;
      }
      record.said.uses.push_back(std::move(use));
    }
  }
  for (const ForeignRecord& record : records) {
    for (const PythonForeign& use : record.said.uses) {
      // Shorter ones can't be looked for.
      if (use.name.size() < 3) continue;
      if (names.size() < most_names) names.insert(use.name);
    }
  }
  return names;
}

class Joiner {
 public:
  Joiner(std::vector<ForeignRecord> records, const std::vector<std::string>& paths,
         const std::vector<std::size_t>& cpp_files, const SourceTexts& texts)
      : records_(std::move(records)), paths_(paths), cpp_files_(cpp_files), texts_(texts) {}

  ForeignTree run() {
    const Names names = wanted_names(records_, paths_);
    if (names.empty()) return {};
    find_functions(names);
    if (tree_.functions.empty()) return {};
    for (const CFunction& function : tree_.functions) known_.insert(function.name);
    note_declarations();
    for (ForeignRecord& record : records_) {
      for (PythonForeign& use : record.said.uses) {
        if (known_.contains(use.name)) add(use, record.file);
      }
    }
    drop_idle();
    return std::move(tree_);
  }

 private:
  void find_functions(const Names& names) {
    const WordQuery any_name(names);
    const WordQuery defining(std::vector<std::string>{"define"});
    Names macros;
    std::string bytes;
    std::vector<std::size_t> files;
    for (const std::size_t at : cpp_files_) {
      if (texts_.may_hold(at, any_name)) files.push_back(at);
      if (!texts_.read_holding(defining, at, bytes)) continue;
      add_linkage_macros(bytes, "extern \"C\"", macros);
    }
    add_nested(macros);
    PlainSource plain;
    for (const std::size_t at : files) {
      if (!texts_.read(at, bytes)) continue;
      read_plain(static_cast<std::uint32_t>(at), bytes, plain);
      read_c_functions(plain, paths_[at].ends_with(".c"), names, macros, tree_.functions);
    }
  }

  // `#define LIB_API LIB_EXTERN_C __declspec(dllexport)`
  void add_nested(Names& macros) {
    if (macros.empty() || macros.size() > most_macros) return;
    const Names marks = macros;
    const WordQuery any_mark(marks);
    std::string bytes;
    for (const std::size_t at : cpp_files_) {
      if (!texts_.read_holding(any_mark, at, bytes)) continue;
      for (const std::string& mark : marks) add_linkage_macros(bytes, mark, macros);
    }
  }

  void note_declarations() {
    for (const ForeignRecord& record : records_) {
      open_ = open_ || record.said.open;
      for (const PythonForeign& use : record.said.uses) {
        if (!known_.contains(use.name)) continue;
        if (use.called) {
          std::size_t& most = given_[use.name];
          most = std::max(most, use.arguments ? use.arguments->size() : any_number);
          continue;
        }
        if (use.result) with_result_.insert(use.name);
        if (!use.result) with_arguments_.insert(use.name);
      }
      for (const std::string& name : record.said.handed_on) {
        if (known_.contains(name)) handed_on_.insert(name);
      }
    }
  }

  // Calls tell something where nobody declares what they hand over or return.
  void add(PythonForeign& use, std::uint32_t file) {
    if (!use.called) {
      // A call may give more than is declared.
      const auto given = given_.find(use.name);
      if (use.arguments && given != given_.end() && given->second > use.arguments->size()) {
        use.arguments.reset();
      }
      if (use.arguments || use.result) tree_.uses.push_back({std::move(use), file});
      return;
    }
    const bool unsure = open_ || handed_on_.contains(use.name);
    if (!unsure && use.uses_result && !with_result_.contains(use.name)) use.result = "default";
    // Declared ones are converted, so that the number alone says something.
    if (use.arguments && (unsure || with_arguments_.contains(use.name))) {
      for (std::string& word : *use.arguments) word = "?";
    }
    if (use.arguments || use.result) tree_.uses.push_back({std::move(use), file});
  }

  void drop_idle() {
    Names used;
    for (const ForeignUse& use : tree_.uses) used.insert(use.said.name);
    std::erase_if(tree_.functions,
                  [&used](const CFunction& one) { return !used.contains(one.name); });
  }

  std::vector<ForeignRecord> records_;
  const std::vector<std::string>& paths_;
  const std::vector<std::size_t>& cpp_files_;
  const SourceTexts& texts_;
  ForeignTree tree_;
  Names known_;
  Names with_result_;
  Names with_arguments_;
  Names handed_on_;
  // The most arguments of a call.
  std::map<std::string, std::size_t, std::less<>> given_;
  bool open_ = false;
};

}  // namespace

ForeignTree join_foreign(std::vector<ForeignRecord> records, const std::vector<std::string>& paths,
                         const std::vector<std::size_t>& cpp_files, const SourceTexts& texts) {
  return Joiner(std::move(records), paths, cpp_files, texts).run();
}

void write_foreign(const ForeignTree& tree, PlacedWriter& writer) {
  constexpr std::string_view space = "C";
  const std::uint32_t functions = writer.open_list(Key::functions);
  for (const CFunction& function : tree.functions) {
    const std::uint32_t object = writer.open(Key::none, NodeType::object, function.place);
    writer.text(Key::name, function.name, function.place);
    writer.text(Key::namespace_, space, function.place);
    if (function.open) {
      writer.truth(Key::variadic, true, function.place);
    } else {
      writer.count(Key::positional, static_cast<std::uint32_t>(function.parameters.size()),
                   function.place);
      writer.texts(Key::kinds, function.parameters, function.place);
    }
    if (function.result != "?") writer.texts(Key::results, {function.result}, function.place);
    writer.text_if(Key::when, function.when.text(), function.place);
    writer.close(object);
  }
  writer.close_list(functions);
  const std::uint32_t uses = writer.open_list(Key::uses);
  for (const ForeignUse& use : tree.uses) {
    const PythonForeign& said = use.said;
    const SourcePlace place{use.file, said.place.offset, said.place.length};
    const std::uint32_t object = writer.open(Key::none, NodeType::object, place);
    writer.text(Key::name, said.name, place);
    writer.text(Key::namespace_, space, place);
    if (said.called) writer.text(Key::form, "call", place);
    if (said.arguments) {
      writer.count(Key::arguments, static_cast<std::uint32_t>(said.arguments->size()), place);
      writer.texts(Key::kinds, *said.arguments, place);
    }
    if (said.result && *said.result != "?") writer.texts(Key::results, {*said.result}, place);
    writer.close(object);
  }
  writer.close_list(uses);
}

}  // namespace opseal
