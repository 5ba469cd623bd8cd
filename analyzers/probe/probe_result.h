#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzers/probe/ffi_question.h"
#include "analyzers/probe/pool.h"
#include "analyzers/probe/subjects.h"

namespace opseal {

// Something that is not as it should be; the words of `deviations[].kind`.
struct ProbeDeviation {
  std::string kind;
  // `result 0`, `argument 1 (x)`.
  std::string name;
  std::int64_t index = 0;
  std::uint32_t elements = 0;
  std::string expected;
  std::string seen;
};

// What one probe came to, as it is stated in the facts.
struct ProbeResult {
  // `metadata`, `signature`, `call`, `threads`, `library`, `jvp`, `transpose`
  std::string kind;
  std::string identity;
  // Index in the list of subjects.
  std::size_t subject = 0;
  // `passed`, `differs`, `refused`, `crashed`, `timed_out`, `no_answer`, `skipped`
  std::string status;
  std::string reason;
  // Arguments and results of a call.
  ffi::Question question;
  std::vector<std::string> dtypes;
  bool calls = false;
  bool declared = true;
  // Declared: equal inputs give equal bits; or that they don't.
  bool bit_stable = false;
  bool varies = false;
  // Identity of the call whose values these were held against; empty: of none.
  std::string counterpart;
  // Nobody states how far they may be apart.
  bool loosely = false;
  std::vector<ProbeDeviation> deviations;
  // Of derivatives: the name of the operator's input along which they are.
  std::string input;
  double seconds = 0;

  // Its process ended without an answer.
  bool has_no_end() const {
    return status == "crashed" || status == "timed_out" || status == "no_answer";
  }
};

// What the way a child ended says where there is no answer to the question of `result`. True: there
// is one.
bool read_outcome(const PoolOutcome& outcome, ffi::Answer& answer, ProbeResult& result);

// Where the library wasn't opened, or its symbol not found: the probe is skipped. True: it was.
bool was_loaded(const ffi::Answer& answer, ProbeResult& result);

// What the handshake told, held against what the library's bytes and the manifest say.
void judge_metadata(const ffi::Answer& answer, const ProbeSubject& subject, ProbeResult& result);
void judge_signature(const ffi::Answer& answer, const ProbeSubject& subject, ProbeResult& result);
void judge_call(const ffi::Answer& answer, ProbeResult& result);
void judge_threads(const ffi::Answer& answer, ProbeResult& result);

// Gives the buffers of deviations the names that the declaration has for them.
void name_buffers(const std::vector<std::string>& names, ProbeResult& result);

}  // namespace opseal
