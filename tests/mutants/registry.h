#pragma once

#include <cstddef>
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
    // The bytes that were written for the mistake.
    std::size_t first = 0;
    std::size_t end = 0;
  };
  // The manifest with that item replaced by these.
  Text with(const std::string& table, std::size_t item, const std::vector<Json>& items) const;
  // As recorded.
  std::string text() const;

 private:
  struct Table {
    std::string key;
    std::vector<std::string> items;
  };

  const Table* find(const std::string& table) const;

  std::string name_;
  Json manifest_;
  Json head_;
  std::vector<Table> tables_;
};

}  // namespace opseal::test
