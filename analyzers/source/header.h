#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/source/conditions.h"
#include "analyzers/source/macros.h"
#include "analyzers/source/tokens.h"

namespace opseal {

enum class DirectiveKind : std::uint8_t { define, undefine, include };

// A directive of a header that changes which macros there are.
struct HeaderDirective {
  DirectiveKind kind = DirectiveKind::define;
  // Index into `Header::conditions`; 0 = in every build. Of the header alone, whoever includes it.
  std::uint32_t condition = 0;
  // define: index into `Header::definitions`. include: a FileId, or `no_file`.
  std::uint32_t index = 0;
  // define: only where there is no definition yet.
  bool unless_defined = false;
  // undefine
  std::string_view name;
  std::uint32_t name_hash = 0;
};

// What a file does to the macros of those that include it.
struct Header {
  std::string bytes;
  TextArena arena;
  std::vector<MacroDefinition> definitions;
  ConditionTable conditions;
  std::vector<HeaderDirective> directives;
};

// `resolve` gives the file that an `#include` of this header means. Takes the bytes.
void read_header(std::string bytes, FileId file, const Vocabulary& vocabulary,
                 const std::function<FileId(std::string_view)>& resolve, Header& header);

// The name in `#include "name"` or `<name>`, from the tokens behind `include`; empty where a macro
// gives it. Needs: tokens of these bytes.
std::string_view included_name(Tokens tokens, std::string_view bytes);

}  // namespace opseal
