#include "analyzers/caches.h"

#include <algorithm>
#include <utility>

#include "analyzers/cache_layout.h"
#include "analyzers/fact_writer.h"
#include "opseal/form.h"
#include "opseal/text.h"

namespace opseal {
namespace {

constexpr const CacheLayout* layouts[] = {&kernix_layout, &triton_layout, &torch_layout};
// Children named like entries that are tried, until one shows the layout.
constexpr int most_tried = 256;

// Writes entries as facts, each at the file that says it.
class CacheWriter {
 public:
  CacheWriter(Facts& facts, std::string folder)
      : facts_(facts), writer_(facts), folder_(std::move(folder)) {}

  // The files of an entry are added to those of the facts.
  void write_entry(CacheEntry& entry) {
    const auto own = static_cast<std::uint32_t>(facts_.files.size());
    InputFile file;
    file.path = folder_ + '/' + entry.directory;
    facts_.files.push_back(file);
    for (InputFile& text : entry.files) {
      text.path = file.path + '/' + text.path;
      facts_.files.push_back(std::move(text));
    }
    first_file_ = own;
    move_to(own);
    const std::uint32_t object = writer_.open(Key::none, NodeType::object, 0);
    add(Key::directory, {entry.directory});
    add(Key::name, entry.name);
    add(Key::key, entry.key);
    add(Key::recomputed_key, entry.recomputed_key);
    add(Key::library, entry.library);
    add_list(Key::functions, entry.functions, false);
    add_list(Key::architectures, entry.architectures, false);
    add_list(Key::source_files, entry.source_files, false);
    add_list(Key::missing, entry.missing, entry.checked);
    add_list(Key::damaged, entry.damaged, entry.checked);
    add_list(Key::elsewhere, entry.elsewhere, false);
    add_names(Key::temporary, entry.temporary);
    add(Key::lock, {entry.lock});
    writer_.close(object, 0);
  }

  void write_library(const std::string& cache, const CacheEntry& entry, std::uint32_t file) {
    first_file_ = file;
    move_to(file);
    const std::uint32_t object = writer_.open(Key::none, NodeType::object, 0);
    const bool itself = entry.library.text == entry.directory;
    add(Key::path, {itself ? entry.directory : entry.directory + '/' + entry.library.text});
    add(Key::cache, {cache});
    add(Key::entry, {entry.directory});
    add_list(Key::source_files, entry.source_files, false);
    writer_.close(object, 0);
  }

  // From here on facts are told of that file.
  void move_to(std::uint32_t file) {
    if (facts_.other_files.empty() ? file == 0 : facts_.other_files.back().file == file) return;
    facts_.other_files.push_back({writer_.next(), file});
  }

  void add_names(Key key, const std::vector<std::string>& names) {
    if (names.empty()) return;
    move_to(first_file_);
    const std::uint32_t list = writer_.open(key, NodeType::list, 0);
    for (const std::string& name : names) writer_.add_text(Key::none, name, 0, 0);
    writer_.close(list, 0);
  }

  FactWriter& writer() { return writer_; }

 private:
  void add(Key key, const PlacedText& text) {
    if (text.text.empty()) return;
    move_to(first_file_ + text.file);
    writer_.add_text(key, text.text, text.offset, text.length);
  }

  // An empty list is said where `even_empty`.
  void add_list(Key key, const std::vector<PlacedText>& texts, bool even_empty) {
    if (texts.empty() && !even_empty) return;
    move_to(first_file_);
    const std::uint32_t list = writer_.open(key, NodeType::list, 0);
    for (const PlacedText& text : texts) add(Key::none, text);
    writer_.close(list, 0);
  }

  Facts& facts_;
  FactWriter writer_;
  // As reports name it.
  std::string folder_;
  // Of the entry that is being written.
  std::uint32_t first_file_ = 0;
};

class CacheLoader {
 public:
  CacheLoader(const CacheReader& reader, InputFile input) : reader_(reader) {
    directory_ = input.open_path;
    shown_ = input.path;
    // It is a place to name, and nothing to show an excerpt of.
    input.open_path.clear();
    facts_.files.push_back(std::move(input));
  }

  Facts load() {
    read_entries();
    write();
    return std::move(facts_);
  }

 private:
  std::string name() const {
    return reader_.layout != nullptr ? std::string(reader_.layout->name)
                                     : reader_.description->name;
  }

  void read_entries() {
    std::string error;
    const std::vector<FolderItem> items = list_folder(directory_, most_cache_items, error);
    if (!error.empty()) {
      facts_.problems.push_back(
          {Location{0, 0, 0}, "cache directory: " + error, {}, Severity::error});
    }
    for (const FolderItem& item : items) {
      if (reader_.layout != nullptr && item.settled && reader_.layout->is_temporary(item.name)) {
        temporary_.push_back(item.name);
      }
      if (!may_be_entry(item) || !is_cache_entry(reader_, directory_, item.name)) continue;
      CacheEntry entry;
      entry.directory = item.name;
      read_entry(item, entry);
      if (!entry.problem.empty()) problems_.emplace_back(entries_.size(), entry.problem);
      entries_.push_back(std::move(entry));
    }
    if (reader_.description != nullptr && entries_.empty()) remark_no_entry(items);
  }

  // A pattern with a mistake in it fits nothing, which looks like a cache without a flaw.
  void remark_no_entry(const std::vector<FolderItem>& items) {
    const auto candidates = std::count_if(
        items.begin(), items.end(), [this](const FolderItem& item) { return may_be_entry(item); });
    if (candidates == 0) return;
    const CacheDescription& description = *reader_.description;
    std::string message = "none of " + plural(static_cast<std::uint64_t>(candidates), "item") +
                          " fits `entry` " + quote(description.entry);
    if (description.entry.find("{key}") != std::string::npos) {
      message += " with a key of " + plural(description.digits, "digit");
    }
    facts_.problems.push_back({Location{0, 0, 0}, std::move(message), {}, Severity::note});
  }

  // What a link leads to is another entry, or not the cache's.
  bool may_be_entry(const FolderItem& item) const {
    return item.kind == FolderItem::Kind::folder ||
           (item.kind == FolderItem::Kind::file && reader_.description != nullptr);
  }

  void read_entry(const FolderItem& item, CacheEntry& entry) const {
    if (reader_.description != nullptr) {
      read_described(*reader_.description, item, entry);
      return;
    }
    const std::string path = directory_ + '/' + item.name;
    const std::vector<FolderItem> items = list_folder(path, most_entry_items, entry.problem);
    bool settled = item.settled;
    for (const FolderItem& one : items) settled = settled && one.settled;
    if (entry.problem.empty()) reader_.layout->read(path, items, settled, entry);
  }

  void write() {
    CacheWriter out(facts_, shown_);
    FactWriter& writer = out.writer();
    Document document;
    document.first = writer.next();
    const std::uint32_t root = writer.open(Key::none, NodeType::object, 0);
    writer.add(Key::opseal_manifest, NodeType::count, manifest_version, 0, 0);
    const std::uint32_t caches = writer.open(Key::caches, NodeType::list, 0);
    const std::uint32_t cache = writer.open(Key::none, NodeType::object, 0);
    writer.add_text(Key::name, name(), 0, 0);
    writer.add_text(Key::kind, "disk", 0, 0);
    if (reader_.description != nullptr && !reader_.description->match.empty()) {
      writer.add_text(Key::match, reader_.description->match, 0, 0);
    }
    writer.add_text(Key::directory, shown_, 0, 0);
    out.add_names(Key::temporary, temporary_);
    const std::uint32_t entries = writer.open(Key::entries, NodeType::list, 0);
    std::vector<std::uint32_t> files;
    for (CacheEntry& entry : entries_) {
      files.push_back(static_cast<std::uint32_t>(facts_.files.size()));
      out.write_entry(entry);
    }
    writer.close(entries, 0);
    writer.close(cache, 0);
    writer.close(caches, 0);
    write_libraries(out, files);
    writer.close(root, 0);
    document.end = writer.next();
    facts_.documents.push_back(document);
    for (auto& [at, message] : problems_) {
      facts_.problems.push_back(
          {Location{files[at], 0, 0}, std::move(message), {}, Severity::warning});
    }
  }

  void write_libraries(CacheWriter& out, const std::vector<std::uint32_t>& files) {
    const bool any = std::any_of(entries_.begin(), entries_.end(),
                                 [](const CacheEntry& entry) { return entry.library_there; });
    if (!any) return;
    out.move_to(0);
    const std::uint32_t list = out.writer().open(Key::libraries, NodeType::list, 0);
    for (std::size_t at = 0; at < entries_.size(); ++at) {
      if (entries_[at].library_there) out.write_library(name(), entries_[at], files[at]);
    }
    out.writer().close(list, 0);
  }

  const CacheReader& reader_;
  std::string directory_;
  std::string shown_;
  Facts facts_;
  std::vector<CacheEntry> entries_;
  std::vector<std::string> temporary_;
  // Number of an entry, and what was wrong with it.
  std::vector<std::pair<std::size_t, std::string>> problems_;
};

}  // namespace

CacheReader find_cache(const std::string& directory) {
  int tried = 0;
  for (const std::string& child : folders_in(directory, most_cache_items)) {
    for (const CacheLayout* layout : layouts) {
      if (!layout->claims(directory, child)) continue;
      if (layout->proves(directory, child)) return {.layout = layout};
      if (++tried >= most_tried) return {};
    }
  }
  return {};
}

bool is_cache_entry(const CacheReader& reader, const std::string& directory,
                    std::string_view child) {
  if (reader.layout != nullptr) return reader.layout->claims(directory, child);
  const CacheDescription& description = *reader.description;
  return match_entry(description.entry, description.digits, child).has_value();
}

Facts load_cache(const CacheReader& reader, InputFile input) {
  return CacheLoader(reader, std::move(input)).load();
}

}  // namespace opseal
