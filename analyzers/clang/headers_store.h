#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace opseal {

// A file that went into a precompiled header.
struct HeaderDigest {
  std::string path;
  std::string digest;
};

// Precompiled headers on disk. `NAME.entry` lists the headers that one was made of, each with its
// digest, and the digest of the precompiled header itself, which is its file name: `DIGEST.pch`.
// Both are written under another name and then renamed, so whoever looks at the same time finds a
// whole one or none.
class HeadersStore {
 public:
  static constexpr std::uint64_t usual_limit = std::uint64_t{2} << 30;

  // Makes the folder where there is none. One that others may write to isn't used: what is in it is
  // given to libclang.
  explicit HeadersStore(std::string folder, std::uint64_t limit = usual_limit);

  bool usable() const { return usable_; }
  // The path of a precompiled header whose own bytes and whose headers are what they were; empty
  // where there is none.
  std::string find(const std::string& name);
  // An empty file for whoever writes one; no other process has its name. Empty where there is no
  // place.
  std::string new_file() const;
  // Takes the file over, and gives its path from now on; empty where that fails.
  std::string add(const std::string& name, const std::string& file,
                  const std::vector<HeaderDigest>& headers);

 private:
  std::string digest_of(const std::string& path);
  bool write_entry(const std::string& name, const std::string& digest,
                   const std::vector<HeaderDigest>& headers) const;
  // The oldest by last use go until the rest is within the limit, and what no entry names.
  void make_room(const std::string& kept) const;
  std::string path_of(const std::string& name) const { return folder_ + '/' + name; }

  std::string folder_;
  std::uint64_t limit_;
  bool usable_ = false;
  // By path, as long as this process runs.
  std::map<std::string, std::string> digests_;
};

}  // namespace opseal
