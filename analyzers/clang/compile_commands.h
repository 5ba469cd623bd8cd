#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace opseal {

// How the files of a tree are compiled, as a build says it.
class CompileCommands {
 public:
  // Reads `compile_commands.json` in a folder, or else in its `build`. Without a readable one
  // nothing is known.
  void read_folder(const std::string& folder);
  // `bytes`: what such a file holds. Entries that make no sense are passed over.
  void read(std::string_view bytes);

  // The flags of a file by its absolute path, as `kept_flags` gives them; empty where there are
  // none.
  std::vector<std::string> flags_of(const std::string& path) const;
  bool empty() const { return commands_.empty(); }

 private:
  struct Command {
    std::vector<std::string> words;
    std::string directory;
  };
  std::map<std::string, Command> commands_;
};

}  // namespace opseal
