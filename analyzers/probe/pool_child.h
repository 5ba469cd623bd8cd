#pragma once

#include <poll.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/child_process.h"
#include "analyzers/probe/pool.h"

namespace opseal {

// The pool's side of one child: what was sent and heard, and what of it is an answer. The child
// runs code that nobody trusts, and whatever comes from it may be made up.
class PoolChild {
 public:
  enum class Heard {
    nothing_yet,
    answer,
    closed,  // its descriptor for answers
    broken,  // what it wrote there is no answer
    answer_too_long,
    output_too_long,
  };

  // Of `wanted` and `heard`: for answers, for output and for questions. In this order: what a child
  // printed before it answered is then seen no later than its answer.
  static constexpr std::size_t descriptors = 3;

  explicit PoolChild(const PoolOptions& options);

  // Not 0: errno, and there is no child.
  int start_error() const { return started_.error; }
  bool is_ready() const { return ready_; }
  bool is_asked() const { return key_ != 0; }
  std::size_t answered() const { return answered_; }
  ChildClock::time_point deadline() const { return deadline_; }
  const std::vector<std::string>& lacks() const { return lacks_; }

  // Needs: it is asked nothing. One that isn't ready is handed the question when it is.
  void ask(const PoolRequest& request, std::uint64_t key);

  std::array<pollfd, descriptors> wanted() const;
  Heard hear(std::span<const pollfd> heard);

  // Needs: `Heard::answer`. Can be asked again.
  PoolOutcome take_answer();
  // Ends it.
  PoolOutcome end_by(Heard heard);
  PoolOutcome end_by_time();

 private:
  Heard hear_answers();
  Heard read_frames();
  bool drain_output();
  void hand_over();
  void send();
  PoolOutcome outcome(PoolEnd end);
  void classify(int status, PoolOutcome& outcome) const;

  const PoolOptions& options_;
  Descriptor questions_;
  Descriptor answers_;
  Descriptor output_;
  StartedProgram started_;
  bool ready_ = false;
  std::vector<std::string> lacks_;

  std::string question_;
  double time_limit_ = 0;
  std::uint64_t key_ = 0;
  ChildClock::time_point start_;
  ChildClock::time_point deadline_;
  std::string to_send_;
  std::size_t sent_ = 0;
  std::string received_;
  std::string last_words_;
  Tail tail_;
  std::size_t printed_ = 0;
  std::size_t answered_ = 0;
};

}  // namespace opseal
