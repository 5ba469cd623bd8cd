#include "analyzers/sources/autograd_calls.h"

#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "analyzers/input_error.h"
#include "analyzers/python/parsed.h"

namespace opseal {
namespace {

// Arguments of a call, where none stands for several.
std::optional<std::uint32_t> arguments_of(const PythonSyntax& syntax, SyntaxIndex call) {
  const SyntaxIndex arguments = syntax.child(call, SyntaxField::arguments);
  if (!syntax.is(arguments, SyntaxKind::argument_list)) return {};
  std::uint32_t count = 0;
  for (const SyntaxIndex argument : syntax.children(arguments)) {
    if (syntax.is(argument, SyntaxKind::keyword_argument) ||
        syntax.is(argument, SyntaxKind::list_splat) ||
        syntax.is(argument, SyntaxKind::dictionary_splat) ||
        syntax.text_of(argument).starts_with('*')) {
      return {};
    }
    ++count;
  }
  return count;
}

// `Name` of `functions.Name.apply`, and of a name that is `Name.apply` and nothing else.
std::string applied_class(const ParsedPython& file, SyntaxIndex called) {
  std::vector<std::string> names = file.scopes.full_names(called);
  if (names.size() == 1 && !names.front().ends_with(".apply") &&
      file.syntax.is(called, SyntaxKind::identifier)) {
    const PythonBinding* binding = file.scopes.only(file.syntax.text_of(called), called);
    if (binding == nullptr || binding->kind != PythonBinding::Kind::value) return {};
    const SyntaxIndex value = file.syntax.unwrapped(binding->value);
    if (!file.syntax.is(value, SyntaxKind::attribute)) return {};
    names = file.scopes.full_names(value);
  }
  if (names.size() != 1 || !names.front().ends_with(".apply")) return {};
  std::string name = names.front().substr(0, names.front().size() - 6);
  return name.substr(name.rfind('.') + 1);
}

}  // namespace

void count_applied(const std::vector<std::string>& paths, const SourceTexts& texts,
                   std::vector<FileRecords>& files) {
  // Of two classes with one name, which is applied isn't known.
  std::map<std::string, std::set<std::string>> identities;
  std::map<std::string, std::vector<AutogradRecord*>> open;
  for (FileRecords& file : files) {
    for (AutogradRecord& record : file.autograd) {
      identities[record.name].insert(paths[record.place.file]);
      const SourceFunction& forward = record.forward;
      const bool several = record.returns && !forward.variadic &&
                           forward.required < forward.positional &&
                           paths[record.place.file].ends_with(".py");
      if (several) open[record.name].push_back(&record);
    }
  }
  // Shorter names can't be looked for.
  std::erase_if(open, [&](const auto& one) {
    return identities[one.first].size() > 1 || one.first.size() < 3;
  });
  if (open.empty()) return;
  std::vector<std::string> names;
  for (const auto& [name, records] : open) names.push_back(name);
  const WordQuery any_name(names);
  constexpr std::uint32_t unknown = 0xffffffff;
  std::map<std::string, std::set<std::uint32_t>> counts;
  std::string bytes;
  for (std::size_t at = 0; at < paths.size(); ++at) {
    if (!paths[at].ends_with(".py") || !texts.read_holding(any_name, at, bytes)) continue;
    if (bytes.find(".apply") == bytes.npos) continue;
    try {
      const ParsedPython file(bytes);
      for (SyntaxIndex index = 0; index < file.syntax.nodes.size(); ++index) {
        if (!file.syntax.is(index, SyntaxKind::call)) continue;
        const SyntaxIndex called = file.syntax.child(index, SyntaxField::function);
        if (called == no_syntax) continue;
        const auto found = open.find(applied_class(file, called));
        if (found == open.end()) continue;
        counts[found->first].insert(arguments_of(file.syntax, index).value_or(unknown));
      }
    } catch (const InputError&) {
      // The file was read before, and what is wrong with it was said.
    }
  }
  // Where some calls hand over more than others, each may come back on a way of its own.
  for (const auto& [name, given] : counts) {
    if (given.size() != 1 || given.contains(unknown)) continue;
    const std::uint32_t count = *given.begin();
    for (AutogradRecord* record : open[name]) {
      SourceFunction& forward = record->forward;
      const bool fits = count >= forward.required && count <= forward.positional;
      if (fits && count > record->returns) forward.required = forward.positional = count;
    }
  }
}

}  // namespace opseal
