#include "analyzers/probe/ffi_stages.h"

#include <utility>

namespace opseal::ffi {
namespace {

const char* stage_name(std::int32_t stage) {
  return stage == Stage::instantiate ? "instantiate"
         : stage == Stage::prepare   ? "prepare"
                                     : "initialize";
}

}  // namespace

KernelEnd run_stage(Handler* handler, std::int32_t stage, const Question& question,
                    Context& context, std::vector<BufferView> arguments,
                    std::vector<BufferView> results) {
  CallFrame frame(context, stage);
  frame.set_arguments(std::move(arguments));
  frame.set_results(std::move(results));
  frame.set_attributes(question.attributes);
  KernelEnd end;
  end.end = call(handler, frame);
  if (end.end.how == CallEnd::How::failed) end.lacked = context.lacked();
  return end;
}

EarlyStages::EarlyStages(const Question& question,
                         const std::function<Handler*(const std::string&)>& find)
    : question_(question), kept_(question.minor) {
  for (const EarlyHandler& early : question.early) {
    handlers_.push_back({early.stage, find(early.symbol)});
  }
}

const KernelEnd& EarlyStages::instantiate() {
  std::call_once(once_, [this] {
    for (const Early& early : handlers_) {
      if (early.stage == Stage::instantiate) made_ = run(early, kept_, {}, {});
    }
  });
  return made_;
}

KernelEnd EarlyStages::before(Context& context, const std::vector<BufferView>& arguments,
                              const std::vector<BufferView>& results) const {
  for (const Early& early : handlers_) {
    if (early.stage == Stage::instantiate) continue;
    KernelEnd end = run(early, context, arguments, results);
    if (end.end.how != CallEnd::How::returned) return end;
  }
  return {};
}

KernelEnd EarlyStages::run(const Early& early, Context& context, std::vector<BufferView> arguments,
                           std::vector<BufferView> results) const {
  KernelEnd end = run_stage(early.handler, early.stage, question_, context, std::move(arguments),
                            std::move(results));
  if (end.end.how != CallEnd::How::returned) {
    end.end.message = std::string(stage_name(early.stage)) + ": " + end.end.message;
  }
  return end;
}

}  // namespace opseal::ffi
