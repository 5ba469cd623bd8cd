#include "analyzers/probe/kernel_probe.h"

#include <algorithm>
#include <array>
#include <barrier>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <thread>

#include "analyzers/probe/values.h"

namespace opseal::ffi {
namespace {

// What results hold before a call: in every floating dtype three numbers so far apart that a sum
// with each is another one.
constexpr unsigned char first_poison = 0xA5;
constexpr unsigned char second_poison = 0x5A;
constexpr unsigned char third_poison = 0x6B;

void note(BufferDamage& damage, std::size_t element) {
  if (damage.elements++ == 0) damage.index = static_cast<std::int64_t>(element);
}

// Results of calls with equal arguments.
struct Runs {
  // With the first poison, in buffers that end beside a guard; the others have those that begin
  // there.
  std::vector<Bytes> first;
  // With the second poison, twice, the first and the third, likewise.
  std::array<std::vector<Bytes>, 2> second;
  std::array<std::vector<Bytes>, 2> again;
  std::array<std::vector<Bytes>, 2> third;
};

// What follows the poison, each time, was not written, or was made of what stood there. What
// differs otherwise is unstable. A kernel that is unstable between a few values follows nothing:
// three poisons would have to give three values, and the same ones again.
void compare_runs(const Question& question, const Runs& runs, Answer& answer) {
  for (std::size_t at = 0; at < runs.first.size(); ++at) {
    const QuestionOperand& operand = question.results[at];
    const std::size_t size = dtype_of(operand).bytes;
    BufferDamage unwritten{"result " + std::to_string(at), 0, 0};
    BufferDamage unstable = unwritten;
    for (std::size_t element = 0; size > 0 && (element + 1) * size <= runs.first[at].size();
         ++element) {
      const auto same = [&](const std::vector<Bytes>& a, const std::vector<Bytes>& b) {
        return std::memcmp(a[at].data() + element * size, b[at].data() + element * size, size) == 0;
      };
      const bool equal = same(runs.first, runs.second[0]) && same(runs.first, runs.again[0]);
      if (equal) continue;
      const bool repeats = same(runs.second[0], runs.second[1]) &&
                           same(runs.again[0], runs.again[1]) && same(runs.third[0], runs.third[1]);
      const bool follows = !same(runs.second[0], runs.again[0]) &&
                           !same(runs.second[0], runs.third[0]) &&
                           !same(runs.again[0], runs.third[0]);
      note(operand.shares < 0 && repeats && follows ? unwritten : unstable, element);
    }
    if (unwritten.elements > 0) answer.unwritten_results.push_back(unwritten);
    if (unstable.elements > 0) answer.unstable_results.push_back(unstable);
  }
}

// Runs the kernel again and again in its other buffers. False: it doesn't end as it did before.
bool run_again(Operation& operation, Runs& runs, Answer& answer) {
  const auto run = [&](unsigned char poison, std::vector<Bytes>& results) {
    const CallEnd end = operation.run(poison, GuardedBuffer::Side::start);
    results = operation.results();
    if (end.how == CallEnd::How::returned) return true;
    answer.refused_again = end.message.empty() ? "no reason" : end.message;
    return false;
  };
  if (!run(second_poison, runs.second[0])) return false;
  operation.find_trespasses(answer.trespasses);
  if (runs.first == runs.second[0]) return true;
  return run(first_poison, runs.again[0]) && run(second_poison, runs.second[1]) &&
         run(third_poison, runs.third[0]) && run(first_poison, runs.again[1]) &&
         run(third_poison, runs.third[1]);
}

// Digits of a dtype half as wide: single precision, and half precision or TF32.
int half_as_many(const DtypeInfo& dtype) {
  const std::string_view name = dtype.name;
  return name == "F64" || name == "C128" ? 24 : name == "F32" || name == "C64" ? 11 : 0;
}

// All floating arguments have at least the digits that the result has.
bool may_be_full(const Question& question, const DtypeInfo& result) {
  return std::all_of(question.arguments.begin(), question.arguments.end(),
                     [&result](const QuestionOperand& operand) {
                       const DtypeInfo& dtype = dtype_of(operand);
                       const double unit = unit_in_last_place(dtype, 1);
                       return unit == 0 || unit <= unit_in_last_place(result, 1);
                     });
}

// Whether what a kernel makes of numbers with all their digits has lost half of them. Whole numbers
// and those that don't depend on the arguments say nothing. What is rounded to a dtype ends
// further down where it is small, and what lies on a grid ends there for all.
void find_narrow(const Question& question, Operation& operation, Answer& answer) {
  constexpr std::uint32_t fewest = 3;
  std::array<std::vector<Bytes>, 2> results;
  for (std::size_t run = 0; run < results.size(); ++run) {
    if (!operation.seed_full(question.seed + 101 * (run + 1))) return;
    if (operation.run(first_poison).how != CallEnd::How::returned) return;
    results[run] = operation.results();
  }
  for (std::size_t at = 0; at < question.results.size(); ++at) {
    const DtypeInfo& dtype = dtype_of(question.results[at]);
    const int digits = half_as_many(dtype);
    if (digits == 0 || !may_be_full(question, dtype)) continue;
    int most = 0;
    int largest = std::numeric_limits<int>::min();
    int lowest = std::numeric_limits<int>::max();
    BufferDamage narrow{"result " + std::to_string(at), digits, 0};
    for (std::size_t element = 0; (element + 1) * dtype.bytes <= results[0][at].size(); ++element) {
      for (unsigned part = 0; part < parts_of(dtype); ++part) {
        const double one = value_at(results[0][at], dtype, element, part).value_or(0);
        const double other = value_at(results[1][at], dtype, element, part).value_or(0);
        const bool whole = one == std::floor(one) || other == std::floor(other);
        if (whole || one == other || !std::isfinite(one) || !std::isfinite(other)) continue;
        most = std::max({most, digits_of(one), digits_of(other)});
        for (const double value : {one, other}) {
          largest = std::max(largest, std::ilogb(value));
          lowest = std::min(lowest, std::ilogb(value) - digits_of(value));
        }
        ++narrow.elements;
      }
    }
    const bool rounded = most == digits && lowest < largest - digits;
    if (rounded && narrow.elements >= fewest) answer.narrow_results.push_back(narrow);
  }
}

// A buffer after a dense call, after another one, and after a call with views.
struct Outcomes {
  const Bytes& dense;
  const Bytes& again;
  const Bytes& view;
};

// How far floating values may lie apart because sums were taken in another order. An element taken
// from a wrong place is further off.
double slack(const Bytes& bytes, const DtypeInfo& dtype) {
  return half_of_the_digits(dtype) * largest_magnitude(bytes, dtype);
}

bool is_near(const Bytes& one, const Bytes& other, const DtypeInfo& dtype, std::size_t element,
             double distance) {
  const auto begin = static_cast<std::ptrdiff_t>(element * dtype.bytes);
  const auto end = begin + static_cast<std::ptrdiff_t>(dtype.bytes);
  if (std::equal(one.begin() + begin, one.begin() + end, other.begin() + begin)) return true;
  if (unit_in_last_place(dtype, 1) == 0) return false;
  for (unsigned part = 0; part < parts_of(dtype); ++part) {
    const double a = value_at(one, dtype, element, part).value_or(0);
    const double b = value_at(other, dtype, element, part).value_or(0);
    const bool near = a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= distance;
    if (!near) return false;
  }
  return true;
}

// Some element of some result is off by more than that.
bool is_far(const Question& question, const std::vector<Bytes>& expected,
            const std::vector<Bytes>& seen) {
  for (std::size_t at = 0; at < expected.size(); ++at) {
    const DtypeInfo& dtype = dtype_of(question.results[at]);
    const double distance = slack(expected[at], dtype);
    for (std::size_t element = 0; (element + 1) * dtype.bytes <= expected[at].size(); ++element) {
      if (dtype.bytes == 0) break;
      if (!is_near(expected[at], seen[at], dtype, element, distance)) return true;
    }
  }
  return false;
}

void compare_view(const QuestionOperand& operand, const std::string& name, const Outcomes& outcomes,
                  Answer& answer) {
  const DtypeInfo& dtype = dtype_of(operand);
  BufferDamage damage{name, 0, 0};
  const double distance = slack(outcomes.dense, dtype);
  for (std::size_t element = 0; (element + 1) * dtype.bytes <= outcomes.dense.size(); ++element) {
    if (dtype.bytes == 0) break;
    // What differs from call to call anyway is no matter of views.
    if (!is_near(outcomes.dense, outcomes.again, dtype, element, distance)) continue;
    if (!is_near(outcomes.dense, outcomes.view, dtype, element, distance)) note(damage, element);
  }
  if (damage.elements > 0) answer.view_results.push_back(damage);
}

}  // namespace

void probe_call(const Question& question, const KernelCall& call, Answer& answer) {
  Operation operation(question, call);
  answer.end = operation.run(first_poison);
  answer.lacked = operation.lacked();
  operation.find_trespasses(answer.trespasses);
  operation.find_writes(false, answer.written_arguments);
  if (answer.end.how != CallEnd::How::returned) return;
  operation.find_writes(true, answer.unwritten_arguments);
  Runs runs;
  runs.first = operation.results();
  if (question.keeps_results) {
    for (const Bytes& bytes : runs.first) answer.results.emplace_back(bytes.begin(), bytes.end());
  }
  // A kernel that writes where it must not tells nothing more.
  if (!answer.trespasses.empty()) return;
  if (!run_again(operation, runs, answer)) {
    // Whether equal bytes are what the kernel makes of them was not asked.
    answer.unwritten_arguments.clear();
    return;
  }
  if (!runs.third[1].empty()) compare_runs(question, runs, answer);
  if (!answer.unwritten_arguments.empty()) {
    // Equal bytes may be what the kernel makes of them: other numbers tell, if they are wild
    // enough.
    std::vector<BufferDamage> still;
    if (operation.seed_wild() && operation.run(first_poison).how == CallEnd::How::returned) {
      operation.find_writes(true, still);
    }
    answer.unwritten_arguments = std::move(still);
  }
  find_narrow(question, operation, answer);
}

void probe_threads(const Question& question, const KernelCall& call, Answer& answer) {
  const std::uint32_t count = std::clamp<std::uint32_t>(question.threads, 1, 256);
  // Half of them have numbers of their own: memory that all calls share holds then another one's.
  std::vector<Question> questions(count, question);
  for (std::uint32_t at = 1; at < count; at += 2) questions[at].seed += at;
  std::vector<std::unique_ptr<Operation>> operations;
  for (const Question& one : questions) {
    operations.push_back(std::make_unique<Operation>(one, call));
  }
  std::vector<CallEnd> ends(count);
  {
    std::barrier start(static_cast<std::ptrdiff_t>(count));
    std::vector<std::thread> threads;
    for (std::uint32_t at = 0; at < count; ++at) {
      threads.emplace_back([&, at] {
        start.arrive_and_wait();
        ends[at] = operations[at]->run(first_poison);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::vector<std::vector<Bytes>> together;
  for (const std::unique_ptr<Operation>& operation : operations) {
    together.push_back(operation->results());
  }
  answer.end = operations[0]->run(first_poison);
  answer.lacked = operations[0]->lacked();
  const std::vector<Bytes> first = operations[0]->results();
  bool repeats = true;
  for (int again = 0; again < 3; ++again) {
    operations[0]->run(first_poison);
    repeats = repeats && first == operations[0]->results();
  }
  for (std::uint32_t at = 0; at < count; ++at) {
    const bool own = questions[at].seed != question.seed;
    const CallEnd end = own ? operations[at]->run(first_poison) : answer.end;
    const std::vector<Bytes> alone = own ? operations[at]->results() : first;
    const bool other_end = ends[at].how != end.how || ends[at].code != end.code;
    if (!other_end && (!repeats || together[at] == alone)) continue;
    const BufferDamage damage{"call", static_cast<std::int64_t>(at), 1};
    answer.thread_results.push_back(damage);
    if (!other_end && is_far(question, alone, together[at])) answer.thread_values.push_back(damage);
  }
}

void probe_view(const Question& question, const KernelCall& call, Answer& answer) {
  Question dense_question = question;
  for (auto* side : {&dense_question.arguments, &dense_question.results}) {
    for (QuestionOperand& operand : *side) operand.strides.clear();
  }
  Operation view(question, call);
  Operation dense(dense_question, call);
  dense.take_arguments(view);
  answer.end = dense.run(first_poison);
  answer.lacked = dense.lacked();
  if (answer.end.how != CallEnd::How::returned) return;
  const std::vector<Bytes> results = dense.results();
  const std::vector<Bytes> arguments = dense.arguments();
  dense.run(second_poison);
  const std::vector<Bytes> results_again = dense.results();
  const std::vector<Bytes> arguments_again = dense.arguments();
  answer.end = view.run(first_poison);
  view.find_trespasses(answer.trespasses);
  view.find_writes(false, answer.written_arguments);
  if (answer.end.how != CallEnd::How::returned) return;
  const std::vector<Bytes> view_results = view.results();
  for (std::size_t at = 0; at < results.size(); ++at) {
    compare_view(question.results[at], "result " + std::to_string(at),
                 {results[at], results_again[at], view_results[at]}, answer);
  }
  const std::vector<Bytes> view_arguments = view.arguments();
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    if (!question.arguments[at].written) continue;
    compare_view(question.arguments[at], "argument " + std::to_string(at),
                 {arguments[at], arguments_again[at], view_arguments[at]}, answer);
  }
}

void probe_values(const Question& question, const KernelCall& call, Answer& answer) {
  Operation operation(question, call);
  answer.end = operation.run(first_poison);
  answer.lacked = operation.lacked();
  if (answer.end.how != CallEnd::How::returned) return;
  const std::vector<Bytes> results = operation.results();
  const std::vector<Bytes> arguments = operation.arguments();
  for (const Bytes& bytes : results) answer.results.emplace_back(bytes.begin(), bytes.end());
  for (const Bytes& bytes : arguments) answer.arguments.emplace_back(bytes.begin(), bytes.end());
  const CallEnd again = operation.run(second_poison, GuardedBuffer::Side::start);
  if (again.how != CallEnd::How::returned || operation.results() != results ||
      operation.arguments() != arguments) {
    answer.unstable_results.push_back({"call", 0, 1});
  }
}

}  // namespace opseal::ffi
