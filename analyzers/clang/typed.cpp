// Why a child, and what goes through the pipes. libclang crashes on sources that no compiler was
// tried on, and hangs on others; in this process that would be our crash. A child for each file
// would open the library each time, which takes longer than most files. So a child gets many
// questions, and writes each answer when it has it: of one that ends early the answers so far
// count, and the last `begin` tells which file it was. The texts are facts and no tree of syntax:
// what crosses the pipe is small, and a reader of it needs no libclang.

#include "analyzers/clang/typed.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <mutex>
#include <system_error>

#include "analyzers/clang/child.h"
#include "analyzers/export_child.h"
#include "opseal/side_by_side.h"

namespace opseal {
namespace {

constexpr std::size_t most_questions = 48;
constexpr std::size_t most_bytes = std::size_t{16} << 20;
constexpr std::size_t most_answer = std::size_t{64} << 20;
// The child counts the time alone that it works itself, and others may keep it waiting.
constexpr double slack = 3;

struct Batch {
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::vector<Batch> batches_of(const std::vector<TypedQuestion>& questions, unsigned threads) {
  const std::size_t share = questions.size() / std::max(1u, threads) + 1;
  std::vector<Batch> batches;
  std::size_t bytes = 0;
  for (std::size_t at = 0; at < questions.size(); ++at) {
    const bool starts = batches.empty() || bytes > most_bytes ||
                        at - batches.back().begin >= std::min(share, most_questions);
    if (starts) {
      batches.push_back({at, at});
      bytes = 0;
    }
    bytes += questions[at].text.size();
    batches.back().end = at + 1;
  }
  return batches;
}

std::string reason_of(const ChildResult& result) {
  switch (result.end) {
    case ChildEnd::signalled:
      if (result.code == SIGXCPU) return "libclang took too long";
      return "libclang was ended by signal " + std::to_string(result.code);
    case ChildEnd::timed_out:
      return "libclang took too long";
    case ChildEnd::answer_too_long:
      return "libclang found too much";
    case ChildEnd::exited:
    case ChildEnd::not_started:
      break;
  }
  return "libclang gave no answer";
}

class Asker {
 public:
  Asker(const std::string& program, const std::vector<TypedQuestion>& questions,
        TypedAnswers& answers)
      : program_(program),
        questions_(questions),
        answers_(answers),
        without_cache_(questions.size(), 0) {}

  void ask(Batch batch) {
    while (batch.begin < batch.end && !is_over_) {
      const ChildResult result = run(batch);
      if (result.end == ChildEnd::not_started) {
        give_up("can't start " + program_ + " again");
        return;
      }
      batch.begin = read(result, batch);
    }
  }

 private:
  ChildResult run(const Batch& batch) const {
    ChildRequest request;
    request.program = program_;
    request.arguments = {std::string(typed_child_argument)};
    RowWriter writer;
    for (std::size_t at = batch.begin; at < batch.end; ++at) {
      const TypedQuestion& question = questions_[at];
      if (without_cache_[at] != 0) {
        TypedQuestion plain = question;
        plain.cache.clear();
        write_question(plain, writer);
      } else {
        write_question(question, writer);
      }
      request.time_limit_seconds += slack * question.seconds + 1;
      // Headers may be precompiled first.
      if (!question.cache.empty()) request.time_limit_seconds += question.seconds;
    }
    request.input = writer.bytes();
    request.answer_limit = most_answer;
    try {
      return run_child(request);
    } catch (const std::system_error&) {
      return {};
    }
  }

  void give_up(const std::string& reason) {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    if (answers_.missing.empty()) answers_.missing = reason;
  }

  // The question behind the last one that is settled.
  std::size_t read(const ChildResult& result, const Batch& batch) {
    RowReader reader(result.answer);
    const std::string_view first = reader.text();
    const std::string said(reader.text());
    if (first == typed_rows::missing) {
      give_up(said);
      return batch.end;
    }
    if (first == typed_rows::library) {
      const std::lock_guard lock(mutex_);
      answers_.version = std::atoi(said.c_str());
    }
    std::size_t settled = batch.begin;
    while (!reader.at_end()) {
      const std::string_view row = reader.text();
      const std::size_t number = batch.begin + reader.count();
      if (reader.broken() || number < settled || number >= batch.end) break;
      TypedAnswer answer;
      if (row == typed_rows::answer) {
        answer.full = reader.count() != 0;
        answer.file = read_answer(reader);
      } else if (row == typed_rows::failed) {
        answer.problem = reader.text();
      } else {
        continue;
      }
      // The child ended while it wrote.
      if (reader.broken()) break;
      answers_.answers[number] = std::move(answer);
      settled = number + 1;
    }
    if (settled == batch.end) return settled;
    // A precompiled header may be to blame.
    if (!questions_[settled].cache.empty() && without_cache_[settled] == 0) {
      without_cache_[settled] = 1;
      return settled;
    }
    answers_.answers[settled].problem = reason_of(result);
    return settled + 1;
  }

  const std::string& program_;
  const std::vector<TypedQuestion>& questions_;
  TypedAnswers& answers_;
  // By question; those of a batch are one thread's alone.
  std::vector<char> without_cache_;
  std::mutex mutex_;
  std::atomic<bool> is_over_ = false;
};

}  // namespace

TypedAnswers ask_clang(const std::string& program, const std::vector<TypedQuestion>& questions,
                       unsigned threads) {
  TypedAnswers answers;
  answers.answers.resize(questions.size());
  const std::vector<Batch> batches = batches_of(questions, threads);
  Asker asker(program, questions, answers);
  side_by_side(threads, batches.size(), [&](std::size_t at) { asker.ask(batches[at]); });
  return answers;
}

}  // namespace opseal
