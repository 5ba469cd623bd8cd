#include "analyzers/sources/device_functions.h"

#include <algorithm>
#include <unordered_set>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/sources/device_guards.h"
#include "analyzers/sources/device_sides.h"
#include "opseal/text.h"

namespace opseal {
namespace {

using Hashes = std::unordered_set<std::uint32_t>;

// The name that a parameter declares; null where it has none, or says that it may be unused.
const Token* name_of(Tokens parameter) {
  const Token* name = nullptr;
  std::size_t identifiers = 0;
  for (const Token& token : parameter) {
    if (token.is('=') || (token.is('[') && name != nullptr)) break;
    if (token.is("maybe_unused") || token.is("__attribute__")) return nullptr;
    if (!token.is_identifier() || token.is("__restrict__")) continue;
    name = &token;
    ++identifiers;
  }
  return identifiers > 1 || (name != nullptr && parameter.size() > 1) ? name : nullptr;
}

// The names that macros of the file use: a body may name a parameter by one of them.
Hashes names_in_macros(const PlainSource& source) {
  Hashes names;
  for (const SourceDefinition& definition : source.definitions) {
    for (const Token& token : source.directive(definition.body)) {
      if (token.is_identifier()) names.insert(token.hash);
    }
  }
  return names;
}

// `GGML_ASSERT(ggml_is_contiguous(x))`, `x.contiguous()`, `CHECK_CONTIG(x)`.
bool asks_for_layout(const PlainSource& source) {
  const Tokens tokens = source.unit.tokens;
  for (const Token& token : tokens) {
    if (!token.is_identifier()) continue;
    const std::string word = lower(token.text);
    if (word.find("contig") != word.npos || word.find("dense") != word.npos) return true;
  }
  return false;
}

}  // namespace

bool is_hollow_outside(const DeviceFunction& function) {
  return function.otherwise == "nothing" || function.otherwise == "assert";
}

void read_device_functions(const PlainSource& source, std::vector<DeviceFunction>& functions) {
  const Tokens tokens = source.unit.tokens;
  const std::vector<Scope>& scopes = source.shape.scopes;
  Hashes in_macros;
  bool macros_known = false;
  bool asks_layout = false;
  bool layout_known = false;
  std::uint32_t end = 0;
  for (std::uint32_t at = 0; at < scopes.size(); ++at) {
    const Scope& scope = scopes[at];
    if (scope.kind != ScopeKind::function || scope.body.begin < end) continue;
    end = std::max(end, scope.body.end);
    if (side_of_function(source, at) != CodeSide::kernel || scope.parameters.empty()) continue;
    if (!macros_known) in_macros = names_in_macros(source);
    macros_known = true;
    Hashes named;
    for (std::uint32_t token = scope.body.begin; token < scope.body.end; ++token) {
      if (tokens[token].is_identifier()) named.insert(tokens[token].hash);
    }
    if (!layout_known) asks_layout = asks_for_layout(source);
    layout_known = true;
    DeviceFunction function;
    function.asks_for_layout = asks_layout;
    function.name = base_of(scope.name);
    const TokenRange range = scope.parameters;
    for (const Tokens parameter :
         split_typed(tokens.subspan(range.begin, range.end - range.begin))) {
      const Token* const name = name_of(parameter);
      if (name == nullptr) continue;
      function.parameters.emplace_back(name->text);
      if (!named.contains(name->hash) && !in_macros.contains(name->hash)) {
        function.unread.emplace_back(name->text);
      }
    }
    const Token& name = tokens[scope.name_token];
    BodyGuard guard = guard_of_body(source, scope.body);
    function.guard = std::move(guard.condition);
    function.otherwise = guard.otherwise;
    function.when = source.unit.conditions[name.condition];
    function.place = {source.unit.file, name.offset, name.length};
    functions.push_back(std::move(function));
  }
}

}  // namespace opseal
