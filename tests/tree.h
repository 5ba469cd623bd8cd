#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace opseal::test {

// A scratch directory that is gone with the test; the test runs in it.
class Tree {
 public:
  Tree() : before_(std::filesystem::current_path()) {
    std::string pattern = (std::filesystem::temp_directory_path() / "opseal_tree_XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    std::filesystem::current_path(root_);
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree() {
    std::filesystem::current_path(before_);
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  // Writes a file and the directories above it.
  void add(const std::filesystem::path& path, const std::string& text) const {
    const std::filesystem::path file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  const std::filesystem::path& root() const { return root_; }

 private:
  std::filesystem::path before_;
  std::filesystem::path root_;
};

}  // namespace opseal::test
