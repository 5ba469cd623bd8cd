// Kernels that compute derivatives of others, and kernels that get them wrong. Of which operator
// each is the JVP or the gradient stands in derivatives.json, and which finding it must bring in
// tests/probe_derivatives_test.cpp.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/native/probe/handler.h"

#define KERNEL extern "C" __attribute__((visibility("default")))

using namespace fake;

namespace {

constexpr std::int32_t f32 = 11;
constexpr std::int32_t f64 = 12;

template <typename T = double>
T* in(ffi::Frame* frame, std::size_t at) {
  return static_cast<T*>(argument(frame, at).data);
}
template <typename T = double>
T* out(ffi::Frame* frame, std::size_t at) {
  return static_cast<T*>(result(frame, at).data);
}

// x[n, k] w[k]: visit(place in x, place in w).
template <typename Visit>
void for_each_place(ffi::Frame* frame, Visit visit) {
  const ffi::Buffer& x = argument(frame, 0);
  const std::int64_t rows = x.dims[0];
  const std::int64_t columns = x.dims[1];
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      visit(static_cast<std::size_t>(row * columns + column), static_cast<std::size_t>(column));
    }
  }
}

void clear(ffi::Frame* frame, std::size_t at) {
  double* begin = out(frame, at);
  std::fill(begin, begin + elements(result(frame, at)), 0.0);
}

void tangent(ffi::Frame* frame, bool of_weight) {
  const double* x = in(frame, 0);
  const double* w = in(frame, 1);
  const double* tx = in(frame, 2);
  const double* tw = in(frame, 3);
  for_each_place(frame, [&](std::size_t at, std::size_t column) {
    out(frame, 0)[at] = 2 * x[at] * tx[at] * w[column];
    if (of_weight) out(frame, 0)[at] += x[at] * x[at] * tw[column];
  });
}

// `last_row`: what columns sum up to is that of the last row alone.
void gradients(ffi::Frame* frame, double factor, bool last_row) {
  const double* x = in(frame, 0);
  const double* w = in(frame, 1);
  const double* cy = in(frame, 2);
  clear(frame, 1);
  for_each_place(frame, [&](std::size_t at, std::size_t column) {
    out(frame, 0)[at] = factor * x[at] * w[column] * cy[at];
    double& sum = out(frame, 1)[column];
    sum = (last_row ? 0 : sum) + x[at] * x[at] * cy[at];
  });
}

const Binding& two_in() {
  static const Binding binding{{{f64, 2}, {f64, 1}}, {{f64, 2}}, {}, 0};
  return binding;
}
const Binding& jvp_binding() {
  static const Binding binding{{{f64, 2}, {f64, 1}, {f64, 2}, {f64, 1}}, {{f64, 2}}, {}, 0};
  return binding;
}
const Binding& vjp_binding() {
  static const Binding binding{{{f64, 2}, {f64, 1}, {f64, 2}}, {{f64, 2}, {f64, 1}}, {}, 0};
  return binding;
}
const Binding& one_to_one() {
  static const Binding binding{{{f64}}, {{f64}}, {}, 0};
  return binding;
}
const Binding& two_to_one() {
  static const Binding binding{{{f64}, {f64}}, {{f64}}, {}, 0};
  return binding;
}

}  // namespace

// y = w x^2, with a weight for each column.
HANDLER(SquareScale, two_in()) {
  for_each_place(frame, [&](std::size_t at, std::size_t column) {
    out(frame, 0)[at] = in(frame, 1)[column] * in(frame, 0)[at] * in(frame, 0)[at];
  });
  return nullptr;
}

HANDLER(SquareScaleJvp, jvp_binding()) {
  tangent(frame, true);
  return nullptr;
}

HANDLER(SquareScaleVjp, vjp_binding()) {
  gradients(frame, 2, false);
  return nullptr;
}

// Leaves out what the weight contributes.
HANDLER(JvpLosesWeight, jvp_binding()) {
  tangent(frame, false);
  return nullptr;
}

// A factor is gone.
HANDLER(VjpLosesFactor, vjp_binding()) {
  gradients(frame, 1, false);
  return nullptr;
}

// Doesn't sum over the axis along which the weight was broadcast.
HANDLER(VjpLosesSum, vjp_binding()) {
  gradients(frame, 2, true);
  return nullptr;
}

// Gives no gradient at all for the weight, and says that it does.
HANDLER(VjpGivesNothing, vjp_binding()) {
  gradients(frame, 2, false);
  clear(frame, 1);
  return nullptr;
}

// 0 / 0 in each element.
HANDLER(VjpIsNoNumber, vjp_binding()) {
  gradients(frame, 2, false);
  for (std::size_t at = 0; at < elements(result(frame, 1)); ++at) {
    out(frame, 1)[at] = std::numeric_limits<double>::quiet_NaN();
  }
  return nullptr;
}

// Right but for what is done eight at a time.
HANDLER(VjpWrongBlocks, vjp_binding()) {
  gradients(frame, 2, false);
  const std::size_t blocks = elements(result(frame, 0)) / 8 * 8;
  for (std::size_t at = 0; at < blocks && blocks >= 64; ++at) out(frame, 0)[at] /= 2;
  return nullptr;
}

// y = A x.
HANDLER(MatVec, {{{f64, 2}, {f64, 1}}, {{f64, 1}}, {}, 0}) {
  const std::int64_t rows = argument(frame, 0).dims[0];
  const std::int64_t columns = argument(frame, 0).dims[1];
  for (std::int64_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (std::int64_t column = 0; column < columns; ++column) {
      sum += in(frame, 0)[row * columns + column] * in(frame, 1)[column];
    }
    out(frame, 0)[row] = sum;
  }
  return nullptr;
}

HANDLER(MatVecTransposed, {{{f64, 2}, {f64, 1}}, {{f64, 1}}, {}, 0}) {
  const std::int64_t rows = argument(frame, 0).dims[0];
  const std::int64_t columns = argument(frame, 0).dims[1];
  clear(frame, 0);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      out(frame, 0)[column] += in(frame, 0)[row * columns + column] * in(frame, 1)[row];
    }
  }
  return nullptr;
}

// Takes rows for columns: right where the matrix is square and symmetric.
HANDLER(MatVecIndexed, {{{f64, 2}, {f64, 1}}, {{f64, 1}}, {}, 0}) {
  const std::int64_t rows = argument(frame, 0).dims[0];
  const std::int64_t columns = argument(frame, 0).dims[1];
  clear(frame, 0);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      out(frame, 0)[column] += in(frame, 0)[column * rows + row] * in(frame, 1)[row];
    }
  }
  return nullptr;
}

// s = sum of exp(x), and exp(x) is kept for its gradient.
HANDLER(SumExp, {{{f64, 1}}, {{f64, 0}, {f64, 1}}, {}, 0}) {
  double sum = 0;
  for (std::size_t at = 0; at < elements(argument(frame, 0)); ++at) {
    out(frame, 1)[at] = std::exp(in(frame, 0)[at]);
    sum += out(frame, 1)[at];
  }
  out(frame, 0)[0] = sum;
  return nullptr;
}

HANDLER(SumExpVjp, {{{f64, 1}, {f64, 0}}, {{f64, 1}}, {}, 0}) {
  for (std::size_t at = 0; at < elements(argument(frame, 0)); ++at) {
    out(frame, 0)[at] = in(frame, 0)[at] * in(frame, 1)[0];
  }
  return nullptr;
}

// Only where all numbers are positive.
HANDLER(Log, one_to_one()) {
  for (std::size_t at = 0; at < elements(argument(frame, 0)); ++at) {
    out(frame, 0)[at] = std::log(in(frame, 0)[at]);
  }
  return nullptr;
}

HANDLER(LogJvp, two_to_one()) {
  for (std::size_t at = 0; at < elements(argument(frame, 0)); ++at) {
    out(frame, 0)[at] = in(frame, 1)[at] / in(frame, 0)[at];
  }
  return nullptr;
}

// In single precision.
HANDLER(Cosine, {{{f32}}, {{f32}}, {}, 0}) {
  for (std::size_t at = 0; at < elements(argument(frame, 0)); ++at) {
    out<float>(frame, 0)[at] = std::cos(in<float>(frame, 0)[at]);
  }
  return nullptr;
}

HANDLER(CosineJvp, {{{f32}, {f32}}, {{f32}}, {}, 0}) {
  for (std::size_t at = 0; at < elements(argument(frame, 0)); ++at) {
    out<float>(frame, 0)[at] = -std::sin(in<float>(frame, 0)[at]) * in<float>(frame, 1)[at];
  }
  return nullptr;
}

HANDLER(CosineSign, {{{f32}, {f32}}, {{f32}}, {}, 0}) {
  for (std::size_t at = 0; at < elements(argument(frame, 0)); ++at) {
    out<float>(frame, 0)[at] = std::sin(in<float>(frame, 0)[at]) * in<float>(frame, 1)[at];
  }
  return nullptr;
}

HANDLER(Relu, one_to_one()) {
  for (std::size_t at = 0; at < elements(argument(frame, 0)); ++at) {
    out(frame, 0)[at] = std::fmax(in(frame, 0)[at], 0.0);
  }
  return nullptr;
}

HANDLER(ReluVjp, two_to_one()) {
  for (std::size_t at = 0; at < elements(argument(frame, 0)); ++at) {
    out(frame, 0)[at] = in(frame, 0)[at] > 0 ? in(frame, 1)[at] : 0;
  }
  return nullptr;
}

// A gradient of a step is a choice.
HANDLER(Step, one_to_one()) {
  for (std::size_t at = 0; at < elements(argument(frame, 0)); ++at) {
    out(frame, 0)[at] = in(frame, 0)[at] > 0 ? 1 : 0;
  }
  return nullptr;
}

HANDLER(StepVjp, two_to_one()) {
  for (std::size_t at = 0; at < elements(argument(frame, 0)); ++at) {
    out(frame, 0)[at] = in(frame, 1)[at] / (1 + std::fabs(in(frame, 0)[at]));
  }
  return nullptr;
}

// --- Plain C functions.

KERNEL void scale_rows(float* y, const float* x, const float* w, std::int64_t n, std::int64_t k) {
  for (std::int64_t at = 0; at < n * k; ++at) y[at] = x[at] * w[at % k];
}

// Adds to what is there, as code for training does.
KERNEL void scale_rows_backward(float* dx, float* dw, const float* x, const float* w,
                                const float* dy, std::int64_t n, std::int64_t k) {
  for (std::int64_t at = 0; at < n * k; ++at) {
    dx[at] += w[at % k] * dy[at];
    dw[at % k] += x[at] * dy[at];
  }
}

// Writes where it has to add.
KERNEL void scale_rows_backward_writes(float* dx, float* dw, const float* x, const float* w,
                                       const float* dy, std::int64_t n, std::int64_t k) {
  for (std::int64_t at = 0; at < n * k; ++at) {
    dx[at] += w[at % k] * dy[at];
    dw[at % k] = x[at] * dy[at];
  }
}

// The places that numbers came from are what the gradient needs: no others will do.
KERNEL void sort_numbers(double* y, std::int32_t* order, const double* x, std::int64_t n) {
  for (std::int64_t at = 0; at < n; ++at) order[at] = static_cast<std::int32_t>(at);
  std::sort(order, order + n,
            [x](std::int32_t one, std::int32_t other) { return x[one] < x[other]; });
  for (std::int64_t at = 0; at < n; ++at) y[at] = x[order[at]];
}

KERNEL void sort_backward(double* dx, const std::int32_t* order, const double* dy, std::int64_t n) {
  for (std::int64_t at = 0; at < n; ++at) dx[order[at]] = dy[at];
}

KERNEL void sort_backward_leaves(double* dx, const std::int32_t* order, const double* dy,
                                 std::int64_t n) {
  for (std::int64_t at = 0; at + 1 < n; ++at) dx[order[at]] = dy[at];
}

// Takes numbers from the places into which it has to put them.
KERNEL void sort_backward_takes(double* dx, const std::int32_t* order, const double* dy,
                                std::int64_t n) {
  for (std::int64_t at = 0; at < n; ++at) dx[at] = dy[order[at]];
}

KERNEL void take_rows(double* y, const double* x, const std::int32_t* places, std::int64_t n,
                      std::int64_t k) {
  for (std::int64_t at = 0; at < n * k; ++at) y[at] = x[places[at / k] * k + at % k];
}

KERNEL void take_rows_backward(double* dx, const std::int32_t* places, const double* dy,
                               std::int64_t m, std::int64_t n, std::int64_t k) {
  std::fill(dx, dx + m * k, 0.0);
  for (std::int64_t at = 0; at < n * k; ++at) dx[places[at / k] * k + at % k] += dy[at];
}

// Right as long as all rows come from the first one.
KERNEL void take_rows_backward_first(double* dx, const std::int32_t*, const double* dy,
                                     std::int64_t m, std::int64_t n, std::int64_t k) {
  std::fill(dx, dx + m * k, 0.0);
  for (std::int64_t at = 0; at < n * k; ++at) dx[at % k] += dy[at];
}

// The value and its tangent, as a `jvp` of a framework gives them.
KERNEL void cosine_both(float* y, float* ty, const float* x, const float* tx, std::int64_t n) {
  for (std::int64_t at = 0; at < n; ++at) {
    y[at] = std::cos(x[at]);
    ty[at] = -std::sin(x[at]) * tx[at];
  }
}

KERNEL void cosine_both_sine(float* y, float* ty, const float* x, const float* tx, std::int64_t n) {
  for (std::int64_t at = 0; at < n; ++at) {
    y[at] = std::sin(x[at]);
    ty[at] = -std::sin(x[at]) * tx[at];
  }
}

// In place: what its gradient is handed as `x` is what it left there.
KERNEL void exp_in_place(double* x, std::int64_t n) {
  for (std::int64_t at = 0; at < n; ++at) x[at] = std::exp(x[at]);
}

KERNEL void exp_in_place_backward(double* dx, const double* x, const double* dy, std::int64_t n) {
  for (std::int64_t at = 0; at < n; ++at) dx[at] = x[at] * dy[at];
}

// Forgets what a row got before, where several come from one.
KERNEL void take_rows_backward_last(double* dx, const std::int32_t* places, const double* dy,
                                    std::int64_t m, std::int64_t n, std::int64_t k) {
  std::fill(dx, dx + m * k, 0.0);
  for (std::int64_t at = 0; at < n * k; ++at) dx[places[at / k] * k + at % k] = dy[at];
}

// Of rows that go to one place the last one stays, and all get the gradient of it, as is usual.
KERNEL void put_rows(double* y, const double* x, const std::int32_t* places, std::int64_t m,
                     std::int64_t n, std::int64_t k) {
  std::fill(y, y + m * k, 0.0);
  for (std::int64_t at = 0; at < n * k; ++at) y[places[at / k] * k + at % k] = x[at];
}

KERNEL void put_rows_backward(double* dx, const std::int32_t* places, const double* dy,
                              std::int64_t n, std::int64_t k) {
  for (std::int64_t at = 0; at < n * k; ++at) dx[at] = dy[places[at / k] * k + at % k];
}

// A JVP runs beside its operator, and is handed what that is handed.
KERNEL void exp_in_place_jvp(double* tx, const double* x, const double* dx, std::int64_t n) {
  for (std::int64_t at = 0; at < n; ++at) tx[at] = std::exp(x[at]) * dx[at];
}

// Of a gradient that is handed places: what calls of it give for other places says nothing.
KERNEL void sort_backward_jvp(double* tdx, const std::int32_t* order, const double* tdy,
                              std::int64_t n) {
  for (std::int64_t at = 0; at < n; ++at) tdx[order[at]] = tdy[at];
}

// One function for each dtype.
KERNEL void root_f32(float* y, const float* x, std::int64_t n) {
  for (std::int64_t at = 0; at < n; ++at) y[at] = std::sqrt(std::fabs(x[at]));
}
KERNEL void root_f64(double* y, const double* x, std::int64_t n) {
  for (std::int64_t at = 0; at < n; ++at) y[at] = std::sqrt(std::fabs(x[at]));
}
KERNEL std::int32_t root_backward_f32(float* dx, const float* x, const float* y, const float* dy,
                                      std::int64_t n) {
  for (std::int64_t at = 0; at < n; ++at) {
    if (y[at] < 0) return 1;
    dx[at] = (x[at] < 0 ? -0.5F : 0.5F) * dy[at] / y[at];
  }
  return 0;
}
KERNEL std::int32_t root_backward_f64(double* dx, const double* x, const double* y,
                                      const double* dy, std::int64_t n) {
  for (std::int64_t at = 0; at < n; ++at) {
    if (y[at] < 0) return 1;
    dx[at] = (x[at] < 0 ? -0.5 : 0.5) * dy[at] / y[at];
  }
  return 0;
}

// Reads one half of a symmetric matrix, and gives the gradient of both.
KERNEL void quadratic(double* y, const double* a, const double* v, std::int64_t n) {
  *y = 0;
  for (std::int64_t row = 0; row < n; ++row) {
    for (std::int64_t column = 0; column <= row; ++column) {
      *y += (row == column ? 1 : 2) * a[row * n + column] * v[row] * v[column];
    }
  }
}
KERNEL void quadratic_backward(double* da, const double* v, const double* dy, std::int64_t n) {
  for (std::int64_t at = 0; at < n * n; ++at) da[at] = *dy * v[at / n] * v[at % n];
}
