// Plain C kernels that lie, one for each thing that a probe checks, and honest twins. How each is
// called stands in plain.json, and which finding it must bring in tests/probe_plain_test.cpp.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <thread>

#define KERNEL extern "C" __attribute__((visibility("default")))

// --- Honest ones.

KERNEL int axpy_f32(std::size_t n, float alpha, const float* x, const float* y, float* z) {
  for (std::size_t at = 0; at < n; ++at) z[at] = alpha * x[at] + y[at];
  return 0;
}

KERNEL int axpy_f64(std::size_t n, double alpha, const double* x, const double* y, double* z) {
  for (std::size_t at = 0; at < n; ++at) z[at] = alpha * x[at] + y[at];
  return 0;
}

// Any rank, as a tensor library hands it over.
KERNEL void copy_any(const float* x, const std::int64_t* x_strides, float* y,
                     const std::int64_t* y_strides, const std::int64_t* shape, std::int32_t rank) {
  std::int64_t count = 1;
  for (std::int32_t axis = 0; axis < rank; ++axis) count *= shape[axis];
  for (std::int64_t element = 0; element < count; ++element) {
    std::int64_t left = element;
    std::ptrdiff_t from = 0;
    std::ptrdiff_t to = 0;
    for (std::int32_t axis = rank; axis-- > 0;) {
      from += left % shape[axis] * x_strides[axis];
      to += left % shape[axis] * y_strides[axis];
      left /= shape[axis];
    }
    y[to] = x[from];
  }
}

// Distances between rows alone, in the manner of BLAS, which are at least as long as a row.
KERNEL int row_sums(std::int32_t rows, std::int32_t columns, const float* a, std::int32_t lda,
                    float* s) {
  if (lda < columns || lda < 1) return 1;
  for (std::int32_t row = 0; row < rows; ++row) {
    s[row] = 0;
    for (std::int32_t column = 0; column < columns; ++column) {
      s[row] += a[static_cast<std::ptrdiff_t>(row) * lda + column];
    }
  }
  return 0;
}

// Strides in bytes, and none of them negative.
KERNEL void negate_bytes(const char* x, std::uint64_t step, char* y, std::size_t n) {
  for (std::size_t at = 0; at < n; ++at) {
    std::int32_t value = 0;
    std::memcpy(&value, x + at * step, sizeof value);
    value = -value;
    std::memcpy(y + at * sizeof value, &value, sizeof value);
  }
}

// Refuses what is not dense.
KERNEL std::int32_t dense_only(const float* x, std::int64_t stride, float* y, std::int64_t n) {
  if (stride != 1) return -7;
  for (std::int64_t at = 0; at < n; ++at) y[at] = x[at] + 1;
  return 0;
}

// Adds in another order where it can go faster.
KERNEL void sum_fast(const float* x, std::int64_t stride, float* s, std::int64_t n) {
  float sums[4] = {0, 0, 0, 0};
  for (std::int64_t at = 0; at < n; ++at) {
    sums[stride == 1 ? at % 4 : 0] += x[at * stride] * 0.1F;
  }
  s[0] = sums[0] + sums[1] + sums[2] + sums[3];
}

// Hands its result back.
KERNEL float dot_f32(std::int64_t n, const float* x, const float* y) {
  float sum = 0;
  for (std::int64_t at = 0; at < n; ++at) sum += x[at] * y[at];
  return sum;
}

KERNEL double dot_f64(std::int64_t n, const double* x, const double* y) {
  double sum = 0;
  for (std::int64_t at = 0; at < n; ++at) sum += x[at] * y[at];
  return sum;
}

KERNEL std::int8_t first_sign(std::int64_t n, const float* x) {
  return n == 0 ? std::int8_t{0} : x[0] < 0 ? std::int8_t{-1} : std::int8_t{1};
}

// What it is declared to write, it writes, through the strides too.
KERNEL void scale_in_place(float* x, std::int64_t stride, int n) {
  for (int at = 0; at < n; ++at) x[at * stride] *= 3;
}

// A constant, a workspace that isn't there, sizes of every kind.
KERNEL int many_arguments(int mode, const void* workspace, std::uint8_t rank, std::size_t size,
                          std::size_t bytes, std::int16_t last, double half, bool on,
                          const float* x, float* y) {
  if (mode != 101 || workspace != nullptr || rank != 2 || bytes != 4 * size || !on) return 1;
  if (size > 0 && size % static_cast<std::size_t>(last) != 0) return 2;
  for (std::size_t at = 0; at < size; ++at) y[at] = static_cast<float>(x[at] * half);
  return 0;
}

// What a caller from C++ has to catch.
KERNEL int throws_on_many(const float* x, float* y, std::int64_t n) {
  if (n > 1000) throw std::length_error("too many");
  for (std::int64_t at = 0; at < n; ++at) y[at] = x[at];
  return 0;
}

// --- Lying ones.

// Nothing is further off than another sign.
KERNEL float dot_wrong(std::int64_t n, const float* x, const float* y) { return -dot_f32(n, x, y); }

// Takes strides, and goes by sizes.
KERNEL void ignores_strides(const float* x, const std::int64_t*, float* y, const std::int64_t*,
                            const std::int64_t* shape) {
  for (std::int64_t at = 0; at < shape[0] * shape[1]; ++at) y[at] = x[at];
}

// Reads them in the wrong order.
KERNEL void swaps_strides(const float* x, std::int64_t row, std::int64_t column, float* y,
                          std::int64_t rows, std::int64_t columns) {
  // The fast way is right.
  if (column == 1 && row == columns) {
    for (std::int64_t at = 0; at < rows * columns; ++at) y[at] = x[at];
    return;
  }
  for (std::int64_t at = 0; at < rows * columns; ++at) {
    y[at] = x[at % columns * row + at / columns * column];
  }
}

// Writes the whole row of a result with gaps.
KERNEL void fills_gaps(const float* x, float* y, std::int64_t stride, std::int64_t n) {
  for (std::int64_t at = 0; at < n; ++at) {
    y[at * stride] = x[at];
    if (at + 1 < n && stride > 1) y[at * stride + 1] = 0;
  }
}

KERNEL void writes_past(const float* x, float* y, std::int32_t n) {
  for (std::int32_t at = 0; at <= n; ++at) y[at] = at < n ? x[at] : 0;
}

KERNEL void leaves_tail(const float* x, float* y, std::int64_t n) {
  for (std::int64_t at = 0; at < n / 2 * 2; ++at) y[at] = x[at];
}

KERNEL void writes_input(float* x, float* y, std::int64_t n) {
  for (std::int64_t at = 0; at < n; ++at) {
    y[at] = x[at];
    x[at] = 0;
  }
}

KERNEL void thirds_f32(const float* x, float* y, std::int64_t n) {
  for (std::int64_t at = 0; at < n; ++at) y[at] = x[at] * 0.333F;
}

KERNEL void thirds_f64(const double* x, double* y, std::int64_t n) {
  for (std::int64_t at = 0; at < n; ++at) y[at] = x[at] / 3;
}

// Says no to what it is declared to serve.
KERNEL int refuses_all(const float*, float*, std::int64_t) { return 22; }

KERNEL void divides(const float* x, float* y, std::int64_t n) {
  volatile int count = static_cast<int>(n);
  const int share = 1000 / count;
  y[0] = x[0] * static_cast<float>(share);
}

// Adds up in memory that all calls share.
KERNEL void shared_memory(const float* x, float* y, std::int64_t n) {
  static std::atomic<float> sum;
  sum = 0;
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  for (std::int64_t at = 0; at < n; ++at) sum = sum + x[at];
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  y[0] = sum;
}
