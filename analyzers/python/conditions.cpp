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

std::string_view without_space(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(space);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(space) + 1 - begin);
}

// `except:`, `except Exception as e:` with nothing but `pass` and comments.
bool catches_all_and_forgets(std::string_view clause) {
  const std::size_t colon = clause.find(':');
  if (colon == clause.npos) return false;
  std::string_view head = without_space(clause.substr(0, colon));
  head = without_space(head.substr(0, head.find(" as ")));
  if (head != "except" && head != "except Exception" && head != "except BaseException") {
    return false;
  }
  bool passes = false;
  for (std::size_t at = colon + 1; at < clause.size();) {
    const std::size_t end = std::min(clause.find('\n', at), clause.size());
    std::string_view line = clause.substr(at, end - at);
    line = without_space(line.substr(0, line.find('#')));
    if (line == "pass" || line == "...") {
      passes = true;
    } else if (!line.empty()) {
      return false;
    }
    at = end + 1;
  }
  return passes;
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

bool swallows_exceptions(const PythonSyntax& syntax, SyntaxIndex index) {
  // Registrations are statements, or near to one.
  constexpr std::size_t max_levels = 32;
  SyntaxIndex below = index;
  std::size_t levels = 0;
  for (SyntaxIndex above = syntax[index].parent; above != no_syntax && levels < max_levels;
       below = above, above = syntax[above].parent, ++levels) {
    if (syntax.is(above, SyntaxKind::function_definition) && below != index) {
      // A decorated function is registered where it stands.
      if (syntax[below].field == SyntaxField::body) return false;
    }
    if (!syntax.is(above, SyntaxKind::try_statement)) continue;
    if (syntax[below].field != SyntaxField::body) continue;
    const std::vector<SyntaxIndex> parts = syntax.children(above);
    return std::any_of(parts.begin(), parts.end(), [&](SyntaxIndex part) {
      return syntax.is(part, SyntaxKind::except_clause) &&
             catches_all_and_forgets(syntax.text_of(part));
    });
  }
  return false;
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
