#pragma once

#include <string>
#include <string_view>

namespace opseal {

// The one argument by which the program starts itself to run what it audits.
inline constexpr std::string_view probe_child_argument = "--probe-child";

// Answers one question. Runs code that nobody trusts: it may end the process at any time.
using ProbeAnswerer = std::string (*)(std::string_view question);

// The child's side of `run_pool`: shuts itself in (probe/sandbox.h), then reads questions from
// standard input and answers them one by one through the descriptor for answers, each with its
// length before it. Returns the exit status.
int run_probe_child(ProbeAnswerer answer);

// Last words: a text that the child sends if it can't answer any more, for example from a signal
// handler, in which this is safe. It is cut to a little less than 4 KiB. Where nothing is asked, or
// the answer is on its way already, nothing is sent.
void say_last_words(std::string_view words);

}  // namespace opseal
