#include "analyzers/hidden_symbols.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
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

// Libraries of every system and the CUDA runtime: what they define is no secret of another library.
constexpr std::array<std::string_view, 10> known = {
    "libc.so",   "libm.so",      "libdl.so", "libpthread.", "librt.so",
    "libgcc_s.", "libstdc++.so", "ld-linux", "libcudart.",  "libcuda.so"};

bool is_known(std::string_view soname) {
  return std::any_of(known.begin(), known.end(),
                     [soname](std::string_view start) { return soname.starts_with(start); });
}

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
std::map<std::size_t, Wanted> wanted_names(const Group& group) {
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
        complete = complete && is_known(need.text());
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

// The bytes of a member of a zip archive; nothing where it can't be found in one.
std::optional<std::string> member_bytes(std::string_view package, std::string_view path) {
  if (!package.starts_with("PK")) return std::nullopt;
  ByteSource source = ByteSource::memory(package);
  ArchiveReader archive(source, ArchiveShape::zip);
  for (ArchiveEntry entry; archive.next(entry);) {
    if (entry.path != path || entry.kind != ArchiveEntry::Kind::file) continue;
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
  return std::nullopt;
}

bool is_kept(const ElfSymbol& symbol) {
  constexpr std::uint8_t section = 3;
  constexpr std::uint8_t file = 4;
  if (!symbol.is_defined() || symbol.type == section || symbol.type == file) return false;
  return !symbol.is_export();
}

std::string_view kind_word(const ElfSymbol& symbol) {
  if (symbol.is_function()) return "function";
  return symbol.type == 1 ? "object" : symbol.type == 6 ? "tls" : "none";
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

class HiddenWriter {
 public:
  explicit HiddenWriter(Facts& facts) : facts_(facts), writer_(facts) {}

  void write(const Library& library, const Wanted& wanted) {
    const InputFile& file = facts_.files[library.file];
    if (file.open_path.empty() || ++read_ > most_read_again) return;
    try {
      const MappedFile mapped(file.open_path);
      std::optional<std::string> member;
      if (library.in_package) {
        member = member_bytes(mapped.bytes(), library.fact[Key::path].text());
        if (!member) return;
      }
      write(library, wanted, Elf(Bytes(member ? std::string_view(*member) : mapped.bytes())));
    } catch (const InputError&) {
      // What is wrong with the file was told when it was read; here it only gives no reason.
    }
  }

  void finish() {
    if (document_.end == 0) return;
    writer_.close(list_, 0);
    writer_.close(root_, 0);
    document_.end = writer_.next();
    facts_.documents.push_back(document_);
  }

 private:
  void write(const Library& library, const Wanted& wanted, const Elf& elf) {
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
  std::size_t read_ = 0;
};

}  // namespace

void state_hidden_symbols(Facts& facts) {
  if (!facts.said[static_cast<std::size_t>(Key::imports)]) return;
  // Names are views into the facts, which grow meanwhile.
  std::vector<std::pair<Library, std::vector<std::string>>> asked;
  for (const Group& group : groups_of(facts)) {
    for (const auto& [at, names] : wanted_names(group)) {
      asked.emplace_back(group.libraries[at], std::vector<std::string>(names.begin(), names.end()));
    }
  }
  HiddenWriter writer(facts);
  for (const auto& [library, names] : asked) {
    writer.write(library, Wanted(names.begin(), names.end()));
  }
  writer.finish();
}

}  // namespace opseal
