// The child's side: opens the library and calls the kernel.

#include <dlfcn.h>

#include <exception>
#include <map>
#include <stdexcept>
#include <utility>

#include "analyzers/probe/ffi_question.h"
#include "analyzers/probe/guarded_buffer.h"
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

void* find_symbol(const Question& question, std::string& error) {
  void* library = open_library(question.library, error);
  if (library == nullptr) return nullptr;
  void* symbol = ::dlsym(library, question.symbol.c_str());
  if (symbol == nullptr) error = "the library exports no `" + question.symbol + '`';
  return symbol;
}

KernelCall handler_call(Handler* handler, const Question& question) {
  return [handler, &question](std::vector<BufferView> arguments, std::vector<BufferView> results) {
    Context context(question.minor);
    CallFrame frame(context, execute);
    frame.set_arguments(std::move(arguments));
    frame.set_results(std::move(results));
    frame.set_attributes(question.attributes);
    KernelEnd end;
    end.end = call(handler, frame);
    if (end.end.how == CallEnd::How::failed) end.lacked = context.lacked();
    return end;
  };
}

}  // namespace

Answer ask(const Question& question) {
  Answer answer;
  void* symbol = find_symbol(question, answer.not_loaded);
  if (symbol == nullptr) return answer;
  auto* handler = reinterpret_cast<Handler*>(symbol);
  const KernelCall kernel =
      question.plain ? plain_call(symbol, *question.plain) : handler_call(handler, question);
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
