#include "analyzers/sources/cmake_targets.h"

#include <algorithm>
#include <array>

#include "analyzers/words.h"

namespace opseal {
namespace {

// Words of one command, and of one list.
constexpr std::size_t most_words = 4096;

constexpr std::string_view whole_link = "$<LINK_LIBRARY:WHOLE_ARCHIVE,";

bool is_space(char byte) { return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r'; }

std::string joined(std::string_view folder, std::string_view path) {
  std::string whole(folder);
  while (path.starts_with("./")) path.remove_prefix(2);
  while (path.starts_with("../") && !whole.empty()) {
    path.remove_prefix(3);
    const std::size_t slash = whole.rfind('/');
    whole.resize(slash == whole.npos ? 0 : slash);
  }
  if (!whole.empty()) whole += '/';
  return whole.append(path);
}

bool is_scope_word(std::string_view word) {
  constexpr std::array<std::string_view, 10> words{
      "PUBLIC", "PRIVATE", "INTERFACE", "LINK_PUBLIC",      "LINK_PRIVATE",
      "debug",  "general", "optimized", "EXCLUDE_FROM_ALL", "WIN32"};
  return is_one_of(word, words);
}

}  // namespace

struct CmakeTargets::Command {
  std::string name;
  std::vector<CmakeWord> words;
};

void CmakeTargets::add(std::string_view folder, std::string_view bytes) {
  const std::uint32_t number = files_++;
  if (has_any(bytes, {"whole-archive", "WHOLEARCHIVE", "force_load", "all_load", "TARGET_OBJECTS",
                      "wholearchive", "-Wl,-u", "--undefined", "-Wl,-force"})) {
    keeps_whole_ = true;
  }
  variables_.clear();
  Command command;
  std::string word;
  std::size_t word_at = 0;
  std::size_t depth = 0;
  const auto end_word = [&](std::size_t end) {
    if (word.empty()) return;
    if (word.find("WHOLE_ARCHIVE") != word.npos && !word.starts_with(whole_link)) {
      keeps_whole_ = true;
    }
    if (depth == 0) {
      command.name = lower(word);
    } else if (command.words.size() < most_words) {
      command.words.push_back({word, number, static_cast<std::uint32_t>(word_at),
                               static_cast<std::uint32_t>(end - word_at)});
    }
    word.clear();
  };
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const char byte = bytes[at];
    if (byte == '#') {
      end_word(at);
      const bool bracket = bytes.substr(at + 1).starts_with("[[");
      const std::size_t end = bracket ? bytes.find("]]", at) : bytes.find('\n', at);
      if (end == bytes.npos) break;
      at = bracket ? end + 1 : end;
    } else if (byte == '"') {
      if (word.empty()) word_at = at;
      for (++at; at < bytes.size() && bytes[at] != '"'; ++at) {
        if (bytes[at] == '\\') ++at;
        if (at < bytes.size()) word += bytes[at];
      }
    } else if (is_space(byte)) {
      end_word(at);
    } else if (byte == '(') {
      end_word(at);
      ++depth;
    } else if (byte == ')') {
      end_word(at);
      if (depth > 0 && --depth == 0) {
        run(command, folder);
        command = {};
      }
    } else {
      if (word.empty()) word_at = at;
      word += byte;
    }
  }
}

bool CmakeTargets::expand(const std::string& text, std::vector<std::string>& words) const {
  const std::size_t begin = text.find("${");
  if (begin == text.npos) {
    if (text.find('$') != text.npos || text.find('*') != text.npos) return false;
    words.push_back(text);
    return true;
  }
  const std::size_t end = text.find('}', begin);
  if (end == text.npos) return false;
  const std::string name = text.substr(begin + 2, end - begin - 2);
  const std::string rest = text.substr(end + 1);
  if (rest.find('$') != rest.npos) return false;
  if (name == "CMAKE_CURRENT_SOURCE_DIR" || name == "CMAKE_CURRENT_LIST_DIR") {
    if (begin != 0 || !rest.starts_with('/')) return false;
    words.push_back(rest.substr(1));
    return true;
  }
  const auto value = variables_.find(name);
  if (value == variables_.end() || value->second.empty()) return false;
  if (value->second.size() > 1 && (begin > 0 || !rest.empty())) return false;
  for (const std::string& one : value->second) {
    if (words.size() >= most_words) return false;
    words.push_back(text.substr(0, begin) + one + rest);
  }
  return true;
}

void CmakeTargets::add_sources(CmakeTarget& target, const std::vector<CmakeWord>& words,
                               std::size_t from, std::string_view folder) {
  for (std::size_t at = from; at < words.size(); ++at) {
    if (is_scope_word(words[at].text)) continue;
    std::vector<std::string> paths;
    if (!expand(words[at].text, paths)) {
      target.whole = false;
      continue;
    }
    for (const std::string& path : paths) target.sources.push_back(joined(folder, path));
  }
}

void CmakeTargets::run(const Command& command, std::string_view folder) {
  const std::vector<CmakeWord>& words = command.words;
  if (words.empty()) return;
  std::vector<std::string> first;
  if (!expand(words[0].text, first) || first.size() != 1) first = {words[0].text};
  const std::string& name = first.front();
  if (command.name == "project") {
    variables_["PROJECT_NAME"] = {name};
  } else if (command.name == "file" && name.starts_with("GLOB") && words.size() > 2) {
    const bool fresh = !variables_.contains(words[1].text);
    std::vector<std::string>& patterns = variables_[words[1].text];
    for (std::size_t at = 2; fresh && at < words.size(); ++at) {
      std::string pattern = words[at].text;
      if (pattern == "CONFIGURE_DEPENDS") continue;
      constexpr std::string_view here = "${CMAKE_CURRENT_SOURCE_DIR}/";
      if (pattern.starts_with(here)) pattern.erase(0, here.size());
      const std::size_t star = pattern.find('*');
      const bool plain = pattern.find('$') == pattern.npos && pattern.find('?') == pattern.npos &&
                         pattern.find('[') == pattern.npos && star == pattern.rfind('*');
      if (star != pattern.npos && name == "GLOB_RECURSE") pattern.insert(star, "*");
      if (plain) {
        patterns.push_back(std::move(pattern));
      } else {
        patterns.clear();
        break;
      }
    }
    if (!fresh) patterns.clear();
  } else if (command.name == "set" || command.name == "list" || command.name == "file" ||
             command.name == "foreach") {
    const bool is_set = command.name == "set";
    const std::string& variable = is_set || words.size() < 2 ? words[0].text : words[1].text;
    std::vector<std::string> values;
    bool known = is_set && !variables_.contains(variable);
    for (std::size_t at = 1; known && at < words.size(); ++at)
      known = expand(words[at].text, values);
    if (!known) values.clear();
    variables_[variable] = std::move(values);
  } else if (command.name == "add_library" || command.name == "add_executable" ||
             command.name == "pybind11_add_module" || command.name == "python_add_library" ||
             command.name == "nanobind_add_module") {
    const bool fresh = !targets_.contains(name);
    CmakeTarget& target = targets_[name];
    target.whole = target.whole && fresh;
    const bool program = command.name == "add_executable";
    std::size_t from = 1;
    target.kind =
        program || command.name.ends_with("module") ? CmakeKind::linked : CmakeKind::other;
    if (!program && words.size() > 1) {
      const std::string& type = words[1].text;
      const bool typed = type == "STATIC" || type == "SHARED" || type == "MODULE";
      if (typed) target.kind = type == "STATIC" ? CmakeKind::archive : CmakeKind::linked;
      from += typed ? 1 : 0;
      if (type == "ALIAS" || type == "IMPORTED" || type == "OBJECT" || type == "INTERFACE") {
        target.kind = CmakeKind::other;
        target.whole = false;
      }
    }
    add_sources(target, words, from, folder);
  } else if (command.name == "target_sources") {
    add_sources(targets_[name], words, 1, folder);
  } else if (command.name == "target_link_libraries") {
    CmakeTarget& target = targets_[name];
    for (std::size_t at = 1; at < words.size(); ++at) {
      if (is_scope_word(words[at].text) || target.links.size() >= most_words) continue;
      std::vector<std::string> names;
      std::string_view text = words[at].text;
      if (text.starts_with(whole_link) && text.ends_with('>')) {
        text.remove_prefix(whole_link.size());
        text.remove_suffix(1);
        for (std::size_t end = 0; end != text.npos;
             text.remove_prefix(end == text.npos ? 0 : end + 1)) {
          end = text.find(',');
          target.whole_links.emplace_back(text.substr(0, end));
        }
        continue;
      }
      if (!expand(words[at].text, names)) continue;
      for (std::string& one : names) {
        if (target.links.size() >= most_words) break;
        CmakeWord link = words[at];
        link.text = std::move(one);
        target.links.push_back(std::move(link));
      }
    }
  }
}

}  // namespace opseal
