#include "analyzers/package/package.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "analyzers/input_error.h"
#include "analyzers/mapped_file.h"
#include "analyzers/native/library.h"
#include "analyzers/native/library_stand_in.h"
#include "analyzers/package/archive_reader.h"
#include "analyzers/package/member_bytes.h"
#include "analyzers/package/member_paths.h"
#include "analyzers/package/mention_index.h"
#include "analyzers/package/package_contents.h"
#include "opseal/digest.h"
#include "opseal/paths.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// Bytes that show what a member is; a comment may stand in front of the first line of PTX.
constexpr std::size_t library_head = 4096;
constexpr std::size_t step = std::size_t{1} << 20;
// Bytes of a list of files, of which the largest packages have some megabytes.
constexpr std::size_t most_metadata = std::size_t{64} << 20;
constexpr std::size_t most_python = std::size_t{16} << 20;
// Links that lead to links.
constexpr int most_hops = 16;

// Names for a remark, and how many there are.
struct Noted {
  std::uint64_t count = 0;
  std::vector<std::string> names;

  void add(const std::string& name) {
    constexpr std::size_t most_named = 3;
    if (++count <= most_named) names.push_back(name);
  }
  std::string text() const {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + quote(name);
    const std::uint64_t more = count - names.size();
    return list + (more == 0 ? "" : " and " + std::to_string(more) + " more");
  }
};

class PackageReader {
 public:
  PackageReader(const InputFile& input, unsigned threads, Facts& facts)
      : input_(input), threads_(threads), facts_(facts), writer_(facts) {
    facts_.files.front().binary = true;
    Distribution named;
    if (read_wheel_name(file_name_of(input.path), named)) {
      named.kind = "wheel";
      named_tags_ = named.tags;
      contents_.distribution = std::move(named);
    }
  }

  void read(std::string_view bytes) {
    ByteSource source = ByteSource::memory(bytes);
    const bool debian = bytes.starts_with("!<arch>");
    if (debian) contents_.distribution.kind = "deb";
    ArchiveReader archive(source, debian                    ? ArchiveShape::ar
                                  : bytes.starts_with("PK") ? ArchiveShape::zip
                                                            : ArchiveShape::tar);
    walk(archive, Part::whole);
    // A file that is cut between two members looks like one that ends there.
    if (debian && !has_content_) throw InputError(bytes.size(), 0, "ends before `data.tar`");
  }

  void write() {
    resolve_links();
    for (PackageLibrary& library : contents_.libraries) find_mentions(library);
    contents_.loads = mentions_.names();
    settle_distribution();
    tell();
    write_package(contents_, writer_, facts_);
  }

 private:
  // Which part of a package an archive is: those of conda and Debian are archives in an archive.
  enum class Part : std::uint8_t { whole, content, control };

  void walk(ArchiveReader& archive, Part part) {
    for (ArchiveEntry entry; archive.next(entry);) {
      if (entry.encrypted) {
        throw InputError(0, 0,
                         "member " + quote(entry.path) +
                             " is encrypted, so that nobody can tell what is in the package");
      }
      const Part inner = part == Part::whole ? part_of(entry.path) : Part::whole;
      if (inner != Part::whole) {
        has_content_ = has_content_ || inner == Part::content;
        ArchiveReader archived(archive, ArchiveShape::tar);
        walk(archived, inner);
      } else if (part == Part::control) {
        take_control(entry, archive);
      } else {
        take(entry, archive);
      }
    }
  }

  Part part_of(std::string_view path) {
    std::string& kind = contents_.distribution.kind;
    if (kind == "deb") {
      if (path.starts_with("control.tar")) return Part::control;
      return path.starts_with("data.tar") ? Part::content : Part::whole;
    }
    const bool conda = (path.starts_with("pkg-") || path.starts_with("info-")) &&
                       path.ends_with(".tar.zst") && path.find('/') == path.npos;
    if (conda) kind = "conda";
    return conda ? Part::content : Part::whole;
  }

  void take(const ArchiveEntry& entry, ArchiveReader& archive) {
    // Debian's packages begin with `./`, their root.
    const bool root = entry.path.empty() && entry.kind == ArchiveEntry::Kind::other;
    if (!root && (entry.path.empty() || leads_outside(entry.path))) outside_.add(entry.path);
    switch (entry.kind) {
      case ArchiveEntry::Kind::other:
        return;
      case ArchiveEntry::Kind::symbolic_link:
        links_[entry.path] = link_target(entry.path, entry.target);
        break;
      case ArchiveEntry::Kind::hard_link:
        links_[entry.path] = entry.target;
        break;
      case ArchiveEntry::Kind::file:
        take_file(entry.path, archive);
        break;
    }
    // Of what Debian's outer archive holds, nothing is installed.
    if (contents_.distribution.kind == "deb" && entry.path == "debian-binary") return;
    names_.push_back(entry.path);
  }

  void take_file(const std::string& path, ArchiveReader& archive) {
    if (take_metadata(path, archive)) return;
    if (path.ends_with(".py")) {
      take_python(path, archive);
      return;
    }
    fill(archive, library_head);
    const LibraryKind kind = library_kind(bytes_.view());
    if (is_foreign(bytes_.view())) {
      foreign_.add(path);
    } else if (is_read(kind)) {
      fill_all(archive);
      take_library(path);
    } else if (is_named_like_archive(path)) {
      archives_.add(path);
    } else if (is_loadable_name(path)) {
      const StandIn stand_in = stand_in_of(bytes_.view());
      if (stand_in != StandIn::none && stand_in != StandIn::linker_script)
        stand_ins_[stand_in].add(path);
    }
  }

  // Up to so many bytes of the member.
  void fill(ArchiveReader& archive, std::size_t most) {
    bytes_.clear();
    fill_further(archive, most);
  }

  void fill_further(ArchiveReader& archive, std::size_t most) {
    while (bytes_.view().size() < most) {
      const std::size_t wanted = std::min(step, most - bytes_.view().size());
      const std::size_t got = archive.read(bytes_.room(wanted), wanted);
      if (got == 0) return;
      bytes_.grow(got);
    }
  }

  // What is beyond the limits of the archive is its reader's to refuse.
  void fill_all(ArchiveReader& archive) { fill_further(archive, SIZE_MAX); }

  // The whole text of a member, or nothing where it is too long to be one.
  std::optional<std::string_view> text(ArchiveReader& archive, std::size_t most) {
    fill(archive, most + 1);
    if (bytes_.view().size() > most) return std::nullopt;
    return bytes_.view();
  }

  bool take_metadata(const std::string& path, ArchiveReader& archive) {
    Distribution& distribution = contents_.distribution;
    const std::size_t slash = path.find('/');
    if (slash == path.npos || path.find('/', slash + 1) != path.npos) return false;
    const std::string_view folder = std::string_view(path).substr(0, slash);
    const std::string_view name = std::string_view(path).substr(slash + 1);
    const bool wheel = folder.ends_with(".dist-info") &&
                       (name == "WHEEL" || name == "METADATA" || name == "RECORD");
    const bool conda = folder == "info" && (name == "index.json" || name == "paths.json");
    if (!wheel && !conda) return false;
    const auto read = text(archive, most_metadata);
    if (!read) {
      remark(quote(path) + " is longer than " + plural(most_metadata, "byte") +
             " and was not read");
      return true;
    }
    if (wheel) {
      distribution.kind = "wheel";
      if (name == "WHEEL") stated_tags_ = wheel_tags(*read);
      if (name == "METADATA") read_wheel_metadata(*read, distribution);
      if (name == "RECORD") distribution.files = read_wheel_record(*read);
      return true;
    }
    const bool understood = name == "index.json" ? read_conda_index(*read, distribution)
                                                 : read_conda_paths(*read, distribution);
    if (!understood) remark(quote(path) + " is not what a conda package has there");
    if (understood) distribution.kind = "conda";
    return true;
  }

  void take_control(const ArchiveEntry& entry, ArchiveReader& archive) {
    if (entry.kind != ArchiveEntry::Kind::file) return;
    const bool digests = entry.path == "md5sums";
    if (!digests && entry.path != "control") return;
    const auto read = text(archive, most_metadata);
    if (!read) return;
    if (digests) {
      contents_.distribution.files = read_debian_digests(*read);
    } else {
      read_debian_control(*read, contents_.distribution);
    }
  }

  void take_python(const std::string& path, ArchiveReader& archive) {
    const auto read = text(archive, most_python);
    if (!read) return;
    const auto number = static_cast<std::uint32_t>(contents_.python_files.size());
    contents_.python_files.push_back(path);
    mentions_.add_file(number, *read, installed_path(path));
  }

  void take_library(const std::string& path) {
    ContentDigest digest;
    digest.add(bytes_.view());
    const auto [known, fresh] = by_content_.try_emplace(digest.hex(), contents_.libraries.size());
    by_path_[path] = known->second;
    if (!fresh) {
      contents_.libraries[known->second].aliases.push_back(path);
      return;
    }
    PackageLibrary library;
    library.path = path;
    library.file = static_cast<std::uint32_t>(facts_.files.size());
    library.first = writer_.next();
    InputFile file;
    file.path = input_.path + "!/" + path;
    file.size = bytes_.view().size();
    file.binary = true;
    facts_.files.push_back(std::move(file));
    write_content(library);
    library.end = writer_.next();
    contents_.libraries.push_back(std::move(library));
  }

  void write_content(const PackageLibrary& library) {
    LibraryFile file;
    file.bytes = bytes_.view();
    file.path = library.path;
    file.file = library.file;
    try {
      write_library(file, threads_, writer_, facts_);
    } catch (const InputError& error) {
      // A member is a file of its own: that one is damaged makes the others no less readable, and
      // its name still counts as there.
      writer_.drop(library.first);
      const auto length =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(error.length, Location::max_length));
      facts_.problems.push_back(
          {Location{library.file, length, error.offset}, error.what(), {}, Severity::error});
      const std::uint32_t object = writer_.open(Key::none, NodeType::object, 0);
      writer_.add_text(Key::path, library.path, 0, 0);
      writer_.close(object, 0);
    }
  }

  void resolve_links() {
    for (const auto& [link, target] : links_) {
      std::string path = target;
      for (int hop = 0; hop < most_hops; ++hop) {
        const auto next = links_.find(path);
        if (next == links_.end()) break;
        path = next->second;
      }
      const auto library = by_path_.find(path);
      if (library == by_path_.end() || by_path_.contains(link)) continue;
      contents_.libraries[library->second].aliases.push_back(link);
    }
    for (PackageLibrary& library : contents_.libraries) {
      std::sort(library.aliases.begin(), library.aliases.end());
    }
  }

  std::string soname_of(const PackageLibrary& library) const {
    return std::string(facts_.fact(library.first)[Key::soname].text());
  }

  void find_mentions(PackageLibrary& library) const {
    std::vector<std::string> paths = library.aliases;
    paths.push_back(library.path);
    std::vector<std::string> names = {soname_of(library)};
    for (const std::string& path : paths) {
      const std::vector<PackagePlace> imports = mentions_.imports_of(installed_path(path));
      library.imported_by.insert(library.imported_by.end(), imports.begin(), imports.end());
      names.emplace_back(file_name_of(path));
      // Packages that put the folder of their extensions on Python's path import these by their
      // bare names; a name without the underscore may be another package's.
      if (!names.back().starts_with('_')) continue;
      const std::vector<PackagePlace> bare = mentions_.imports_of(names.back());
      library.imported_by.insert(library.imported_by.end(), bare.begin(), bare.end());
    }
    for (const std::string& name : names) {
      const std::vector<PackagePlace> places = mentions_.names_of(name);
      library.loaded_by.insert(library.loaded_by.end(), places.begin(), places.end());
    }
    for (std::vector<PackagePlace>* places : {&library.imported_by, &library.loaded_by}) {
      std::sort(places->begin(), places->end());
      places->erase(std::unique(places->begin(), places->end()), places->end());
    }
  }

  // Installers judge a wheel by its name, so that is what promises something.
  void settle_distribution() {
    Distribution& distribution = contents_.distribution;
    if (distribution.kind == "wheel") {
      distribution.tags = named_tags_.empty() ? stated_tags_ : named_tags_;
      if (!named_tags_.empty() && !stated_tags_.empty() && named_tags_ != stated_tags_) {
        remark("the name of the wheel has the tags " + quote_list(named_tags_) +
               " and its `WHEEL` " + quote_list(stated_tags_) + "; judged by the name");
      }
    }
    if (!distribution.files.empty()) return;
    for (std::string& name : names_) distribution.files.push_back({std::move(name), {}});
  }

  void tell() {
    if (outside_.count > 0) {
      remark("has " + plural(outside_.count, "member") +
             " whose path leads outside: " + outside_.text());
    }
    if (archives_.count > 0) {
      remark("holds " + plural(archives_.count, "archive") +
             " that opseal does not look into: " + archives_.text());
    }
    for (const auto& [kind, noted] : stand_ins_) {
      problem("no library is behind a library's name, which loading fails for: " + noted.text() +
                  (noted.count == 1 ? " " : ": each ") + std::string(to_text(kind)),
              Severity::warning);
    }
    if (foreign_.count == 0) return;
    // Of a package for another system nothing was judged. One for every system, such as `pip`, may
    // carry starters for some.
    const Severity severity = is_for_any_system()           ? Severity::note
                              : contents_.libraries.empty() ? Severity::error
                                                            : Severity::warning;
    problem("holds " + plural(foreign_.count, "library", "libraries") + " for " +
                std::string(foreign_systems) + ", which opseal does not read: " + foreign_.text(),
            severity);
  }

  bool is_for_any_system() const {
    const std::vector<std::string>& tags = contents_.distribution.tags;
    return !contents_.python_files.empty() && !tags.empty() &&
           std::all_of(tags.begin(), tags.end(),
                       [](const std::string& tag) { return tag.ends_with("-none-any"); });
  }

  void remark(std::string message) { problem(std::move(message), Severity::note); }
  void problem(std::string message, Severity severity) {
    facts_.problems.push_back({Location{0, 0, 0}, std::move(message), {}, severity});
  }

  const InputFile& input_;
  unsigned threads_;
  Facts& facts_;
  FactWriter writer_;
  PackageContents contents_;
  MentionIndex mentions_;
  // Of one member at a time.
  MemberBytes bytes_;
  // Every member that is a file or a link.
  std::vector<std::string> names_;
  // Link -> where it leads, both from the root of the package.
  std::unordered_map<std::string, std::string> links_;
  // Path, or digest of the content -> number of the library.
  std::unordered_map<std::string, std::size_t> by_path_;
  std::unordered_map<std::string, std::size_t> by_content_;
  // Tags by the wheel's name and by its `WHEEL`.
  std::vector<std::string> named_tags_;
  std::vector<std::string> stated_tags_;
  // The part of a package that is installed was met.
  bool has_content_ = false;
  Noted outside_;
  Noted archives_;
  Noted foreign_;
  // Members that are named like libraries and are none.
  std::map<StandIn, Noted> stand_ins_;
};

}  // namespace

void load_package(const InputFile& input, unsigned threads, Facts& facts) {
  PackageReader reader(input, threads, facts);
  if (input.open_path.empty()) {
    reader.read(input.bytes);
  } else {
    const MappedFile mapped(input.open_path);
    reader.read(mapped.bytes());
    if (mapped.changed()) throw InputError(0, 0, "was changed while it was read");
  }
  reader.write();
}

}  // namespace opseal
