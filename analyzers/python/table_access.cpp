#include "analyzers/python/table_access.h"

#include <algorithm>
#include <array>

#include "analyzers/words.h"

namespace opseal {

namespace {

using Kind = PythonTableAccess::Kind;

constexpr std::array<std::string_view, 18> reading{
    "len",  "list", "sorted", "set",   "tuple", "str", "repr", "iter",      "dict",
    "bool", "any",  "all",    "print", "max",   "min", "join", "frozenset", "format"};

constexpr std::array<std::string_view, 4> views{"items", "keys", "values", "copy"};

// `in` or `not in` stands before it.
bool is_behind_in(const PythonSyntax& syntax, SyntaxIndex index) {
  const SyntaxIndex parent = syntax[index].parent;
  if (parent == no_syntax || !syntax.is(parent, SyntaxKind::other)) return false;
  std::string_view before = syntax.text.substr(0, syntax[index].begin);
  const std::size_t last = before.find_last_not_of(" \t\r\n(");
  if (last == before.npos || last < 2) return false;
  before = before.substr(0, last + 1);
  return syntax[index].begin > syntax[parent].begin && before.ends_with("in") &&
         (before[last - 2] == ' ' || before[last - 2] == ')' || before[last - 2] == '\n');
}

// The arguments of the call whose function this is, or none.
SyntaxIndex call_of(const PythonSyntax& syntax, SyntaxIndex function) {
  const SyntaxIndex call = syntax[function].parent;
  const bool is_call = call != no_syntax && syntax.is(call, SyntaxKind::call) &&
                       syntax[function].field == SyntaxField::function;
  return is_call ? call : no_syntax;
}

// Where the dictionary itself, not what it holds, is named.
Kind kind_of_whole(const PythonSyntax& syntax, SyntaxIndex table) {
  const SyntaxIndex parent = syntax[table].parent;
  if (parent == no_syntax) return Kind::unknown;
  switch (syntax[parent].kind) {
    case SyntaxKind::assignment:
      return syntax[table].field == SyntaxField::left ? Kind::whole : Kind::unknown;
    case SyntaxKind::argument_list: {
      const SyntaxIndex call = syntax[parent].parent;
      const SyntaxIndex function = syntax.child(call, SyntaxField::function);
      const bool reads =
          function != no_syntax && is_one_of(last_name(syntax.text_of(function)), reading);
      return reads ? Kind::harmless : Kind::unknown;
    }
    case SyntaxKind::for_statement:
    case SyntaxKind::for_in_clause:
      return syntax[table].field == SyntaxField::right ? Kind::harmless : Kind::unknown;
    case SyntaxKind::interpolation:
    case SyntaxKind::if_statement:
    case SyntaxKind::global_statement:
    case SyntaxKind::expression_statement:
    case SyntaxKind::conditional_expression:
      return Kind::harmless;
    default:
      return Kind::unknown;
  }
}

}  // namespace

std::string_view last_name(std::string_view dotted) {
  const std::size_t dot = dotted.rfind('.');
  return dot == dotted.npos ? dotted : dotted.substr(dot + 1);
}

bool is_new_container(const PythonSyntax& syntax, SyntaxIndex expression) {
  expression = syntax.unwrapped(expression);
  if (expression == no_syntax) return false;
  if (syntax.is(expression, SyntaxKind::dictionary) || syntax.is(expression, SyntaxKind::list)) {
    return syntax.first(expression) == no_syntax;
  }
  if (!syntax.is(expression, SyntaxKind::call)) return false;
  const SyntaxIndex function = syntax.child(expression, SyntaxField::function);
  if (function == no_syntax) return false;
  const std::string_view name = last_name(syntax.text_of(function));
  return name == "dict" || name == "list" || name == "set" || name == "defaultdict" ||
         name == "OrderedDict";
}

bool is_new_table(const PythonSyntax& syntax, SyntaxIndex expression) {
  expression = syntax.unwrapped(expression);
  if (expression == no_syntax) return false;
  if (syntax.is(expression, SyntaxKind::dictionary)) return true;
  if (!syntax.is(expression, SyntaxKind::call)) return false;
  const SyntaxIndex function = syntax.child(expression, SyntaxField::function);
  const SyntaxIndex arguments = syntax.child(expression, SyntaxField::arguments);
  if (function == no_syntax || arguments == no_syntax) return false;
  const std::string_view name = last_name(syntax.text_of(function));
  if (name == "dict" || name == "OrderedDict") return syntax.first(arguments) == no_syntax;
  // Of another default than a container each key is there.
  const SyntaxIndex made = syntax.first(arguments);
  const bool of_containers =
      made != no_syntax && (syntax.text_of(made) == "dict" || syntax.text_of(made) == "list");
  return name == "defaultdict" && of_containers;
}

SyntaxIndex function_around(const PythonSyntax& syntax, SyntaxIndex index) {
  constexpr std::size_t most_levels = 256;
  SyntaxIndex outermost = no_syntax;
  std::size_t levels = 0;
  for (SyntaxIndex holder = syntax[index].holder; holder != no_syntax;
       holder = syntax[holder].holder) {
    if (++levels > most_levels || syntax.is(holder, SyntaxKind::class_definition)) break;
    if (syntax.is(holder, SyntaxKind::function_definition)) outermost = holder;
  }
  return outermost;
}

PythonTableAccess python_table_access(const PythonSyntax& syntax, SyntaxIndex table) {
  constexpr std::size_t most_links = 8;
  PythonTableAccess access;
  SyntaxIndex current = table;
  for (std::size_t links = 0; links < most_links; ++links) {
    access.whole = current;
    const SyntaxIndex parent = syntax[current].parent;
    if (parent == no_syntax) return access;
    const SyntaxField field = syntax[current].field;
    const bool has_key = !access.keys.empty();
    if (syntax.is(parent, SyntaxKind::subscript) && field == SyntaxField::value) {
      for (const SyntaxIndex child : syntax.children(parent)) {
        if (syntax[child].field == SyntaxField::subscript) access.keys.push_back(child);
      }
      current = parent;
      continue;
    }
    if (syntax.is(parent, SyntaxKind::attribute) && field == SyntaxField::object) {
      const SyntaxIndex call = call_of(syntax, parent);
      const SyntaxIndex name = syntax.child(parent, SyntaxField::attribute);
      const std::string_view method = name == no_syntax ? "" : syntax.text_of(name);
      if (call == no_syntax) {
        access.kind = has_key ? Kind::read : Kind::unknown;
        return access;
      }
      const SyntaxIndex list = syntax.child(call, SyntaxField::arguments);
      const SyntaxIndex key = list == no_syntax ? no_syntax : syntax.first(list);
      const SyntaxIndex second =
          key == no_syntax || syntax[key].next >= syntax[list].next ? no_syntax : syntax[key].next;
      if ((method == "get" || method == "setdefault") && key != no_syntax) {
        access.keys.push_back(key);
        if (is_new_container(syntax, second)) {
          current = call;
          // `d.setdefault(op, {})[device] = fn` goes on.
          const SyntaxIndex above = syntax[call].parent;
          const bool goes_on = above != no_syntax && (syntax.is(above, SyntaxKind::subscript) ||
                                                      syntax.is(above, SyntaxKind::attribute));
          if (goes_on) continue;
        }
        access.whole = call;
        access.kind = method == "get" ? Kind::get : Kind::keep;
        (method == "get" ? access.otherwise : access.value) = second;
        return access;
      }
      if (has_key) {
        access.kind =
            method == "append" || method == "add" || method == "insert" ? Kind::append : Kind::read;
        return access;
      }
      access.kind = is_one_of(method, views) ? Kind::harmless : Kind::unknown;
      return access;
    }
    if (is_behind_in(syntax, current)) {
      access.kind = Kind::test;
      access.keys.push_back(syntax.first(parent));
      return access;
    }
    if (!has_key) {
      access.kind = kind_of_whole(syntax, current);
      if (access.kind == Kind::whole) access.value = syntax.child(parent, SyntaxField::right);
      return access;
    }
    const bool is_left = field == SyntaxField::left;
    if (syntax.is(parent, SyntaxKind::assignment) && is_left) {
      access.kind = Kind::store;
      access.value = syntax.child(parent, SyntaxField::right);
    } else if ((syntax.is(parent, SyntaxKind::augmented_assignment) && is_left) ||
               syntax.is(parent, SyntaxKind::delete_statement) ||
               syntax.is(parent, SyntaxKind::pattern_list)) {
      access.kind = Kind::unknown;
    } else {
      access.kind = Kind::read;
    }
    return access;
  }
  return access;
}

bool is_prepared_for_miss(const PythonSyntax& syntax, SyntaxIndex index, std::string_view name) {
  constexpr std::size_t most_levels = 256;
  std::size_t levels = 0;
  SyntaxIndex below = index;
  for (SyntaxIndex above = syntax[index].parent; above != no_syntax;
       below = above, above = syntax[above].parent) {
    if (++levels > most_levels) return true;
    switch (syntax[above].kind) {
      case SyntaxKind::try_statement:
        if (syntax[below].field == SyntaxField::body) return true;
        break;
      case SyntaxKind::with_statement: {
        const std::string_view head = syntax.text_of(above).substr(0, 200);
        if (head.find("suppress(") != head.npos || head.find("raises(") != head.npos) return true;
        break;
      }
      case SyntaxKind::if_statement:
      case SyntaxKind::elif_clause:
      case SyntaxKind::while_statement: {
        const SyntaxIndex test = syntax.child(above, SyntaxField::condition);
        if (test == no_syntax) break;
        const std::string_view text = syntax.text_of(test).substr(0, 1000);
        if (text.find(name) != text.npos) return true;
        break;
      }
      case SyntaxKind::conditional_expression: {
        const std::string_view text = syntax.text_of(above).substr(0, 1000);
        if (text.find(" in ") != text.npos) return true;
        break;
      }
      case SyntaxKind::function_definition:
      case SyntaxKind::class_definition:
        if (syntax[below].field == SyntaxField::body) return false;
        break;
      default:
        break;
    }
  }
  return false;
}

}  // namespace opseal
