#include "analyzers/source/preprocessor.h"

#include <utility>

#include "analyzers/source/header.h"
#include "analyzers/source/macro_expansion.h"
#include "analyzers/source/macro_table.h"
#include "analyzers/source/source_tree.h"

namespace opseal {

void SourceUnit::clear() {
  file = no_file;
  bytes = {};
  tokens.clear();
  expansions.assign(1, {});
  conditions.clear();
  comments.clear();
  stated_uses.clear();
  truncated = false;
  definitions.clear();
  arena.clear();
}

// What is known of one file while it is read.
class Preprocessor::Run {
 public:
  Run(const SourceTree& tree, const PreprocessorLimits& limits, SourceUnit& unit)
      : tree_(tree),
        limits_(limits),
        unit_(unit),
        macros_(unit.conditions),
        expander_(macros_, unit, limits),
        conditionals_(unit.conditions) {}

  void read(std::vector<char>& seen) {
    seen.assign(tree_.size(), 0);
    seen_ = &seen;
    replay(tree_.prelude(), ConditionTable::always, 0);
    replay(tree_.stated_macros(), ConditionTable::always, 0);
    for (const MacroDefinition& macro : tree_.stated_macros().definitions) macros_.keep(macro);
    if (unit_.file < seen.size()) seen[unit_.file] = 1;
    Lexer lexer(unit_.bytes, unit_.arena);
    lexer.keep_comments(tree_.vocabulary().comment_marks, unit_.comments);
    Token token;
    while (lexer.next(token)) {
      if (token.kind == TokenKind::directive) {
        read_directive(lexer);
      } else if (!conditionals_.dead() && !row_.is_data(token)) {
        add(token);
      }
    }
    flush();
    place_comments();
  }

 private:
  void add(Token& token) {
    if (unit_.tokens.size() >= limits_.tokens) {
      unit_.truncated = true;
      return;
    }
    token.condition = conditionals_.current();
    if (first_hot_ == none && token.is_identifier()) {
      MacroTable::Name* const name = macros_.find(token);
      if (name != nullptr && macros_.is_hot(*name)) {
        first_hot_ = unit_.tokens.size();
      } else if (name != nullptr) {
        expander_.note_use(*name, token, true, 0);
      }
    }
    unit_.tokens.push_back(token);
  }

  // Tokens wait until the macros change, since the arguments of a use may reach over lines; then
  // those from the first one on that is to be expanded are read again.
  void flush() {
    if (first_hot_ == none) return;
    const auto start = unit_.tokens.begin() + static_cast<std::ptrdiff_t>(first_hot_);
    waiting_.assign(start, unit_.tokens.end());
    unit_.tokens.erase(start, unit_.tokens.end());
    first_hot_ = none;
    expander_.expand(waiting_, unit_.tokens);
  }

  void read_directive(Lexer& lexer) {
    Token token;
    directive_.clear();
    while (lexer.next(token) && token.kind != TokenKind::end_of_directive) {
      directive_.push_back(token);
    }
    if (directive_.empty() || !directive_[0].is_identifier()) return;
    const std::string_view word = directive_[0].text;
    const Tokens rest = Tokens(directive_).subspan(1);
    if (conditionals_.read(word, rest) || conditionals_.dead()) return;
    if (word == "define") {
      flush();
      define(rest);
    } else if (word == "undef" && !rest.empty()) {
      flush();
      macros_.undefine(rest[0].text, rest[0].hash, conditionals_.current());
    } else if (word == "include" || word == "include_next") {
      const FileId header = tree_.resolve(included_name(rest, unit_.bytes), unit_.file);
      if (header == no_file) return;
      flush();
      include(header, conditionals_.current(), 1);
    }
  }

  void define(Tokens tokens) {
    auto definition = std::make_unique<MacroDefinition>();
    definition->file = unit_.file;
    if (!read_definition(tokens, tree_.vocabulary(), *definition)) return;
    const bool unless_defined = conditionals_.defines(definition->name);
    macros_.define(*definition, conditionals_.current(), unless_defined);
    unit_.definitions.push_back(std::move(definition));
  }

  void include(FileId file, std::uint32_t condition, std::uint32_t depth) {
    if (depth > limits_.include_depth || (*seen_)[file] != 0) return;
    (*seen_)[file] = 1;
    replay(tree_.header(file), condition, depth);
  }

  // Does to the macros what a header does.
  void replay(const Header& header, std::uint32_t outer, std::uint32_t depth) {
    constexpr std::uint32_t unknown = 0xffffffff;
    std::vector<std::uint32_t> conditions;
    for (const HeaderDirective& directive : header.directives) {
      std::uint32_t condition = outer;
      if (directive.condition != ConditionTable::always) {
        conditions.resize(header.conditions.size(), unknown);
        std::uint32_t& known = conditions[directive.condition];
        if (known == unknown) {
          known = unit_.conditions.both(
              outer, unit_.conditions.add(header.conditions, directive.condition));
        }
        condition = known;
        if (unit_.conditions.never(condition)) continue;
      }
      switch (directive.kind) {
        case DirectiveKind::define:
          macros_.define(header.definitions[directive.index], condition, directive.unless_defined);
          break;
        case DirectiveKind::undefine:
          macros_.undefine(directive.name, directive.name_hash, condition);
          break;
        case DirectiveKind::include:
          include(directive.index, condition, depth + 1);
          break;
      }
    }
  }

  void place_comments() {
    std::size_t at = 0;
    for (SourceComment& comment : unit_.comments) {
      while (at < unit_.tokens.size()) {
        const Token& token = unit_.tokens[at];
        const std::uint32_t offset =
            token.expansion == 0 ? token.offset : unit_.expansions[token.expansion].offset;
        if (offset > comment.offset) break;
        ++at;
      }
      comment.next_token = static_cast<std::uint32_t>(at);
    }
  }

  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  const SourceTree& tree_;
  const PreprocessorLimits& limits_;
  SourceUnit& unit_;
  MacroTable macros_;
  MacroExpander expander_;
  Conditionals conditionals_;
  NumberRow row_;
  std::vector<Token> directive_;
  std::vector<Token> waiting_;
  // Index of the first token that waits to be expanded.
  std::size_t first_hot_ = none;
  std::vector<char>* seen_ = nullptr;
};

Preprocessor::Preprocessor(const SourceTree& tree, PreprocessorLimits limits)
    : tree_(tree), limits_(limits) {}

void Preprocessor::run(FileId file, std::string_view bytes, SourceUnit& unit) {
  unit.clear();
  unit.file = file;
  unit.bytes = bytes;
  Run(tree_, limits_, unit).read(seen_);
}

}  // namespace opseal
