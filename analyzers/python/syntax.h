#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace opseal {

// What of Python's grammar is told apart, named as the grammar `tree-sitter-python` does (its file
// `node-types.json`); `syntax.cpp` has the same list as words. What isn't here is `other`.
enum class SyntaxKind : std::uint8_t {
  other,
  // A stretch that could not be parsed, or a token that isn't there.
  error,
  aliased_import,
  argument_list,
  as_pattern,
  as_pattern_target,
  assignment,
  attribute,
  augmented_assignment,
  binary_operator,
  block,
  call,
  case_clause,
  class_definition,
  concatenated_string,
  conditional_expression,
  decorated_definition,
  decorator,
  default_parameter,
  delete_statement,
  dictionary,
  dictionary_comprehension,
  dictionary_splat,
  dictionary_splat_pattern,
  dotted_name,
  elif_clause,
  else_clause,
  except_clause,
  except_group_clause,
  expression_list,
  expression_statement,
  false_value,
  finally_clause,
  floating,
  for_in_clause,
  for_statement,
  function_definition,
  generator_expression,
  global_statement,
  identifier,
  if_statement,
  import_from_statement,
  import_statement,
  integer,
  interpolation,
  keyword_argument,
  keyword_separator,
  lambda,
  lambda_parameters,
  list,
  list_comprehension,
  list_pattern,
  list_splat,
  list_splat_pattern,
  match_statement,
  module,
  named_expression,
  none,
  nonlocal_statement,
  pair,
  parameters,
  parenthesized_expression,
  pattern_list,
  positional_separator,
  relative_import,
  return_statement,
  set,
  set_comprehension,
  string,
  string_content,
  string_end,
  string_start,
  subscript,
  true_value,
  try_statement,
  tuple,
  tuple_pattern,
  type,
  typed_default_parameter,
  typed_parameter,
  unary_operator,
  while_statement,
  wildcard_import,
  with_item,
  with_statement,
  kind_count,
};

// What a node is to the one above it, as the grammar calls it.
enum class SyntaxField : std::uint8_t {
  none,
  alias,
  alternative,
  arguments,
  attribute,
  body,
  condition,
  consequence,
  definition,
  expression,
  function,
  key,
  left,
  module_name,
  name,
  object,
  operator_sign,
  parameters,
  return_type,
  right,
  subscript,
  superclasses,
  type,
  value,
  field_count,
};

// Bytes of the file.
struct PythonPlace {
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
};

// Index into `PythonSyntax::nodes`.
using SyntaxIndex = std::uint32_t;
inline constexpr SyntaxIndex no_syntax = 0xffffffff;

struct SyntaxNode {
  // Bytes of the text.
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  SyntaxIndex parent = no_syntax;
  // The first node behind this one and all below it.
  SyntaxIndex next = 0;
  // The nearest node above that has names or conditions of its own: a definition, a clause, a loop,
  // a comprehension, the module. Kept since a walk upwards through a deep expression for each of
  // its parts would be quadratic.
  SyntaxIndex holder = no_syntax;
  SyntaxKind kind = SyntaxKind::other;
  SyntaxField field = SyntaxField::none;
};

// The syntax tree of a Python file as one row of nodes in the order of the text, each followed by
// those below it, so that nothing has to walk it recursively. Only what the grammar names is kept,
// and operators. Positions in the row are stable; node 0 is the module.
class PythonSyntax {
 public:
  // Throws InputError for a text over `max_bytes`, one with more joined empty lines in a row than
  // `max_joined_lines`, or one that takes longer than `max_seconds`.
  // Whatever else stands in the text is parsed around: see `first_error`.
  // Needs: the text outlives this.
  explicit PythonSyntax(std::string_view text);

  static constexpr std::size_t max_bytes = std::size_t{4} << 20;
  // The grammar's scanner looks through all of them again at each, so that 100 KB take 10 s.
  static constexpr std::size_t max_joined_lines = 1000;
  // Far above what any file takes (megabytes a second): only a text made to be slow gets there.
  static constexpr double max_seconds = 60;

  const SyntaxNode& operator[](SyntaxIndex index) const { return nodes[index]; }
  std::string_view text_of(SyntaxIndex index) const {
    const SyntaxNode& node = nodes[index];
    return text.substr(node.begin, node.end - node.begin);
  }
  bool is(SyntaxIndex index, SyntaxKind kind) const {
    return index != no_syntax && nodes[index].kind == kind;
  }
  // The child that is this to its parent, or none.
  SyntaxIndex child(SyntaxIndex parent, SyntaxField field) const;
  // The first child, or none.
  SyntaxIndex first(SyntaxIndex parent) const {
    return nodes[parent].next > parent + 1 ? parent + 1 : no_syntax;
  }
  // All children, comments left out.
  std::vector<SyntaxIndex> children(SyntaxIndex parent) const;
  // What belongs to a function itself: the nodes from its body on, at most so many places far,
  // without definitions and lambdas in it and what stands in them.
  std::vector<SyntaxIndex> own_nodes(SyntaxIndex body, SyntaxIndex most = no_syntax) const;
  PythonPlace place_of(SyntaxIndex index) const {
    return {nodes[index].begin, nodes[index].end - nodes[index].begin};
  }
  // The expression within any number of parentheses.
  SyntaxIndex unwrapped(SyntaxIndex index) const;

  std::string_view text;
  std::vector<SyntaxNode> nodes;
  // The first stretch that could not be parsed, or none.
  SyntaxIndex first_error = no_syntax;
};

}  // namespace opseal
