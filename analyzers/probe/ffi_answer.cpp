// The child's side: opens the library and calls the handler.

#include <dlfcn.h>

#include <algorithm>
#include <barrier>
#include <cstring>
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

// What results hold before a call. An element that kept both, one in each of two calls, was written
// by nobody, whatever values the kernel makes.
constexpr unsigned char first_poison = 0xA5;
constexpr unsigned char second_poison = 0x5A;

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

// The buffers of one call, and what was in them.
class Operation {
 public:
  Operation(const Question& question, Handler* handler) : question_(question), handler_(handler) {
    for (std::size_t at = 0; at < question.arguments.size(); ++at) {
      const QuestionOperand& operand = question.arguments[at];
      arguments_.emplace_back(bytes_of(operand), "argument_" + std::to_string(at));
      pristine_.emplace_back(bytes_of(operand));
    }
    for (std::size_t at = 0; at < question.results.size(); ++at) {
      // One that shares an argument's buffer has one of its own that nobody is handed.
      const QuestionOperand& operand = question.results[at];
      results_.emplace_back(operand.shares < 0 ? bytes_of(operand) : 0,
                            "result_" + std::to_string(at));
    }
    seed(question.seed);
  }

  void seed(std::uint64_t seed) {
    for (std::size_t at = 0; at < pristine_.size(); ++at) {
      if (question_.arguments[at].indexes) continue;
      fill_values(pristine_[at], dtype_of(question_.arguments[at]), seed * 31 + at);
    }
  }

  CallEnd run(unsigned char poison) {
    for (std::size_t at = 0; at < arguments_.size(); ++at) {
      std::copy(pristine_[at].begin(), pristine_[at].end(), arguments_[at].bytes().begin());
      arguments_[at].mend();
    }
    for (GuardedBuffer& result : results_) {
      std::fill(result.bytes().begin(), result.bytes().end(), poison);
      result.mend();
    }
    Context context(question_.minor);
    CallFrame frame(context, execute);
    std::vector<BufferView> arguments;
    for (std::size_t at = 0; at < arguments_.size(); ++at) {
      arguments.push_back(view(question_.arguments[at], arguments_[at]));
    }
    std::vector<BufferView> results;
    for (std::size_t at = 0; at < results_.size(); ++at) {
      results.push_back(view(question_.results[at], result_buffer(at)));
    }
    frame.set_arguments(std::move(arguments));
    frame.set_results(std::move(results));
    frame.set_attributes(question_.attributes);
    const CallEnd end = call(handler_, frame);
    if (end.how == CallEnd::How::failed) lacked_ = context.lacked;
    return end;
  }

  const std::string& lacked() const { return lacked_; }

  std::vector<Bytes> results() {
    std::vector<Bytes> copies;
    for (std::size_t at = 0; at < results_.size(); ++at) {
      const auto bytes = result_buffer(at).bytes();
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
    look(arguments_, "argument ");
    look(results_, "result ");
  }

  // Arguments that are declared to be written, or not, and were the other thing.
  void find_writes(bool declared, std::vector<BufferDamage>& found) const {
    for (std::size_t at = 0; at < arguments_.size(); ++at) {
      const QuestionOperand& operand = question_.arguments[at];
      if (operand.written != declared || pristine_[at].empty() || is_shared(at)) continue;
      const std::span<const unsigned char> bytes = arguments_[at].bytes();
      BufferDamage damage{"argument " + std::to_string(at), -1, 0};
      const std::size_t size = dtype_of(operand).bytes;
      for (std::size_t element = 0; element * size < bytes.size(); ++element) {
        if (std::equal(bytes.begin() + static_cast<std::ptrdiff_t>(element * size),
                       bytes.begin() + static_cast<std::ptrdiff_t>((element + 1) * size),
                       pristine_[at].begin() + static_cast<std::ptrdiff_t>(element * size))) {
          continue;
        }
        if (damage.elements++ == 0) damage.index = static_cast<std::int64_t>(element);
      }
      if (declared ? damage.elements == 0 : damage.elements > 0) found.push_back(damage);
    }
  }

 private:
  bool is_shared(std::size_t argument) const {
    return std::any_of(question_.results.begin(), question_.results.end(),
                       [argument](const QuestionOperand& result) {
                         return result.shares == static_cast<std::int32_t>(argument);
                       });
  }

  GuardedBuffer& result_buffer(std::size_t at) {
    const std::int32_t shares = question_.results[at].shares;
    return shares < 0 ? results_[at] : arguments_.at(static_cast<std::size_t>(shares));
  }

  static BufferView view(const QuestionOperand& operand, GuardedBuffer& buffer) {
    BufferView view{operand.dtype, operand.dims, buffer.bytes().data()};
    if (operand.dtype == token_dtype) view.data = nullptr;
    return view;
  }

  const Question& question_;
  Handler* handler_;
  std::string lacked_;
  std::vector<GuardedBuffer> arguments_;
  std::vector<GuardedBuffer> results_;
  std::vector<Bytes> pristine_;
};

bool is_filled_with(const unsigned char* bytes, std::size_t size, unsigned char value) {
  return std::all_of(bytes, bytes + size, [value](unsigned char byte) { return byte == value; });
}

void note(BufferDamage& damage, std::size_t element) {
  if (damage.elements++ == 0) damage.index = static_cast<std::int64_t>(element);
}

void compare_runs(const Question& question, const std::vector<Bytes>& first,
                  const std::vector<Bytes>& second, Answer& answer) {
  for (std::size_t at = 0; at < first.size(); ++at) {
    const QuestionOperand& operand = question.results[at];
    const std::size_t size = dtype_of(operand).bytes;
    BufferDamage unwritten{"result " + std::to_string(at), 0, 0};
    BufferDamage unstable = unwritten;
    for (std::size_t element = 0; size > 0 && (element + 1) * size <= first[at].size(); ++element) {
      const unsigned char* one = first[at].data() + element * size;
      const unsigned char* two = second[at].data() + element * size;
      if (operand.shares < 0 && is_filled_with(one, size, first_poison) &&
          is_filled_with(two, size, second_poison)) {
        note(unwritten, element);
      } else if (std::memcmp(one, two, size) != 0) {
        note(unstable, element);
      }
    }
    if (unwritten.elements > 0) answer.unwritten_results.push_back(unwritten);
    if (unstable.elements > 0) answer.unstable_results.push_back(unstable);
  }
}

void ask_call(const Question& question, Handler* handler, Answer& answer) {
  Operation operation(question, handler);
  answer.end = operation.run(first_poison);
  answer.lacked = operation.lacked();
  operation.find_trespasses(answer.trespasses);
  operation.find_writes(false, answer.written_arguments);
  if (answer.end.how != CallEnd::How::returned) return;
  operation.find_writes(true, answer.unwritten_arguments);
  const std::vector<Bytes> first = operation.results();
  if (question.keeps_results) {
    for (const Bytes& bytes : first) answer.results.emplace_back(bytes.begin(), bytes.end());
  }
  // A kernel that was stopped by its neighbours' memory tells nothing more.
  if (!answer.trespasses.empty()) return;
  const CallEnd again = operation.run(second_poison);
  if (again.how == CallEnd::How::returned) {
    compare_runs(question, first, operation.results(), answer);
  } else {
    answer.unstable_results.push_back({"call", 1, 1});
  }
  if (answer.unwritten_arguments.empty()) return;
  // Equal bytes may have been written: other values tell.
  operation.seed(std::uint64_t{question.seed} + 1000);
  std::vector<BufferDamage> still;
  if (operation.run(first_poison).how == CallEnd::How::returned) operation.find_writes(true, still);
  answer.unwritten_arguments = std::move(still);
}

// The first calls of the process, all at once, and then one after the other.
void ask_threads(const Question& question, Handler* handler, Answer& answer) {
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
  const std::vector<Bytes> alone = operations[0]->results();
  operations[0]->run(first_poison);
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
  return write_answer(ask(question));
}

}  // namespace opseal::ffi
