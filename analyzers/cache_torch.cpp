// Extensions that PyTorch builds at run time (torch/utils/cpp_extension.py; 1.13 to 2.15):
//
//   <cache>/<name>/build.ninja   rewritten by each build
//   <cache>/<name>/<name>.so     or <name>_v<N>.so, where one process built it again
//   <cache>/<name>/lock          before filelock came into use, its mere existence makes others
//   wait
//
// There is no key: an extension is found by its name, and ninja decides what is built again. The
// lines of `build.ninja` that matter here:
//
//   build <object>: compile <source>     also cuda_compile, sycl_compile
//   build <name>.so: link <object> ...
//   cuda_cflags = ... -gencode=arch=compute_80,code=sm_80 ...

#include <algorithm>
#include <set>

#include "analyzers/cache_layout.h"

namespace opseal {
namespace {

constexpr std::string_view build_file = "build.ninja";
constexpr std::string_view first_line = "ninja_required_version = 1.3\n";

// Calls `visit(line, offset)`.
template <typename Visit>
void for_each_line(std::string_view text, Visit visit) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    visit(text.substr(at, end - at), at);
    at = end + 1;
  }
}

struct BuildLine {
  std::string_view target;
  std::string_view rule;
  // The first input.
  std::string_view source;
};

// The end of a path in ninja's spelling, where `$` takes the next byte as it is.
std::size_t path_end(std::string_view text, std::size_t at, std::string_view stops) {
  while (at < text.size() && stops.find(text[at]) == stops.npos) at += text[at] == '$' ? 2 : 1;
  return std::min(at, text.size());
}

bool parse_build(std::string_view line, BuildLine& build) {
  if (!line.starts_with("build ")) return false;
  const std::size_t colon = path_end(line, 6, ": ");
  if (!line.substr(colon).starts_with(": ")) return false;
  build.target = line.substr(6, colon - 6);
  const std::size_t rule_end = std::min(line.find(' ', colon + 2), line.size());
  build.rule = line.substr(colon + 2, rule_end - colon - 2);
  const std::size_t source = std::min(rule_end + 1, line.size());
  build.source = line.substr(source, path_end(line, source, " ") - source);
  return true;
}

// `$ ` and `$:` are how ninja writes a space and a colon.
std::string plain_path(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '$' && at + 1 < text.size()) ++at;
    out += text[at];
  }
  return out;
}

// `<name>.so` or `<name>_v<number>.so`, or another system's ending.
bool is_library_of(std::string_view target, std::string_view name) {
  if (!has_library_ending(target) || !target.starts_with(name)) return false;
  target.remove_prefix(name.size());
  const std::string_view middle = target.substr(0, target.rfind('.'));
  return middle.empty() || (middle.starts_with("_v") && middle.size() > 2 &&
                            middle.find_first_not_of("0123456789", 2) == middle.npos);
}

bool claims(const std::string& cache, std::string_view child) {
  return entry_text_starts(cache + '/' + std::string(child) + '/' + std::string(build_file),
                           first_line);
}

bool proves(const std::string& cache, const std::string& child) {
  std::string bytes;
  read_entry_text(cache + '/' + child + '/' + std::string(build_file), bytes);
  bool proven = false;
  for_each_line(bytes, [&](std::string_view line, std::size_t) {
    BuildLine build;
    proven = proven || (parse_build(line, build) && build.rule == "link" &&
                        is_library_of(plain_path(build.target), child));
  });
  return proven;
}

// Architectures that code is made for: `code=sm_90a`, `--offload-arch=gfx942`. `known`: those that
// the entry has already.
void read_architectures(std::string_view line, std::size_t offset,
                        std::set<std::string_view>& known, CacheEntry& entry) {
  for (const std::string_view mark : {"code=", "--offload-arch="}) {
    for (std::size_t at = line.find(mark); at != line.npos; at = line.find(mark, at)) {
      at += mark.size();
      const std::size_t end = std::min(line.find_first_of(" ,\"']", at), line.size());
      const std::string_view word = line.substr(at, end - at);
      if ((word.starts_with("sm_") || word.starts_with("gfx")) && known.insert(word).second) {
        entry.architectures.push_back({std::string(word), 1, offset + at, word.size()});
      }
    }
  }
}

void read_build_file(std::string_view bytes, CacheEntry& entry) {
  std::set<std::string_view> architectures;
  for_each_line(bytes, [&entry, &architectures, bytes](std::string_view line, std::size_t offset) {
    const auto placed = [bytes](std::string_view part) {
      return PlacedText{plain_path(part), 1, static_cast<std::uint64_t>(part.data() - bytes.data()),
                        part.size()};
    };
    BuildLine build;
    if (line.starts_with("cuda_cflags = ") || line.starts_with("cuda_post_cflags = ")) {
      read_architectures(line, offset, architectures, entry);
    } else if (!parse_build(line, build)) {
      return;
    } else if (build.rule == "link") {
      entry.library = placed(build.target);
    } else if (build.rule.ends_with("compile") && !build.source.empty()) {
      entry.source_files.push_back(placed(build.source));
    }
  });
}

void read(const std::string& path, const std::vector<FolderItem>& items, bool settled,
          CacheEntry& entry) {
  entry.name.text = entry.directory;
  InputFile input;
  input.path = build_file;
  input.open_path = path + '/' + std::string(build_file);
  std::string bytes;
  if (!read_entry_text(input.open_path, bytes)) {
    entry.problem = unread_text(build_file);
    return;
  }
  input.size = bytes.size();
  entry.files.push_back(std::move(input));
  read_build_file(bytes, entry);
  // Until the linker is done the library is missing or short.
  if (entry.library.text.empty() || !settled) return;
  if (const FolderItem* library = find_item(items, entry.library.text)) {
    check_library(path, *library, settled, entry);
    return;
  }
  entry.checked = true;
  entry.missing.push_back(entry.library);
  if (find_item(items, "lock") != nullptr) entry.lock = "lock";
}

bool is_temporary(std::string_view) { return false; }

}  // namespace

constinit const CacheLayout torch_layout{.name = "torch_extensions",
                                         .claims = claims,
                                         .proves = proves,
                                         .read = read,
                                         .is_temporary = is_temporary};

}  // namespace opseal
