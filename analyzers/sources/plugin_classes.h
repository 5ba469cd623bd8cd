#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/source/plain_source.h"
#include "analyzers/sources/placed_writer.h"
#include "analyzers/sources/plugin_fields.h"
#include "analyzers/sources/plugin_storage.h"
#include "analyzers/sources/records.h"

namespace opseal {

// Classes that a runtime gets to know by an object of them: creators of plugins (TensorRT), custom
// operators (ONNX Runtime).
enum class PluginKind : std::uint8_t { tensorrt, onnxruntime };

// A class of a kind, where it is defined.
struct PluginClass {
  PluginKind kind = PluginKind::tensorrt;
  std::string name;
  BuildCondition when;
  SourcePlace place;
  // It stands in a header, which another project may include.
  bool in_header = false;
  // Somebody but the class itself names it, and where.
  bool used = false;
  SourcePlace use;
  // Its definition was read; else one of its methods alone.
  bool seen = true;
};

// `new Foo`, `std::make_unique<Foo>` in a method of such a class.
struct PluginMade {
  std::string maker;
  std::string name;
  SourcePlace place;
};

// What a method of such a class gives back, where that is a text: `getPluginName`, `GetName`.
struct PluginMethod {
  std::string owner;
  std::string name;
  // Empty where it isn't a literal, nor a constant that the file defines as one.
  std::string value;
  SourcePlace place;
};

struct PluginRecords {
  std::vector<PluginClass> classes;
  std::vector<PluginMethod> methods;
  std::vector<PluginMade> made;
  std::vector<PluginStorage> storage;
  std::vector<PluginFields> fields;
  // What macros paste names together from.
  std::set<std::string> fragments;
  // Some file registers or hands out plugins, be it by a name that isn't seen.
  bool registers = false;
};

// Whether a file may define such a class.
bool may_hold_plugins(std::string_view bytes);

void read_plugins(const PlainSource& source, PluginRecords& records);

// Adds the classes of which only methods were read.
void add_unseen_classes(PluginRecords& records);

// Marks the classes that a file names.
void mark_used(const PlainSource& source, std::vector<PluginClass>& classes);

// Whether a file registers plugins, or hands them out to a library that does.
bool registers_plugins(std::string_view bytes);

// Adds the fragments of names that the macros of a file paste.
void read_fragments(std::string_view bytes, std::set<std::string>& fragments);

// Writes `operators` of one kind. Needs: an open document.
void write_plugins(const PluginRecords& records, PluginKind kind, bool partial,
                   PlacedWriter& writer);

}  // namespace opseal
