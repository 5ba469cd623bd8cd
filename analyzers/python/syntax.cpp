#include "analyzers/python/syntax.h"

#include <tree_sitter/api.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "analyzers/input_error.h"
#include "analyzers/python/registrations.h"

static_assert(opseal::PythonSyntax::max_bytes == opseal::PythonRegistrations::max_bytes);

extern "C" const TSLanguage* tree_sitter_python(void);

namespace opseal {

namespace {

// In the order of `SyntaxKind`, from `aliased_import` on.
constexpr std::array kind_words = {
    "aliased_import",
    "argument_list",
    "as_pattern",
    "as_pattern_target",
    "assignment",
    "attribute",
    "augmented_assignment",
    "binary_operator",
    "block",
    "call",
    "case_clause",
    "class_definition",
    "concatenated_string",
    "conditional_expression",
    "decorated_definition",
    "decorator",
    "default_parameter",
    "delete_statement",
    "dictionary",
    "dictionary_comprehension",
    "dictionary_splat",
    "dictionary_splat_pattern",
    "dotted_name",
    "elif_clause",
    "else_clause",
    "except_clause",
    "except_group_clause",
    "expression_list",
    "expression_statement",
    "false",
    "finally_clause",
    "float",
    "for_in_clause",
    "for_statement",
    "function_definition",
    "generator_expression",
    "global_statement",
    "identifier",
    "if_statement",
    "import_from_statement",
    "import_statement",
    "integer",
    "interpolation",
    "keyword_argument",
    "keyword_separator",
    "lambda",
    "lambda_parameters",
    "list",
    "list_comprehension",
    "list_pattern",
    "list_splat",
    "list_splat_pattern",
    "match_statement",
    "module",
    "named_expression",
    "none",
    "nonlocal_statement",
    "pair",
    "parameters",
    "parenthesized_expression",
    "pattern_list",
    "positional_separator",
    "relative_import",
    "return_statement",
    "set",
    "set_comprehension",
    "string",
    "string_content",
    "string_end",
    "string_start",
    "subscript",
    "true",
    "try_statement",
    "tuple",
    "tuple_pattern",
    "type",
    "typed_default_parameter",
    "typed_parameter",
    "unary_operator",
    "while_statement",
    "wildcard_import",
    "with_item",
    "with_statement",
};
static_assert(kind_words.size() + static_cast<std::size_t>(SyntaxKind::aliased_import) ==
              static_cast<std::size_t>(SyntaxKind::kind_count));

// In the order of `SyntaxField`, from `alias` on.
constexpr std::array field_words = {
    "alias",       "alternative", "arguments",    "attribute", "body",       "condition",
    "consequence", "definition",  "expression",   "function",  "key",        "left",
    "module_name", "name",        "object",       "operator",  "parameters", "return_type",
    "right",       "subscript",   "superclasses", "type",      "value",
};
static_assert(field_words.size() + 1 == static_cast<std::size_t>(SyntaxField::field_count));

// From the numbers of the grammar to ours.
struct Tables {
  std::vector<SyntaxKind> kinds;
  std::vector<SyntaxField> fields;
  // Of comments and joined lines, which may stand between any two nodes.
  TSSymbol comment = 0;
  TSSymbol joined_line = 0;
};

Tables make_tables() {
  const TSLanguage* language = tree_sitter_python();
  Tables tables;
  const std::uint32_t symbols = ts_language_symbol_count(language);
  tables.kinds.assign(symbols, SyntaxKind::other);
  for (std::uint32_t symbol = 0; symbol < symbols; ++symbol) {
    const TSSymbol number = static_cast<TSSymbol>(symbol);
    if (ts_language_symbol_type(language, number) != TSSymbolTypeRegular) continue;
    const std::string_view word = ts_language_symbol_name(language, number);
    if (word == "comment") tables.comment = number;
    if (word == "line_continuation") tables.joined_line = number;
    for (std::size_t i = 0; i < kind_words.size(); ++i) {
      if (word != kind_words[i]) continue;
      tables.kinds[symbol] =
          static_cast<SyntaxKind>(i + static_cast<std::size_t>(SyntaxKind::aliased_import));
    }
  }
  const std::uint32_t fields = ts_language_field_count(language);
  tables.fields.assign(fields + 1, SyntaxField::none);
  for (std::size_t i = 0; i < field_words.size(); ++i) {
    const std::string_view word = field_words[i];
    const TSFieldId number = ts_language_field_id_for_name(language, word.data(),
                                                           static_cast<std::uint32_t>(word.size()));
    if (number != 0) tables.fields[number] = static_cast<SyntaxField>(i + 1);
  }
  return tables;
}

const Tables& tables() {
  static const Tables made = make_tables();
  return made;
}

struct DeleteTree {
  void operator()(TSTree* tree) const { ts_tree_delete(tree); }
};
struct DeleteParser {
  void operator()(TSParser* parser) const { ts_parser_delete(parser); }
};

using Tree = std::unique_ptr<TSTree, DeleteTree>;

Tree parse(std::string_view text) {
  const std::unique_ptr<TSParser, DeleteParser> parser(ts_parser_new());
  if (!ts_parser_set_language(parser.get(), tree_sitter_python())) return nullptr;
  ts_parser_set_timeout_micros(parser.get(),
                               static_cast<std::uint64_t>(PythonSyntax::max_seconds * 1e6));
  return Tree(ts_parser_parse_string(parser.get(), nullptr, text.data(),
                                     static_cast<std::uint32_t>(text.size())));
}

// Where more backslashes stand in a row, with nothing but blanks between them, than are read; the
// size of the text if nowhere.
std::size_t long_joined_run(std::string_view text) {
  std::size_t run = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\\') {
      if (++run > PythonSyntax::max_joined_lines) return at;
    } else if (c != '\n' && c != '\r' && c != ' ' && c != '\t' && c != '\f') {
      run = 0;
    }
  }
  return text.size();
}

// Whether a node of this kind has names or conditions of its own.
bool is_holder(SyntaxKind kind) {
  switch (kind) {
    case SyntaxKind::module:
    case SyntaxKind::case_clause:
    case SyntaxKind::class_definition:
    case SyntaxKind::dictionary_comprehension:
    case SyntaxKind::elif_clause:
    case SyntaxKind::else_clause:
    case SyntaxKind::except_clause:
    case SyntaxKind::except_group_clause:
    case SyntaxKind::finally_clause:
    case SyntaxKind::for_statement:
    case SyntaxKind::function_definition:
    case SyntaxKind::generator_expression:
    case SyntaxKind::if_statement:
    case SyntaxKind::lambda:
    case SyntaxKind::list_comprehension:
    case SyntaxKind::match_statement:
    case SyntaxKind::set_comprehension:
    case SyntaxKind::try_statement:
    case SyntaxKind::while_statement:
    case SyntaxKind::with_statement:
      return true;
    default:
      return false;
  }
}

// Copies the tree in the order of the text.
class Flattening {
 public:
  Flattening(PythonSyntax& syntax, const TSTree* tree)
      : syntax_(syntax), cursor_(ts_tree_cursor_new(ts_tree_root_node(tree))) {}
  ~Flattening() { ts_tree_cursor_delete(&cursor_); }
  Flattening(const Flattening&) = delete;
  Flattening& operator=(const Flattening&) = delete;

  void run() {
    while (true) {
      if (enter() && ts_tree_cursor_goto_first_child(&cursor_)) continue;
      leave();
      while (!ts_tree_cursor_goto_next_sibling(&cursor_)) {
        if (!ts_tree_cursor_goto_parent(&cursor_)) return;
        leave();
      }
    }
  }

 private:
  // Whether what is below the node is wanted. Each call is followed by one of `leave`.
  bool enter() {
    const TSNode node = ts_tree_cursor_current_node(&cursor_);
    const TSSymbol symbol = ts_node_symbol(node);
    const SyntaxField field = tables().fields[ts_tree_cursor_current_field_id(&cursor_)];
    const bool broken = ts_node_is_error(node) || ts_node_is_missing(node);
    const bool wanted = broken || ts_node_is_named(node) || field == SyntaxField::operator_sign;
    const bool between = symbol == tables().comment || symbol == tables().joined_line;
    if (!wanted || (between && !broken)) {
      open_.push_back(no_syntax);
      return false;
    }
    SyntaxNode copy;
    copy.begin = ts_node_start_byte(node);
    copy.end = ts_node_end_byte(node);
    copy.parent = syntax_.nodes.empty() ? no_syntax : open_.back();
    copy.field = field;
    copy.kind = broken
                    ? SyntaxKind::error
                    : (symbol < tables().kinds.size() ? tables().kinds[symbol] : SyntaxKind::other);
    if (copy.parent != no_syntax) {
      const SyntaxNode& parent = syntax_.nodes[copy.parent];
      copy.holder = is_holder(parent.kind) ? copy.parent : parent.holder;
    }
    const SyntaxIndex index = static_cast<SyntaxIndex>(syntax_.nodes.size());
    if (broken && syntax_.first_error == no_syntax) syntax_.first_error = index;
    syntax_.nodes.push_back(copy);
    open_.push_back(index);
    return true;
  }

  void leave() {
    const SyntaxIndex index = open_.back();
    open_.pop_back();
    if (index == no_syntax) return;
    syntax_.nodes[index].next = static_cast<SyntaxIndex>(syntax_.nodes.size());
  }

  PythonSyntax& syntax_;
  TSTreeCursor cursor_;
  // The nodes that are being copied, from the module on; none for one that is left out.
  std::vector<SyntaxIndex> open_;
};

}  // namespace

PythonSyntax::PythonSyntax(std::string_view source) : text(source) {
  if (text.size() > max_bytes) {
    throw InputError(0, 0,
                     "Python source of " + std::to_string(text.size()) +
                         " bytes, of which at most " + std::to_string(max_bytes) + " are read");
  }
  if (const std::size_t at = long_joined_run(text); at < text.size()) {
    throw InputError(at, 1,
                     "more than " + std::to_string(max_joined_lines) +
                         " lines joined by `\\` with nothing on them");
  }
  const Tree tree = parse(text);
  if (tree == nullptr) {
    throw InputError(0, 0,
                     "this Python source takes longer than " +
                         std::to_string(static_cast<int>(max_seconds)) + " s to parse");
  }
  Flattening(*this, tree.get()).run();
}

SyntaxIndex PythonSyntax::child(SyntaxIndex parent, SyntaxField field) const {
  for (SyntaxIndex child = parent + 1; child < nodes[parent].next; child = nodes[child].next) {
    if (nodes[child].field == field) return child;
  }
  return no_syntax;
}

std::vector<SyntaxIndex> PythonSyntax::children(SyntaxIndex parent) const {
  std::vector<SyntaxIndex> found;
  for (SyntaxIndex child = parent + 1; child < nodes[parent].next; child = nodes[child].next) {
    found.push_back(child);
  }
  return found;
}

std::vector<SyntaxIndex> PythonSyntax::own_nodes(SyntaxIndex body, SyntaxIndex most) const {
  std::vector<SyntaxIndex> found;
  const SyntaxIndex end = body + std::min(nodes[body].next - body, most);
  for (SyntaxIndex index = body; index < end; ++index) {
    const SyntaxKind kind = nodes[index].kind;
    if (kind == SyntaxKind::function_definition || kind == SyntaxKind::class_definition ||
        kind == SyntaxKind::lambda) {
      index = nodes[index].next - 1;
    } else {
      found.push_back(index);
    }
  }
  return found;
}

SyntaxIndex PythonSyntax::unwrapped(SyntaxIndex index) const {
  while (is(index, SyntaxKind::parenthesized_expression) && first(index) != no_syntax) {
    index = first(index);
  }
  return index;
}

}  // namespace opseal
