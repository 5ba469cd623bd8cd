#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What every way to run a program in a child is made of: analyzers/export_child.h runs one to its
// end, analyzers/probe/pool.h talks with many.

namespace opseal {

// Where a child writes its answer, so that what it prints can't spoil it.
inline constexpr int child_answer_descriptor = 3;

using ChildClock = std::chrono::steady_clock;

// A clock counts whole ticks: nan is 0, and over three years is cut.
ChildClock::duration wait_of(double seconds);

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void close();

 private:
  int number_ = -1;
};

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};

// Both ends are closed by exec, and lie above the descriptors that a child is given.
Pipe make_pipe();

// A file in memory that holds these bytes, to be read from its start: unlike with a pipe, a child
// that does not read it can't block who wrote it.
Descriptor make_input(std::string_view bytes);

// False where not all could be written.
bool write_all(int descriptor, std::string_view bytes);

// What one read brought. Nothing: nothing is there, or the other side has closed, and then the
// descriptor is closed, too.
std::string_view read_some(Descriptor& descriptor, std::span<char> buffer);

// The last bytes of all that was added.
class Tail {
 public:
  void add(std::string_view bytes);
  void clear() { text_.clear(); }
  std::string take() { return std::exchange(text_, {}); }

 private:
  static constexpr std::size_t most_bytes_ = std::size_t{16} << 10;
  std::string text_;
};

// A started child. Whatever way the wait for it ends, its whole group is gone afterwards.
class Child {
 public:
  explicit Child(pid_t process) : process_(process) {}
  Child(Child&& other) noexcept
      : process_(std::exchange(other.process_, -1)), status_(other.status_) {}
  Child& operator=(Child&& other) noexcept {
    std::swap(process_, other.process_);
    std::swap(status_, other.status_);
    return *this;
  }
  ~Child() { end(); }

  // Leaves the child a zombie: until it is reaped its number, and so that of its group, cannot be
  // given to another.
  bool has_ended() const;

  // Kills what is left of the group and returns the wait status.
  int end();

 private:
  pid_t process_;
  int status_ = 0;
};

struct ProgramStart {
  std::string program;                     // path of the executable
  std::vector<std::string> arguments;      // without the program itself
  std::vector<std::string> environment{};  // `NAME=value`, over what this process has
  // A session of its own, and so no terminal that it could read or write to.
  bool own_session = false;
};

struct ProgramDescriptors {
  int input = -1;
  int answer = -1;
  int output = -1;  // for standard output and standard error
};

struct StartedProgram {
  Child child;
  // Not 0: errno of the failed exec.
  int error = 0;
};

// Starts a program in a process group of its own. It dies with the calling thread. Throws
// std::system_error if the system has no process or pipe to give.
StartedProgram start_program(const ProgramStart& start, const ProgramDescriptors& descriptors);

}  // namespace opseal
