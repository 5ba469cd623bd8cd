#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzers/python/syntax.h"

namespace opseal {

// One place that gives a name a meaning.
struct PythonBinding {
  enum class Kind : std::uint8_t {
    // `name = value`, or its part of `a, b = x, y`.
    value,
    import,
    // `value` is the function or class.
    definition,
    // `value` is the parameter.
    parameter,
    // `value` is the `for`, be it a statement or part of a comprehension.
    loop,
    // `with value as name`.
    context,
    // Anything by which a name ceases to be one thing: `+=`, `del`, unpacking.
    other,
  };

  Kind kind = Kind::other;
  SyntaxIndex name = no_syntax;
  SyntaxIndex value = no_syntax;
  // Of an import: the dotted name of what is imported, with leading dots for a relative one.
  std::string path;
};

// Which names a file binds where, by Python's rules of scope; nothing is executed, so a name that
// is bound twice is ambiguous, however the program runs.
class PythonScopes {
 public:
  // Needs: the syntax outlives this.
  explicit PythonScopes(const PythonSyntax& syntax);

  // Everything that the name can mean where it stands, in the order of the text. Empty for a
  // builtin, and what a star import brings.
  const std::vector<PythonBinding>& find(std::string_view name, SyntaxIndex from) const;
  // The one meaning of a name, or null: the loop around the place, or what is bound only once.
  const PythonBinding* only(std::string_view name, SyntaxIndex from) const;
  // Values that the file assigns to an attribute, such as `self.lib`, as written.
  const std::vector<SyntaxIndex>& assigned(std::string_view attribute) const;

  // The full names of what an identifier or attribute can be (`torch.library.define`): one for each
  // import that it may come from, at most `max_meanings`. A name that this file binds otherwise
  // stands for itself. Empty for any other expression.
  std::vector<std::string> full_names(SyntaxIndex expression) const;

  // The function, lambda, class, comprehension or module in which a node stands.
  SyntaxIndex scope_of(SyntaxIndex index) const;
  // Whether `holder` is above the node, seen from which `max_depth` are looked at.
  bool within(SyntaxIndex index, SyntaxIndex holder) const;

  static constexpr std::size_t max_meanings = 4;
  // Blocks within each other; Python itself allows 100 indentations.
  static constexpr std::size_t max_depth = 256;
  // Functions within each other.
  static constexpr std::size_t max_scopes = 32;
  // Of one name in one scope; one with more is ambiguous.
  static constexpr std::size_t max_bindings = 256;

 private:
  using Bindings = std::vector<PythonBinding>;

  void collect();
  void collect_globals();
  static void add(Bindings& bindings, PythonBinding binding);
  void bind(SyntaxIndex name, PythonBinding::Kind kind, SyntaxIndex value, std::string path = {});
  void bind_in(SyntaxIndex scope, SyntaxIndex name, PythonBinding::Kind kind, SyntaxIndex value);
  void bind_target(SyntaxIndex target, PythonBinding::Kind kind, SyntaxIndex value);
  void bind_assignment(SyntaxIndex assignment);
  void bind_parameters(SyntaxIndex parameters);
  void bind_import(SyntaxIndex statement);
  void bind_import_from(SyntaxIndex statement);
  std::vector<std::string> names_of(std::string_view name, SyntaxIndex from,
                                    std::size_t depth) const;
  std::vector<std::string> full_names_below(SyntaxIndex expression, std::size_t depth) const;

  const PythonSyntax& syntax_;
  std::map<std::pair<SyntaxIndex, std::string_view>, Bindings> bindings_;
  std::map<std::string_view, std::vector<SyntaxIndex>> assigned_;
  // (function, name) of `global` statements.
  std::map<std::pair<SyntaxIndex, std::string_view>, bool> globals_;
  // Modules of which everything is imported.
  std::vector<std::string> starred_;
};

}  // namespace opseal
