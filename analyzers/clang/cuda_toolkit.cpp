// clang reads CUDA by a header of its own that includes the toolkit's. Two things are in the way:
// it also includes `texture_fetch_functions.h`, which version 12 has no more, and most machines
// that look at sources have no toolkit at all. Files that are in memory alone help with both:
// libclang finds them in a folder that isn't there, too.

#include "analyzers/clang/cuda_toolkit.h"

#include <array>
#include <filesystem>

namespace fs = std::filesystem;

namespace opseal {

// A launch is a call of one of the last functions, which clang looks for.
constinit const std::string_view clang_cuda_prelude = R"cpp(
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
  typedef decltype(sizeof(0)) size_t;
  struct uint3 {
    unsigned x, y, z;
  };
  struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
  };
  struct int2 {
    int x, y;
  };
  struct int4 {
    int x, y, z, w;
  };
  struct float2 {
    float x, y;
  };
  struct float4 {
    float x, y, z, w;
  };
  struct CUstream_st;
  typedef CUstream_st* cudaStream_t;
  struct CUevent_st;
  typedef CUevent_st* cudaEvent_t;
  enum cudaError { cudaSuccess };
  typedef enum cudaError cudaError_t;
  enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
  extern "C" {
  cudaError_t cudaGetLastError();
  cudaError_t cudaPeekAtLastError();
  const char* cudaGetErrorString(cudaError_t);
  cudaError_t cudaDeviceSynchronize();
  cudaError_t cudaStreamSynchronize(cudaStream_t);
  cudaError_t cudaGetDevice(int*);
  cudaError_t cudaSetDevice(int);
  cudaError_t cudaMalloc(void**, size_t);
  cudaError_t cudaFree(void*);
  cudaError_t cudaMemcpy(void*, const void*, size_t, cudaMemcpyKind);
  cudaError_t cudaMemcpyAsync(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t = 0);
  cudaError_t cudaMemsetAsync(void*, int, size_t, cudaStream_t = 0);
  cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t);
  int cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);
  unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, void* = 0);
  }
  extern const __device__ uint3 threadIdx, blockIdx;
  extern const __device__ dim3 blockDim, gridDim;
  extern const __device__ int warpSize;
  __device__ void __syncthreads();
)cpp";

namespace {

constexpr std::string_view folder = "/opseal-cuda-toolkit";

constexpr std::string_view half_header = R"cpp(#pragma once
                                               struct __half {
                                                 unsigned short bits;
                                               };
                                               typedef __half half;
                                               struct __half2 {
                                                 __half x, y;
                                               };
                                               typedef __half2 half2;
)cpp";

constexpr std::string_view bfloat_header = R"cpp(#pragma once
                                                 struct __nv_bfloat16 {
                                                   unsigned short bits;
                                                 };
                                                 typedef __nv_bfloat16 nv_bfloat16;
                                                 struct __nv_bfloat162 {
                                                   __nv_bfloat16 x, y;
                                                 };
)cpp";

constexpr std::string_view driver_header = R"cpp(#pragma once
                                                 enum CUresult { CUDA_SUCCESS };
                                                 typedef CUstream_st* CUstream;
                                                 typedef unsigned long long CUdeviceptr;
                                                 typedef struct CUfunc_st* CUfunction;
                                                 typedef struct CUmod_st* CUmodule;
)cpp";

// What the prelude already says.
constexpr std::array<std::string_view, 8> said{
    "cuda_runtime.h", "cuda_runtime_api.h", "device_launch_parameters.h", "vector_types.h",
    "driver_types.h", "host_defines.h",     "device_functions.h",         "builtin_types.h"};

std::string at(std::string_view name) { return std::string(folder) + '/' + std::string(name); }

bool is_toolkit(const fs::path& place) {
  std::error_code error;
  return fs::is_regular_file(place / "include" / "cuda_runtime.h", error);
}

// Where the toolkit is; empty where there is none.
std::string toolkit_of(const std::vector<std::string>& flags) {
  constexpr std::string_view stated = "--cuda-path=";
  for (const std::string& flag : flags) {
    if (!flag.starts_with(stated)) continue;
    const std::string place = flag.substr(stated.size());
    return is_toolkit(place) ? place : std::string();
  }
  for (std::size_t number = 0; number < flags.size(); ++number) {
    for (const std::string_view flag : {"-I", "-isystem"}) {
      if (!flags[number].starts_with(flag)) continue;
      const bool is_next = flags[number].size() == flag.size() && number + 1 < flags.size();
      fs::path place = is_next ? flags[number + 1] : flags[number].substr(flag.size());
      place = place.lexically_normal();
      if (!place.has_filename()) place = place.parent_path();
      if (place.filename() == "include" && is_toolkit(place.parent_path())) {
        return place.parent_path().string();
      }
    }
  }
  return is_toolkit("/usr/local/cuda") ? "/usr/local/cuda" : "";
}

}  // namespace

CudaParse parse_with_toolkit(const std::vector<std::string>& flags) {
  CudaParse parse;
  parse.flags = flags;
  std::erase_if(parse.flags,
                [](const std::string& flag) { return flag.starts_with("--cuda-path"); });
  const std::string toolkit = toolkit_of(flags);
  if (!toolkit.empty()) {
    // The last comes with version 13 of the toolkit in a folder of its own.
    parse.flags.insert(parse.flags.end(),
                       {"--cuda-path=" + toolkit, "-idirafter", std::string(folder), "-isystem",
                        toolkit + "/include/cccl"});
    parse.files.push_back({at("texture_fetch_functions.h"), "#pragma once\n"});
    return parse;
  }
  parse.flags.insert(parse.flags.end(), {"-nocudainc", "-nocudalib", "-include", at("prelude.h"),
                                         "-isystem", std::string(folder)});
  parse.files.push_back({at("prelude.h"), clang_cuda_prelude});
  for (const std::string_view name : said) parse.files.push_back({at(name), "#pragma once\n"});
  parse.files.push_back({at("cuda_fp16.h"), half_header});
  parse.files.push_back({at("cuda_bf16.h"), bfloat_header});
  parse.files.push_back({at("cuda.h"), driver_header});
  return parse;
}

}  // namespace opseal
