#include "analyzers/sources/build_files.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include "analyzers/sources/load_files.h"

namespace opseal {
namespace {

constexpr std::uintmax_t most_bytes = 1 << 20;
constexpr std::size_t most_folders = 4096;

}  // namespace

std::vector<BuildFile> build_files(const SourceFolder& folder) {
  std::vector<BuildFile> found;
  std::set<std::string, std::less<>> seen;
  const std::string top = folder.place.path == "." ? std::string() : folder.place.path;
  for (const InputFile& source : folder.files) {
    if (source.path.ends_with(".py") || !source.open_path.ends_with(source.path)) continue;
    const std::string base =
        source.open_path.substr(0, source.open_path.size() - source.path.size());
    std::string_view path = source.path;
    while (path.size() > top.size() && path.starts_with(top)) {
      const std::size_t slash = path.rfind('/');
      path = slash == path.npos ? std::string_view() : path.substr(0, slash);
      if (path.size() < top.size() || seen.size() >= most_folders || seen.contains(path)) break;
      seen.emplace(path);
      BuildFile build;
      build.folder = path;
      build.file.path = build.folder + (path.empty() ? "" : "/") + "CMakeLists.txt";
      build.file.open_path = base + build.file.path;
      std::error_code error;
      const std::uintmax_t size = std::filesystem::file_size(build.file.open_path, error);
      if (error || size > most_bytes) continue;
      build.file.size = size;
      if (read_source_bytes(build.file, build.text)) found.push_back(std::move(build));
    }
  }
  return found;
}

}  // namespace opseal
