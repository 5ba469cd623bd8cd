#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/source/plain_source.h"
#include "analyzers/sources/engines.h"
#include "analyzers/sources/source_texts.h"

namespace opseal {

// A map of a project: a member of a class (a registry that usually is one object), or the static
// map that a function gives back.
struct CppTable {
  // The class, or the function.
  std::string owner;
  // The member; empty where a function gives it back.
  std::string member;
  SourcePlace place;
  bool open = false;
};

enum class CppSecond : std::uint8_t { unknown, replaces, ignored };

// A function that stores or reads under a key made of its parameters, or hands them on to one.
struct CppAccessor {
  std::string name;
  // Index into the tables.
  std::size_t table = 0;
  bool stores = false;
  // Reads: what isn't there ends the program, or the call.
  bool raises = false;
  // It is called on the registry's object; otherwise it is a function, or the type of a registrar.
  bool is_member = false;
  CppSecond second = CppSecond::unknown;
  // The parameters that make the key.
  std::vector<std::size_t> key;
  // What a parameter is where it isn't handed over, as written.
  std::vector<std::string> defaults;
};

struct CppEngineShape {
  std::vector<CppTable> tables;
  std::vector<CppAccessor> accessors;
  // Functions that give back the object of a class, and objects, with the index of the table.
  std::map<std::string, std::size_t> givers;
  // Functions whose own calls are no registrations.
  std::set<std::string> inner;
  // How many functions of a class have that name: `Registry::add`.
  std::map<std::string, std::size_t> bodies;
};

// Adds the maps that a file declares.
void find_cpp_tables(const PlainSource& source, std::uint32_t file, std::vector<CppTable>& tables);
// Adds what functions of a file do with them. `forwards`: look for those that hand on to accessors
// that are known already.
void find_cpp_accessors(const PlainSource& source, bool forwards, CppEngineShape& shape);

// A part of a key as an argument says it; `sort` is empty where it isn't decided.
struct EngineKeyPart {
  std::string sort;
  std::string text;
};
EngineKeyPart engine_key_part(Tokens argument);

bool is_in_try(const SourceUnit& unit, const Invocations& found, std::uint32_t scope);

// The maps of one file, or of all.
struct CppMaps {
  std::vector<CppTable> tables;
  std::vector<Engine> literals;
};
bool may_hold_maps(std::string_view bytes);
// Adds those of a file.
void find_cpp_maps(const PlainSource& source, std::uint32_t file, CppMaps& maps);

// Constant maps of functions that a file writes out, and the look-ups of the same file.
void find_cpp_literals(const PlainSource& source, std::uint32_t file, std::vector<Engine>& engines);

std::vector<Engine> find_cpp_engines(const std::vector<std::string>& paths,
                                     const std::vector<std::size_t>& cpp_files,
                                     const SourceTexts& texts, CppMaps maps);

}  // namespace opseal
