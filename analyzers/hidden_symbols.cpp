#include "analyzers/hidden_symbols.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzers/fact_writer.h"
#include "analyzers/input_error.h"
#include "analyzers/mapped_file.h"
#include "analyzers/native/elf.h"
#include "analyzers/native/library_parts.h"
#include "analyzers/package/archive_reader.h"
#include "opseal/paths.h"

namespace opseal {
namespace {

// Libraries that are read once more, and names that are looked for in one of them.
constexpr std::size_t most_read_again = 64;
constexpr std::size_t most_wanted = 100000;
// Definitions of one library that are stated; more have the same cause.
constexpr std::size_t most_stated = 64;
constexpr std::size_t step = std::size_t{1} << 20;

struct Library {
  Fact fact;
  // The document's file: of a package, the package.
  std::uint32_t file = 0;
  bool in_package = false;
};

// Libraries that are loaded together.
struct Group {
  std::vector<Library> libraries;
  std::unordered_map<std::string_view, std::size_t> by_name;
  std::unordered_set<Name> exported;
};

std::vector<Group> groups_of(const Facts& facts) {
  std::map<std::tuple<Side, std::uint32_t, std::uint32_t>, Group> groups;
  for (const Document& document : facts.documents) {
    if (document.settings || !facts.files[document.file].binary) continue;
    const Fact root = facts.root(document);
    const bool package = root[Key::distribution].is_object();
    if (!package && document.group == 0) continue;
    Group& group =
        groups[{document.side, package ? 0 : document.group, package ? document.first : 0}];
    for (const Fact library : root[Key::libraries].items()) {
      const std::size_t at = group.libraries.size();
      group.libraries.push_back({library, document.file, package});
      const auto name = [&group, at](std::string_view text) {
        if (!text.empty()) group.by_name.try_emplace(text, at);
      };
      name(library[Key::soname].text());
      name(file_name_of(library[Key::path].text()));
      for (const Fact alias : library[Key::aliases].items()) name(file_name_of(alias.text()));
      for (const Fact symbol : library[Key::exports].items()) {
        if (symbol[Key::name].is_text()) group.exported.insert(symbol[Key::name].name());
      }
    }
  }
  std::vector<Group> all;
  for (auto& [key, group] : groups) {
    if (group.libraries.size() > 1) all.push_back(std::move(group));
  }
  return all;
}

using Wanted = std::unordered_set<std::string_view>;

// For each library of the group the names that others look for in it in vain.
std::map<std::size_t, Wanted> wanted_names(const Group& group, LacksSymbols lacks) {
  std::map<std::size_t, Wanted> wanted;
  for (std::size_t at = 0; at < group.libraries.size(); ++at) {
    const Fact library = group.libraries[at].fact;
    std::vector<std::size_t> providers;
    bool complete = library[Key::imports].is_list();
    for (const Fact need : library[Key::needed].items()) {
      const auto provider = group.by_name.find(need.text());
      if (provider != group.by_name.end()) {
        if (provider->second != at) providers.push_back(provider->second);
      } else {
        complete = complete && lacks(need.text());
      }
    }
    if (!complete || providers.empty()) continue;
    for (const Fact symbol : library[Key::imports].items()) {
      const Fact name = symbol[Key::name];
      if (!name.is_text() || symbol[Key::weak].truth() || symbol[Key::version].said()) continue;
      if (group.exported.contains(name.name())) continue;
      for (const std::size_t provider : providers) {
        if (wanted[provider].size() < most_wanted) wanted[provider].insert(name.text());
      }
    }
  }
  std::erase_if(wanted, [](const auto& entry) { return entry.second.empty(); });
  return wanted;
}

// The bytes of the member that the archive stands at.
std::string member_bytes(ArchiveReader& archive) {
  std::string bytes;
  for (std::size_t size = 0;;) {
    bytes.resize(size + step);
    const std::size_t got = archive.read(bytes.data() + size, step);
    size += got;
    if (got > 0) continue;
    bytes.resize(size);
    return bytes;
  }
}

bool is_kept(const ElfSymbol& symbol) {
  constexpr std::uint8_t section = 3;
  constexpr std::uint8_t file = 4;
  if (!symbol.is_defined() || symbol.type == section || symbol.type == file) return false;
  return !symbol.is_export();
}

// Calls `visit(symbol)` for each definition that was for other files of the same library when it
// was compiled, and is for no other library: hidden, or left out by a version script. LLVM's linker
// leaves its visibility as it was; GNU's makes such symbols local and puts them behind the symbols
// of all source files, under a file without a name. What is `static` stands under its file.
template <typename Visit>
void for_each_kept(const std::vector<ElfSymbol>& symbols, Visit visit) {
  constexpr std::uint8_t file = 4;
  constexpr std::uint8_t internal = 1;
  constexpr std::uint8_t hidden = 2;
  bool behind_files = false;
  for (const ElfSymbol& symbol : symbols) {
    if (symbol.type == file) behind_files = symbol.name.empty();
    if (!is_kept(symbol)) continue;
    if (behind_files || symbol.visibility == internal || symbol.visibility == hidden) visit(symbol);
  }
}

// A library that is read once more, and the names that are looked for in it: copies, since the
// facts grow meanwhile.
struct Asked {
  Library library;
  std::vector<std::string> names;
};

class HiddenWriter {
 public:
  explicit HiddenWriter(Facts& facts) : facts_(facts), writer_(facts) {}

  void write(const Asked& asked) {
    read_file(asked.library.file, [&](std::string_view bytes) { write(asked, bytes); });
  }

  // Libraries of one package, which is gone through once.
  void write_members(std::uint32_t file, const std::vector<const Asked*>& members) {
    std::unordered_map<std::string, const Asked*> by_path;
    for (const Asked* asked : members) {
      by_path.emplace(asked->library.fact[Key::path].text(), asked);
    }
    read_file(file, [&](std::string_view package) {
      if (!package.starts_with("PK")) return;
      ByteSource source = ByteSource::memory(package);
      ArchiveReader archive(source, ArchiveShape::zip);
      for (ArchiveEntry entry; !by_path.empty() && archive.next(entry);) {
        const auto found = by_path.find(std::string(entry.path));
        if (found == by_path.end() || entry.kind != ArchiveEntry::Kind::file) continue;
        const Asked& asked = *found->second;
        by_path.erase(found);
        try {
          write(asked, member_bytes(archive));
        } catch (const InputError&) {
          // As below; the other members may be whole.
        }
      }
    });
  }

  void finish() {
    if (document_.end == 0) return;
    writer_.close(list_, 0);
    writer_.close(root_, 0);
    document_.end = writer_.next();
    facts_.documents.push_back(document_);
  }

 private:
  template <typename Visit>
  void read_file(std::uint32_t file, Visit visit) {
    const std::string path = facts_.files[file].open_path;
    if (path.empty()) return;
    try {
      const MappedFile mapped(path);
      visit(mapped.bytes());
    } catch (const InputError&) {
      // What is wrong with the file was told when it was read; here it only gives no reason.
    }
  }

  void write(const Asked& asked, std::string_view content) {
    const Library& library = asked.library;
    const Wanted wanted(asked.names.begin(), asked.names.end());
    const Elf elf{Bytes(content)};
    std::vector<ElfSymbol> kept;
    std::unordered_set<std::string_view> seen;
    for_each_kept(elf.symbols(), [&](const ElfSymbol& symbol) {
      if (!wanted.contains(symbol.name) || kept.size() == most_stated) return;
      if (seen.insert(symbol.name).second) kept.push_back(symbol);
    });
    if (kept.empty()) return;
    if (document_.end == 0) begin(library.file);
    const std::uint32_t owner = library.fact.index();
    facts_.other_files.push_back({writer_.next(), library.fact.where().file});
    const std::uint32_t entry = writer_.open(Key::none, NodeType::object, 0);
    writer_.add(Key::library, NodeType::count, owner, 0, 0);
    const std::uint32_t list = writer_.open(Key::hidden, NodeType::list, 0);
    constexpr std::uint64_t bytes = 24;
    for (const ElfSymbol& symbol : kept) {
      const std::uint32_t object = writer_.open(Key::none, NodeType::object, symbol.offset);
      writer_.add_text(Key::name, symbol.name, symbol.offset, bytes);
      writer_.add_text(Key::kind, kind_word(symbol), symbol.offset, bytes);
      writer_.close(object, symbol.offset + bytes);
    }
    writer_.close(list, 0);
    writer_.close(entry, 0);
  }

  void begin(std::uint32_t file) {
    document_.settings = true;
    document_.file = file;
    document_.first = writer_.next();
    root_ = writer_.open(Key::none, NodeType::object, 0);
    list_ = writer_.open(Key::entries, NodeType::list, 0);
    document_.end = document_.first + 1;
  }

  Facts& facts_;
  FactWriter writer_;
  // `end` is 0 until something was written.
  Document document_;
  std::uint32_t root_ = 0;
  std::uint32_t list_ = 0;
};

}  // namespace

void state_hidden_symbols(Facts& facts, LacksSymbols lacks) {
  if (!facts.said[static_cast<std::size_t>(Key::imports)]) return;
  std::vector<Asked> all;
  for (const Group& group : groups_of(facts)) {
    for (const auto& [at, names] : wanted_names(group, lacks)) {
      if (all.size() == most_read_again) break;
      all.push_back({group.libraries[at], std::vector<std::string>(names.begin(), names.end())});
    }
  }
  HiddenWriter writer(facts);
  std::map<std::uint32_t, std::vector<const Asked*>> packages;
  for (const Asked& asked : all) {
    if (asked.library.in_package) {
      packages[asked.library.file].push_back(&asked);
    } else {
      writer.write(asked);
    }
  }
  for (const auto& [file, members] : packages) writer.write_members(file, members);
  writer.finish();
}

}  // namespace opseal
