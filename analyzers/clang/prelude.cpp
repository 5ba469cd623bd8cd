#include "analyzers/clang/prelude.h"

#include "analyzers/clang/compile_flags.h"

namespace opseal {
namespace {

// What nvcc knows by itself. A launch is a call of one of the last functions, which clang looks
// for.
constexpr std::string_view cuda_names = R"cpp(
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __launch_bounds__(...)
#define __forceinline__ inline
#define __noinline__
#define __grid_constant__
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __align__(n) __attribute__((aligned(n)))
  struct uint3 {
    unsigned x, y, z;
  };
  struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
  };
  struct CUstream_st;
  typedef CUstream_st* cudaStream_t;
  enum cudaError_t { cudaSuccess };
  extern "C" int cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);
  extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, void* = 0);
  extern const uint3 threadIdx, blockIdx, blockDim, gridDim;
  extern const int warpSize;
)cpp";

}  // namespace

const std::string& clang_prelude(std::string_view path) {
  static const std::string plain =
      std::string(clang_standard_prelude) + std::string(clang_framework_prelude);
  static const std::string cuda = plain + std::string(cuda_names);
  return is_cuda_path(path) ? cuda : plain;
}

}  // namespace opseal
