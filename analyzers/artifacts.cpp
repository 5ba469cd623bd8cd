#include "analyzers/artifacts.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "analyzers/byte_source.h"
#include "analyzers/fact_writer.h"
#include "analyzers/sha256.h"
#include "opseal/digest.h"
#include "opseal/text.h"

namespace fs = std::filesystem;

namespace opseal {
namespace {

// A manifest that names more is not looked behind: each costs a look at the disk.
constexpr std::size_t most_libraries = 4096;
// Bytes that are hashed for one run, and entries of one folder that are looked through.
constexpr std::uint64_t most_hashed = std::uint64_t{2} << 30;
constexpr std::size_t most_siblings = 10000;
constexpr std::size_t longest_path = 4096;

struct Artifact {
  Fact library;
  std::string path;
  bool found = false;
  std::string digest;
  // Index of the library's fact that was read from the file; 0: none.
  std::uint32_t content = 0;
};

// False where the file can't be read to its end.
template <typename Take>
bool read_through(const std::string& path, Take take) {
  ByteSource source = ByteSource::file(path);
  std::string buffer(std::size_t{1} << 20, '\0');
  while (const std::size_t got = source.read(buffer.data(), buffer.size())) {
    take(std::string_view(buffer).substr(0, got));
  }
  return source.error().empty();
}

// Empty where the file can't be read.
std::string digest_of(const std::string& path, std::string_view kind) {
  const auto digest_with = [&path, kind](auto digest) {
    const bool whole = read_through(path, [&digest](std::string_view bytes) { digest.add(bytes); });
    return whole ? std::string(kind) + ':' + digest.hex() : std::string();
  };
  return kind == "sha256" ? digest_with(Sha256()) : digest_with(ContentDigest());
}

// `xxh128` or `sha256` where the digest is whole: other words and shortened digits can't be held
// against a file.
std::string_view digest_kind(std::string_view digest) {
  for (const auto& [kind, digits] :
       {std::pair<std::string_view, std::size_t>{"xxh128", 32}, {"sha256", 64}}) {
    if (digest.size() != kind.size() + 1 + digits || !digest.starts_with(kind)) continue;
    if (digest[kind.size()] != ':') continue;
    const std::string_view number = digest.substr(kind.size() + 1);
    if (std::all_of(number.begin(), number.end(),
                    [](unsigned char byte) { return std::isxdigit(byte) != 0; })) {
      return kind;
    }
  }
  return {};
}

// Suffixes of the files in folders, each looked through once.
class Siblings {
 public:
  bool has(const fs::path& folder, const fs::path& suffix) {
    const auto [place, fresh] = suffixes_.try_emplace(folder.string());
    if (fresh) look_through(folder, place->second);
    const std::vector<std::string>& seen = place->second;
    return !suffix.empty() && std::find(seen.begin(), seen.end(), suffix.string()) != seen.end();
  }

 private:
  static void look_through(const fs::path& folder, std::vector<std::string>& suffixes) {
    std::error_code error;
    std::size_t seen = 0;
    for (fs::directory_iterator at(folder.empty() ? fs::path(".") : folder, error), end;
         !error && at != end; at.increment(error)) {
      if (++seen > most_siblings || suffixes.size() > 64) break;
      std::error_code ignored;
      if (!at->is_regular_file(ignored)) continue;
      std::string suffix = at->path().extension().string();
      if (std::find(suffixes.begin(), suffixes.end(), suffix) == suffixes.end()) {
        suffixes.push_back(std::move(suffix));
      }
    }
  }

  std::map<std::string, std::vector<std::string>> suffixes_;
};

// Libraries of one manifest that nothing is said of, and why: each reason is one note.
class Unseen {
 public:
  void add(const char* reason, const Fact& path) {
    const auto [place, fresh] = reasons_.try_emplace(reason, path, 0);
    if (!fresh) ++place->second.second;
  }

  void tell(std::vector<Problem>& problems) const {
    for (const auto& [reason, said] : reasons_) {
      const auto& [path, others] = said;
      std::string message = quote(path.text()) + ' ' + reason;
      if (others > 0) {
        message += "; the same holds for " + plural(others, "further library", "further libraries");
      }
      problems.push_back({path.where(), std::move(message), {}, Severity::note});
    }
  }

 private:
  // The first path, and how many others there are.
  std::map<std::string, std::pair<Fact, std::size_t>> reasons_;
};

// Whether a path leads to a place below the folder when its links are followed.
bool leads_inside(const fs::path& path, const fs::path& real_folder) {
  std::error_code error;
  // Of a relative path that leads nowhere nothing would be made absolute.
  const fs::path real = fs::weakly_canonical(fs::absolute(path), error);
  if (error) return false;
  return std::mismatch(real_folder.begin(), real_folder.end(), real.begin(), real.end()).first ==
         real_folder.end();
}

// What the folder of one manifest shows of its libraries.
std::vector<Artifact> look_at(const Fact& manifest, const fs::path& folder, Siblings& siblings,
                              std::uint64_t& hashed, Unseen& unseen) {
  std::vector<Artifact> artifacts;
  std::set<std::string> found_suffixes;
  std::error_code error;
  const fs::path real_folder = fs::weakly_canonical(folder.empty() ? "." : folder, error);
  for (const Fact library : manifest[Key::libraries].items()) {
    const Fact path = library[Key::path];
    if (!stays_inside(path.text()) || library[Key::found].said()) continue;
    if (artifacts.size() == most_libraries) {
      unseen.add("stands behind so many other libraries that it is not looked for", path);
      continue;
    }
    Artifact artifact{library, (folder / fs::path(path.text())).string(), false, {}};
    const fs::file_status status = fs::status(artifact.path, error);
    // What can't be looked at is neither there nor missing.
    if (status.type() != fs::file_type::regular && status.type() != fs::file_type::not_found) {
      if (status.type() == fs::file_type::none) unseen.add("can't be looked at", path);
      continue;
    }
    if (!leads_inside(artifact.path, real_folder)) {
      unseen.add("leads out of the folder of the manifest, so it is not looked at", path);
      continue;
    }
    artifact.found = status.type() == fs::file_type::regular;
    if (artifact.found) found_suffixes.insert(fs::path(artifact.path).extension().string());
    const std::string_view kind = digest_kind(library[Key::digest].text());
    if (artifact.found && !kind.empty() && !library[Key::found_digest].said()) {
      const std::uint64_t size = fs::file_size(artifact.path, error);
      if (!error && size > most_hashed - hashed) {
        unseen.add("makes more than 2 GiB to read, so its digest is not compared", path);
      } else {
        if (!error) artifact.digest = digest_of(artifact.path, kind);
        if (artifact.digest.empty()) {
          unseen.add("can't be read, so its digest is not compared", path);
        } else {
          hashed += size;
        }
      }
    }
    artifacts.push_back(std::move(artifact));
  }
  std::erase_if(artifacts, [&](const Artifact& artifact) {
    if (artifact.found) return false;
    const fs::path path(artifact.path);
    const fs::path beside = path.parent_path();
    // Another library of the manifest shows that this is where they are built, but nothing of a
    // folder that isn't here: a manifest may name those of several packages.
    if (found_suffixes.contains(path.extension().string()) &&
        fs::is_directory(beside.empty() ? "." : beside, error)) {
      return false;
    }
    return !siblings.has(beside, path.extension());
  });
  return artifacts;
}

void write(const std::vector<Artifact>& artifacts, Facts& facts) {
  Document document;
  document.settings = true;
  // Places of these facts are never shown: rules point at the manifest's own.
  document.file = facts.documents.back().file;
  FactWriter writer(facts);
  document.first = writer.next();
  const std::uint32_t root = writer.open(Key::none, NodeType::object, Node::max_offset);
  const std::uint32_t list = writer.open(Key::entries, NodeType::list, Node::max_offset);
  for (const Artifact& artifact : artifacts) {
    const std::uint32_t entry = writer.open(Key::none, NodeType::object, Node::max_offset);
    writer.add(Key::library, NodeType::count, artifact.library.index(), Node::max_offset, 0);
    writer.add(Key::found, NodeType::truth, artifact.found ? 1 : 0, Node::max_offset, 0);
    if (!artifact.digest.empty()) {
      writer.add_text(Key::found_digest, artifact.digest, Node::max_offset, 0);
    }
    if (artifact.content != 0) {
      writer.add(Key::content, NodeType::count, artifact.content, Node::max_offset, 0);
    }
    writer.close(entry, Node::max_offset);
  }
  writer.close(list, Node::max_offset);
  writer.close(root, Node::max_offset);
  document.end = writer.next();
  facts.documents.push_back(document);
}

bool is_named_as_library(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".so") || name.ends_with(".cubin") || name.ends_with(".fatbin") ||
         name.find(".so.") != name.npos;
}

// What is wrong with a file that no reader takes for a library. Empty where a manifest may well
// name it: a container of another system, or a script for the linker in a library's place.
std::string_view why_no_library(const std::string& path) {
  std::string head(4096, '\0');
  ByteSource source = ByteSource::file(path);
  head.resize(source.read(head.data(), head.size()));
  if (!source.error().empty()) return {};
  if (head.empty()) return "is empty, expected a library";
  if (!is_named_as_library(path)) return {};
  for (const std::string_view word : {"GNU ld script", "INPUT", "GROUP"}) {
    if (head.find(word) != head.npos) return {};
  }
  return "is no library: neither ELF nor a container of device code";
}

// The files that were read, each once: a manifest beside the libraries that it names is often given
// together with them.
class Contents {
 public:
  explicit Contents(const Facts& facts) {
    for (const Document& document : facts.documents) {
      const InputFile& file = facts.files[document.file];
      if (!file.binary || file.open_path.empty()) continue;
      for (const Fact library : facts.root(document)[Key::libraries].items()) {
        read_.emplace(real_path(file.open_path), library.index());
      }
    }
  }

  // Why a file of which `of` gave nothing is none; may be empty.
  std::string_view wrong(const std::string& path) const {
    const auto found = wrong_.find(real_path(path));
    return found == wrong_.end() ? std::string_view() : found->second;
  }

  std::uint32_t of(const std::string& path, const ReadLibrary& read, Facts& facts) {
    const auto [place, fresh] = read_.try_emplace(real_path(path), 0);
    if (!fresh || !read) return place->second;
    Facts content = read(path);
    if (content.documents.empty() && content.problems.empty()) {
      wrong_.emplace(real_path(path), why_no_library(path));
      return 0;
    }
    const std::size_t before = facts.documents.size();
    facts.append(std::move(content));
    for (std::size_t at = before; at < facts.documents.size(); ++at) {
      facts.documents[at].named = true;
      for (const Fact library : facts.root(facts.documents[at])[Key::libraries].items()) {
        place->second = library.index();
      }
    }
    return place->second;
  }

 private:
  static std::string real_path(const std::string& path) {
    std::error_code error;
    return fs::weakly_canonical(path, error).string();
  }

  std::map<std::string, std::uint32_t> read_;
  std::map<std::string, std::string_view> wrong_;
};

}  // namespace

bool stays_inside(std::string_view path) {
  if (path.empty() || path.size() > longest_path || path.front() == '/') return false;
  if (path.find('\0') != path.npos || path.find('\\') != path.npos) return false;
  if (path.size() > 1 && path[1] == ':') return false;
  for (const fs::path& part : fs::path(path)) {
    if (part == "..") return false;
  }
  return true;
}

void state_artifacts(const ReadLibrary& read, Facts& facts) {
  if (!facts.said[static_cast<std::size_t>(Key::libraries)]) return;
  std::vector<Artifact> all;
  Siblings siblings;
  std::uint64_t hashed = 0;
  for (const Document& document : facts.documents) {
    Unseen unseen;
    const InputFile& file = facts.files[document.file];
    const std::string& path = file.open_path;
    // A library is what it names, and those of a package lie inside it.
    if (document.settings || path.empty() || file.binary || document.named) continue;
    if (facts.root(document)[Key::distribution].is_object()) continue;
    std::vector<Artifact> found =
        look_at(facts.root(document), fs::path(path).parent_path(), siblings, hashed, unseen);
    unseen.tell(facts.problems);
    std::move(found.begin(), found.end(), std::back_inserter(all));
  }
  Contents contents(facts);
  for (Artifact& artifact : all) {
    if (!artifact.found) continue;
    artifact.content = contents.of(artifact.path, read, facts);
    const std::string_view wrong = contents.wrong(artifact.path);
    if (artifact.content != 0 || wrong.empty()) continue;
    const Fact path = artifact.library[Key::path];
    facts.problems.push_back(
        {path.where(), quote(path.text()) + ' ' + std::string(wrong), {}, Severity::error});
  }
  if (!all.empty()) write(all, facts);
}

}  // namespace opseal
