#include "analyzers/probe/handed_child.h"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "analyzers/child_process.h"
#include "analyzers/python_program.h"

extern "C" {
// analyzers/probe/handed/library.S
extern const char opseal_handed_library[];
extern const char opseal_handed_library_end[];
}

namespace opseal {
int run_handed_child(std::span<char* const> arguments) {
  constexpr int unusable = 127;
  if (arguments.empty()) return unusable;
  // The interpreter finds it open: nothing is written to any disk.
  const int library = ::memfd_create("opseal-handed", 0);
  const std::string_view bytes(
      opseal_handed_library,
      static_cast<std::size_t>(opseal_handed_library_end - opseal_handed_library));
  if (library < 0 || !write_all(library, bytes)) return unusable;
  std::vector<std::string> texts{arguments[0], "-B", "-c",
                                 std::string(python_script("probe_handed")),
                                 std::to_string(library)};
  texts.insert(texts.end(), arguments.begin() + 1, arguments.end());
  std::vector<char*> words;
  for (std::string& text : texts) words.push_back(text.data());
  words.push_back(nullptr);
  ::execv(words[0], words.data());
  return unusable;
}

PoolOptions handed_pool(const std::string& program, const std::string& python,
                        const std::vector<std::string>& modules) {
  // Addresses, of which packages of that size take many, and not memory.
  constexpr std::size_t most_addresses = std::size_t{32} << 30;
  constexpr double import_seconds = 300;
  PoolOptions pool;
  pool.program = program;
  pool.arguments = {std::string(handed_child_argument), python};
  pool.arguments.insert(pool.arguments.end(), modules.begin(), modules.end());
  // What starts threads while it is imported can't be shut in, and adds up numbers in an order of
  // its own.
  pool.environment = {"JAX_PLATFORMS=cpu", "CUDA_VISIBLE_DEVICES=", "OPENBLAS_NUM_THREADS=1",
                      "OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1",     "PYTHONDONTWRITEBYTECODE=1"};
  pool.sandbox.memory_limit = most_addresses;
  pool.start_limit_seconds = import_seconds;
  return pool;
}

HandedListing list_handed(const PoolOptions& pool) {
  ffi::Question question;
  question.kind = ffi::QuestionKind::handed;
  const std::vector<PoolRequest> requests{{ffi::write_question(question)}};
  HandedListing listing;
  run_pool(pool, requests, [&listing](std::size_t, PoolOutcome outcome) {
    ffi::Answer answer;
    if (outcome.end == PoolEnd::answered && ffi::read_answer(outcome.answer, answer)) {
      listing.handlers = std::move(answer.handed);
      listing.problem = std::move(answer.not_loaded);
      return;
    }
    listing.problem = "the interpreter that imports the modules ended before it was asked";
    const std::string line = last_line(outcome);
    if (!line.empty()) listing.problem += "; it printed last: " + line;
  });
  return listing;
}

}  // namespace opseal
