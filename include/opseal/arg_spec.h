#pragma once

#include <cstdint>
#include <string_view>

#include "opseal/facts.h"

namespace opseal {

// The words of a `spec`, as brainevent's `FunctionSpec` reads them:
//
//   token := "arg" | "ret" | "stream" | "attr." NAME [":" TYPE]
//   alias := "args" | "rets" | "ctx.stream" | "attrs." NAME [":" TYPE]
//   NAME  := [A-Za-z_][A-Za-z0-9_]*
//   TYPE  := bool | int8..int64 | uint8..uint64 | float16 | bfloat16 | float32 | float64
//
// and what XLA's own bindings say beyond it: "ctx." NAME, "arg?" and "ret?" for optional operands,
// "arg*", "ret*" and "attr.*" for all that are left.
enum class SpecKind : std::uint8_t { argument, result, stream, attribute, context, bad };

struct SpecToken {
  SpecKind kind = SpecKind::bad;
  std::string_view text;
  // Of an attribute.
  std::string_view name;
  // What stands behind the colon.
  std::string_view type;
  bool has_type = false;
  // `arg?`.
  bool optional = false;
  // `arg*`.
  bool rest = false;
};

inline std::string_view trim_spec(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

inline SpecToken read_spec_token(std::string_view text) {
  SpecToken token;
  token.text = text = trim_spec(text);
  if (text == "arg" || text == "args") {
    token.kind = SpecKind::argument;
  } else if (text == "ret" || text == "rets") {
    token.kind = SpecKind::result;
  } else if (text == "stream" || text == "ctx.stream") {
    token.kind = SpecKind::stream;
  } else if (text == "arg?" || text == "arg*" || text == "ret?" || text == "ret*") {
    token.kind = text[0] == 'a' ? SpecKind::argument : SpecKind::result;
    token.optional = text.back() == '?';
    token.rest = text.back() == '*';
  } else if (text == "attr.*") {
    token.kind = SpecKind::attribute;
    token.rest = true;
  } else if (text.starts_with("ctx.")) {
    token.kind = SpecKind::context;
  } else if (text.starts_with("attr.") || text.starts_with("attrs.")) {
    token.kind = SpecKind::attribute;
    token.name = text.substr(text.find('.') + 1);
    if (const std::size_t colon = token.name.find(':'); colon != token.name.npos) {
      token.type = trim_spec(token.name.substr(colon + 1));
      token.name = trim_spec(token.name.substr(0, colon));
      token.has_type = true;
    }
  }
  return token;
}

// Calls `visit(manifest, item, spec)` for every target, and every annotation in sources, with a
// readable spec. Both have a `name`.
template <typename Visit>
void for_each_spec(const Facts& facts, Visit visit) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    for (const Key list : {Key::targets, Key::annotations}) {
      for (const Fact item : manifest[list].items()) {
        const Fact spec = item[Key::spec];
        if (!spec.is_list()) continue;
        bool read = true;
        for (const Fact word : spec.items()) read = read && word.is_text();
        if (read) visit(manifest, item, spec);
      }
    }
  }
}

// Calls `visit(fact, token)` for each token. One text may hold several, parted by commas, as in the
// annotation `// @BE f arg, ret`.
template <typename Visit>
void for_each_spec_token(const Fact& spec, Visit visit) {
  for (const Fact word : spec.items()) {
    std::string_view rest = word.text();
    while (true) {
      const std::size_t comma = rest.find(',');
      visit(word, read_spec_token(rest.substr(0, comma)));
      if (comma == rest.npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
}

// Systems whose handlers are bound by XLA directly, which takes more than the arg-spec language can
// say.
inline bool is_plain_xla(const Fact& manifest) {
  return manifest[Key::system].is("jax") || manifest[Key::system].is("tensorflow");
}

}  // namespace opseal
