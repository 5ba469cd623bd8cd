#include "analyzers/sources/c_functions.h"

#include <algorithm>
#include <optional>

#include "analyzers/sources/cpp_function.h"
#include "analyzers/words.h"

namespace opseal {
namespace {

constexpr std::size_t most_functions = 16384;
// Between the beginning of a declaration and its name.
constexpr std::uint32_t longest_head = 32;
constexpr std::size_t most_parameters = 256;

struct TypeWord {
  std::string_view name;
  std::string_view word;
};
constexpr TypeWord type_words[] = {
    {"CUcontext", "pointer"},
    {"CUevent", "pointer"},
    {"CUfunction", "pointer"},
    {"CUmodule", "pointer"},
    {"CUstream", "pointer"},
    {"_Bool", "bool"},
    {"bool", "bool"},
    {"cublasHandle_t", "pointer"},
    {"cudaEvent_t", "pointer"},
    {"cudaStream_t", "pointer"},
    {"cudnnHandle_t", "pointer"},
    {"double", "f64"},
    {"float", "f32"},
    {"hipEvent_t", "pointer"},
    {"hipStream_t", "pointer"},
    {"int16_t", "i16"},
    {"int32_t", "i32"},
    {"int64_t", "i64"},
    {"int8_t", "i8"},
    {"intptr_t", "i64"},
    {"ptrdiff_t", "i64"},
    {"size_t", "u64"},
    {"ssize_t", "i64"},
    {"uint16_t", "u16"},
    {"uint32_t", "u32"},
    {"uint64_t", "u64"},
    {"uint8_t", "u8"},
    {"uintptr_t", "u64"},
    {"void", "void"},
};

// `unsigned long long` and the like; nothing where other words stand there.
std::optional<std::string> whole_number(const std::vector<std::string_view>& words) {
  bool is_unsigned = false;
  int longs = 0;
  bool is_short = false;
  bool is_char = false;
  for (const std::string_view word : words) {
    if (word == "unsigned") {
      is_unsigned = true;
    } else if (word == "long") {
      ++longs;
    } else if (word == "short") {
      is_short = true;
    } else if (word == "char") {
      is_char = true;
    } else if (word != "int" && word != "signed") {
      return {};
    }
  }
  if (longs == 1) return "long";
  std::string bits = is_char ? "8" : is_short ? "16" : longs == 2 ? "64" : "32";
  return (is_unsigned ? "u" : "i") + bits;
}

// Of the tokens of a type, without the name of what has it.
std::string type_word(Tokens tokens) {
  std::vector<std::string_view> words;
  std::size_t stars = 0;
  for (const Token& token : tokens) {
    if (token.is('*') || token.is('[')) {
      ++stars;
    } else if (token.is('&')) {
      ++stars;
    } else if (token.is_identifier()) {
      if (is_one_of(token.text, {"const", "volatile", "struct", "std", "restrict", "__restrict__",
                                 "__restrict"})) {
        continue;
      }
      words.push_back(token.text);
    } else if (!token.is("::") && !token.is(']') && token.kind != TokenKind::number) {
      // Of a template or a function.
      return stars > 0 ? "pointer" : "?";
    }
  }
  std::string word = "?";
  if (words.size() == 1) {
    const auto* found =
        std::find_if(std::begin(type_words), std::end(type_words),
                     [&words](const TypeWord& one) { return one.name == words.front(); });
    if (found != std::end(type_words)) word = found->word;
  }
  if (word == "?" && !words.empty()) word = whole_number(words).value_or("?");
  if (stars == 0) return word;
  const bool plain = stars == 1 && word != "?" && word != "void" && word != "pointer";
  return plain ? "pointer:" + word : "pointer";
}

// Of `const float *data = 0`: without the name and what stands behind it.
std::string parameter_word(Tokens tokens) {
  std::size_t end = tokens.size();
  bool array = false;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    // A pointer to a function.
    if (tokens[at].is('(')) return "pointer";
    if (!tokens[at].is('=') && !tokens[at].is('[')) continue;
    array = tokens[at].is('[');
    end = at;
    break;
  }
  tokens = tokens.first(end);
  std::vector<Token> type(tokens.begin(), tokens.end());
  const bool named = type.size() > 1 && type.back().is_identifier() &&
                     !is_one_of(type.back().text, {"const", "int", "long", "char", "short",
                                                   "unsigned", "double", "float", "bool"}) &&
                     !type[type.size() - 2].is("::") && !type[type.size() - 2].is("const") &&
                     !type[type.size() - 2].is("struct");
  // `const size_t`, without a name, is as good as `size_t`; `float const x` has one.
  const bool after_const =
      type.size() > 2 && type.back().is_identifier() && type[type.size() - 2].is("const");
  if (named || after_const) type.pop_back();
  std::string word = type_word(type);
  if (!array) return word;
  return word == "?" || word == "void" || word.starts_with("pointer") ? "pointer"
                                                                      : "pointer:" + word;
}

class Reader {
 public:
  Reader(const PlainSource& source, bool is_c, const std::set<std::string, std::less<>>& names,
         const std::set<std::string, std::less<>>& macros, std::vector<CFunction>& functions)
      : source_(source),
        tokens_(source.unit.tokens),
        is_c_(is_c),
        names_(names),
        macros_(macros),
        functions_(functions) {}

  void run() {
    for (std::uint32_t at = 1; at + 1 < tokens_.size(); ++at) {
      const Token& token = tokens_[at];
      if (!token.is_identifier() || !tokens_[at + 1].is('(')) continue;
      if (functions_.size() >= most_functions || !names_.contains(token.text)) continue;
      look_at(at);
    }
  }

 private:
  void look_at(std::uint32_t name) {
    const std::uint32_t close = source_.shape.partners[name + 1];
    if (close == no_token || close <= name || close + 1 >= tokens_.size()) return;
    const Token& behind = tokens_[close + 1];
    if (!behind.is(';') && !behind.is('{') && !behind.is_identifier()) return;
    std::uint32_t begin = name;
    while (begin > 0 && name - begin < longest_head) {
      const Token& before = tokens_[begin - 1];
      if (before.is(';') || before.is('{') || before.is('}')) break;
      --begin;
    }
    const std::optional<std::vector<Token>> head = head_of(begin, name);
    if (!head) return;
    CFunction function;
    function.name = tokens_[name].text;
    function.place = {source_.unit.file, tokens_[name].offset, tokens_[name].length};
    function.when = source_.unit.conditions[tokens_[name].condition];
    function.result = type_word(*head);
    for (std::uint32_t at = begin; at <= close; ++at) {
      if (tokens_[at].condition != tokens_[name].condition) function.open = true;
    }
    read_parameters(tokens_.subspan(name + 2, close - name - 2), function);
    functions_.push_back(std::move(function));
  }

  // The type in front of a name; nothing where it is no declaration of C linkage.
  std::optional<std::vector<Token>> head_of(std::uint32_t begin, std::uint32_t name) const {
    bool linked = is_c_;
    std::vector<Token> type;
    for (std::uint32_t at = begin; at < name; ++at) {
      const Token& token = tokens_[at];
      if (token.is_string()) {
        linked = linked || token.text == "\"C\"";
        continue;
      }
      if (token.is("__declspec") || token.is("__attribute__")) {
        if (!tokens_[at + 1].is('(')) return {};
        at = source_.shape.partners[at + 1];
        if (at == no_token) return {};
        continue;
      }
      if (token.is_identifier()) {
        if (is_one_of(token.text, {"static", "return", "typedef", "else", "new", "using", "throw",
                                   "define", "friend", "case", "goto", "co_return"})) {
          return {};
        }
        if (macros_.contains(token.text)) {
          linked = true;
          continue;
        }
        if (is_one_of(token.text, {"extern", "inline", "__inline", "constexpr", "__host__"})) {
          continue;
        }
        // What a project says of its exports, where a type stands beside it.
        if (is_upper(token.text) && token.text.size() > 2 && at + 1 < name) continue;
      } else if (!token.is('*') && !token.is('&') && !token.is("::") && !token.is('<') &&
                 !token.is('>')) {
        return {};
      }
      type.push_back(token);
    }
    if (type.empty() || type.back().is("::")) return {};
    if (!linked && !has_linkage(name)) return {};
    return type;
  }

  bool has_linkage(std::uint32_t name) const {
    bool linked = false;
    std::uint32_t scope = source_.scope_of(name);
    for (std::size_t depth = 0; scope != no_scope && depth < 64; ++depth) {
      const Scope& one = source_.shape.scopes[scope];
      if (one.kind == ScopeKind::linkage) linked = true;
      if (one.kind != ScopeKind::linkage && one.kind != ScopeKind::name_space) return false;
      scope = one.parent;
    }
    return linked;
  }

  static void read_parameters(Tokens inside, CFunction& function) {
    if (inside.empty() || (inside.size() == 1 && inside[0].is("void"))) return;
    const std::vector<Tokens> parts = split_typed(inside);
    if (parts.size() > most_parameters) function.open = true;
    for (const Tokens part : parts) {
      if (part.empty() || function.open) {
        function.open = true;
        return;
      }
      for (const Token& token : part) {
        // An ellipsis, or a macro that may stand for several.
        if (token.is("...")) function.open = true;
      }
      const bool macro = part[0].is_identifier() && is_upper(part[0].text) &&
                         (part.size() == 1 || part[1].is('('));
      if (macro) function.open = true;
      function.parameters.push_back(parameter_word(part));
    }
  }

  const PlainSource& source_;
  const Tokens tokens_;
  bool is_c_;
  const std::set<std::string, std::less<>>& names_;
  const std::set<std::string, std::less<>>& macros_;
  std::vector<CFunction>& functions_;
};

}  // namespace

void add_linkage_macros(std::string_view bytes, std::string_view mark,
                        std::set<std::string, std::less<>>& macros) {
  constexpr std::string_view directive = "define";
  // One for a line.
  std::size_t next = 0;
  for (std::size_t at = bytes.find(mark); at != bytes.npos; at = bytes.find(mark, next)) {
    const std::size_t line = at == 0 ? 0 : bytes.rfind('\n', at - 1) + 1;
    next = std::min(bytes.find('\n', at), bytes.size());
    std::string_view text = trimmed(bytes.substr(line, at - line));
    if (!text.starts_with('#')) continue;
    text = trimmed(text.substr(1));
    if (!text.starts_with(directive)) continue;
    text = trimmed(text.substr(directive.size()));
    std::size_t end = 0;
    while (end < text.size() && is_word_byte(text[end])) ++end;
    // With parameters it is another thing.
    if (end > 0 && (end == text.size() || text[end] != '(')) macros.emplace(text.substr(0, end));
  }
}

void read_c_functions(const PlainSource& source, bool is_c,
                      const std::set<std::string, std::less<>>& names,
                      const std::set<std::string, std::less<>>& macros,
                      std::vector<CFunction>& functions) {
  Reader(source, is_c, names, macros, functions).run();
}

}  // namespace opseal
