#include "analyzers/package/member_paths.h"

#include <algorithm>
#include <vector>

#include "analyzers/package/fields.h"
#include "opseal/paths.h"

namespace opseal {
namespace {

// The names of a path with `.` and `..` worked out; false where it leads outside.
bool plain_names(std::string_view path, std::vector<std::string_view>& names) {
  for (const std::string_view name : split(path, '/')) {
    if (name.empty() || name == ".") continue;
    if (name != "..") {
      names.push_back(name);
    } else if (names.empty()) {
      return false;
    } else {
      names.pop_back();
    }
  }
  return true;
}

}  // namespace

std::string_view installed_path(std::string_view path) {
  for (const std::string_view folder : {"/site-packages/", "/dist-packages/"}) {
    const std::size_t at = path.find(folder);
    if (at != path.npos) return path.substr(at + folder.size());
  }
  const std::size_t top = path.find('/');
  if (top == path.npos || !path.substr(0, top).ends_with(".data")) return path;
  for (const std::string_view scheme : {"/platlib/", "/purelib/"}) {
    if (path.substr(top).starts_with(scheme)) return path.substr(top + scheme.size());
  }
  return path;
}

bool leads_outside(std::string_view path) {
  std::vector<std::string_view> names;
  return path.starts_with('/') || !plain_names(path, names);
}

std::string link_target(std::string_view link, std::string_view target) {
  if (target.starts_with('/')) return {};
  std::vector<std::string_view> names;
  const std::size_t folder = link.rfind('/');
  if (folder != link.npos && !plain_names(link.substr(0, folder), names)) return {};
  if (!plain_names(target, names)) return {};
  std::string out;
  for (const std::string_view name : names) {
    if (!out.empty()) out += '/';
    out += name;
  }
  return out;
}

bool is_named_like_library(std::string_view path) {
  const std::string_view name = file_name_of(path);
  for (const std::string_view end : {".so", ".a", ".cubin", ".fatbin", ".ptx"}) {
    if (name.size() > end.size() && name.ends_with(end)) return true;
  }
  // `libx.so.1`
  const std::size_t version = name.find(".so.");
  return version != name.npos && version + 4 < name.size() && name[version + 4] >= '0' &&
         name[version + 4] <= '9';
}

bool is_named_like_archive(std::string_view path) {
  constexpr std::string_view ends[] = {".zip", ".whl", ".egg",  ".jar",    ".conda",
                                       ".deb", ".tar", ".tgz",  ".tar.gz", ".tar.bz2",
                                       ".rpm", ".7z",  ".tbz2", ".tar.xz", ".tar.zst"};
  return std::any_of(std::begin(ends), std::end(ends),
                     [path](std::string_view end) { return path.ends_with(end); });
}

}  // namespace opseal
