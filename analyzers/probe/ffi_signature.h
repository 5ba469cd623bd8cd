#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzers/probe/ffi_frame.h"

namespace opseal::ffi {

// What a handler takes, as it says itself when it refuses calls.
struct RecoveredOperand {
  // As XLA spells it; empty: any.
  std::string dtype;
  // -1: any, or not told.
  int rank = -1;
};
struct RecoveredAttribute {
  std::string name;
  // `scalar`, `array`, `string`, `dictionary`; empty: not told.
  std::string kind;
  // Of scalars and arrays, as XLA spells it; empty: not told.
  std::string dtype;
};
struct RecoveredSignature {
  // `execute` and so on; empty: not told.
  std::string stage;
  std::vector<RecoveredOperand> arguments;
  std::vector<RecoveredOperand> results;
  std::vector<RecoveredAttribute> attributes;
  // Any number of further ones.
  bool more_arguments = false;
  bool more_results = false;
  // Attributes come as one dictionary, or as a struct whose members are not told: `attributes` is
  // empty.
  bool attributes_unnamed = false;
  // It takes nothing, so that nothing could be refused, and ran.
  bool ran = false;
  // Calls that were made.
  std::size_t calls = 0;
  // A refusal that this reader doesn't understand.
  std::string unread;
};

// Recovers the signature by calls that the handler has to refuse before it enters the user's
// function: a header's handler decodes every operand before that, so one that nothing accepts is
// enough. Needs: the handler answered the handshake, or somebody's word that it is one;
// hand-written handlers may do anything with such a call.
RecoveredSignature recover_signature(Handler* handler, int minor);

}  // namespace opseal::ffi
