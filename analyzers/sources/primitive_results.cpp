#include "analyzers/sources/primitive_results.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "opseal/text.h"

namespace opseal {
namespace {

constexpr std::string_view word = "multiple_results";
// Functions and classes within each other.
constexpr std::size_t max_depth = 64;

// Names, and the files that say something of them.
using Sayers = std::map<std::string, std::vector<std::uint32_t>, std::less<>>;

std::string_view word_at(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size() && is_word_byte(text[end])) ++end;
  return text.substr(begin, end - begin);
}

class FileReader {
 public:
  FileReader(std::uint32_t file, Sayers& sayers) : file_(file), sayers_(sayers) {}

  void run(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      read_line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

 private:
  struct Open {
    std::size_t indent = 0;
    std::string_view name;
    bool told = false;
  };

  void read_line(std::string_view line) {
    const std::size_t indent = line.find_first_not_of(" \t");
    if (indent == line.npos || line[indent] == '#' || line[indent] == ')') return;
    while (!open_.empty() && open_.back().indent >= indent) open_.pop_back();
    for (const std::string_view keyword : {"def ", "class "}) {
      if (!line.substr(indent).starts_with(keyword) || open_.size() == max_depth) continue;
      open_.push_back({indent, word_at(line, indent + keyword.size()), false});
    }
    std::size_t at = line.find(word);
    if (at == line.npos) return;
    for (Open& one : open_) {
      if (!std::exchange(one.told, true)) add(one.name);
    }
    for (; at != line.npos; at = line.find(word, at + word.size())) {
      if (at < 2 || line[at - 1] != '.') continue;
      std::size_t begin = at - 1;
      while (begin > 0 && is_word_byte(line[begin - 1])) --begin;
      add(line.substr(begin, at - 1 - begin));
    }
  }

  void add(std::string_view name) {
    std::vector<std::uint32_t>& files = sayers_[std::string(name)];
    if (files.empty() || files.back() != file_) files.push_back(file_);
  }

  std::uint32_t file_;
  Sayers& sayers_;
  std::vector<Open> open_;
};

}  // namespace

void settle_multiple_results(const std::vector<std::string>& paths, const SourceTexts& texts,
                             std::vector<FileRecords>& files) {
  std::vector<PrimitiveRecord*> makers;
  for (FileRecords& file : files) {
    for (PrimitiveRecord& record : file.primitives) {
      if (record.said.kind == PythonKind::primitive && !record.said.results_of.empty()) {
        makers.push_back(&record);
      }
    }
  }
  if (makers.empty()) return;
  const WordQuery query(std::vector<std::string>{std::string(word)});
  Sayers sayers;
  std::string bytes;
  for (std::size_t at = 0; at < paths.size(); ++at) {
    if (!paths[at].ends_with(".py") || !texts.read_holding(query, at, bytes)) continue;
    FileReader(static_cast<std::uint32_t>(at), sayers).run(bytes);
  }
  for (PrimitiveRecord* maker : makers) {
    for (const std::string& name : maker->said.results_of) {
      const auto found = sayers.find(name);
      if (found == sayers.end()) continue;
      const bool elsewhere =
          std::any_of(found->second.begin(), found->second.end(),
                      [maker](std::uint32_t file) { return file != maker->file; });
      if (elsewhere) maker->said.multiple_results.reset();
    }
  }
}

}  // namespace opseal
