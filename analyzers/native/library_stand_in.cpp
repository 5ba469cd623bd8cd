#include "analyzers/native/library_stand_in.h"

#include <algorithm>

#include "opseal/paths.h"

namespace opseal {
namespace {

std::string_view without_space(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == text.npos ? std::string_view() : text.substr(first);
}

// Commands that such files begin with, behind comments.
bool is_linker_script(std::string_view head) {
  head = without_space(head);
  while (head.starts_with("/*")) {
    if (head.starts_with("/* GNU ld script")) return true;
    const std::size_t end = head.find("*/", 2);
    if (end == head.npos) return false;
    head = without_space(head.substr(end + 2));
  }
  for (const std::string_view command : {"INPUT", "GROUP", "OUTPUT_FORMAT"}) {
    if (head.starts_with(command) && without_space(head.substr(command.size())).starts_with('('))
      return true;
  }
  return false;
}

bool is_text(std::string_view head) {
  return std::none_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == 0x7f || (byte < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f');
  });
}

}  // namespace

StandIn stand_in_of(std::string_view head) {
  if (head.empty()) return StandIn::empty;
  // The first line of the format: https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md.
  if (head.starts_with("version https://git-lfs.github.com/spec/")) return StandIn::lfs_pointer;
  if (!is_text(head)) return StandIn::none;
  return is_linker_script(head) ? StandIn::linker_script : StandIn::text;
}

bool is_loadable_name(std::string_view path) {
  std::string_view name = file_name_of(path);
  for (const std::string_view end : {".pyd", ".dylib", ".dll"}) {
    if (name.size() > end.size() && name.ends_with(end)) return true;
  }
  // A version behind it; `ld.so.8` may be a page of a manual, so that is no version.
  const std::size_t last = name.find_last_not_of(".0123456789");
  if (last == name.npos) return false;
  name = name.substr(0, last + 1);
  return name.size() > 3 && name.ends_with(".so") && name != "ld.so";
}

std::string_view to_text(StandIn kind) {
  switch (kind) {
    case StandIn::empty:
      return "is empty";
    case StandIn::lfs_pointer:
      return "is a pointer of Git LFS, not the file that it stands for";
    case StandIn::linker_script:
      return "is a GNU linker script, which only a linker reads";
    case StandIn::text:
      return "is text";
    case StandIn::none:
      break;
  }
  return "is of no kind that opseal reads";
}

}  // namespace opseal
