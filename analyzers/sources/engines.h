#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzers/python/tables.h"
#include "analyzers/sources/load_code.h"
#include "analyzers/sources/placed_writer.h"
#include "analyzers/sources/records.h"
#include "analyzers/sources/source_texts.h"

namespace opseal {

// Registries that a project wrote itself: a dictionary or map from a key to a function, which
// decorators, macros or calls fill, and which is asked by key.

struct EngineEntry {
  // `add, cuda, f32`; the parts are `parts`.
  std::string key;
  std::vector<std::string> parts;
  // The same with full names: what looks alike may be of two modules.
  std::string exact;
  // Which things the parts are: only keys of one sort can be compared.
  std::string sort;
  // The function's name, or empty.
  std::string function;
  SourcePlace place;
  BuildCondition when;
  std::string macro;
  // It came through the registry's own function, or stands in one literal: who registers so doesn't
  // mean to replace anything.
  bool logged = false;
};

struct EngineLookup {
  std::string key;
  std::string sort;
  SourcePlace place;
};

struct Engine {
  std::string name;
  SourcePlace place;
  // `replace`, `ignore`, `error`, or empty where it isn't known.
  std::string on_duplicate;
  // Everything that fills it was read.
  bool known = true;
  std::vector<EngineEntry> entries;
  std::vector<EngineLookup> lookups;
};

// `tables`: of each path, empty where it is no Python.
std::vector<Engine> find_python_engines(const std::vector<std::string>& paths,
                                        std::vector<std::vector<PythonTable>> tables,
                                        const SourceTexts& texts);

// Leaves out what can't be compared: look-ups in a registry that isn't known as a whole, entries
// that say again what stands there already. False if nothing is left to tell.
bool settle_engine(Engine& engine, bool partial);

// Writes the table, the look-ups and the log. Needs: an open document.
void write_engine(const Engine& engine, PlacedWriter& writer);

}  // namespace opseal
