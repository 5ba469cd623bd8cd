#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "analyzers/probe/ffi_question.h"
#include "analyzers/probe/ffi_runtime.h"
#include "analyzers/probe/operation.h"

namespace opseal::ffi {

// The handlers that run before the one that does the work, as XLA runs them: `instantiate` once for
// all calls, without operands; `prepare` and `initialize` before each call, with its operands.
class EarlyStages {
 public:
  // `find`: the handler of a name. Needs: the question outlives this.
  EarlyStages(const Question& question, const std::function<Handler*(const std::string&)>& find);
  EarlyStages(const EarlyStages&) = delete;
  EarlyStages& operator=(const EarlyStages&) = delete;

  // From any thread. What `instantiate` came to.
  const KernelEnd& instantiate();
  // Where its state is kept.
  const Context& kept() const { return kept_; }

  // What the stages before a call come to, with its operands.
  KernelEnd before(Context& context, const std::vector<BufferView>& arguments,
                   const std::vector<BufferView>& results) const;

 private:
  struct Early {
    std::int32_t stage;
    Handler* handler;
  };
  KernelEnd run(const Early& early, Context& context, std::vector<BufferView> arguments,
                std::vector<BufferView> results) const;

  const Question& question_;
  std::vector<Early> handlers_;
  Context kept_;
  std::once_flag once_;
  KernelEnd made_;
};

// Calls a handler in a stage with the question's attributes: how it ended, and what it asked for in
// vain.
KernelEnd run_stage(Handler* handler, std::int32_t stage, const Question& question,
                    Context& context, std::vector<BufferView> arguments,
                    std::vector<BufferView> results);

}  // namespace opseal::ffi
