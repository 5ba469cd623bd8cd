// One thread asks and listens to all children, and is the one that starts them: a child dies with
// the thread that started it.

#include "analyzers/probe/pool.h"

#include <poll.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <deque>
#include <map>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "analyzers/probe/pool_child.h"

namespace opseal {
namespace {

using Clock = ChildClock;
using Heard = PoolChild::Heard;

// While it lives, writing to a child that has ended is an error and no signal.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;
  ~NoPipeSignal() {
    const timespec at_once{};
    while (!was_pending_ && ::sigtimedwait(&pipe_, nullptr, &at_once) >= 0) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_;
  sigset_t before_;
  bool was_pending_ = false;
};

// Numbers that no child can guess.
class Keys {
 public:
  std::uint64_t next() {
    for (;;) {
      if (at_ == keys_.size()) fill();
      // 0 is no key.
      if (const std::uint64_t key = keys_[at_++]; key != 0) return key;
    }
  }

 private:
  void fill() {
    // So few bytes come whole or not at all.
    while (::getrandom(keys_.data(), sizeof keys_, 0) < 0) {
      if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "getrandom");
    }
    at_ = 0;
  }

  std::array<std::uint64_t, 32> keys_{};
  std::size_t at_ = keys_.size();
};

class Pool {
 public:
  Pool(const PoolOptions& options, std::span<const PoolRequest> requests,
       const std::function<void(std::size_t, PoolOutcome)>& done)
      : options_(options), requests_(requests), done_(done) {
    // Those that need a new child come last, so that they don't end one that others could use.
    for (const bool alone : {false, true}) {
      for (std::size_t at = 0; at < requests.size(); ++at) {
        if (requests[at].alone == alone) waiting_.push_back(at);
      }
    }
    const unsigned wanted =
        options.workers != 0 ? options.workers : std::max(1u, std::thread::hardware_concurrency());
    places_.resize(std::min<std::size_t>(wanted, requests.size()));
  }

  PoolReport run() {
    for (;;) {
      for (Place& place : places_) {
        // One that can't be started has had its outcome, and the place is free again.
        while (!place.request && give_next(place)) {
        }
      }
      if (left_ == 0) return std::move(report_);
      listen();
    }
  }

 private:
  struct Place {
    std::optional<PoolChild> child;
    std::optional<std::size_t> request;
    // Of the requests: the last that this child has answered.
    std::size_t answered = 0;
  };

  // False: nothing is left to ask.
  bool give_next(Place& place) {
    if (waiting_.empty()) return false;
    const std::size_t request = waiting_.front();
    waiting_.pop_front();
    const bool wants_new = requests_[request].alone || suspects_.contains(request);
    if (place.child && wants_new && place.child->answered() > 0) place.child.reset();
    place.request = request;
    if (!place.child) {
      place.child.emplace(options_);
      if (place.child->start_error() != 0) {
        finish(place, place.child->end_by(Heard::closed));
        return true;
      }
      ++report_.children_started;
    }
    place.child->ask(requests_[request], keys_.next());
    return true;
  }

  void listen() {
    entries_.clear();
    Clock::time_point first = Clock::time_point::max();
    for (const Place& place : places_) {
      if (!place.child) continue;
      const auto wanted = place.child->wanted();
      entries_.insert(entries_.end(), wanted.begin(), wanted.end());
      first = std::min(first, place.child->deadline());
    }
    const int count = ::poll(entries_.data(), entries_.size(), milliseconds_until(first));
    if (count < 0 && errno != EINTR)
      throw std::system_error(errno, std::generic_category(), "poll");
    std::span<const pollfd> rest(entries_);
    for (Place& place : places_) {
      if (!place.child) continue;
      const std::span<const pollfd> own = rest.first(PoolChild::descriptors);
      rest = rest.subspan(PoolChild::descriptors);
      const Heard heard = count > 0 ? place.child->hear(own) : Heard::nothing_yet;
      if (heard != Heard::nothing_yet) {
        settle(place, heard);
      } else if (Clock::now() >= place.child->deadline()) {
        // Looked at behind what was heard: it may have answered while we were busy.
        fail(place, place.child->end_by_time());
      }
    }
  }

  static int milliseconds_until(Clock::time_point time) {
    if (time == Clock::time_point::max()) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(time - Clock::now()).count();
    return static_cast<int>(std::clamp<decltype(left)>(left, 0, INT_MAX));
  }

  void settle(Place& place, Heard heard) {
    if (heard != Heard::answer) {
      fail(place, place.child->end_by(heard));
      return;
    }
    note_lacks(*place.child);
    PoolOutcome outcome = place.child->take_answer();
    place.answered = *place.request;
    finish(place, std::move(outcome));
  }

  // The child has ended.
  void fail(Place& place, PoolOutcome outcome) {
    note_lacks(*place.child);
    const bool was_new = place.child->answered() == 0;
    if (!place.request) {
      report_.strays.push_back({place.answered, std::move(outcome)});
      place.child.reset();
    } else if (was_new) {
      finish(place, std::move(outcome));
    } else {
      waiting_.push_front(*place.request);
      suspects_.insert_or_assign(*place.request, PoolStray{place.answered, std::move(outcome)});
      place.child.reset();
      place.request.reset();
    }
  }

  void finish(Place& place, PoolOutcome outcome) {
    const std::size_t request = *place.request;
    const bool answered = outcome.end == PoolEnd::answered;
    if (const auto suspect = suspects_.find(request); suspect != suspects_.end()) {
      if (answered) report_.strays.push_back(std::move(suspect->second));
      suspects_.erase(suspect);
    }
    if (!answered || requests_[request].alone) place.child.reset();
    place.request.reset();
    --left_;
    done_(request, std::move(outcome));
  }

  void note_lacks(const PoolChild& child) {
    for (const std::string& lack : child.lacks()) {
      if (std::find(report_.lacks.begin(), report_.lacks.end(), lack) == report_.lacks.end()) {
        report_.lacks.push_back(lack);
      }
    }
  }

  const PoolOptions& options_;
  std::span<const PoolRequest> requests_;
  const std::function<void(std::size_t, PoolOutcome)>& done_;
  std::vector<Place> places_;
  std::deque<std::size_t> waiting_;
  // Asked again, with what the first child came to.
  std::map<std::size_t, PoolStray> suspects_;
  std::size_t left_ = requests_.size();
  Keys keys_;
  PoolReport report_;
  std::vector<pollfd> entries_;
};

}  // namespace

std::string last_line(const PoolOutcome& outcome) {
  const std::string& text = outcome.output_tail;
  const std::size_t end = text.find_last_not_of(" \n\r\t");
  if (end == text.npos) return {};
  const std::size_t before = text.rfind('\n', end);
  const std::size_t begin = before == text.npos ? 0 : before + 1;
  constexpr std::size_t most = 200;
  std::string line = text.substr(begin, end + 1 - begin);
  // Where it stands is less than what it says.
  const std::size_t assertion = line.find("Assertion `");
  if (assertion != line.npos && line.size() > most) line.erase(0, assertion);
  return line.substr(0, most);
}

PoolReport run_pool(const PoolOptions& options, std::span<const PoolRequest> requests,
                    const std::function<void(std::size_t, PoolOutcome)>& done) {
  const NoPipeSignal guard;
  return Pool(options, requests, done).run();
}

}  // namespace opseal
