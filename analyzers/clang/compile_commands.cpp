// https://clang.llvm.org/docs/JSONCompilationDatabase.html: a list of objects with `file`,
// `directory`, and `arguments` (a list) or `command` (a line). Of a file with several the first
// counts.

#include "analyzers/clang/compile_commands.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "analyzers/clang/compile_flags.h"

namespace fs = std::filesystem;

namespace opseal {
namespace {

using nlohmann::json;

constexpr std::uintmax_t most_bytes = std::uintmax_t{128} << 20;

std::string text_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

void CompileCommands::read_folder(const std::string& folder) {
  for (const char* name : {"compile_commands.json", "build/compile_commands.json"}) {
    const fs::path path = fs::path(folder) / name;
    std::error_code error;
    if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > most_bytes) continue;
    std::ifstream stream(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    read(bytes);
    if (!empty()) return;
  }
}

void CompileCommands::read(std::string_view bytes) {
  const json list = json::parse(bytes, nullptr, false);
  if (!list.is_array()) return;
  for (const json& entry : list) {
    if (!entry.is_object()) continue;
    const std::string file = text_at(entry, "file");
    if (file.empty()) continue;
    Command command;
    command.directory = text_at(entry, "directory");
    const auto arguments = entry.find("arguments");
    if (arguments != entry.end() && arguments->is_array()) {
      for (const json& word : *arguments) {
        if (word.is_string()) command.words.push_back(word.get<std::string>());
      }
    } else {
      command.words = split_command(text_at(entry, "command"));
    }
    const fs::path path = fs::path(command.directory) / file;
    commands_.try_emplace(path.lexically_normal().string(), std::move(command));
  }
}

std::vector<std::string> CompileCommands::flags_of(const std::string& path) const {
  const auto found = commands_.find(fs::path(path).lexically_normal().string());
  if (found == commands_.end()) return {};
  return kept_flags(found->second.words, found->second.directory, path);
}

}  // namespace opseal
