#include "tests/source_reader.h"

#include <utility>

namespace opseal::test {
namespace {

const std::string main_file = "a/main.cpp";

SourceReader::Files with_main(SourceReader::Files files, std::string text) {
  files[main_file] = std::move(text);
  return files;
}

std::vector<std::string> paths_of(const SourceReader::Files& files) {
  std::vector<std::string> paths;
  for (const auto& [path, text] : files) paths.push_back(path);
  return paths;
}

}  // namespace

SourceReader::SourceReader(std::string text, Files others, PreprocessorLimits limits)
    : files(with_main(std::move(others), std::move(text))),
      tree(paths_of(files), registration_vocabulary(),
           [this](const std::string& path, std::string& bytes) {
             const auto file = files.find(path);
             if (file == files.end()) return false;
             bytes = file->second;
             return true;
           }) {
  tree.discover();
  const FileId file = tree.resolve(main_file, no_file);
  Preprocessor(tree, limits).run(file, files[main_file], unit);
  find_invocations(unit, tree.vocabulary(), found);
}

std::string SourceReader::invocations() const {
  std::string lines;
  for (const Invocation& one : found.list) {
    if (!one.object.empty()) lines += std::string(one.object) + ".";
    if (one.previous != no_token) lines += std::string(found.list[one.previous].name) + "().";
    lines += one.name;
    for (const Tokens argument : one.arguments) lines += "[" + text_of(argument) + "]";
    if (one.condition != 0) lines += " if " + unit.conditions[one.condition].text();
    if (!one.through_macro.empty()) lines += " via " + std::string(one.through_macro);
    if (const Scope* block = found.enclosing(one.scope, ScopeKind::macro_block)) {
      lines += " in " + block->name;
    }
    if (const Scope* function = found.enclosing(one.scope, ScopeKind::function)) {
      lines += " in " + function->name + "()";
    }
    lines += "\n";
  }
  return lines;
}

std::string_view SourceReader::at(std::uint32_t offset, std::uint32_t length) const {
  return unit.bytes.substr(offset, length);
}

std::string SourceReader::condition_of(std::string_view token) const {
  for (const Token& one : unit.tokens) {
    if (one.text == token) return unit.condition_of(one).text();
  }
  return "no such token";
}

}  // namespace opseal::test
