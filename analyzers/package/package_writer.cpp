#include <map>

#include "analyzers/input_error.h"
#include "analyzers/package/package_contents.h"
#include "opseal/form.h"

namespace opseal {
namespace {

class PackageWriter {
 public:
  PackageWriter(const PackageContents& contents, FactWriter& writer, Facts& facts)
      : contents_(contents),
        writer_(writer),
        facts_(facts),
        // Nodes refer to each other by distance, so they can be moved as they are.
        nodes_(std::exchange(facts.nodes, {})),
        lengths_(std::exchange(facts.long_lengths, {})) {}

  void write() {
    Document document;
    document.first = writer_.next();
    const std::uint32_t root = writer_.open(Key::none, NodeType::object, 0);
    writer_.add(Key::opseal_manifest, NodeType::count, manifest_version, 0, 0);
    write_distribution();
    const std::uint32_t list = writer_.open(Key::libraries, NodeType::list, 0);
    for (const PackageLibrary& library : contents_.libraries) write_library(library);
    writer_.close(list, 0);
    writer_.close(root, 0);
    document.end = writer_.next();
    facts_.documents.push_back(document);
  }

 private:
  // From here on facts are told of that file.
  void move_to(std::uint32_t file) { facts_.other_files.push_back({writer_.next(), file}); }

  void add(Key key, const std::string& text) {
    if (!text.empty()) writer_.add_text(key, text, 0, 0);
  }

  void add_list(Key key, const std::vector<std::string>& texts) {
    if (texts.empty()) return;
    const std::uint32_t list = writer_.open(key, NodeType::list, 0);
    for (const std::string& text : texts) writer_.add_text(Key::none, text, 0, 0);
    writer_.close(list, 0);
  }

  void write_distribution() {
    const Distribution& distribution = contents_.distribution;
    const std::uint32_t object = writer_.open(Key::distribution, NodeType::object, 0);
    add(Key::kind, distribution.kind);
    add(Key::name, distribution.name);
    add(Key::version, distribution.version);
    add_list(Key::tags, distribution.tags);
    add_list(Key::requires_, distribution.requirements);
    const std::uint32_t files = writer_.open(Key::files, NodeType::list, 0);
    for (const Distribution::File& file : distribution.files) {
      const std::uint32_t one = writer_.open(Key::none, NodeType::object, 0);
      writer_.add_text(Key::path, file.path, 0, 0);
      add(Key::digest, file.digest);
      writer_.close(one, 0);
    }
    writer_.close(files, 0);
    add_list(Key::loads, contents_.loads);
    writer_.close(object, 0);
  }

  void write_library(const PackageLibrary& library) {
    move_to(library.file);
    const std::uint32_t object = writer_.next();
    copy_nodes(library.first, library.end);
    add_list(Key::aliases, library.aliases);
    write_places(Key::imported_by, library.imported_by);
    write_places(Key::loaded_by, library.loaded_by);
    // Its own places are those that it was read with; it only holds more now.
    facts_.nodes[object].value = writer_.next() - object;
  }

  void copy_nodes(std::uint32_t first, std::uint32_t end) {
    if (FactWriter::max_nodes - writer_.next() < end - first) {
      throw InputError(0, 0, "too many facts");
    }
    const std::uint32_t start = writer_.next();
    for (std::uint32_t node = first; node < end; ++node) facts_.nodes.push_back(nodes_[node]);
    for (; length_ < lengths_.size() && lengths_[length_].node < end; ++length_) {
      const LongLength& length = lengths_[length_];
      if (length.node < first) continue;
      facts_.long_lengths.push_back({length.node - first + start, length.length});
    }
  }

  void write_places(Key key, const std::vector<PackagePlace>& places) {
    if (places.empty()) return;
    const std::uint32_t list = writer_.open(key, NodeType::list, 0);
    for (const PackagePlace& place : places) {
      const std::string& path = contents_.python_files[place.file];
      move_to(number_of(place.file));
      const std::uint32_t object = writer_.open(Key::none, NodeType::object, 0);
      writer_.add_text(Key::file, path, 0, 0);
      writer_.add(Key::line, NodeType::count, place.line, 0, 0);
      writer_.close(object, 0);
    }
    writer_.close(list, 0);
  }

  std::uint32_t number_of(std::uint32_t python_file) {
    const auto [known, fresh] =
        python_files_.try_emplace(python_file, static_cast<std::uint32_t>(facts_.files.size()));
    if (fresh) {
      InputFile file;
      file.path = facts_.files.front().path + "!/" + contents_.python_files[python_file];
      facts_.files.push_back(std::move(file));
    }
    return known->second;
  }

  const PackageContents& contents_;
  FactWriter& writer_;
  Facts& facts_;
  Chunked<Node> nodes_;
  std::vector<LongLength> lengths_;
  // Of `lengths_`, the first that was not copied yet.
  std::size_t length_ = 0;
  // Of `python_files` -> number of the file.
  std::map<std::uint32_t, std::uint32_t> python_files_;
};

}  // namespace

void write_package(const PackageContents& contents, FactWriter& writer, Facts& facts) {
  PackageWriter(contents, writer, facts).write();
}

}  // namespace opseal
