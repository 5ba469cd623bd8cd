#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/probe/ffi_frame.h"
#include "analyzers/probe/ffi_signature.h"

namespace opseal::ffi {

enum class QuestionKind : std::uint32_t { metadata, signature, call, threads };

struct QuestionOperand {
  std::int32_t dtype = 0;
  std::vector<std::int64_t> dims;
  // The declaration lets the kernel write it.
  bool written = false;
  // Its numbers may be indexes into another operand: all are 0, which every extent but 0 has.
  bool indexes = false;
  // A result whose buffer is that of an argument, by number; -1: its own.
  std::int32_t shares = -1;
};

// What a child is asked about one handler.
struct Question {
  QuestionKind kind = QuestionKind::metadata;
  // Path.
  std::string library;
  std::string symbol;
  std::vector<QuestionOperand> arguments;
  std::vector<QuestionOperand> results;
  std::vector<Attribute> attributes;
  std::uint32_t seed = 0;
  // Minor version of the handler's headers, as the handshake told it; -1: not known.
  std::int32_t minor = -1;
  // Of `threads`: calls at once.
  std::uint32_t threads = 0;
  // The answer shall hold the bytes of the results.
  bool keeps_results = false;
};

// A buffer that is not as it should be. `index`: the first element, or the byte for `trespass`.
struct BufferDamage {
  // `argument 0`, `result 1`
  std::string buffer;
  std::int64_t index = 0;
  std::uint32_t elements = 0;
};

struct Answer {
  // Empty: the library was opened and the symbol was there.
  std::string not_loaded;
  MetadataAnswer metadata;
  // Of `signature`.
  RecoveredSignature signature;
  // Of `call` and `threads`: how the first call ended.
  CallEnd end;
  // What the handler asked its caller for and a probe has none of: `a stream of a device`. Empty:
  // nothing.
  std::string lacked;
  // Bytes next to a buffer that were written; `index` is in bytes from the buffer's start.
  std::vector<BufferDamage> trespasses;
  // Arguments that were changed although nothing says that they are written.
  std::vector<BufferDamage> written_arguments;
  // Arguments that are said to be written and never were.
  std::vector<BufferDamage> unwritten_arguments;
  // Elements of results that two calls left as they were before, whatever that was.
  std::vector<BufferDamage> unwritten_results;
  // Elements of results that differ between two calls with equal arguments.
  std::vector<BufferDamage> unstable_results;
  // Of `threads`: calls whose results differ from those of a call alone, though those repeat.
  std::vector<BufferDamage> thread_results;
  // Bytes of each result after the first call, where they were asked for.
  std::vector<std::string> results;
};

std::string write_question(const Question& question);
// False: it is no question.
bool read_question(std::string_view bytes, Question& question);
std::string write_answer(const Answer& answer);
bool read_answer(std::string_view bytes, Answer& answer);

// In the child: asks the handler.
Answer ask(const Question& question);

// For `run_probe_child`.
std::string answer_question(std::string_view question);

}  // namespace opseal::ffi
