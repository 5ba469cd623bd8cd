#include "analyzers/sources/applied.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "analyzers/sources/code_functions.h"
#include "analyzers/sources/cpp_function.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

constexpr std::string_view base = "Function<";
constexpr std::size_t most_names = 4096;
// Tokens of a list of template arguments.
constexpr std::size_t longest_list = 64;

bool is_blank(char byte) { return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r'; }

// The word that ends at `end`, blanks before it left out.
std::string_view word_before(std::string_view text, std::size_t& end) {
  while (end > 0 && is_blank(text[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && is_word_byte(text[begin - 1])) --begin;
  const std::string_view word = text.substr(begin, end - begin);
  end = begin;
  return word;
}

// `struct F : public Function<F>` of a file that speaks of autograd: the class that the brackets
// name is the one that derives.
bool derives_itself(std::string_view text, std::size_t at, std::string_view name) {
  std::string_view word = word_before(text, at);
  if (word == "public") word = word_before(text, at);
  if (!word.empty() || at == 0 || text[--at] != ':') return false;
  word = word_before(text, at);
  if (word == "final") word = word_before(text, at);
  return word == name;
}

// `struct F : public torch::autograd::Function<F>` names its class in the brackets.
void add_classes(std::string_view text, std::set<std::string, std::less<>>& names) {
  for (std::size_t at = text.find(base); at != text.npos; at = text.find(base, at)) {
    const std::size_t before = at;
    at += base.size();
    std::size_t end = at;
    while (end < text.size() && is_word_byte(text[end])) ++end;
    const std::string_view name = text.substr(at, end - at);
    if (name.empty() || names.size() >= most_names) continue;
    const bool full = text.substr(0, before).ends_with("autograd::");
    if (full || derives_itself(text, before, name)) names.emplace(name);
  }
}

// A function and what it applies and calls.
struct Applying {
  std::set<std::string> applied;
  std::set<std::string> calls;
};

using InFile = std::map<std::string, Applying, std::less<>>;

InFile read_file(const std::string& bytes, std::uint32_t number,
                 const std::set<std::string, std::less<>>& classes) {
  CodeFunctions code;
  code.add(number, {}, bytes);
  InFile found;
  for (const auto& function : code.functions()) {
    // Members of classes are no kernels, and `forward` has its own way.
    Applying& one = found[std::string(base_of(function->name))];
    const Tokens tokens = code.tokens_of(*function);
    for (std::size_t at = function->body.begin; at + 1 < function->body.end; ++at) {
      if (!tokens[at].is_identifier()) continue;
      if (tokens[at + 1].is('(')) one.calls.emplace(tokens[at].text);
      if (!tokens[at].is("apply") || at < 2 || !tokens[at - 1].is("::")) continue;
      // `F::apply(…)`, `F<T>::apply(…)`.
      std::size_t name = at - 2;
      if (tokens[name].is('>')) {
        const std::size_t first = name > longest_list ? name - longest_list : 0;
        while (name > first && !tokens[name].is('<')) --name;
        if (name > 0) --name;
      }
      if (classes.contains(tokens[name].text)) one.applied.emplace(tokens[name].text);
    }
  }
  return found;
}

}  // namespace

void find_applied(const std::vector<std::size_t>& numbers, const SourceTexts& texts,
                  std::vector<TorchRecord>& records) {
  const auto is_kernel = [](const TorchRecord& record) {
    return record.use == TorchUse::implement && !record.python && !record.function.name.empty();
  };
  if (!std::any_of(records.begin(), records.end(), is_kernel)) return;
  std::set<std::string, std::less<>> classes;
  std::vector<std::size_t> applying;
  const WordQuery either(std::vector<std::string>{"autograd", "apply"});
  std::string bytes;
  for (const std::size_t number : numbers) {
    if (!texts.read_holding(either, number, bytes)) continue;
    if (bytes.find("autograd") != bytes.npos) add_classes(bytes, classes);
    if (bytes.find("::apply") != bytes.npos) applying.push_back(number);
  }
  if (classes.empty()) return;
  std::map<std::uint32_t, InFile> files;
  std::map<std::string, std::vector<std::uint32_t>, std::less<>> by_name;
  for (const std::size_t at : applying) {
    const auto number = static_cast<std::uint32_t>(at);
    if (!texts.read(at, bytes)) continue;
    for (const auto& [name, function] : files[number] = read_file(bytes, number, classes)) {
      by_name[name].push_back(number);
    }
  }
  // One function may be registered under many names.
  std::map<const Applying*, std::vector<std::string>> known;
  for (TorchRecord& record : records) {
    if (!is_kernel(record)) continue;
    const std::string_view name = base_of(record.function.name);
    const auto places = by_name.find(name);
    if (places == by_name.end()) continue;
    // The function of its own file, else the only one of the name.
    const bool own = std::find(places->second.begin(), places->second.end(), record.place.file) !=
                     places->second.end();
    if (!own && places->second.size() != 1) continue;
    const InFile& file = files.at(own ? record.place.file : places->second.front());
    const Applying& function = file.find(name)->second;
    const auto [uses, added] = known.try_emplace(&function);
    if (!added) {
      record.uses = uses->second;
      continue;
    }
    std::set<std::string> applied = function.applied;
    for (const std::string& call : function.calls) {
      const auto called = file.find(call);
      if (called != file.end()) {
        applied.insert(called->second.applied.begin(), called->second.applied.end());
      }
    }
    uses->second.assign(applied.begin(), applied.end());
    record.uses = uses->second;
  }
}

}  // namespace opseal
