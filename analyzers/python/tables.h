#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/python/registrations.h"

namespace opseal {

// Dictionaries by which a program finds its functions: `_KERNELS[(op, device)] = fn` in a method,
// a function or a decorator, or `KERNELS = {"add": add_cpu}`. The shape tells them, no name does.

// One part of a key, as far as the text decides it.
struct PythonKeyValue {
  // `t` a text, `n` a number, `b` a truth, `0` None, `.` a name (`nn.Linear`), and `Device.` a
  // member of that; empty where it isn't decided. Only parts of one kind can be compared.
  std::string kind;
  std::string text;
  // Of a name: with the module that it is imported from.
  std::string full = {};

  bool decided() const { return !kind.empty(); }
};

// A part of a key, made of texts and parameters: `f"{op}.{device}"`.
struct PythonTableKeyPiece {
  std::string text;
  // Of the function around, by position; -1 for a text.
  int parameter = -1;
  // `fn.__name__`; of a parameter of the function within it is that of what is decorated.
  bool name_of = false;
  bool decorated = false;
};
struct PythonTableKeyPart {
  std::vector<PythonTableKeyPiece> pieces;
  // Of a part that is one constant.
  PythonKeyValue constant;
};

struct PythonTableParameter {
  std::string name;
  bool has_default = false;
  PythonKeyValue standard;
};

// A function that stores or reads under a key made of its own parameters.
struct PythonAccessor {
  std::string name;
  bool stores = false;
  // Reads: a key that isn't there ends in an exception.
  bool raises = false;
  // Reads: `None` for a key that isn't there.
  bool gives_none = false;
  std::vector<PythonTableKeyPart> key;
  std::vector<PythonTableParameter> parameters;
  // A method of the class itself, without an object.
  bool of_class = false;
};

// What a second store under one key does.
enum class PythonSecond : std::uint8_t { unknown, replaces, ignored, raises };

struct PythonTableEntry {
  std::vector<PythonKeyValue> key;
  // As written: a function's name, `lambda`.
  std::string value;
  PythonPlace place;
  std::vector<std::string> conditions;
  std::string within;
};

struct PythonTable {
  // The name in the module, or of the attribute.
  std::string name;
  // The class that has it; empty for one of the module.
  std::string owner;
  // Every object of the class has its own.
  bool of_object = false;
  // Filled or handed on in a way that isn't followed.
  bool open = false;
  PythonSecond second = PythonSecond::unknown;
  std::vector<PythonAccessor> accessors;
  // Of a literal: the one in which it begins.
  std::vector<PythonTableEntry> entries;
  // Most of its entries are functions or classes.
  bool of_functions = false;
  PythonPlace place;
};

// Tables that a file defines.
std::vector<PythonTable> find_python_tables(const ParsedPython& file);
// Whether a look into the file is worth it, as far as its lines tell: most files have dictionaries,
// and few have one that is filled by functions or holds them.
bool may_hold_tables(std::string_view text);

// A name by which other files reach a table: an object, a class, a function, or the table itself.
struct PythonTableName {
  std::string name;
  // `a.b` of the file that defines it.
  std::string module;
  std::uint32_t file = 0;
  std::uint32_t table = 0;
  enum class Kind : std::uint8_t { table, function, object } kind = Kind::table;
  // Of a function that is another name for a method.
  std::string member = {};
};

// `NAME = Class(…)` of a module, or `NAME = OBJECT.member`.
struct PythonTableObject {
  std::string name;
  std::string made_by;
  std::string member;
};
std::vector<PythonTableObject> find_python_objects(std::string_view text);

struct PythonTableUse {
  // Index into the names.
  std::uint32_t name = 0;
  enum class Kind : std::uint8_t {
    store,
    // Asks for a key that has to be there.
    lookup,
    // Something that isn't followed.
    unknown,
  } kind = Kind::unknown;
  // Of a store whose key isn't decided: empty.
  PythonTableEntry entry;
};

// What a file does with tables. `names`: of the tree, sorted by name; `file`, `module`: its own.
std::vector<PythonTableUse> find_python_table_uses(std::string_view text, std::uint32_t file,
                                                   std::string_view module,
                                                   const std::vector<PythonTableName>& names,
                                                   const std::vector<PythonTable>& tables);

// How a key is told in a message: `add, cuda, f32`.
std::string python_key_text(const std::vector<PythonKeyValue>& key);

}  // namespace opseal
