// An entry is a row of texts (see RowWriter): the digest of the rest, the form, its own name, the
// digest of the precompiled header, and paths and digests of headers. What is anything else is
// none.

#include "analyzers/clang/headers_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>

#include "analyzers/clang/typed_records.h"
#include "analyzers/input_error.h"
#include "analyzers/mapped_file.h"
#include "opseal/digest.h"

namespace fs = std::filesystem;

namespace opseal {
namespace {

constexpr std::string_view form = "opseal headers 1";
constexpr std::string_view entry_suffix = ".entry";
constexpr std::string_view pch_suffix = ".pch";
constexpr std::string_view new_suffix = ".new";
constexpr std::size_t most_headers = 100000;
// What nobody names may be somebody's who is at work.
constexpr std::chrono::hours grace{1};

std::string digest_of_bytes(std::string_view bytes) {
  ContentDigest digest;
  digest.add(bytes);
  return digest.hex();
}

struct Entry {
  std::string digest;
  std::vector<HeaderDigest> headers;
};

bool is_digest(std::string_view text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

std::optional<Entry> read_entry(const std::string& path, std::string_view name) {
  try {
    const MappedFile file(path);
    RowReader whole(file.bytes());
    const std::string stated(whole.text());
    const std::string_view body = whole.text();
    if (whole.broken() || !whole.at_end() || digest_of_bytes(body) != stated) return {};
    RowReader reader(body);
    if (reader.text() != form || reader.text() != name) return {};
    Entry entry;
    entry.digest = reader.text();
    const std::size_t count = reader.count();
    if (!is_digest(entry.digest) || count > most_headers) return {};
    for (std::size_t left = count; left > 0 && !reader.at_end(); --left) {
      const std::string header(reader.text());
      entry.headers.push_back({header, std::string(reader.text())});
    }
    const bool is_whole = !reader.broken() && reader.at_end() && entry.headers.size() == count;
    if (is_whole) return entry;
  } catch (const InputError&) {
    // There is none.
  }
  return {};
}

// What was used last counts.
void touch(const std::string& path) { ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

}  // namespace

HeadersStore::HeadersStore(std::string folder, std::uint64_t limit)
    : folder_(std::move(folder)), limit_(limit) {
  if (folder_.empty()) return;
  std::error_code error;
  const fs::path path(folder_);
  if (!fs::exists(path, error)) {
    fs::create_directories(path, error);
    if (!error) fs::permissions(path, fs::perms::owner_all, error);
    if (error) return;
  }
  struct ::stat about {};
  if (::stat(folder_.c_str(), &about) != 0 || !S_ISDIR(about.st_mode)) return;
  const bool is_ours = about.st_uid == ::geteuid() && (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  usable_ = is_ours;
}

std::string HeadersStore::digest_of(const std::string& path) {
  const auto known = digests_.find(path);
  if (known != digests_.end()) return known->second;
  std::string digest;
  try {
    const MappedFile file(path);
    digest = digest_of_bytes(file.bytes());
    if (file.changed()) digest.clear();
  } catch (const InputError&) {
    // A header that is gone is another one.
  }
  return digests_[path] = digest;
}

std::string HeadersStore::find(const std::string& name) {
  const std::string path = path_of(name + std::string(entry_suffix));
  const std::optional<Entry> entry = read_entry(path, name);
  if (!entry) return {};
  const auto is_same = [this](const HeaderDigest& header) {
    return digest_of(header.path) == header.digest;
  };
  if (!std::all_of(entry->headers.begin(), entry->headers.end(), is_same)) return {};
  const std::string pch = path_of(entry->digest + std::string(pch_suffix));
  // Of one that libclang is given damaged, nobody knows what it does.
  if (digest_of(pch) != entry->digest) return {};
  touch(path);
  return pch;
}

std::string HeadersStore::new_file() const {
  if (!usable_) return {};
  std::string pattern = path_of("XXXXXX" + std::string(new_suffix));
  const int file = ::mkstemps(pattern.data(), static_cast<int>(new_suffix.size()));
  if (file < 0) return {};
  ::close(file);
  return pattern;
}

bool HeadersStore::write_entry(const std::string& name, const std::string& digest,
                               const std::vector<HeaderDigest>& headers) const {
  RowWriter body;
  body.text(form);
  body.text(name);
  body.text(digest);
  body.count(headers.size());
  for (const HeaderDigest& header : headers) {
    body.text(header.path);
    body.text(header.digest);
  }
  RowWriter whole;
  whole.text(digest_of_bytes(body.bytes()));
  whole.text(body.bytes());
  const std::string file = new_file();
  if (file.empty()) return false;
  std::ofstream stream(file, std::ios::binary);
  stream << whole.bytes();
  stream.close();
  std::error_code error;
  if (stream) fs::rename(file, path_of(name + std::string(entry_suffix)), error);
  if (!stream || error) {
    fs::remove(file, error);
    return false;
  }
  return true;
}

std::string HeadersStore::add(const std::string& name, const std::string& file,
                              const std::vector<HeaderDigest>& headers) {
  std::error_code error;
  const std::string digest = digest_of(file);
  digests_.erase(file);
  const std::string pch = path_of(digest + std::string(pch_suffix));
  if (!digest.empty() && headers.size() <= most_headers) fs::rename(file, pch, error);
  if (digest.empty() || error || !fs::exists(pch, error) || !write_entry(name, digest, headers)) {
    fs::remove(file, error);
    return {};
  }
  make_room(digest);
  return pch;
}

void HeadersStore::make_room(const std::string& kept) const {
  struct Kept {
    fs::file_time_type used;
    std::string path;
    std::string digest;
    std::uint64_t size = 0;
  };
  std::error_code error;
  std::vector<Kept> entries;
  std::map<std::string, std::uint64_t> sizes;
  std::set<std::string> named{kept};
  const auto now = fs::file_time_type::clock::now();
  const auto is_old = [&now, &error](const fs::path& path) {
    const auto used = fs::last_write_time(path, error);
    return !error && now - used > grace;
  };
  std::vector<fs::path> others;
  for (const fs::directory_entry& one : fs::directory_iterator(folder_, error)) {
    const fs::path& path = one.path();
    const std::string name = path.stem().string();
    if (path.extension() == pch_suffix && is_digest(name)) {
      sizes[name] = one.file_size(error);
      others.push_back(path);
    } else if (path.extension() == entry_suffix && is_digest(name)) {
      const std::optional<Entry> entry = read_entry(path.string(), name);
      entries.push_back({fs::last_write_time(path, error), path.string(),
                         entry ? entry->digest : std::string(), one.file_size(error)});
      named.insert(entries.back().digest);
    } else if (path.extension() == new_suffix && is_old(path)) {
      fs::remove(path, error);
    }
  }
  for (const fs::path& path : others) {
    const std::string digest = path.stem().string();
    if (named.contains(digest) || !is_old(path)) continue;
    fs::remove(path, error);
    sizes.erase(digest);
  }
  std::uint64_t total = 0;
  for (const auto& [digest, size] : sizes) total += size;
  for (const Kept& entry : entries) total += entry.size;
  std::sort(entries.begin(), entries.end(),
            [](const Kept& one, const Kept& other) { return one.used < other.used; });
  for (const Kept& entry : entries) {
    if (total <= limit_) return;
    if (entry.digest == kept) continue;
    fs::remove(entry.path, error);
    total -= std::min(total, entry.size);
    const auto pch = sizes.find(entry.digest);
    if (pch == sizes.end()) continue;
    fs::remove(path_of(entry.digest + std::string(pch_suffix)), error);
    total -= std::min(total, pch->second);
    sizes.erase(pch);
  }
}

}  // namespace opseal
