#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/mutants/mistake.h"

namespace opseal::test {

// A recorded registry, cut so that one item of it can be replaced without writing all of it anew.
class Registry {
 public:
  // Needs: a readable manifest.
  explicit Registry(const std::filesystem::path& path);

  const std::string& name() const { return name_; }
  const Json& manifest() const { return manifest_; }
  // The manifest without its lists of objects.
  const Json& head() const { return head_; }
  // How many items a table has; 1 for the manifest itself.
  std::size_t size(const std::string& table) const;

  struct Text {
    std::string text;
    struct Span {
      std::size_t first = 0;
      std::size_t end = 0;
    };
    // The bytes that were written for the mistake.
    std::vector<Span> made;

    bool is_made(std::uint64_t offset) const;
  };
  // The manifest with that item replaced by these, and with what `Place::beside` holds.
  Text with(const std::string& table, std::size_t item, const std::vector<Json>& items,
            const Json& beside = Json::object()) const;
  // As recorded.
  std::string text() const;

 private:
  struct Table {
    std::string key;
    std::vector<std::string> items;
  };

  struct Replaced {
    const std::string& table;
    std::size_t item;
    const std::vector<Json>& items;
  };

  const Table* find(const std::string& table) const;
  static void write_table(const Table& table, const Replaced& replaced, const Json& more,
                          Text& out);

  std::string name_;
  Json manifest_;
  Json head_;
  std::vector<Table> tables_;
};

}  // namespace opseal::test
