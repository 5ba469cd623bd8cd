#include <algorithm>
#include <iterator>

#include "opseal/ascii.h"
#include "opseal/registration.h"
#include "opseal/rule.h"
#include "opseal/text.h"

namespace opseal {
namespace {

bool is_letter(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

// End of the ASCII identifier that begins at `at`; `at` itself when there is none.
std::size_t identifier_end(std::string_view text, std::size_t at) {
  if (at >= text.size() || !is_letter(text[at])) return at;
  while (at < text.size() && (is_letter(text[at]) || is_digit(text[at]))) ++at;
  return at;
}

constexpr std::size_t fits = std::string_view::npos;

// `ns::name.overload` as torch reads it (function_schema_parser.cpp); namespace and overload may be
// left out, and an overload may begin with a digit. Gives the first byte that doesn't fit.
std::size_t torch_misfit(std::string_view name) {
  std::size_t at = identifier_end(name, 0);
  if (at == 0) return 0;
  if (name.substr(at).starts_with("::")) {
    const std::size_t start = at + 2;
    at = identifier_end(name, start);
    if (at == start) return start;
  }
  if (at == name.size()) return fits;
  if (name[at] != '.') return at;
  const std::size_t start = ++at;
  while (at < name.size() && (is_letter(name[at]) || is_digit(name[at]))) ++at;
  return at == start || at < name.size() ? at : fits;
}

// What every text format and symbol table around a registry takes: printable ASCII without quotes
// and backslashes. Registries differ in what else they allow (`scatter-add`, `ffi.Array`,
// `__gpu$xla.gpu.triton`), so nothing narrower is asked of them.
std::size_t printable_misfit(std::string_view name) {
  for (std::size_t at = 0; at < name.size(); ++at) {
    const char byte = name[at];
    if (byte <= ' ' || byte > '~' || byte == '\'' || byte == '"' || byte == '`' || byte == '\\') {
      // Blanks within a name are odd, and nothing breaks.
      if (byte != ' ' || at == 0 || at + 1 == name.size()) return at;
    }
  }
  return name.empty() ? 0 : fits;
}

// Python takes letters beyond ASCII in names, too.
std::size_t python_misfit(std::string_view name) {
  for (std::size_t at = 0; at < name.size(); ++at) {
    const bool is_ascii = static_cast<unsigned char>(name[at]) < 0x80;
    if (is_ascii && printable_misfit(name.substr(at, 1)) != fits) return at;
  }
  return name.empty() ? 0 : fits;
}

// " (U+00E9)" for a character outside ASCII, since it may look like another one or like nothing.
std::string code_point(std::string_view character) {
  if (character.size() < 2) return {};
  unsigned value = static_cast<unsigned char>(character[0]) & (0x7fU >> character.size());
  for (const char byte : character.substr(1)) {
    value = value << 6 | (static_cast<unsigned char>(byte) & 0x3fU);
  }
  std::string digits;
  for (int shift = value > 0xffff ? 20 : 12; shift >= 0; shift -= 4) {
    digits += "0123456789ABCDEF"[value >> shift & 15];
  }
  return " (U+" + digits + ")";
}

struct Grammar {
  std::string_view system;
  std::size_t (*misfit)(std::string_view);
  std::string_view wanted;
};

constexpr std::string_view printable_words = "printable ASCII without quotes or backslashes";
constexpr std::string_view torch_words = "ASCII identifiers in the form `ns::name.overload`";
constexpr Grammar grammars[] = {
    {"executorch", torch_misfit, torch_words},
    {"torch", torch_misfit, torch_words},
};
constexpr Grammar other_grammar = {"", printable_misfit, printable_words};

constexpr Grammar python_grammar = {"", python_misfit,
                                    "printable, without blanks, quotes or backslashes"};

const Grammar& grammar_of(const Fact& manifest) {
  for (const Grammar& grammar : grammars) {
    if (manifest[Key::system].is(grammar.system)) return grammar;
  }
  return other_grammar;
}

void check_name(const Grammar& grammar, const Fact& manifest, const Fact& item, Sink& sink) {
  const Fact name = item[Key::name];
  if (!name.is_text()) return;
  sink.inspected();
  const std::string_view text = name.text();
  const std::size_t at = grammar.misfit(text);
  if (at == fits) return;
  std::string message = "name " + quote(text);
  if (text.empty()) {
    message += " is empty";
  } else if (at >= text.size()) {
    message += " ends too early";
  } else {
    const std::size_t length = std::max<std::size_t>(utf8_length(text, at), 1);
    message += " has " + quote(text.substr(at, length)) + code_point(text.substr(at, length)) +
               " at byte " + std::to_string(at + 1);
  }
  message += "; names are ";
  message += grammar.wanted;
  Finding& finding = sink.add(subject_of(manifest, item), std::move(message),
                              evidence(name, "name stated here" + site_of(item)));
  if (text.size() > 2 && text[0] == 'b' && (text[1] == '\'' || text[1] == '"')) {
    finding.fix = "decode the name before it is registered: this is the text form of Python bytes";
  }
}

void check(const Facts& facts, Sink& sink) {
  for (const Document& document : facts.documents) {
    const Fact manifest = facts.root(document);
    const Grammar& grammar = grammar_of(manifest);
    for (const Fact op : manifest[Key::operators].items()) {
      check_name(grammar, manifest, op, sink);
    }
    for (const Fact target : manifest[Key::targets].items()) {
      check_name(other_grammar, manifest, target, sink);
    }
    for (const Fact function : manifest[Key::functions].items()) {
      check_name(python_grammar, manifest, function, sink);
    }
  }
}

}  // namespace

extern constinit const Rule name_charset{
    .id = "name-charset",
    .title = "name with characters that the registry's grammar lacks",
    .rationale =
        "Names of operators travel through schemas, symbol tables, file names and serialized "
        "graphs. "
        "A letter outside ASCII, a quote or a backslash is refused by some of them and altered by "
        "others, so that a lookup under the same name finds nothing; two letters that look alike "
        "can't be told apart in a message.",
    .example = R"({"name": "café"})",
    .fix = "use ASCII letters, digits and underscores",
    .severity = Severity::error,
    .inspects = "name of an operator, target or bound function",
    .check = check,
};

}  // namespace opseal
