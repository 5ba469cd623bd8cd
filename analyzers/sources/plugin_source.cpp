#include "analyzers/sources/plugin_source.h"

#include <utility>

#include "analyzers/sources/cpp_function.h"

namespace opseal {

std::string class_of(const PlainSource& source, const Scope& function) {
  const std::size_t colons = function.name.rfind("::");
  if (colons != std::string::npos) {
    return std::string(base_of(std::string_view(function.name).substr(0, colons)));
  }
  if (function.parent == no_scope) return {};
  const Scope& parent = source.shape.scopes[function.parent];
  return parent.kind == ScopeKind::type ? std::string(base_of(parent.name)) : std::string();
}

const std::string& TextConstants::of(std::string_view name) {
  static const std::string none;
  if (!read_) read();
  const auto found = values_.find(name);
  return found == values_.end() ? none : found->second;
}

void TextConstants::read() {
  read_ = true;
  const Tokens all = source_.unit.tokens;
  for (std::size_t at = 2; at < all.size(); ++at) {
    if (!all[at].is_string()) continue;
    std::size_t name = at - 1;
    if (!all[name].is('=') && !all[name].is('{') && !all[name].is('(')) continue;
    if (name >= 3 && all[name - 1].is(']') && all[name - 2].is('[')) name -= 2;
    if (all[name - 1].is_identifier()) add(all[name - 1].text, string_value(all.subspan(at, 1)));
  }
  for (const SourceDefinition& definition : source_.definitions) {
    const Tokens body = source_.directive(definition.body);
    if (body.size() == 1 && body[0].is_string()) add(definition.name, string_value(body));
  }
}

void TextConstants::add(std::string_view name, std::string value) {
  const auto [at, is_new] = values_.try_emplace(name, value);
  if (!is_new && at->second != value) at->second.clear();
}

}  // namespace opseal
