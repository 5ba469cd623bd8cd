#include "analyzers/clang/child.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "analyzers/child_process.h"
#include "analyzers/clang/headers_cache.h"
#include "analyzers/clang/reader.h"
#include "analyzers/clang/unit.h"
#include "analyzers/process_limits.h"

namespace opseal {
namespace {

constexpr rlim_t most_memory = rlim_t{4} << 30;

std::string read_input() {
  std::string bytes;
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return bytes;
    bytes.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

// What libclang says of a source is no concern of who started us.
void be_silent() {
  const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (null < 0) return;
  ::dup2(null, STDOUT_FILENO);
  ::dup2(null, STDERR_FILENO);
}

}  // namespace

int run_typed_child() {
  be_silent();
  limit_resource(RLIMIT_CORE, 0);
  if (can_limit_memory()) limit_resource(RLIMIT_AS, most_memory);
  RowWriter row;
  const ClangLibrary library = open_clang();
  row.text(library.open ? typed_rows::library : typed_rows::missing);
  row.text(library.open ? std::to_string(library.version) : library.reason);
  if (!write_all(child_answer_descriptor, row.bytes()) || !library.open) return 0;
  const std::string input = read_input();
  rlim_t seconds = 0;
  HeadersCache headers(library.functions, [&seconds] { give_seconds(seconds); });
  RowReader reader(input);
  for (std::size_t number = 0; !reader.at_end(); ++number) {
    const TypedQuestion question = read_question(reader);
    if (reader.broken()) return 1;
    row.clear();
    row.text(typed_rows::begin);
    row.count(number);
    if (!write_all(child_answer_descriptor, row.bytes())) return 1;
    seconds = question.seconds;
    give_seconds(seconds);
    row.clear();
    ClangUnit unit(library.functions);
    std::string problem = unit.parse(question, &headers);
    TypedFile file;
    if (problem.empty()) file = read_with_types(unit, question);
    if (problem.empty() && unit.wanted_bodies()) {
      give_seconds(seconds);
      problem = unit.parse(question, nullptr);
      if (problem.empty()) file = read_with_types(unit, question);
    }
    row.text(problem.empty() ? typed_rows::answer : typed_rows::failed);
    row.count(number);
    if (problem.empty()) {
      row.count(unit.is_full() ? 1 : 0);
      write_answer(file, row);
    } else {
      row.text(problem);
    }
    if (!write_all(child_answer_descriptor, row.bytes())) return 1;
  }
  return 0;
}

}  // namespace opseal
