// Formats: conda's package specification, `info/index.json` and version 1 of `info/paths.json`.

#include <nlohmann/json.hpp>

#include "analyzers/package/distribution.h"

namespace opseal {
namespace {

using nlohmann::json;

std::string text_at(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return {};
  return found->get<std::string>();
}

}  // namespace

bool read_conda_index(std::string_view text, Distribution& distribution) {
  const json index = json::parse(text, nullptr, false);
  if (!index.is_object()) return false;
  distribution.name = text_at(index, "name");
  distribution.version = text_at(index, "version");
  if (const std::string subdir = text_at(index, "subdir"); !subdir.empty()) {
    distribution.tags = {subdir};
  }
  const auto depends = index.find("depends");
  if (depends == index.end() || !depends->is_array()) return true;
  for (const json& one : *depends) {
    if (one.is_string()) distribution.requirements.push_back(one.get<std::string>());
  }
  return true;
}

bool read_conda_paths(std::string_view text, Distribution& distribution) {
  const json root = json::parse(text, nullptr, false);
  if (!root.is_object()) return false;
  const auto paths = root.find("paths");
  if (paths == root.end() || !paths->is_array()) return false;
  for (const json& one : *paths) {
    if (!one.is_object()) continue;
    Distribution::File file;
    file.path = text_at(one, "_path");
    if (file.path.empty()) continue;
    const std::string digest = text_at(one, "sha256");
    if (!digest.empty()) file.digest = "sha256:" + digest;
    distribution.files.push_back(std::move(file));
  }
  return true;
}

}  // namespace opseal
