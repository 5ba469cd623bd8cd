// The child's side: opens the library and calls the kernel.

#include <dlfcn.h>

#include <exception>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include "analyzers/probe/ffi_question.h"
#include "analyzers/probe/ffi_stages.h"
#include "analyzers/probe/guarded_buffer.h"
#include "analyzers/probe/handed_out.h"
#include "analyzers/probe/kernel_probe.h"
#include "analyzers/probe/plain_call.h"

namespace opseal::ffi {
namespace {

// Never closed: kernels keep objects and threads of their own.
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

void* find_symbol(const Question& question, const std::string& name, std::string& error) {
  if (question.handed) return find_handed_out(name, error);
  void* library = open_library(question.library, error);
  if (library == nullptr) return nullptr;
  void* symbol = ::dlsym(library, name.c_str());
  if (symbol == nullptr) error = "the library exports no `" + name + '`';
  return symbol;
}

KernelCall handler_call(Handler* handler, const Question& question,
                        const std::shared_ptr<EarlyStages>& early) {
  return [handler, &question, early](std::vector<BufferView> arguments,
                                     std::vector<BufferView> results) {
    const KernelEnd& made = early->instantiate();
    if (made.end.how != CallEnd::How::returned) return made;
    Context context(question.minor, &early->kept());
    KernelEnd before = early->before(context, arguments, results);
    if (before.end.how != CallEnd::How::returned) return before;
    return run_stage(handler, execute, question, context, std::move(arguments), std::move(results));
  };
}

}  // namespace

Answer ask(const Question& question) {
  Answer answer;
  if (question.kind == QuestionKind::handed) {
    answer.handed = handed_out().handlers;
    answer.not_loaded = handed_out().problem;
    return answer;
  }
  const auto find = [&](const std::string& name) {
    return find_symbol(question, name, answer.not_loaded);
  };
  void* symbol = find(question.symbol);
  if (symbol == nullptr) return answer;
  auto* handler = reinterpret_cast<Handler*>(symbol);
  const auto early = std::make_shared<EarlyStages>(question, [&find](const std::string& name) {
    return reinterpret_cast<Handler*>(find(name));
  });
  // One of the stages before it is not there.
  if (!answer.not_loaded.empty()) return answer;
  const KernelCall kernel =
      question.plain ? plain_call(symbol, *question.plain) : handler_call(handler, question, early);
  switch (question.kind) {
    case QuestionKind::metadata:
      answer.metadata = ask_metadata(handler);
      break;
    case QuestionKind::signature:
      answer.signature = recover_signature(handler, question.minor);
      break;
    case QuestionKind::call:
      probe_call(question, kernel, answer);
      break;
    case QuestionKind::threads:
      probe_threads(question, kernel, answer);
      break;
    case QuestionKind::view:
      probe_view(question, kernel, answer);
      break;
    case QuestionKind::values:
      probe_values(question, kernel, answer);
      break;
    case QuestionKind::handed:
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
