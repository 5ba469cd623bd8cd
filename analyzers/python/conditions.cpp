#include "analyzers/python/conditions.h"

#include <algorithm>

namespace opseal {

namespace {

constexpr std::size_t max_excerpt = 160;

std::string test_of(const PythonSyntax& syntax, SyntaxIndex holder) {
  const SyntaxIndex test = syntax.child(holder, SyntaxField::condition);
  return test == no_syntax ? "?" : std::string(syntax.text_of(test).substr(0, max_excerpt));
}

std::string negated(const std::string& test) { return "not (" + test + ")"; }

// What has to be false for a later branch of an `if` to run: the innermost last.
void add_earlier_branches(const PythonSyntax& syntax, SyntaxIndex branch,
                          std::vector<std::string>& inside_out) {
  // An `elif` chain of thousands, at each of whose branches all earlier ones were named, would be
  // quadratic.
  constexpr std::size_t max_branches = 8;
  const SyntaxIndex statement = syntax[branch].parent;
  if (!syntax.is(statement, SyntaxKind::if_statement)) return;
  std::vector<std::string> earlier;
  for (SyntaxIndex part = statement + 1; part < branch && earlier.size() < max_branches;
       part = syntax[part].next) {
    if (syntax.is(part, SyntaxKind::elif_clause)) {
      earlier.push_back(negated(test_of(syntax, part)));
    }
  }
  inside_out.insert(inside_out.end(), earlier.rbegin(), earlier.rend());
  inside_out.push_back(negated(test_of(syntax, statement)));
}

}  // namespace

std::vector<std::string> python_conditions(const PythonSyntax& syntax, SyntaxIndex index) {
  std::vector<std::string> inside_out;
  SyntaxIndex below = index;
  for (SyntaxIndex holder = syntax[index].holder; holder != no_syntax;
       below = holder, holder = syntax[holder].holder) {
    if (inside_out.size() >= max_conditions) break;
    switch (syntax[holder].kind) {
      case SyntaxKind::if_statement:
        // What stands in a later branch is told by that.
        if (!syntax.is(below, SyntaxKind::elif_clause) &&
            !syntax.is(below, SyntaxKind::else_clause)) {
          inside_out.push_back(test_of(syntax, holder));
        }
        break;
      case SyntaxKind::elif_clause:
        inside_out.push_back(test_of(syntax, holder));
        add_earlier_branches(syntax, holder, inside_out);
        break;
      case SyntaxKind::else_clause:
        add_earlier_branches(syntax, holder, inside_out);
        if (syntax.is(syntax[holder].parent, SyntaxKind::try_statement)) {
          inside_out.push_back("no exception");
        }
        break;
      case SyntaxKind::while_statement:
        inside_out.push_back("while " + test_of(syntax, holder));
        break;
      case SyntaxKind::except_clause:
      case SyntaxKind::except_group_clause: {
        const std::string_view text = syntax.text_of(holder);
        inside_out.emplace_back(text.substr(0, std::min(text.find_first_of(":\n"), max_excerpt)));
        break;
      }
      case SyntaxKind::case_clause: {
        const std::string_view text = syntax.text_of(holder);
        inside_out.emplace_back(text.substr(0, std::min(text.find_first_of(":\n"), max_excerpt)));
        break;
      }
      default:
        break;
    }
  }
  std::reverse(inside_out.begin(), inside_out.end());
  return inside_out;
}

std::string python_within(const PythonSyntax& syntax, SyntaxIndex index) {
  constexpr std::size_t max_levels = 8;
  std::string text;
  std::size_t levels = 0;
  for (SyntaxIndex holder = syntax[index].holder; holder != no_syntax && levels < max_levels;
       holder = syntax[holder].holder) {
    if (!syntax.is(holder, SyntaxKind::function_definition) &&
        !syntax.is(holder, SyntaxKind::class_definition)) {
      continue;
    }
    const SyntaxIndex name = syntax.child(holder, SyntaxField::name);
    if (name == no_syntax) continue;
    text.insert(0, std::string(syntax.text_of(name)) + (text.empty() ? "" : "."));
    ++levels;
  }
  return text;
}

}  // namespace opseal
