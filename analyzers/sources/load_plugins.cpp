#include "analyzers/sources/load_plugins.h"

#include <cstdint>
#include <utility>

#include "analyzers/source/needles.h"
#include "analyzers/source/plain_source.h"
#include "analyzers/source/source_tree.h"
#include "analyzers/sources/plugin_classes.h"

namespace opseal {

void join_plugins(const std::vector<std::string>& paths, const std::vector<std::size_t>& cpp_files,
                  const SourceTexts& texts, std::vector<FileRecords>& files, PluginRecords& all) {
  for (FileRecords& file : files) {
    for (PluginClass& one : file.plugins.classes) all.classes.push_back(std::move(one));
    for (PluginMethod& one : file.plugins.methods) all.methods.push_back(std::move(one));
    for (PluginMade& one : file.plugins.made) all.made.push_back(std::move(one));
    for (PluginStorage& one : file.plugins.storage) all.storage.push_back(std::move(one));
    for (PluginFields& one : file.plugins.fields) all.fields.push_back(std::move(one));
  }
  add_unseen_classes(all);
  if (all.classes.empty()) return;
  std::vector<std::string> names;
  for (PluginClass& one : all.classes) {
    names.push_back(one.name);
    one.in_header = is_header_path(paths[one.place.file]);
  }
  const Needles needles(std::move(names));
  std::string bytes;
  PlainSource plain;
  for (const std::size_t at : cpp_files) {
    if (!texts.read(at, bytes)) continue;
    read_fragments(bytes, all.fragments);
    all.registers = all.registers || registers_plugins(bytes);
    if (!needles.occur_in(bytes)) continue;
    read_plain(static_cast<std::uint32_t>(at), bytes, plain);
    mark_used(plain, all.classes);
  }
}

}  // namespace opseal
