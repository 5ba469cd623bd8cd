#include "analyzers/probe/pool_child.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <thread>
#include <utility>

#include "analyzers/probe/frames.h"

namespace opseal {
namespace {

constexpr std::size_t most_lacks = std::size_t{64} << 10;
constexpr std::size_t read_at_once = std::size_t{64} << 10;

// Processor time is whole seconds, and counted apart from the clock on the wall.
constexpr double most_seconds = 1e6;

void do_not_wait(const Descriptor& descriptor) {
  ::fcntl(descriptor.number(), F_SETFL, ::fcntl(descriptor.number(), F_GETFL) | O_NONBLOCK);
}

bool has_bytes(const pollfd& entry) { return (entry.revents & (POLLIN | POLLHUP | POLLERR)) != 0; }

// One whose pipe is closed has most often ended, a moment later than the pipe.
bool ends_soon(const Child& child) {
  using namespace std::chrono_literals;
  constexpr int most_looks = 50;
  for (int look = 0; look < most_looks; ++look) {
    if (child.has_ended()) return true;
    std::this_thread::sleep_for(1ms);
  }
  return child.has_ended();
}

}  // namespace

PoolChild::PoolChild(const PoolOptions& options) : options_(options), started_{Child(-1)} {
  Pipe questions = make_pipe();
  Pipe answers = make_pipe();
  Pipe output = make_pipe();
  ProgramStart start;
  start.program = options.program;
  start.arguments = options.arguments;
  start.environment = options.environment;
  start.own_session = true;
  started_ = start_program(
      start, {questions.read_end.number(), answers.write_end.number(), output.write_end.number()});
  questions_ = std::move(questions.write_end);
  answers_ = std::move(answers.read_end);
  output_ = std::move(output.read_end);
  for (const Descriptor* own : {&questions_, &answers_, &output_}) do_not_wait(*own);
  start_ = ChildClock::now();
  deadline_ = start_ + wait_of(options.start_limit_seconds);
  to_send_ = frame({FrameKind::setup}, encode(options.sandbox));
  send();
}

void PoolChild::ask(const PoolRequest& request, std::uint64_t key) {
  key_ = key;
  question_ = request.question;
  time_limit_ = request.time_limit_seconds;
  if (ready_) hand_over();
}

void PoolChild::hand_over() {
  FrameHeader header{FrameKind::question};
  const double seconds = std::isnan(time_limit_) ? 0 : std::ceil(time_limit_);
  header.seconds = static_cast<std::uint32_t>(std::clamp(seconds, 0.0, most_seconds));
  header.key = key_;
  to_send_ = frame(header, question_);
  sent_ = 0;
  last_words_.clear();
  tail_.clear();
  printed_ = 0;
  start_ = ChildClock::now();
  deadline_ = start_ + wait_of(time_limit_);
  send();
}

// As much as the pipe takes now. Whether the child still reads shows in what it answers.
void PoolChild::send() {
  while (sent_ < to_send_.size()) {
    const ssize_t written =
        ::write(questions_.number(), to_send_.data() + sent_, to_send_.size() - sent_);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) return;
    if (written <= 0) break;
    sent_ += static_cast<std::size_t>(written);
  }
  to_send_.clear();
  sent_ = 0;
}

std::array<pollfd, PoolChild::descriptors> PoolChild::wanted() const {
  // A closed descriptor is -1, which poll passes over.
  return {pollfd{answers_.number(), POLLIN, 0}, pollfd{output_.number(), POLLIN, 0},
          pollfd{to_send_.empty() ? -1 : questions_.number(), POLLOUT, 0}};
}

PoolChild::Heard PoolChild::hear(std::span<const pollfd> heard) {
  if (heard[2].revents != 0) send();
  if (has_bytes(heard[1]) && !drain_output()) return Heard::output_too_long;
  return has_bytes(heard[0]) ? hear_answers() : Heard::nothing_yet;
}

// False: more than may be printed.
bool PoolChild::drain_output() {
  std::array<char, read_at_once> buffer;
  while (printed_ <= options_.output_limit && output_.is_open()) {
    const std::string_view bytes = read_some(output_, buffer);
    if (bytes.empty()) return true;
    printed_ += bytes.size();
    tail_.add(bytes);
  }
  return printed_ <= options_.output_limit;
}

PoolChild::Heard PoolChild::hear_answers() {
  std::array<char, read_at_once> buffer;
  received_ += read_some(answers_, buffer);
  const Heard heard = read_frames();
  return heard == Heard::nothing_yet && !answers_.is_open() ? Heard::closed : heard;
}

PoolChild::Heard PoolChild::read_frames() {
  while (const std::optional<FrameHeader> header = header_of(received_)) {
    const bool is_answer = ready_ && header->kind == FrameKind::answer;
    const FrameKind expected = ready_ ? FrameKind::last_words : FrameKind::ready;
    if (!is_answer && header->kind != expected) return Heard::broken;
    if (header->key != key_ && ready_) return Heard::broken;
    if (ready_ && key_ == 0) return Heard::broken;
    if (is_answer && header->length > options_.answer_limit) return Heard::answer_too_long;
    if (!is_answer && header->length > (ready_ ? most_last_words : most_lacks)) {
      return Heard::broken;
    }
    const std::size_t size = sizeof *header + header->length;
    if (received_.size() < size) return Heard::nothing_yet;
    // It is asked one thing at a time, and this is more than an answer.
    if (is_answer) return received_.size() == size ? Heard::answer : Heard::broken;
    const std::string_view bytes =
        std::string_view(received_).substr(sizeof *header, header->length);
    if (ready_) {
      last_words_ = bytes;
    } else {
      lacks_ = decode_lines(bytes);
      ready_ = true;
      if (is_asked()) hand_over();
    }
    received_.erase(0, size);
  }
  return Heard::nothing_yet;
}

PoolOutcome PoolChild::outcome(PoolEnd end) {
  PoolOutcome outcome;
  outcome.end = end;
  outcome.seconds = std::chrono::duration<double>(ChildClock::now() - start_).count();
  outcome.output_tail = tail_.take();
  return outcome;
}

PoolOutcome PoolChild::take_answer() {
  PoolOutcome answered = outcome(PoolEnd::answered);
  answered.answer = received_.substr(sizeof(FrameHeader));
  received_.clear();
  key_ = 0;
  ++answered_;
  // From now on nothing is due.
  deadline_ = ChildClock::time_point::max();
  return answered;
}

PoolOutcome PoolChild::end_by(Heard heard) {
  bool by_itself = false;
  if (heard == Heard::closed) {
    by_itself = ends_soon(started_.child);
    drain_output();
  }
  const int status = started_.child.end();
  PoolOutcome ended = outcome(PoolEnd::exited);
  ended.code = no_exit_status;
  ended.last_words = std::move(last_words_);
  if (!ready_) {
    ended.end = PoolEnd::not_started;
    ended.code = started_.error;
  } else if (heard == Heard::output_too_long) {
    ended.end = PoolEnd::output_too_long;
    ended.code = 0;
  } else if (heard == Heard::answer_too_long) {
    ended.end = PoolEnd::answer_too_long;
    ended.code = 0;
  } else if (WIFSIGNALED(status) && (by_itself || WTERMSIG(status) != SIGKILL)) {
    ended.end = PoolEnd::signalled;
    ended.code = WTERMSIG(status);
  } else if (by_itself && WIFEXITED(status)) {
    ended.code = WEXITSTATUS(status);
  }
  return ended;
}

PoolOutcome PoolChild::end_by_time() {
  started_.child.end();
  drain_output();
  PoolOutcome ended = outcome(ready_ ? PoolEnd::timed_out : PoolEnd::not_started);
  ended.last_words = std::move(last_words_);
  return ended;
}

}  // namespace opseal
