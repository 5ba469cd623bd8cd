#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzers/source/preprocessor.h"
#include "analyzers/source/statements.h"
#include "analyzers/sources/enumerator_names.h"
#include "analyzers/sources/enumerator_tables.h"

namespace opseal {

// A function with its body, as readers of the flow see it.
struct CodeFunction {
  // With what stands before `::`.
  std::string name;
  // Index into `CodeFunctions::files`.
  std::uint32_t file = 0;
  std::uint32_t name_token = 0;
  TokenRange body;
  // Names of the parameters; empty where one has none.
  std::vector<std::string_view> parameters;
  std::vector<Statement> statements;
  // It ends the program or throws, whatever comes.
  bool never_returns = false;
  // Names of pairs that a comment directly above gives it: `opseal: predicate(x)`.
  std::vector<std::string> predicate_of;
  std::vector<std::string> dispatch_of;
};

// Files whose functions are looked into. Macros stay unexpanded.
struct CodeFile {
  // Number in the tree.
  std::uint32_t number = 0;
  std::string path;
  std::string bytes;
  SourceUnit unit;
  std::vector<std::uint32_t> partners;
  // What stands in the braces of enumerations.
  std::vector<TokenRange> enumerations;
  std::vector<EnumeratorTable> tables;
  // By place: which enumeration a name means that several have.
  std::vector<StatedValue> meant;
};

// An `enum` as it is written.
struct CodeEnumeration {
  std::string name;
  std::vector<std::string_view> enumerators;
  // By enumerator: it is another name for one before it.
  std::vector<bool> is_alias;
  // They count from 0 one by one, and no condition leaves one out.
  bool sequential = true;
};

class CodeFunctions {
 public:
  // Reads a file; no more than once.
  void add(std::uint32_t number, std::string path, std::string bytes,
           const StatedEnumerators& stated = {});
  // Puts enumerators where constants and macros of the files stand for some; once all are added.
  // `others`: enumerations of files that aren't looked into.
  void resolve_names(const CodeFunctions& others);
  // Reads its enumerations alone.
  void add_enumerations(const std::string& bytes);

  const std::vector<std::unique_ptr<CodeFile>>& files() const { return files_; }
  const std::vector<std::unique_ptr<CodeFunction>>& functions() const { return functions_; }
  // The function that a call in a file means: that of the file itself, else the only one of the
  // name. Null where there is none, or it isn't clear which.
  const CodeFunction* find(std::string_view name, std::uint32_t file) const;
  Tokens tokens_of(const CodeFunction& function) const {
    return files_[function.file]->unit.tokens;
  }

  // An expression of a file within its brackets and casts.
  TokenRange value_in(std::uint32_t file, TokenRange range) const {
    return without_casts(files_[file]->unit.tokens, files_[file]->partners, range);
  }

  // The table that a name means in a file: the only one of the name there, else in all. Null where
  // there is none, or it isn't clear which.
  const EnumeratorTable* find_table(std::string_view name, std::uint32_t file) const;

  const std::vector<std::unique_ptr<CodeEnumeration>>& enumerations() const {
    return enumerations_;
  }
  // The enumeration that has an enumerator, or null.
  const CodeEnumeration* enumeration_of(std::string_view enumerator) const;

 private:
  void find_functions(std::uint32_t file);
  std::vector<TokenRange> find_enumerations(Tokens tokens);
  void read_parameters(const CodeFile& file, TokenRange range, CodeFunction& function) const;
  void read_directives(const CodeFile& file, std::size_t first_function);

  std::vector<std::unique_ptr<CodeFile>> files_;
  std::vector<std::unique_ptr<CodeFunction>> functions_;
  std::unordered_map<std::string_view, std::vector<const CodeFunction*>> by_name_;
  std::unordered_map<std::string_view, std::vector<const EnumeratorTable*>> tables_;
  std::vector<std::unique_ptr<CodeEnumeration>> enumerations_;
  std::unordered_map<std::string_view, const CodeEnumeration*> by_enumerator_;
  // Of files that are read for their enumerations alone.
  std::vector<std::unique_ptr<std::string>> texts_;
  TextArena arena_;
};

}  // namespace opseal
