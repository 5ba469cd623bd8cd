#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analyzers/probe/probe_result.h"
#include "analyzers/probe/subjects.h"

namespace opseal {

// One call with stated numbers, and what came of it.
struct ValueCall {
  std::size_t subject = 0;
  // Of the probe for which it is made.
  std::string identity;
  ffi::Question question;
  // Not answered: `result` says how it ended.
  bool answered = false;
  ffi::Answer answer;
  ProbeResult result;
};

// It came to its end, and was not refused.
bool is_served(const ValueCall& call);

// Of one that isn't: "is refused: only F32"
std::string end_text(const ValueCall& call);

struct DerivativeAsker {
  // Makes all of the calls.
  std::function<void(std::vector<ValueCall>&)> ask;
  std::function<bool(const std::string& identity)> is_wanted;
  // `libx.so:Symbol`, of a subject.
  std::function<const std::string&(std::size_t subject)> identity;
  // Minor version of a subject's headers.
  std::function<int(std::size_t subject)> minor;
  std::uint32_t seed = 1;
};

// Kernels that compute derivatives of another operator, by what their manifest says: what they give
// along each input, against differences of calls of that operator's kernel. A JVP is held against
// them element by element, a gradient by <J v, w> = <v, Jt w>. What differs has to do so at two of
// four points. `usable`: whether a subject can be called.
std::vector<ProbeResult> probe_derivatives(const std::vector<ProbeSubject>& subjects,
                                           const std::vector<bool>& usable,
                                           const DerivativeAsker& asker);

}  // namespace opseal
