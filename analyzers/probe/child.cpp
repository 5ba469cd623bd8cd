#include "analyzers/probe/child.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <thread>

#include "analyzers/child_process.h"
#include "analyzers/probe/frames.h"
#include "analyzers/probe/sandbox.h"
#include "analyzers/process_limits.h"

namespace opseal {
namespace {

// Of the question that is being answered. 0: none is, or its answer is being written, into which
// nothing else may fall. A signal handler reads it.
std::atomic<std::uint64_t> current_key = 0;
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

class Questions {
 public:
  // Code that reads from standard input is to find its end there, and no questions.
  Questions() : pipe_(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, child_answer_descriptor + 1)) {
    const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    ::dup2(nothing.number(), STDIN_FILENO);
  }

  // False at the end of the input.
  bool next(FrameHeader& header, std::string& bytes) {
    if (!fill(sizeof header)) return false;
    header = *header_of(waiting());
    if (!fill(sizeof header + header.length)) return false;
    bytes.assign(waiting().substr(sizeof header, header.length));
    begin_ += sizeof header + header.length;
    return true;
  }

 private:
  std::string_view waiting() const { return std::string_view(bytes_).substr(begin_); }

  bool fill(std::size_t wanted) {
    while (waiting().size() < wanted) {
      bytes_.erase(0, begin_);
      begin_ = 0;
      std::array<char, 65536> buffer;
      const ssize_t count = ::read(pipe_.number(), buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      bytes_.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return true;
  }

  Descriptor pipe_;
  std::string bytes_;
  std::size_t begin_ = 0;
};

bool send(FrameHeader header, std::string_view bytes) {
  return write_all(child_answer_descriptor, frame(header, bytes));
}

// Processor time for a question, which all threads share. Whoever asked counts on the clock on the
// wall; this ends what goes on where he can't any more.
class ProcessorTime {
 public:
  void give(std::uint32_t seconds) {
    timespec spent{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    // Limits are whole seconds, so most questions need no new one.
    if (spent.tv_sec == given_at_ && seconds == given_) return;
    given_at_ = spent.tv_sec;
    given_ = seconds;
    give_seconds(rlim_t{seconds} * processors_ + 1);
  }

 private:
  rlim_t processors_ = std::max(1u, std::thread::hardware_concurrency());
  time_t given_at_ = -1;
  std::uint32_t given_ = 0;
};

}  // namespace

int run_probe_child(ProbeAnswerer answer) {
  // What a crash keeps from being written was of no use.
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  Questions questions;
  FrameHeader header;
  std::string bytes;
  if (!questions.next(header, bytes) || header.kind != FrameKind::setup) return 1;
  const std::vector<std::string> lacks = enter_sandbox(decode_setup(bytes));
  if (!send({FrameKind::ready}, encode_lines(lacks))) return 1;
  ProcessorTime time;
  while (questions.next(header, bytes)) {
    time.give(header.seconds);
    current_key = header.key;
    const std::string text = answer(bytes);
    std::fflush(stdout);
    current_key = 0;
    if (send({FrameKind::answer, 0, header.key}, text)) continue;
    // The code asked about has closed the descriptor: who asked sees that, and ends this process.
    // An exit status would look as if that code had chosen it.
    for (;;) ::pause();
  }
  return 0;
}

void say_last_words(std::string_view words) {
  FrameHeader header{FrameKind::last_words};
  header.key = current_key;
  if (header.key == 0) return;
  header.length = std::min(words.size(), most_last_words);
  // One call, and so short that a pipe takes it as a whole: other threads may write, too.
  const std::array parts{
      iovec{&header, sizeof header},
      iovec{const_cast<char*>(words.data()), static_cast<std::size_t>(header.length)}};
  ssize_t written = 0;
  do {
    written = ::writev(child_answer_descriptor, parts.data(), static_cast<int>(parts.size()));
  } while (written < 0 && errno == EINTR);
}

}  // namespace opseal
