// The child's side: opens the library and calls the handler.

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <cstring>
#include <exception>
#include <map>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "analyzers/probe/ffi_question.h"
#include "analyzers/probe/guarded_buffer.h"
#include "analyzers/probe/values.h"

namespace opseal::ffi {
namespace {

// What results hold before a call: in every floating dtype three numbers so far apart that a sum with
// each is another one.
constexpr unsigned char first_poison = 0xA5;
constexpr unsigned char second_poison = 0x5A;
constexpr unsigned char third_poison = 0x6B;

// Bytes of one buffer.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;

// Never closed: handlers keep objects and threads of their own.
void* open_library(const std::string& path, std::string& error) {
  static std::map<std::string, void*> opened;
  void*& handle = opened[path];
  if (handle == nullptr) handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* text = ::dlerror();
    error = text == nullptr ? "the library can't be opened" : text;
  }
  return handle;
}

Handler* find_handler(const Question& question, std::string& error) {
  void* library = open_library(question.library, error);
  if (library == nullptr) return nullptr;
  void* symbol = ::dlsym(library, question.symbol.c_str());
  if (symbol == nullptr) error = "the library exports no `" + question.symbol + '`';
  return reinterpret_cast<Handler*>(symbol);
}

const DtypeInfo& dtype_of(const QuestionOperand& operand) {
  const DtypeInfo* dtype = find_dtype_number(operand.dtype);
  if (dtype == nullptr) throw std::invalid_argument("no dtype has this number");
  return *dtype;
}

std::size_t bytes_of(const QuestionOperand& operand) {
  std::uint64_t bytes = dtype_of(operand).bytes;
  for (const std::int64_t extent : operand.dims) {
    if (extent < 0 || static_cast<std::uint64_t>(extent) > most_bytes) {
      throw std::invalid_argument("a buffer of such an extent is not made");
    }
    bytes *= static_cast<std::uint64_t>(extent);
    if (bytes > most_bytes) throw std::invalid_argument("a buffer of this size is not made");
  }
  return static_cast<std::size_t>(bytes);
}

using Bytes = std::vector<unsigned char>;

void note(BufferDamage& damage, std::size_t element) {
  if (damage.elements++ == 0) damage.index = static_cast<std::int64_t>(element);
}

// The buffers of one call, and what was in them. There are two sets: in one each buffer ends beside
// pages that can't be touched, in the other it begins there.
class Operation {
 public:
  using Side = GuardedBuffer::Side;

  Operation(const Question& question, Handler* handler) : question_(question), handler_(handler) {
    for (Buffers* set : {&ending_, &starting_}) {
      const Side side = set == &ending_ ? Side::end : Side::start;
      for (std::size_t at = 0; at < question.arguments.size(); ++at) {
        set->arguments.emplace_back(bytes_of(question.arguments[at]),
                                    "argument_" + std::to_string(at), side);
      }
      for (std::size_t at = 0; at < question.results.size(); ++at) {
        // One that shares an argument's buffer has one of its own that nobody is handed.
        const QuestionOperand& operand = question.results[at];
        set->results.emplace_back(operand.shares < 0 ? bytes_of(operand) : 0,
                                  "result_" + std::to_string(at), side);
      }
    }
    for (const QuestionOperand& operand : question.arguments) {
      pristine_.emplace_back(bytes_of(operand));
    }
    seed(question.seed);
  }

  void seed(std::uint64_t seed) {
    for (std::size_t at = 0; at < pristine_.size(); ++at) {
      if (question_.arguments[at].indexes) continue;
      fill_values(pristine_[at], dtype_of(question_.arguments[at]), seed * 31 + at);
    }
  }

  // Numbers beyond what a kernel may cut off. False: some argument that is written has none such.
  bool seed_wild() {
    for (std::size_t at = 0; at < pristine_.size(); ++at) {
      const QuestionOperand& operand = question_.arguments[at];
      const bool wild = !operand.indexes && fill_wild(pristine_[at], dtype_of(operand));
      if (operand.written && !wild) return false;
    }
    return true;
  }

  CallEnd run(unsigned char poison, Side side) {
    Buffers& set = side == Side::end ? ending_ : starting_;
    last_ = &set;
    for (std::size_t at = 0; at < set.arguments.size(); ++at) {
      std::copy(pristine_[at].begin(), pristine_[at].end(), set.arguments[at].bytes().begin());
      set.arguments[at].mend();
    }
    for (GuardedBuffer& result : set.results) {
      std::fill(result.bytes().begin(), result.bytes().end(), poison);
      result.mend();
    }
    Context context(question_.minor);
    CallFrame frame(context, execute);
    std::vector<BufferView> arguments;
    for (std::size_t at = 0; at < set.arguments.size(); ++at) {
      arguments.push_back(view(question_.arguments[at], set.arguments[at]));
    }
    std::vector<BufferView> results;
    for (std::size_t at = 0; at < set.results.size(); ++at) {
      results.push_back(view(question_.results[at], result_buffer(set, at)));
    }
    frame.set_arguments(std::move(arguments));
    frame.set_results(std::move(results));
    frame.set_attributes(question_.attributes);
    const CallEnd end = call(handler_, frame);
    if (end.how == CallEnd::How::failed) lacked_ = context.lacked();
    return end;
  }

  const std::string& lacked() const { return lacked_; }

  // Of the last call, as all below.
  std::vector<Bytes> results() {
    std::vector<Bytes> copies;
    for (std::size_t at = 0; at < question_.results.size(); ++at) {
      const auto bytes = result_buffer(*last_, at).bytes();
      copies.emplace_back(bytes.begin(), bytes.end());
    }
    return copies;
  }

  void find_trespasses(std::vector<BufferDamage>& found) const {
    const auto look = [&found](const std::vector<GuardedBuffer>& buffers, const char* name) {
      for (std::size_t at = 0; at < buffers.size(); ++at) {
        const std::optional<std::int64_t> byte = buffers[at].trespass();
        if (byte) found.push_back({name + std::to_string(at), *byte, 1});
      }
    };
    look(last_->arguments, "argument ");
    look(last_->results, "result ");
  }

  // Arguments that are declared to be written, or not, and were the other thing.
  void find_writes(bool declared, std::vector<BufferDamage>& found) const {
    for (std::size_t at = 0; at < pristine_.size(); ++at) {
      const QuestionOperand& operand = question_.arguments[at];
      if (operand.written != declared || pristine_[at].empty() || is_shared(at)) continue;
      const std::span<const unsigned char> bytes = last_->arguments[at].bytes();
      BufferDamage damage{"argument " + std::to_string(at), -1, 0};
      const std::size_t size = dtype_of(operand).bytes;
      for (std::size_t element = 0; element * size < bytes.size(); ++element) {
        if (std::memcmp(bytes.data() + element * size, pristine_[at].data() + element * size,
                        size) != 0) {
          note(damage, element);
        }
      }
      if (declared ? damage.elements == 0 : damage.elements > 0) found.push_back(damage);
    }
  }

 private:
  struct Buffers {
    std::vector<GuardedBuffer> arguments;
    std::vector<GuardedBuffer> results;
  };

  bool is_shared(std::size_t argument) const {
    return std::any_of(question_.results.begin(), question_.results.end(),
                       [argument](const QuestionOperand& result) {
                         return result.shares == static_cast<std::int32_t>(argument);
                       });
  }

  GuardedBuffer& result_buffer(Buffers& set, std::size_t at) const {
    const std::int32_t shares = question_.results[at].shares;
    return shares < 0 ? set.results[at] : set.arguments.at(static_cast<std::size_t>(shares));
  }

  static BufferView view(const QuestionOperand& operand, GuardedBuffer& buffer) {
    BufferView view{operand.dtype, operand.dims, buffer.bytes().data()};
    if (operand.dtype == token_dtype) view.data = nullptr;
    return view;
  }

  const Question& question_;
  Handler* handler_;
  std::string lacked_;
  Buffers ending_;
  Buffers starting_;
  Buffers* last_ = &ending_;
  std::vector<Bytes> pristine_;
};

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
    return end.how == CallEnd::How::returned;
  };
  if (!run(second_poison, runs.second[0])) return false;
  operation.find_trespasses(answer.trespasses);
  if (runs.first == runs.second[0]) return true;
  return run(first_poison, runs.again[0]) && run(second_poison, runs.second[1]) &&
         run(third_poison, runs.third[0]) && run(first_poison, runs.again[1]) &&
         run(third_poison, runs.third[1]);
}

void ask_call(const Question& question, Handler* handler, Answer& answer) {
  using Side = GuardedBuffer::Side;
  Operation operation(question, handler);
  answer.end = operation.run(first_poison, Side::end);
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
    answer.unstable_results.push_back({"call", 1, 1});
  } else if (!runs.third[1].empty()) {
    compare_runs(question, runs, answer);
  }
  if (answer.unwritten_arguments.empty()) return;
  // Equal bytes may be what the kernel makes of them: other numbers tell, if they are wild enough.
  std::vector<BufferDamage> still;
  if (operation.seed_wild() &&
      operation.run(first_poison, Side::end).how == CallEnd::How::returned) {
    operation.find_writes(true, still);
  }
  answer.unwritten_arguments = std::move(still);
}

// The first calls of the process, all at once, and then one after the other.
void ask_threads(const Question& question, Handler* handler, Answer& answer) {
  constexpr auto side = GuardedBuffer::Side::end;
  const std::uint32_t count = std::clamp<std::uint32_t>(question.threads, 1, 256);
  std::vector<std::unique_ptr<Operation>> operations;
  for (std::uint32_t at = 0; at < count; ++at) {
    operations.push_back(std::make_unique<Operation>(question, handler));
  }
  std::vector<CallEnd> ends(count);
  {
    std::barrier start(static_cast<std::ptrdiff_t>(count));
    std::vector<std::thread> threads;
    for (std::uint32_t at = 0; at < count; ++at) {
      threads.emplace_back([&, at] {
        start.arrive_and_wait();
        ends[at] = operations[at]->run(first_poison, side);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::vector<std::vector<Bytes>> together;
  for (const std::unique_ptr<Operation>& operation : operations) {
    together.push_back(operation->results());
  }
  answer.end = operations[0]->run(first_poison, side);
  answer.lacked = operations[0]->lacked();
  const std::vector<Bytes> alone = operations[0]->results();
  operations[0]->run(first_poison, side);
  const bool repeats = alone == operations[0]->results();
  for (std::uint32_t at = 0; at < count; ++at) {
    const bool other_end = ends[at].how != answer.end.how || ends[at].code != answer.end.code;
    if (!other_end && (!repeats || together[at] == alone)) continue;
    answer.thread_results.push_back({"call", static_cast<std::int64_t>(at), 1});
  }
}

}  // namespace

Answer ask(const Question& question) {
  Answer answer;
  Handler* handler = find_handler(question, answer.not_loaded);
  if (handler == nullptr) return answer;
  switch (question.kind) {
    case QuestionKind::metadata:
      answer.metadata = ask_metadata(handler);
      break;
    case QuestionKind::signature:
      answer.signature = recover_signature(handler, question.minor);
      break;
    case QuestionKind::call:
      ask_call(question, handler, answer);
      break;
    case QuestionKind::threads:
      ask_threads(question, handler, answer);
      break;
  }
  return answer;
}

std::string answer_question(std::string_view bytes) {
  static const bool tells = (tell_of_faults(), true);
  static_cast<void>(tells);
  Question question;
  if (!read_question(bytes, question)) throw std::invalid_argument("this is no question");
  Answer answer;
  try {
    answer = ask(question);
  } catch (const std::exception& exception) {
    // Of our own: what a kernel throws was caught where it was called.
    answer = {};
    answer.not_loaded = std::string("opseal can't make this call: ") + exception.what();
  }
  return write_answer(answer);
}

}  // namespace opseal::ffi
