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
  // That of its manifest; empty: not said.
  std::string_view system;
  CallPlan calls;
  // What its process reads, as JSON: `imports`, `seed`, and `operator` with `name` and `calls`,
  // each with `identity`, `inputs` (`name`, `dtype`, `shape`, `written`, `read_only`: it is said to
  // be left alone, `differentiable`, `indexes`), `outputs` (`dtype`, `shape`, `stated`: they are no
  // guess), `gap`: whether an argument before others is left out, and `attributes` (`name`, `type`,
  // `value`).
  std::string plan;
};

// Whether operators of manifests of that system are called by this framework: those of its own, of
// what is built on it, and of manifests that name none.
bool is_for_framework(std::string_view framework, std::string_view system);

// The operators of all manifests of which some operand has a shape. A plan without calls says why
// (`calls.skipped`), but for those of other systems.
std::vector<FrameworkOperator> plan_framework_operators(const Facts& facts, std::string_view system,
                                                        std::span<const std::string> imports,
                                                        std::uint32_t seed);

// What such an operator's rows may be called.
std::span<const std::string_view> operator_row_names();

}  // namespace opseal
