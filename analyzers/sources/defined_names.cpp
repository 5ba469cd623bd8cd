#include "analyzers/sources/defined_names.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace opseal {
namespace {

// Definitions of one name that are told apart; more are not known.
constexpr std::size_t most_definitions = 64;
constexpr std::size_t max_depth = 64;

std::string joined(std::string_view outer, std::string_view inner) {
  if (outer.empty()) return std::string(inner);
  if (inner.empty()) return std::string(outer);
  return std::string(outer) + "::" + std::string(inner);
}

std::string_view without_last(std::string_view path) {
  const std::size_t at = path.rfind("::");
  return at == std::string_view::npos ? std::string_view() : path.substr(0, at);
}

}  // namespace

std::vector<std::string> DefinedNames::names() const {
  std::vector<std::string> names;
  for (const auto& [name, definitions] : names_) names.push_back(name);
  return names;
}

bool DefinedNames::add(std::string_view name, std::string owner, std::uint32_t file,
                       std::size_t meaning) {
  std::vector<Definition>& all = names_[std::string(name)];
  for (Definition& one : all) {
    if (one.file != file || one.owner != owner || one.weak) continue;
    if (one.meaning != several || meaning == several) return one.meaning == meaning;
    one.meaning = meaning;
    return true;
  }
  if (all.size() <= most_definitions) all.push_back({std::move(owner), file, meaning, false});
  return true;
}

void DefinedNames::add_weak(std::string_view name, std::string owner, std::uint32_t file) {
  std::vector<Definition>& all = names_[std::string(name)];
  if (all.size() <= most_definitions) all.push_back({std::move(owner), file, several, true});
}

std::size_t DefinedNames::decide(const std::vector<Definition>& all, std::string_view owner,
                                 std::uint32_t file) const {
  std::optional<std::size_t> meaning;
  bool differ = false;
  for (const Definition& one : all) {
    if (one.owner != owner || one.weak) continue;
    // What is hidden in a file is meant there.
    if (one.file == file) return one.meaning;
    differ = differ || (meaning && *meaning != one.meaning);
    meaning = one.meaning;
  }
  return !meaning || differ ? several : *meaning;
}

std::size_t DefinedNames::meaning_of(const Use& use) const {
  const auto found = names_.find(use.name);
  if (found == names_.end()) return several;
  const std::vector<Definition>& all = found->second;
  if (all.size() > most_definitions) return several;
  const auto has = [&all](std::string_view owner) {
    return std::any_of(all.begin(), all.end(),
                       [owner](const Definition& one) { return one.owner == owner; });
  };
  if (!use.of_unknown) {
    const bool absolute = use.qualifier.starts_with("::");
    const std::string_view qualifier =
        absolute ? std::string_view(use.qualifier).substr(2) : std::string_view(use.qualifier);
    std::string_view around = absolute ? std::string_view() : std::string_view(use.around);
    for (std::size_t depth = 0; depth <= max_depth; ++depth) {
      const std::string owner = joined(around, qualifier);
      if (has(owner)) return decide(all, owner, use.file);
      if (around.empty()) break;
      around = without_last(around);
    }
  }
  // Found in another way, such as `using namespace`: it is the only one, or not known.
  const bool one_owner = std::all_of(all.begin(), all.end(), [&all](const Definition& one) {
    return one.owner == all.front().owner;
  });
  return one_owner ? decide(all, all.front().owner, use.file) : several;
}

std::string owner_path(const PlainSource& source, std::uint32_t scope) {
  std::string path;
  for (std::size_t depth = 0; scope != no_scope && depth < max_depth; ++depth) {
    const Scope& one = source.shape.scopes[scope];
    if (one.kind == ScopeKind::name_space || one.kind == ScopeKind::type) {
      path = joined(one.name, path);
    }
    scope = one.parent;
  }
  return path;
}

std::string owner_of_function(const PlainSource& source, const Scope& function) {
  return joined(owner_path(source, function.parent), without_last(function.name));
}

void read_qualifier(Tokens tokens, std::size_t at, DefinedNames::Use& use) {
  use.of_unknown = at > 0 && (tokens[at - 1].is('.') || tokens[at - 1].is("->"));
  std::size_t depth = 0;
  while (at > 0 && tokens[at - 1].is("::")) {
    --at;
    const bool named = at > 0 && tokens[at - 1].is_identifier();
    if (!named || ++depth > max_depth) {
      // `Registry<T>::add`
      use.of_unknown = at > 0 && (tokens[at - 1].is('>') || depth > max_depth);
      use.qualifier = "::" + use.qualifier;
      return;
    }
    --at;
    // `return ::a::b`, where the word in front belongs to the statement.
    if (tokens[at].is("return") || tokens[at].is("static") || tokens[at].is("const")) {
      use.qualifier = "::" + use.qualifier;
      return;
    }
    use.qualifier = joined(tokens[at].text, use.qualifier);
  }
}

DefinedNames::Use use_at(const PlainSource& source, std::uint32_t token) {
  DefinedNames::Use use;
  use.name = source.unit.tokens[token].text;
  use.file = source.unit.file;
  const std::uint32_t scope = source.scope_of(token);
  use.around = owner_path(source, scope);
  // In the code of `A::run`, what `A` has is meant first.
  std::uint32_t at = scope;
  for (std::size_t depth = 0; at != no_scope && depth < max_depth; ++depth) {
    const Scope& one = source.shape.scopes[at];
    if (one.kind == ScopeKind::function) {
      use.around = owner_of_function(source, one);
      break;
    }
    at = one.parent;
  }
  read_qualifier(source.unit.tokens, token, use);
  return use;
}

}  // namespace opseal
