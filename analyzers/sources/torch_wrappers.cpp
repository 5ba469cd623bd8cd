#include "analyzers/sources/torch_wrappers.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace opseal {
namespace {

struct Wrapper {
  bool defined = false;
  // A file that defines it names torch's function, and not in a comment.
  bool hands_on = false;
  // It goes on where torch refuses.
  bool catches = false;
};

bool is_torch_function(std::string_view line) {
  const std::string_view code = line.substr(0, line.find('#'));
  for (const std::string_view word :
       {"library.custom_op", "library.register_fake", "library.impl_abstract", "library.triton_op",
        "Library(", "import custom_op", "import register_fake"}) {
    if (code.find(word) != code.npos) return true;
  }
  return false;
}

void look_at(std::string_view bytes, std::map<std::string, Wrapper>& wrappers) {
  bool hands_on = false;
  std::vector<Wrapper*> defined;
  // The one whose body the lines are of, and its indentation.
  Wrapper* current = nullptr;
  std::size_t indent = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
    std::string_view line = bytes.substr(at, end - at);
    at = end + 1;
    hands_on = hands_on || is_torch_function(line);
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == line.npos) continue;
    line.remove_prefix(first);
    // A line of parameters may close at the indentation of its function.
    if (current != nullptr && first <= indent && !line.starts_with(')')) current = nullptr;
    if (current != nullptr && line.starts_with("except")) current->catches = true;
    if (!line.starts_with("def ")) continue;
    line.remove_prefix(4);
    const auto found = wrappers.find(std::string(line.substr(0, line.find('('))));
    if (found == wrappers.end()) continue;
    defined.push_back(&found->second);
    current = &found->second;
    indent = first;
  }
  for (Wrapper* one : defined) {
    one->defined = true;
    one->hands_on = one->hands_on || hands_on;
  }
}

}  // namespace

void drop_idle_wrappers(const std::vector<std::string>& paths, const SourceTexts& texts,
                        std::vector<TorchRecord>& records) {
  std::map<std::string, Wrapper> wrappers;
  for (const TorchRecord& record : records) {
    if (record.python && !record.macro.empty()) wrappers[record.macro];
  }
  if (wrappers.empty()) return;
  std::vector<std::string> names;
  for (const auto& [name, wrapper] : wrappers) names.push_back(name);
  const WordQuery any_name(names);
  std::string bytes;
  for (std::size_t at = 0; at < paths.size(); ++at) {
    if (!paths[at].ends_with(".py") || !texts.read_holding(any_name, at, bytes)) continue;
    look_at(bytes, wrappers);
  }
  std::erase_if(records, [&](const TorchRecord& record) {
    if (!record.python || record.macro.empty()) return false;
    const Wrapper& wrapper = wrappers[record.macro];
    return wrapper.defined &&
           (!wrapper.hands_on || (wrapper.catches && record.use == TorchUse::fake));
  });
}

}  // namespace opseal
