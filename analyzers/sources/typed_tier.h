#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "analyzers/clang/compile_commands.h"
#include "analyzers/clang/typed.h"
#include "analyzers/source/source_tree.h"
#include "analyzers/sources/file_records.h"
#include "analyzers/sources/load_code.h"
#include "analyzers/sources/source_texts.h"
#include "analyzers/sources/typed_options.h"

namespace opseal {

// Which files of a tree libclang is asked about, what stands before them, and what its answers add
// to what the text says.
class TypedTier {
 public:
  // `paths` are all files of the tree, sorted; `opened` where each is on disk, or nothing;
  // `cpp_files` the numbers of those in C++; `root` the folder of the tree on disk, or nothing.
  TypedTier(const SourceTree& tree, const std::vector<std::string>& paths,
            const std::vector<std::size_t>& cpp_files, std::vector<std::string> opened,
            std::string root, SourceTexts texts);

  // Files whose enumerators are asked for.
  void want_enumerators(const std::vector<std::size_t>& files);
  // Asks, and adds the answers to the records. Problems go to the records of their files.
  void run(const TypedOptions& options, unsigned threads, TreeRecords& records);

  // By number of the file: what of its enumerators the text alone doesn't tell.
  std::map<std::size_t, StatedEnumerators> enumerators() const;

 private:
  struct Wanted {
    std::vector<std::uint32_t> functions;
    std::vector<std::string> names;
    std::vector<std::uint32_t> keys;
    bool asked = false;
    bool answered = false;
  };
  void want_functions(const std::vector<TorchRecord>& records);
  void want_launchers(const std::vector<DeviceCode>& devices);
  void want_dtypes(const std::vector<TorchRecord>& records);
  void want_keys(const std::vector<FileRecords>& files);
  void want_words();
  bool want_definitions(const TreeRecords& records);
  TypedQuestion question_for(std::size_t file) const;
  void add_headers(FileId file, std::string& text) const;
  // One round; true where there is another.
  bool ask(const TypedOptions& options, unsigned threads, TreeRecords& records);
  void add_answer(std::size_t file, TypedFile& answer, TreeRecords& records);
  void settle_functions(std::vector<TorchRecord>& records) const;
  void settle_uses(TreeRecords& records) const;
  void settle_dtypes(std::vector<TorchRecord>& records) const;
  void settle_launches(std::vector<DeviceCode>& devices) const;

  const SourceTree& tree_;
  const std::vector<std::string>& paths_;
  const std::vector<std::size_t>& cpp_files_;
  std::vector<std::string> opened_;
  std::string root_;
  SourceTexts texts_;
  CompileCommands commands_;
  // By number of the file.
  std::vector<FileId> of_tree_;
  std::vector<Wanted> wanted_;
  std::vector<TypedFile> answers_;
};

// The folder of a tree on disk, from the path of one of its files there and in reports; empty where
// it can't be told. `place`: the tree's own path in reports.
std::string root_of_tree(const std::string& place, const std::string& path,
                         const std::string& opened);

// Whether what a call gives is asked for something that is kept: `f(x).data();`.
bool keeps_from_call(std::string_view bytes);

}  // namespace opseal
