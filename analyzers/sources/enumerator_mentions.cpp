#include "analyzers/sources/enumerator_mentions.h"

#include <algorithm>
#include <string>
#include <vector>

#include "analyzers/words.h"

namespace opseal {
namespace {

// Ranges in order, none of which begins before the end of another unless it lies within it.
class Ranges {
 public:
  explicit Ranges(std::vector<TokenRange> ranges) : ranges_(std::move(ranges)) {
    std::sort(ranges_.begin(), ranges_.end(),
              [](const TokenRange& a, const TokenRange& b) { return a.begin < b.begin; });
    std::uint32_t furthest = 0;
    for (TokenRange& range : ranges_) {
      furthest = std::max(furthest, range.end);
      range.end = furthest;
    }
  }

  bool has(std::size_t at) const {
    const auto after = std::upper_bound(
        ranges_.begin(), ranges_.end(), at,
        [](std::size_t one, const TokenRange& range) { return one < range.begin; });
    return after != ranges_.begin() && at < std::prev(after)->end;
  }

 private:
  std::vector<TokenRange> ranges_;
};

// Whether a text has the name as a word outside of some ranges of bytes, be it in a macro or in a
// comment, or pastes names that begin as it does: `TYPE_##x`.
bool may_use(std::string_view text, std::string_view name, const Ranges& left_out_bytes) {
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    if (at > 0 && is_word_byte(text[at - 1])) continue;
    if (at + name.size() < text.size() && is_word_byte(text[at + name.size()])) continue;
    if (!left_out_bytes.has(at)) return true;
  }
  for (std::size_t end = name.find('_'); end != name.npos; end = name.find('_', end + 1)) {
    const std::string pasted(name.substr(0, end + 1));
    if (text.find(pasted + "##") != text.npos || text.find(pasted + " ##") != text.npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string_view meant_at(const CodeFile& file, const Token& name) {
  const auto found = std::lower_bound(
      file.meant.begin(), file.meant.end(), name.offset,
      [](const StatedValue& value, std::uint32_t offset) { return value.offset < offset; });
  const bool is_there = found != file.meant.end() && found->offset == name.offset;
  return is_there ? std::string_view(found->enumerator) : std::string_view();
}

void count_mentions(const CodeFunctions& code,
                    const std::function<bool(const CodeFunction&)>& is_left_out,
                    EnumeratorMentions& mentions,
                    const std::unordered_map<std::string_view, std::string>& enumerations) {
  if (mentions.empty()) return;
  std::vector<std::vector<TokenRange>> left_out;
  for (const auto& file : code.files()) left_out.push_back(file->enumerations);
  for (const auto& function : code.functions()) {
    if (is_left_out(*function)) left_out[function->file].push_back(function->body);
  }
  for (std::uint32_t number = 0; number < code.files().size(); ++number) {
    const std::vector<Token>& tokens = code.files()[number]->unit.tokens;
    std::vector<TokenRange> bytes;
    for (const TokenRange& range : left_out[number]) {
      if (range.empty()) continue;
      bytes.push_back({tokens[range.begin].offset, tokens[range.end - 1].offset + 1});
    }
    const Ranges left_out_tokens(std::move(left_out[number]));
    for (std::uint32_t at = 0; at < tokens.size(); ++at) {
      if (!tokens[at].is_identifier()) continue;
      const auto known = mentions.find(tokens[at].text);
      if (known == mentions.end() || left_out_tokens.has(at)) continue;
      const auto wanted = enumerations.find(tokens[at].text);
      const std::string_view meant = meant_at(*code.files()[number], tokens[at]);
      if (wanted != enumerations.end() && !meant.empty() && meant != wanted->second) {
        bytes.push_back({tokens[at].offset, tokens[at].offset + tokens[at].length});
      } else {
        ++known->second;
      }
    }
    const Ranges left_out_bytes(std::move(bytes));
    for (auto& [name, count] : mentions) {
      if (count == 0 && may_use(code.files()[number]->bytes, name, left_out_bytes)) count = 1;
    }
  }
}

}  // namespace opseal
