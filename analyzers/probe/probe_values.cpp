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
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

struct Bounds {
  std::optional<double> ulp;
  std::optional<double> relative;
  std::optional<double> absolute;
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

// How far a value is off, in the first unit that its bounds name and in which it is too far.
struct Excess {
  double amount = 0;
  std::string expected;
  std::string seen;
};

std::optional<Excess> excess(const Bounds& bounds, const ffi::DtypeInfo& dtype, double value,
                             double reference) {
  if (std::isnan(value) && std::isnan(reference)) return {};
  const double distance = value == reference ? 0 : std::fabs(value - reference);
  const double unit = unit_in_last_place(dtype, reference);
  const auto beyond = [&](double amount, double bound, const char* noun) -> std::optional<Excess> {
    if (amount <= bound) return {};
    return Excess{amount / std::max(bound, 1e-300),
                  "within " + number_text(bound) + ' ' + noun + " of " + number_text(reference),
                  number_text(value) + ", " + number_text(amount) + ' ' + noun + " off"};
  };
  // Each stated bound is a claim of its own. The reference is rounded to the dtype by nobody, so a
  // unit of it, or half of one, is given on top.
  std::optional<Excess> worst;
  for (const std::optional<Excess>& one :
       {bounds.ulp && unit > 0 ? beyond(distance / unit, *bounds.ulp + 0.5, "ulp")
                               : std::optional<Excess>(),
        bounds.relative && reference != 0
            ? beyond(distance / std::fabs(reference),
                     *bounds.relative + unit / std::fabs(reference), "relative")
            : std::optional<Excess>(),
        bounds.absolute ? beyond(distance, *bounds.absolute + unit, "absolute")
                        : std::optional<Excess>()}) {
    if (!one) continue;
    if (!worst || one->amount > worst->amount) worst = one;
  }
  return worst;
}

bool is_floating(const ffi::DtypeInfo& dtype) { return unit_in_last_place(dtype, 1.0) > 0; }

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
                        return x.dtype == y.dtype ||
                               (is_floating(*p) && is_floating(*q) && parts_of(*p) == parts_of(*q));
                      });
  };
  return alike(a.question.arguments, b.question.arguments) &&
         alike(a.question.results, b.question.results);
}

// The kernel's own call with 64-bit numbers, else an alternative's, else the first alternative's
// with the same dtypes. Null: there is none, or this is the first.
const Call* choose_reference(const Call& call, const std::vector<const Call*>& calls,
                             const std::vector<ProbeResult>& results) {
  const ProbeResult& result = results[call.result];
  const bool wide = is_wide(result);
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
    const bool own = other->subject == call.subject;
    if (is_wide(other_result) && !wide) {
      if (own) return other;
      if (wider_alternative == nullptr) wider_alternative = other;
    }
    const bool same_dtypes = other_result.dtypes == result.dtypes;
    if (!own && first && same_dtypes && alternative == nullptr) alternative = other;
  }
  return wider_alternative != nullptr ? wider_alternative : alternative;
}

void compare(const Call& call, const Call& reference, const Bounds& bounds, ProbeResult& result,
             const ProbeResult& reference_result) {
  for (std::size_t at = 0; at < call.bytes.size() && at < reference.bytes.size(); ++at) {
    const ffi::DtypeInfo* dtype = ffi::find_dtype_number(result.question.results[at].dtype);
    const ffi::DtypeInfo* other =
        ffi::find_dtype_number(reference_result.question.results[at].dtype);
    if (dtype == nullptr || other == nullptr || dtype->bytes == 0) continue;
    const std::span<const unsigned char> bytes = bytes_of(call.bytes[at]);
    const std::span<const unsigned char> expected = bytes_of(reference.bytes[at]);
    ProbeDeviation deviation;
    deviation.kind = "value";
    deviation.name = "result " + std::to_string(at);
    double worst = 0;
    // A number that was rounded in one width may be the next one in another.
    const bool same_dtypes = result.dtypes == reference_result.dtypes;
    const std::size_t elements = bytes.size() / dtype->bytes;
    for (std::size_t element = 0; element < elements; ++element) {
      for (unsigned part = 0; part < parts_of(*dtype); ++part) {
        const std::optional<double> value = value_at(bytes, *dtype, element, part);
        const std::optional<double> wanted = value_at(expected, *other, element, part);
        if (!value || !wanted) continue;
        std::optional<Excess> off;
        if (is_floating(*dtype)) {
          off = excess(bounds, *dtype, *value, *wanted);
        } else if (*value != *wanted && same_dtypes) {
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
      const Call* reference = choose_reference(*call, calls, results);
      if (reference == nullptr) continue;
      const Bounds bounds = bounds_of(subjects[call->subject].kernel);
      compare(*call, *reference, bounds, result, results[reference->result]);
    }
  }
}

}  // namespace opseal
