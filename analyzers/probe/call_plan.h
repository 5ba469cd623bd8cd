#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzers/probe/declaration.h"
#include "analyzers/probe/ffi_question.h"
#include "analyzers/probe/plain_plan.h"
#include "analyzers/probe/subjects.h"

namespace opseal {

// One call of a kernel that its declaration describes, or of one that it doesn't.
struct PlannedCall {
  // `f32,f32,f32/n=3,k=5`: tells it from the other calls of its subject.
  std::string identity;
  // Dtypes by opseal's words, arguments then results.
  std::vector<std::string> dtypes;
  // Extents by the declaration's names, as in the identity.
  std::string sizes;
  // The declaration says that the kernel serves these dtypes.
  bool declared = true;
  // Arguments that this call leaves out, of a framework's operator; in order.
  std::vector<std::size_t> absent{};
  ffi::Question question;
  // Further calls that must give the same results.
  std::vector<PlannedView> views{};
};

struct CallPlan {
  std::vector<PlannedCall> calls;
  // Of results: the declaration, and no guess, says which dtype and which shape it has.
  std::vector<bool> stated;
  // Names of operands, arguments then results; empty texts where none is said.
  std::vector<std::string> names;
  // Why there are none, or not all of them.
  std::string skipped;
};

// The calls by which a kernel is probed: each declared combination of dtypes with the extents 0, 1,
// odd and larger ones; and each common dtype that isn't declared, in one size. Nothing where the
// operator states no shapes, or an attribute without a value: a call that breaks a rule which
// nobody wrote down accuses nobody.
CallPlan plan_calls(const ProbeSubject& subject, std::uint32_t seed);

// What calls of a kernel may be made of.
struct CallChoices {
  Declaration declaration;
  // Combinations of dtypes, of arguments and then of results.
  std::vector<std::vector<std::string>> dtypes;
  // Extents for the declaration's names: odd and all different, powers of two, and odd
  // ones beyond a block.
  std::vector<std::vector<std::int64_t>> sizes;
  // Why there are none, or not all of them.
  std::string skipped;
};

CallChoices call_choices(const ProbeSubject& subject);

// One such call. `sizes`: an extent for each name of the declaration.
CallPlan plan_call(const ProbeSubject& subject, const std::vector<std::string>& dtypes,
                   const std::vector<std::int64_t>& sizes);

// The calls by which a framework is asked for an operator of its registry: those that its
// declaration promises, without large extents, of each combination of dtypes of the arguments.
// Optional arguments are there, and in further calls they are not; one that stands for any number
// of operands is two, of one name. Attributes are not in the questions: a framework has them in
// words of its own.
CallPlan plan_framework_calls(const Fact& op, std::uint32_t seed);

}  // namespace opseal
