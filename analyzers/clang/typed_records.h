#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/rows.h"

namespace opseal {

// What libclang tells of one file. Places are bytes of that file.
struct TypedPlace {
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
};

// A function that was asked for, with its types as they are behind the names that the project gives
// them.
struct TypedFunction {
  // That of its name, or of the `[` of a lambda; nothing where it was asked for by name.
  TypedPlace place;
  // As it was asked for; empty where it was asked for by place.
  std::string name;
  // `Tensor (const Tensor & x, int64_t n)`
  std::string signature;
  std::vector<std::string> parameters;
  // A parameter that torch fills in by itself is not among them.
  std::uint32_t positional = 0;
  // A type was found behind a name, or worked out.
  bool resolved = false;
};

// A pointer that a member function of a temporary gives, and that is kept.
struct TypedPointer {
  TypedPlace place;
  std::string expression;
  // That of the temporary.
  std::string type;
  std::string function;
};

// A call that registers something and answers whether it worked.
struct TypedStatus {
  TypedPlace place;
  std::string callee;
  bool dropped = false;
};

// An object that a namespace or a class has.
struct TypedUse {
  TypedPlace place;
  // Qualified.
  std::string name;
};

// An object whose initialization registers something, with the objects that it reads on the way and
// that other units define.
struct TypedRegistrar {
  TypedPlace place;
  std::string type;
  std::string name;
  std::vector<TypedUse> uses;
};

// The definition of such an object.
struct TypedGlobal {
  TypedPlace place;
  std::string name;
  // It is made by code that runs when the program starts.
  bool dynamic = false;
};

// What is worth an enumerator, or one of a name that several enumerations have.
struct TypedEnumerator {
  TypedPlace place;
  // Of the enumerator; or that of its enumeration, qualified.
  std::string name;
};

// A member of the type of a key, with those that it is within: `shape.rows`.
struct TypedKeyField {
  // Nothing where another file has it.
  TypedPlace place;
  std::string name;
  // It is a pointer, a reference or `mutable`.
  bool exempt = false;
};

// A function that compares, hashes or names keys.
struct TypedKey {
  TypedPlace place;
  std::string type;
  std::vector<TypedKeyField> fields;
  // Of `fields`, as far as each is named.
  std::vector<std::string> reads;
};

// A function that gives an error of the runtime of a device.
struct TypedLauncher {
  TypedPlace place;
  // Qualified.
  std::string name;
  // It starts a kernel, and gives back its error without doing anything with it.
  bool plain = false;
};

// A call of one whose result nobody reads.
struct TypedLostError {
  TypedPlace place;
  // Qualified.
  std::string callee;
  std::string name;
  // In which it stands.
  std::string function;
};

struct TypedFile {
  std::vector<TypedFunction> functions;
  std::vector<TypedPointer> pointers;
  std::vector<TypedStatus> statuses;
  std::vector<TypedRegistrar> registrars;
  std::vector<TypedGlobal> globals;
  // Expressions that a value is held against, with the enumerator that each comes to.
  std::vector<TypedEnumerator> values;
  // Names that several enumerations have, with the one that is meant.
  std::vector<TypedEnumerator> enumerators;
  std::vector<TypedKey> keys;
  std::vector<TypedLauncher> launchers;
  std::vector<TypedLostError> lost_errors;
};

// What is asked of one file.
struct TypedQuestion {
  // As diagnostics of nobody's name it; the suffix says what language it is.
  std::string path;
  // Text before the file's own: what stands for headers that aren't there, and those of the
  // project. `prelude`: bytes of the former.
  std::string text;
  std::uint32_t prelude = 0;
  std::uint32_t prefix = 0;
  // Where the file is on disk, and how it is compiled; no flags: nobody knows, and `text` is read.
  std::string open_path;
  std::string root;
  std::vector<std::string> flags;
  // Where precompiled headers are kept; empty: none are made and none are read.
  std::string cache;
  // Of processor time.
  std::uint32_t seconds = 10;
  // Places of functions, sorted, and names.
  std::vector<std::uint32_t> functions;
  std::vector<std::string> names;
  // Places of functions that tell keys apart, sorted.
  std::vector<std::uint32_t> keys;
};

void write_question(const TypedQuestion& question, RowWriter& writer);
TypedQuestion read_question(RowReader& reader);
void write_answer(const TypedFile& file, RowWriter& writer);
TypedFile read_answer(RowReader& reader);

}  // namespace opseal
