#include "analyzers/probe/probe_values.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "analyzers/probe/values.h"

namespace opseal {
namespace {

using Call = ProbeValues::Call;

std::span<const unsigned char> bytes_of(const std::string& text) {
  return {reinterpret_cast<const unsigned char*>(text.data()), text.size()};
}

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

struct Bounds {
  std::optional<double> ulp;
  std::optional<double> relative;
  std::optional<double> absolute;

  bool any() const { return ulp || relative || absolute; }
};

Bounds bounds_of(const Fact& kernel) {
  Bounds bounds;
  const Fact precision = kernel[Key::precision];
  const auto read = [&precision](Key key) -> std::optional<double> {
    if (!precision[key].is_number()) return {};
    return precision[key].number();
  };
  bounds.ulp = read(Key::max_ulp);
  bounds.relative = read(Key::max_relative);
  bounds.absolute = read(Key::max_absolute);
  return bounds;
}

// How far two kernels that keep their bounds may be apart. A unit in which only one of the two
// states anything says nothing, but that a unit of 64-bit numbers is nothing beside one of narrower
// ones.
Bounds together(const Bounds& own, const Bounds& reference, bool wider) {
  const auto sum = [](std::optional<double> a, std::optional<double> b) -> std::optional<double> {
    if (!a || !b) return {};
    return *a + *b;
  };
  Bounds bounds{own.ulp, sum(own.relative, reference.relative),
                sum(own.absolute, reference.absolute)};
  if (!wider) bounds.ulp = sum(own.ulp, reference.ulp);
  // Of a wider one that states nothing nobody knows how good it is.
  if (wider && !reference.any()) bounds.ulp.reset();
  return bounds;
}

// How far a value is off, in the unit in which it is furthest beyond its bound.
struct Excess {
  double amount = 0;
  std::string expected;
  std::string seen;
};

std::optional<Excess> excess(const Bounds& bounds, const ffi::DtypeInfo& dtype, double value,
                             double reference) {
  if (std::isnan(value) && std::isnan(reference)) return {};
  if (std::isnan(value) || std::isnan(reference)) {
    if (!bounds.any()) return {};
    return Excess{1e300, number_text(reference), number_text(value)};
  }
  const double distance = value == reference ? 0 : std::fabs(value - reference);
  const double unit = unit_in_last_place(dtype, reference);
  // Each stated bound is a claim of its own. The reference is rounded to the dtype by nobody, so a
  // unit of it, or half of one, is given on top.
  std::optional<Excess> worst;
  const auto hold = [&](std::optional<double> bound, double slack, double amount,
                        const char* noun) {
    if (!bound || amount <= *bound + slack) return;
    const double excess = amount / std::max(*bound, 1e-300);
    if (worst && worst->amount >= excess) return;
    worst = Excess{excess,
                   "within " + number_text(*bound) + ' ' + noun + " of " + number_text(reference),
                   number_text(value) + ", " + number_text(amount) + ' ' + noun + " off"};
  };
  if (unit > 0) hold(bounds.ulp, 0.5, distance / unit, "ulp");
  if (reference != 0) {
    hold(bounds.relative, unit / std::fabs(reference), distance / std::fabs(reference), "relative");
  }
  hold(bounds.absolute, unit, distance, "absolute");
  return worst;
}

bool is_floating(const ffi::DtypeInfo& dtype) { return unit_in_last_place(dtype, 1.0) > 0; }

bool has_floating_result(const ProbeResult& result) {
  const auto& results = result.question.results;
  return std::any_of(results.begin(), results.end(), [](const ffi::QuestionOperand& operand) {
    const ffi::DtypeInfo* dtype = ffi::find_dtype_number(operand.dtype);
    return dtype != nullptr && is_floating(*dtype);
  });
}

bool is_wide(const ProbeResult& result) {
  const auto wide = [](const ffi::QuestionOperand& operand) {
    const ffi::DtypeInfo* dtype = ffi::find_dtype_number(operand.dtype);
    return dtype != nullptr && (!is_floating(*dtype) || dtype->bytes == 8 * parts_of(*dtype));
  };
  return std::all_of(result.question.arguments.begin(), result.question.arguments.end(), wide) &&
         std::all_of(result.question.results.begin(), result.question.results.end(), wide);
}

// Two calls were handed equal numbers: alike in everything but the width of floating dtypes.
bool are_comparable(const ProbeResult& a, const ProbeResult& b) {
  const auto alike = [](const std::vector<ffi::QuestionOperand>& one,
                        const std::vector<ffi::QuestionOperand>& other) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                      [](const ffi::QuestionOperand& x, const ffi::QuestionOperand& y) {
                        const ffi::DtypeInfo* p = ffi::find_dtype_number(x.dtype);
                        const ffi::DtypeInfo* q = ffi::find_dtype_number(y.dtype);
                        if (p == nullptr || q == nullptr || x.dims != y.dims) return false;
                        if (!x.bytes.empty() || !y.bytes.empty()) {
                          return x.dtype == y.dtype && x.bytes == y.bytes;
                        }
                        return x.dtype == y.dtype ||
                               (is_floating(*p) && is_floating(*q) && parts_of(*p) == parts_of(*q));
                      });
  };
  return alike(a.question.arguments, b.question.arguments) &&
         alike(a.question.results, b.question.results);
}

// The kernel's own call with 64-bit numbers, else an alternative's, else the first alternative's
// with the same dtypes; where calls are compared loosely, that one before all others, since a
// number that was rounded in one width may be another one in the next. Null: there is none, or this
// is the first.
const Call* choose_reference(const Call& call, bool loosely, const std::vector<const Call*>& calls,
                             const std::vector<ProbeResult>& results) {
  const ProbeResult& result = results[call.result];
  const bool wide = is_wide(result);
  const Call* own = nullptr;
  const Call* wider_alternative = nullptr;
  const Call* alternative = nullptr;
  bool first = true;
  for (const Call* other : calls) {
    if (other == &call) {
      first = false;
      continue;
    }
    const ProbeResult& other_result = results[other->result];
    if (!are_comparable(result, other_result)) continue;
    const bool is_own = other->subject == call.subject;
    if (is_wide(other_result) && !wide) {
      const Call*& place = is_own ? own : wider_alternative;
      if (place == nullptr) place = other;
    }
    const bool same_dtypes = other_result.dtypes == result.dtypes;
    if (!is_own && first && same_dtypes && alternative == nullptr) alternative = other;
  }
  if (loosely && alternative != nullptr) return alternative;
  if (own != nullptr) return own;
  return wider_alternative != nullptr ? wider_alternative : alternative;
}

// How two calls are held against each other, and what is told where they are apart.
struct Comparison {
  Bounds bounds;
  bool loosely = false;

  const char* kind() const { return loosely ? "alternative" : "value"; }
};

// Beyond half of the digits of the largest number of the result, or not a number where the other is
// one.
std::optional<Excess> loose_excess(double slack, double value, double reference) {
  if (value == reference || (std::isnan(value) && std::isnan(reference))) return {};
  const double distance = std::fabs(value - reference);
  if (distance <= slack) return {};
  return Excess{std::isfinite(distance) ? distance : 1e300, number_text(reference),
                number_text(value)};
}

void compare(const Call& call, const Call& reference, const Comparison& comparison,
             ProbeResult& result, const ProbeResult& reference_result) {
  for (std::size_t at = 0; at < call.bytes.size() && at < reference.bytes.size(); ++at) {
    const ffi::DtypeInfo* dtype = ffi::find_dtype_number(result.question.results[at].dtype);
    const ffi::DtypeInfo* other =
        ffi::find_dtype_number(reference_result.question.results[at].dtype);
    if (dtype == nullptr || other == nullptr || dtype->bytes == 0) continue;
    const std::span<const unsigned char> bytes = bytes_of(call.bytes[at]);
    const std::span<const unsigned char> expected = bytes_of(reference.bytes[at]);
    ProbeDeviation deviation;
    deviation.kind = comparison.kind();
    deviation.name = "result " + std::to_string(at);
    double worst = 0;
    // A number that was rounded in one width may be the next one in another.
    const bool same_dtypes = result.dtypes == reference_result.dtypes;
    // What is left of numbers around 1 after they cancelled may be rounding alone.
    constexpr double cancelled = 32;
    const double slack = std::max(half_of_the_digits(*dtype) * largest_magnitude(expected, *other),
                                  cancelled * unit_in_last_place(*dtype, 1.0));
    const std::size_t elements = bytes.size() / dtype->bytes;
    for (std::size_t element = 0; element < elements; ++element) {
      for (unsigned part = 0; part < parts_of(*dtype); ++part) {
        const std::optional<double> value = value_at(bytes, *dtype, element, part);
        const std::optional<double> wanted = value_at(expected, *other, element, part);
        if (!value || !wanted) continue;
        std::optional<Excess> off;
        if (is_floating(*dtype)) {
          off = comparison.loosely ? loose_excess(slack, *value, *wanted)
                                   : excess(comparison.bounds, *dtype, *value, *wanted);
        } else if (*value != *wanted && same_dtypes && comparison.bounds.any()) {
          off = Excess{1, number_text(*wanted), number_text(*value)};
        }
        if (!off) continue;
        ++deviation.elements;
        if (off->amount <= worst) continue;
        worst = off->amount;
        deviation.index = static_cast<std::int64_t>(element);
        deviation.expected = off->expected + ", as `" + reference_result.identity + "` gives";
        deviation.seen = off->seen;
      }
    }
    if (deviation.elements == 0) continue;
    // Rounded in a narrower dtype, a value may fall on the other side of a step: that is true of
    // some, not of most.
    if (comparison.loosely && !same_dtypes && 2 * deviation.elements < elements * parts_of(*dtype))
      continue;
    result.deviations.push_back(std::move(deviation));
    result.status = "differs";
  }
}

}  // namespace

void ProbeValues::judge(const std::vector<ProbeSubject>& subjects,
                        std::vector<ProbeResult>& results) const {
  // Of one operator, by its fact, and in the order of the calls.
  std::map<std::pair<std::uint32_t, std::string>, std::vector<const Call*>> groups;
  for (const Call& call : calls_) {
    groups[{subjects[call.subject].op.index(), call.sizes}].push_back(&call);
  }
  for (const auto& [key, calls] : groups) {
    for (const Call* call : calls) {
      ProbeResult& result = results[call->result];
      const Bounds own = bounds_of(subjects[call->subject].kernel);
      const bool loosely = !own.any();
      const Call* reference = choose_reference(*call, loosely, calls, results);
      if (reference == nullptr) continue;
      const bool wider = is_wide(results[reference->result]) && !is_wide(result);
      const Bounds others = bounds_of(subjects[reference->subject].kernel);
      const Bounds bounds = together(own, others, wider);
      if (loosely) {
        // One that states a bound says how far it is off, not how far its alternatives may be.
        if (others.any() || !call->repeats || !reference->repeats) continue;
        if (!has_floating_result(result)) continue;
      } else if (!bounds.any()) {
        continue;
      }
      result.counterpart = results[reference->result].identity;
      result.loosely = loosely;
      compare(*call, *reference, {bounds, loosely}, result, results[reference->result]);
    }
  }
}

}  // namespace opseal
