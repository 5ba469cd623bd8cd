#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace opseal::test {

// What a piece of work took that was done in a process of its own.
struct Taken {
  // Empty, or how the process ended instead of coming to its end.
  std::string broken;
  // What the work returned.
  std::string answer;
  // Seconds of processor time.
  double processor = 0;
  // The most bytes of memory in use at once beyond those at its start; 0 under a sanitizer, which
  // keeps what was given back.
  std::uint64_t memory = 0;
};

// Does `work` in a child, which is ended after `seconds` of processor time: what would take hours
// fails here instead. Far more than sound work takes, since a test runs on busy machines and under
// sanitizers.
Taken run_bounded(const std::function<std::string()>& work, unsigned seconds = 60);

// What reading a file of these bytes and judging it by every rule says: a line for each message of
// a problem that makes the run incomplete, and how many libraries were read. `name`: of the file.
std::string outcome_of_file(const std::string& bytes, const std::string& name);

// The same in a child of `run_bounded`; checks that this comes to its end and takes at most so many
// bytes of memory.
std::string read_within(const std::string& bytes, const std::string& name, std::uint64_t memory);

}  // namespace opseal::test
