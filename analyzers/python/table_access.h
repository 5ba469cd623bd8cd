#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzers/python/syntax.h"

namespace opseal {

// What is done to a dictionary where it is named.
struct PythonTableAccess {
  enum class Kind : std::uint8_t {
    // `T = …`
    whole,
    // `T[k] = v`
    store,
    // `T.setdefault(k, v)`: the first stays.
    keep,
    // `T[k].append(v)`
    append,
    // `T[k]`
    read,
    // `T.get(k)`; `otherwise` where there is a second argument.
    get,
    // `k in T`
    test,
    // Nothing that could change it.
    harmless,
    unknown,
  };

  Kind kind = Kind::unknown;
  // The expressions in the brackets, from the outside in: `T[a][b, c]` has three.
  std::vector<SyntaxIndex> keys;
  SyntaxIndex value = no_syntax;
  SyntaxIndex otherwise = no_syntax;
  // The whole: `T[a][b]`, `T.get(a)`.
  SyntaxIndex whole = no_syntax;
};

PythonTableAccess python_table_access(const PythonSyntax& syntax, SyntaxIndex table);

// `{}`, `[]`, `dict()`, `defaultdict(list)`, …
bool is_new_container(const PythonSyntax& syntax, SyntaxIndex expression);
bool is_new_table(const PythonSyntax& syntax, SyntaxIndex expression);

// The outermost function around a node below a class or the module, or none.
SyntaxIndex function_around(const PythonSyntax& syntax, SyntaxIndex index);

// Somebody is prepared for a key that isn't in the table `name`: a `try`, a question before.
bool is_prepared_for_miss(const PythonSyntax& syntax, SyntaxIndex index, std::string_view name);

// The name behind the last dot: `register` of `a.b.register`.
std::string_view last_name(std::string_view dotted);

}  // namespace opseal
