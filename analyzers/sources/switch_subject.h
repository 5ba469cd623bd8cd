#pragma once

#include <cstdint>
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

// Looks up enumerations of the tree: those of the code first. Whoever follows functions for each of
// their values accounts for it here: a source that is made to be slow has thousands of values, and
// a label for each.
class Enumerations {
 public:
  // Labels that may be looked at; that of ggml takes less than a fifth of what is given.
  static constexpr std::uint64_t enough_labels = 10'000'000;

  Enumerations(const CodeFunctions& own, const CodeFunctions& others,
               std::uint64_t most_labels = enough_labels)
      : own_(own), others_(others), most_labels_(most_labels) {}
  const CodeEnumeration* of(std::string_view enumerator) const {
    const CodeEnumeration* found = own_.enumeration_of(enumerator);
    return found != nullptr ? found : others_.enumeration_of(enumerator);
  }

  // False when enough was done for one backend. To look at a whole function counts as some labels.
  bool spend(std::uint64_t labels) const {
    spent_ += labels;
    return spent_ <= most_labels_;
  }

  bool spend_on_function() const { return spend(16); }

 private:
  const CodeFunctions& own_;
  const CodeFunctions& others_;
  std::uint64_t most_labels_;
  mutable std::uint64_t spent_ = 0;
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
