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
  const WordQuery any_name(names);
  const Needles needles(std::move(names));
  std::string bytes;
  PlainSource plain;
  for (const std::size_t at : cpp_files) {
    all.registers = all.registers || files[at].registers_plugins;
    const bool may_name = texts.may_hold(at, any_name);
    if ((!may_name && !files[at].may_paste) || !texts.read(at, bytes)) continue;
    if (files[at].may_paste) read_fragments(bytes, all.fragments);
    if (!may_name || !needles.occur_in(bytes)) continue;
    read_plain(static_cast<std::uint32_t>(at), bytes, plain);
    mark_used(plain, all.classes);
  }
}

}  // namespace opseal
