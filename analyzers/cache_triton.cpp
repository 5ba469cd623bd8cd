// Triton's cache of compiled kernels (triton/runtime/cache.py, triton/compiler/compiler.py; 2.1 to
// 3.9):
//
//   <cache>/<key>/<kernel>.json, .ttir, .ttgir, .llir, .ptx, .cubin ...
//   <cache>/<key>/__grp__<kernel>.json   {"child_paths": {file name: absolute path}}, written last
//   <cache>/<key>/<module>.so            launchers and helpers
//   <cache>/<key>/tmp.pid_<pid>_<uuid>/  while one of these is being written
//
// <key> is a sha256 in base32 without `=`, in older versions in hexadecimal digits. <kernel>.json
// says the same sha256 under `hash`, so that a directory under a wrong name shows. A look-up serves
// the group only where each of its paths exists.

#include <algorithm>
#include <filesystem>

#include "analyzers/byte_source.h"
#include "analyzers/cache_layout.h"
#include "analyzers/input_error.h"
#include "analyzers/json_reader.h"
#include "opseal/ascii.h"

namespace fs = std::filesystem;

namespace opseal {
namespace {

constexpr std::string_view group_prefix = "__grp__";

bool all_of(std::string_view text, bool (*is)(char)) {
  return std::all_of(text.begin(), text.end(), is);
}

bool is_base32(char byte) { return (byte >= 'A' && byte <= 'Z') || (byte >= '2' && byte <= '7'); }

// 256 bits in base32 are 52 characters.
bool claims(const std::string&, std::string_view child) {
  return child.size() == 52 ? all_of(child, is_base32)
                            : (child.size() == 64 || child.size() == 32) && all_of(child, is_hex);
}

// RFC 4648, without padding. Needs: hexadecimal digits.
std::string base32_of_hex(std::string_view hex) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char digit : hex) {
    bits = bits << 4 | static_cast<std::uint32_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
    for (count += 4; count >= 5; count -= 5) {
      out += "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[bits >> (count - 5) & 31];
    }
    bits &= 31;
  }
  if (count > 0) out += "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[bits << (5 - count) & 31];
  return out;
}

// Calls `visit(reader, key)` at the value of each member of a JSON object, which it has to read.
// False when the bytes are no such object, or something in it is no JSON.
template <typename Visit>
bool read_members(std::string_view bytes, Visit visit) {
  ByteSource source = ByteSource::memory(bytes);
  std::vector<Problem> problems;
  JsonReader reader(source, 0, problems, most_entry_text + 64);
  try {
    if (!visit_object(reader, visit)) return false;
    reader.expect_end();
  } catch (const InputError&) {
    return false;
  }
  return problems.empty();
}

template <typename Visit>
bool visit_object(JsonReader& reader, Visit visit) {
  if (reader.peek() != '{') return false;
  reader.take();
  for (bool first = true; reader.more(first, '}');) {
    if (reader.peek() != '"') reader.fail_expected("a name");
    const std::string key(reader.read_text().text);
    reader.expect_colon();
    visit(reader, key);
  }
  return true;
}

PlacedText read_placed(JsonReader& reader, std::uint32_t file) {
  if (reader.peek() != '"') {
    reader.skip_value();
    return {};
  }
  const JsonReader::Text text = reader.read_text();
  return {std::string(text.text), file, text.offset, text.length};
}

// The bytes of one text file of an entry; places in it get the number `file`.
bool open_text(const std::string& path, const std::string& name, CacheEntry& entry,
               std::string& bytes, std::uint32_t& file) {
  const std::string full = path + '/' + name;
  if (!read_entry_text(full, bytes)) {
    entry.problem = unread_text(name);
    return false;
  }
  InputFile input;
  input.path = name;
  input.open_path = full;
  input.size = bytes.size();
  entry.files.push_back(std::move(input));
  file = static_cast<std::uint32_t>(entry.files.size());
  return true;
}

struct Target {
  PlacedText backend;
  PlacedText arch;
};

void read_target(JsonReader& reader, std::uint32_t file, Target& target) {
  if (reader.peek() != '{') {
    reader.skip_value();
    return;
  }
  visit_object(reader, [&target, file](JsonReader& inner, const std::string& key) {
    const char byte = inner.peek();
    if (key == "backend") {
      target.backend = read_placed(inner, file);
    } else if (key == "arch" && byte >= '0' && byte <= '9') {
      const JsonReader::Number number = inner.read_number();
      target.arch = {std::to_string(number.count), file, number.offset, number.length};
    } else if (key == "arch") {
      target.arch = read_placed(inner, file);
    } else {
      inner.skip_value();
    }
  });
}

void read_metadata(const std::string& path, const std::string& name, CacheEntry& entry) {
  std::string bytes;
  std::uint32_t file = 0;
  if (!open_text(path, name, entry, bytes, file)) return;
  PlacedText hash;
  PlacedText kernel;
  Target target;
  const bool good = read_members(bytes, [&](JsonReader& reader, const std::string& key) {
    if (key == "hash") {
      hash = read_placed(reader, file);
    } else if (key == "name") {
      kernel = read_placed(reader, file);
    } else if (key == "target") {
      read_target(reader, file, target);
    } else {
      reader.skip_value();
    }
  });
  if (!good) {
    entry.damaged.push_back({name, file, 0, 0});
    return;
  }
  if (hash.text.size() == 64 && all_of(hash.text, is_hex)) {
    if (entry.directory.size() == 52) hash.text = base32_of_hex(hash.text);
    entry.recomputed_key = std::move(hash);
  }
  if (!kernel.text.empty()) {
    entry.functions.push_back(kernel);
    entry.name = std::move(kernel);
  }
  if (target.arch.text.empty()) return;
  if (target.backend.text == "cuda") target.arch.text = "sm_" + target.arch.text;
  entry.architectures.push_back(std::move(target.arch));
}

// What Triton itself asks of a path in a group: that it exists. `real` is the entry's own. False
// where something is amiss that a running build may still mend, which is not said.
bool check_child(const fs::path& real, const std::vector<FolderItem>& items, bool settled,
                 PlacedText child, CacheEntry& entry) {
  const fs::path given = child.text;
  const fs::path folder = given.parent_path();
  std::error_code error;
  if (folder != real && fs::weakly_canonical(folder, error) != real) {
    if (!fs::exists(given, error)) entry.elsewhere.push_back(std::move(child));
    return true;
  }
  child.text = given.filename().string();
  const FolderItem* item = find_item(items, child.text);
  if (item != nullptr && (item->kind != FolderItem::Kind::file || item->size > 0)) return true;
  if (!settled) return false;
  (item == nullptr ? entry.missing : entry.damaged).push_back(std::move(child));
  return true;
}

// Whether the files that the group names could be told about.
bool read_group(const std::string& path, const std::string& name,
                const std::vector<FolderItem>& items, bool settled, CacheEntry& entry) {
  std::string bytes;
  std::uint32_t file = 0;
  if (!open_text(path, name, entry, bytes, file)) return false;
  std::vector<PlacedText> children;
  const bool good = read_members(bytes, [&](JsonReader& reader, const std::string& key) {
    if (key != "child_paths" || reader.peek() != '{') {
      reader.skip_value();
      return;
    }
    visit_object(reader, [&](JsonReader& inner, const std::string&) {
      children.push_back(read_placed(inner, file));
    });
  });
  // Triton puts these files in their place in one step, so that a cut one was never whole.
  if (!good) {
    entry.damaged.push_back({name, file, 0, 0});
    return true;
  }
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  bool told = true;
  for (PlacedText& child : children) {
    if (!child.text.empty()) told &= check_child(real, items, settled, std::move(child), entry);
  }
  return told;
}

bool proves(const std::string& cache, const std::string& child) {
  std::string error;
  const std::string path = cache + '/' + child;
  for (const FolderItem& item : list_folder(path, most_entry_items, error)) {
    if (!item.name.starts_with(group_prefix)) continue;
    std::string bytes;
    if (item.kind == FolderItem::Kind::file && read_entry_text(path + '/' + item.name, bytes) &&
        bytes.starts_with(R"({"child_paths")")) {
      return true;
    }
  }
  return false;
}

void read(const std::string& path, const std::vector<FolderItem>& items, bool settled,
          CacheEntry& entry) {
  entry.key.text = entry.directory;
  bool told = true;
  for (const FolderItem& item : items) {
    if (item.kind == FolderItem::Kind::folder && item.name.starts_with("tmp.pid_")) {
      if (item.settled) entry.temporary.push_back(item.name);
    } else if (item.kind != FolderItem::Kind::file) {
      continue;
    } else if (item.name.starts_with(group_prefix)) {
      entry.checked = true;
      told &= read_group(path, item.name, items, settled, entry);
      const std::string metadata = item.name.substr(group_prefix.size());
      if (metadata.ends_with(".json")) {
        entry.name = {metadata.substr(0, metadata.size() - 5)};
      }
      if (const FolderItem* found = find_item(items, metadata);
          found != nullptr && found->kind == FolderItem::Kind::file && found->size > 0) {
        read_metadata(path, metadata, entry);
      }
    } else if (has_library_ending(item.name) && entry.library.text.empty()) {
      entry.library.text = item.name;
      entry.name.text = item.name.substr(0, item.name.find('.'));
      check_library(path, item, settled, entry);
    }
  }
  entry.checked = entry.checked && told;
}

bool is_temporary(std::string_view) { return false; }

}  // namespace

constinit const CacheLayout triton_layout{.name = "triton",
                                          .claims = claims,
                                          .proves = proves,
                                          .read = read,
                                          .is_temporary = is_temporary};

}  // namespace opseal
