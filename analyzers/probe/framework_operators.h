#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/probe/call_plan.h"
#include "opseal/facts.h"

namespace opseal {

// An operator of a manifest that its framework is asked to call.
struct FrameworkOperator {
  Fact op;
  // As manifest and framework say it: `lib::op`, or `op` where there is no namespace.
  std::string name;
  CallPlan calls;
  // What its process reads, as JSON: `imports`, `seed`, and `operator` with `name` and `calls`,
  // each with `identity`, `inputs` (`name`, `dtype`, `shape`, `written`, `indexes`), `outputs` and
  // `attributes` (`name`, `type`, `value`).
  std::string plan;
};

// The operators of the manifests of this system, or of manifests that name none, whose inputs are
// stated one by one. A plan without calls says why (`calls.skipped`).
std::vector<FrameworkOperator> plan_framework_operators(const Facts& facts, std::string_view system,
                                                        std::span<const std::string> imports,
                                                        std::uint32_t seed);

// What such an operator's rows may be called.
std::span<const std::string_view> operator_row_names();

}  // namespace opseal
