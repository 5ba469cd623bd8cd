#pragma once

#include <string>
#include <string_view>

#include "analyzers/sources/code_functions.h"

namespace opseal {

// What a function decides by: `node->op` of an enumeration.
struct SwitchSubject {
  const CodeFunction* function = nullptr;
  const CodeEnumeration* enumeration = nullptr;
  // The name that `$` stands for in the expression, and in which parameter it comes; no_token: a
  // local.
  std::string_view root;
  std::uint32_t parameter = 0xffffffff;
  // `$->op`
  std::string expression;
  std::uint32_t labels = 0;
};

// Looks up enumerations of the tree: those of the code first.
class Enumerations {
 public:
  Enumerations(const CodeFunctions& own, const CodeFunctions& others)
      : own_(own), others_(others) {}
  const CodeEnumeration* of(std::string_view enumerator) const {
    const CodeEnumeration* found = own_.enumeration_of(enumerator);
    return found != nullptr ? found : others_.enumeration_of(enumerator);
  }

 private:
  const CodeFunctions& own_;
  const CodeFunctions& others_;
};

// The expression that a function asks for most values of an enumeration (of `wanted`, where it
// isn't null); no enumeration where there is none. What lies behind an index or `src` is another
// object than the one that the function is asked about.
SwitchSubject find_subject(const CodeFunctions& code, const Enumerations& enumerations,
                           const CodeFunction& function, const CodeEnumeration* wanted);

// The same, looking into the functions that it hands what it is asked about on to.
SwitchSubject find_predicate_subject(const CodeFunctions& code, const Enumerations& enumerations,
                                     const CodeFunction& function,
                                     const CodeEnumeration* wanted = nullptr);

}  // namespace opseal
