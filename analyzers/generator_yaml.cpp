// What code generators of torch backends read (`mlu_functions.yaml`, `npu_native_functions.yaml`):
// a map whose values are lists of `- func: SCHEMA`. What they make registers operators in a
// namespace that the generator knows; here it is said that they are not all seen.

#include <string>
#include <string_view>

#include "analyzers/analyzers.h"
#include "analyzers/manifest_document.h"
#include "analyzers/words.h"
#include "opseal/ascii.h"

namespace opseal {
namespace {

// `aten:`, `backend: MLU`; the first line that says something.
bool begins_map(std::string_view head) {
  while (!head.empty()) {
    const std::size_t end = std::min(head.find('\n'), head.size());
    const std::string_view line = head.substr(0, end);
    const std::string_view said = trimmed(line);
    if (!said.empty() && !said.starts_with('#') && said != "---") {
      const std::size_t colon = line.find(':');
      if (colon == line.npos || colon == 0) return false;
      for (const char byte : line.substr(0, colon)) {
        if (!is_word_byte(byte)) return false;
      }
      return true;
    }
    head.remove_prefix(std::min(end + 1, head.size()));
  }
  return false;
}

bool lists_functions(std::string_view head) {
  for (std::size_t at = head.find("- func:"); at != head.npos; at = head.find("- func:", at + 1)) {
    const std::size_t line = head.rfind('\n', at);
    if (line != head.npos && trimmed(head.substr(line, at - line)).empty()) return true;
  }
  return false;
}

}  // namespace

Accepts accepts_generator_list(std::string_view head, bool whole) {
  const bool text = !head.empty() && (head[0] == '#' || head[0] == '-' || is_word_byte(head[0]));
  if (!text || head.find('\0') != head.npos) return Accepts::no;
  if (begins_map(head)) {
    if (lists_functions(head)) return Accepts::yes;
  } else if (head[0] != '#') {
    return Accepts::no;
  }
  // Comments, or another list, may fill what is shown.
  return !whole && head.size() < head_size ? Accepts::look_further : Accepts::no;
}

bool confirms_generator_list(ByteSource&) { return false; }

void load_generator_list(ByteSource&, std::uint32_t file, Facts& facts) {
  FactWriter writer(facts);
  ManifestDocument document(writer, file, "generator list", "torch");
  const std::uint32_t tree = writer.open(Key::tree, NodeType::object, 0);
  writer.add(Key::files, NodeType::count, 1, 0, 0);
  writer.add(Key::partial, NodeType::truth, 1, 0, 0);
  writer.close(tree, 0);
  document.end(facts);
}

}  // namespace opseal
