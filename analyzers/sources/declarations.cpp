#include "analyzers/sources/declarations.h"

#include <algorithm>
#include <array>
#include <span>

#include "analyzers/source/tokens.h"
#include "analyzers/sources/cpp_function.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

// Declarations of one name that are kept: more means that the name says nothing.
constexpr std::size_t most_declarations = 64;

// Tokens of a parameter list; also an end for lists that never close.
constexpr std::size_t longest_parameters = 4096;

// Names that the macros of one file paste.
constexpr std::size_t most_pasted = 256;

// What stands before a name where it is called and not declared.
constexpr std::array<std::string_view, 12> no_types{"return", "else",    "new",       "delete",
                                                    "throw",  "case",    "co_return", "co_await",
                                                    "goto",   "typedef", "using",     "operator"};

constexpr std::array<std::string_view, 6> behind_parameters{"const",    "noexcept", "override",
                                                            "volatile", "final",    "requires"};

// A type ends here.
bool ends_type(const Token& token) {
  if (token.is_identifier()) return !is_one_of(token.text, no_types);
  return token.is('>') || token.is('*') || token.is('&') || token.is("&&");
}

// The index of the first token of the qualified name that ends at `name`.
std::size_t start_of_name(Tokens tokens, std::size_t name) {
  std::size_t at = name;
  while (at >= 2 && tokens[at - 1].is("::") && tokens[at - 2].is_identifier()) at -= 2;
  if (at >= 1 && tokens[at - 1].is("::")) --at;
  return at;
}

// What stands between the parameters of a declaration and its end or its body.
bool is_declared_behind(Tokens tokens, std::size_t close) {
  if (close + 1 >= tokens.size()) return false;
  const Token& next = tokens[close + 1];
  return next.is('{') || next.is(';') || next.is("->") || is_one_of(next.text, behind_parameters);
}

// Each parameter has a type: a call's arguments are rarely two words side by side, and a value is
// no type.
bool looks_like_parameters(Tokens inside) {
  if (inside.empty()) return true;
  for (const Tokens part : split_typed(inside)) {
    if (part.empty()) return false;
    const Token& first = part.front();
    if (!first.is_identifier() && !first.is("::") && !first.is("...") && !first.is('[')) {
      return false;
    }
    for (const Token& token : part) {
      if (token.is('.') || token.is("->") || token.is('+') || token.is('!')) return false;
      if (token.is('=')) break;
    }
  }
  return true;
}

bool agree(const std::vector<const SourceFunction*>& some) {
  return std::all_of(some.begin(), some.end(), [&](const SourceFunction* one) {
    return one->declared && one->positional == some.front()->positional;
  });
}

}  // namespace

void Declarations::scan(std::string_view bytes, std::uint32_t file) {
  TextArena arena;
  Lexer lexer(bytes, arena);
  row_.clear();
  directive_.clear();
  bool in_directive = false;
  for (Token token; lexer.next(token);) {
    if (token.kind == TokenKind::directive) in_directive = true;
    (in_directive ? directive_ : row_).push_back(token);
    if (token.kind == TokenKind::end_of_directive) {
      note_pasted(Tokens(directive_).subspan(1), file);
      directive_.clear();
      in_directive = false;
    }
  }
  const Tokens tokens = row_;
  std::string name;
  for (std::size_t at = 1; at + 2 < tokens.size(); ++at) {
    if (!tokens[at].is_identifier() || !tokens[at + 1].is('(')) continue;
    name = tokens[at].text;
    const auto wanted = found_.find(name);
    if (wanted == found_.end() || wanted->second.size() >= most_declarations) continue;
    const std::size_t start = start_of_name(tokens, at);
    if (start == 0 || !ends_type(tokens[start - 1])) continue;
    const std::size_t reach = std::min(tokens.size(), at + longest_parameters);
    const std::size_t close = closing_bracket(tokens.first(reach), at + 1);
    if (close >= reach || !is_declared_behind(tokens, close)) continue;
    const Tokens inside = tokens.subspan(at + 2, close - at - 2);
    const bool body = !tokens[close + 1].is(';');
    if (!body && !looks_like_parameters(inside)) continue;
    SourceFunction function;
    function.name = text_of(tokens.subspan(start, at + 1 - start));
    function.place = place_of(tokens.subspan(at, close + 1 - at), file);
    function.declared = read_parameters(inside, function);
    read_return_type(tokens.first(start), tokens.subspan(close + 1), function);
    wanted->second.push_back(std::move(function));
  }
}

// Of a `#define`, the names behind its own that are made of several pieces and called or declared.
void Declarations::note_pasted(Tokens directive, std::uint32_t file) {
  if (directive.empty() || directive.front().text != "define") return;
  for (std::size_t at = 3; at + 1 < directive.size(); ++at) {
    if (!directive[at].is('(') || !directive[at - 1].is_identifier()) continue;
    std::size_t first = at - 1;
    while (first >= 2 && directive[first - 1].is("##")) first -= 2;
    if (first + 1 == at) continue;
    std::vector<Pasted>& known = pasted_[file];
    if (known.size() >= most_pasted) return;
    // A piece that is a parameter of the macro stands for any text.
    const Tokens parameters =
        directive.size() > 2 && directive[2].is('(')
            ? directive.subspan(3, closing_bracket(directive, 2) - std::min<std::size_t>(3, at))
            : Tokens{};
    const auto literal = [&](const Token& piece) {
      const bool is_parameter =
          std::any_of(parameters.begin(), parameters.end(),
                      [&](const Token& one) { return one.text == piece.text; });
      return is_parameter ? std::string() : std::string(piece.text);
    };
    known.push_back({literal(directive[first]), literal(directive[at - 1])});
  }
}

bool Declarations::is_pasted(std::string_view name, std::uint32_t file) const {
  const auto known = pasted_.find(file);
  if (known == pasted_.end()) return false;
  return std::any_of(known->second.begin(), known->second.end(), [&](const Pasted& one) {
    return name.size() > one.head.size() + one.tail.size() && name.starts_with(one.head) &&
           name.ends_with(one.tail);
  });
}

void Declarations::complete(SourceFunction& function, const std::vector<std::string>& paths) const {
  if (function.declared) return;
  const Candidates candidates = candidates_of(function, paths);
  if (candidates.chosen.empty()) return;
  // Of those with as many parameters, the nearest say of which types they are.
  const SourceFunction& nearest = *candidates.nearest.front();
  const bool one = std::all_of(
      candidates.nearest.begin(), candidates.nearest.end(),
      [&nearest](const SourceFunction* other) { return other->types == nearest.types; });
  const std::string name = function.name;
  const std::string signature = one && nearest.declared ? nearest.signature : "(...)";
  function = *candidates.chosen.front();
  function.name = name;
  function.signature = signature;
}

std::vector<const SourceFunction*> Declarations::meant_by(
    const SourceFunction& function, const std::vector<std::string>& paths) const {
  return candidates_of(function, paths).chosen;
}

Declarations::Candidates Declarations::candidates_of(const SourceFunction& function,
                                                     const std::vector<std::string>& paths) const {
  if (function.name.empty()) return {};
  const auto found = found_.find(std::string(base_of(function.name)));
  if (found == found_.end()) return {};
  std::vector<const SourceFunction*> own;
  std::vector<const SourceFunction*> near;
  std::vector<const SourceFunction*> all;
  std::size_t most_shared = 0;
  for (const SourceFunction& one : found->second) {
    all.push_back(&one);
    if (one.place.file == function.place.file) own.push_back(&one);
    const std::size_t shared = shared_folders(paths[one.place.file], paths[function.place.file]);
    if (shared > most_shared) near.clear();
    most_shared = std::max(most_shared, shared);
    if (shared == most_shared) near.push_back(&one);
  }
  // The file itself may make a function of that name out of pieces, whose parameters nobody read.
  const std::uint32_t own_file = function.place.file;
  if (own.empty() && is_pasted(base_of(function.name), own_file)) return {};
  if (all.size() >= most_declarations) return {};
  Candidates candidates;
  candidates.nearest = own.empty() ? near : own;
  candidates.chosen = agree(all) ? all : candidates.nearest;
  // `&nccl::size` is another one than a method of that name beside it.
  const bool qualified = function.name.find("::") != std::string::npos;
  if (qualified && !own.empty() && !agree(all)) candidates.chosen.clear();
  if (!agree(candidates.chosen)) candidates.chosen.clear();
  return candidates;
}

}  // namespace opseal
