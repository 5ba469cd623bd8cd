#include "tests/probe_liar.h"

#include <unistd.h>

#include <string>

#include "analyzers/child_process.h"
#include "analyzers/probe/frames.h"

namespace opseal::test {
namespace {

bool say(std::string_view bytes) { return write_all(child_answer_descriptor, bytes); }

bool read_frame(FrameHeader& header, std::string& bytes) {
  bytes.clear();
  char byte = 0;
  while (bytes.size() < sizeof header && ::read(STDIN_FILENO, &byte, 1) == 1) bytes += byte;
  if (bytes.size() < sizeof header) return false;
  header = *header_of(bytes);
  bytes.clear();
  while (bytes.size() < header.length && ::read(STDIN_FILENO, &byte, 1) == 1) bytes += byte;
  return bytes.size() == header.length;
}

[[noreturn]] void wait_for_ever() {
  for (;;) ::pause();
}

void lie(std::string_view kind, std::uint64_t key) {
  const FrameHeader answer{FrameKind::answer, 0, key};
  if (kind == "twice") say(frame(answer, "one") + frame(answer, "two"));
  if (kind == "again") {
    say(frame(answer, "one"));
    ::usleep(400000);
    say(frame(answer, "two"));
  }
  if (kind == "key") say(frame({FrameKind::answer, 0, key + 1}, "an answer"));
  if (kind == "none") say(frame({FrameKind::answer, 0, 0}, "an answer"));
  if (kind == "kind") say(frame({static_cast<FrameKind>(77), 0, key}, "an answer"));
  if (kind == "ready") say(frame({FrameKind::ready}, "no lack"));
  if (kind == "setup") say(frame({FrameKind::setup}, ""));
  if (kind == "words") say(frame({FrameKind::last_words, 0, key}, std::string(5000, 'w')));
  if (kind == "chatter") {
    for (int turn = 0; turn < 1000; ++turn) say(frame({FrameKind::last_words, 0, key}, "words"));
    say(frame(answer, "at last"));
  }
  if (kind == "half") {
    FrameHeader longer = answer;
    longer.length = 1000;
    std::string bytes = frame(answer, "half of it");
    bytes.replace(0, sizeof longer,
                  std::string(reinterpret_cast<const char*>(&longer), sizeof longer));
    say(bytes);
    ::_exit(4);
  }
  if (kind == "endless") {
    FrameHeader longer = answer;
    longer.length = ~std::uint64_t{0};
    say({reinterpret_cast<const char*>(&longer), sizeof longer});
    wait_for_ever();
  }
  if (kind == "silent") wait_for_ever();
}

}  // namespace

int run_liar() {
  FrameHeader header;
  std::string bytes;
  if (!read_frame(header, bytes)) return 1;
  say(frame({FrameKind::ready}, "a liar\n"));
  while (read_frame(header, bytes)) {
    if (bytes.starts_with("lie ")) {
      lie(bytes.substr(4), header.key);
    } else {
      say(frame({FrameKind::answer, 0, header.key}, bytes));
    }
  }
  return 0;
}

}  // namespace opseal::test
