#include "rules/system_libraries.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>

#include "opseal/keys.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// The lists of PEP 513, 571 and 599, which PEP 600 leaves as they are, with what auditwheel's
// policies add. Without the versions that all of them have in common.
constexpr std::array<std::string_view, 29> manylinux_base = {
    "libGL.so.1",      "libICE.so.6",      "libSM.so.6",          "libX11.so.6",
    "libXext.so.6",    "libXrender.so.1",  "libanl.so.1",         "libatomic.so.1",
    "libc.so.6",       "libcrypt.so.1",    "libdl.so.2",          "libexpat.so.1",
    "libgcc_s.so.1",   "libglib-2.0.so.0", "libgobject-2.0.so.0", "libgthread-2.0.so.0",
    "libm.so.6",       "libmvec.so.1",     "libncursesw.so.5",    "libnsl.so.1",
    "libnss_dns.so.2", "libpanelw.so.5",   "libpthread.so.0",     "libresolv.so.2",
    "librt.so.1",      "libstdc++.so.6",   "libthread_db.so.1",   "libutil.so.1",
    "libz.so.1"};

// Beginnings of names, without `lib`; with a `.`, whole names.
constexpr std::string_view frameworks[] = {
    // torch and its extensions
    "torch", "c10", "caffe2", "aoti", "shm.",
    // NVIDIA
    "cuda", "cublas", "cudnn", "cufft", "cufile", "curand", "cusolver", "cusparse", "cutensor",
    "cupti", "cudss", "cuquantum", "custatevec", "cuvs", "cugraph", "cudf", "cuml", "nccl", "npp",
    "nv", "mathdx", "raft.", "rmm.", "rapids_logger.",
    // AMD
    "amdhip", "amd_", "amdocl", "hip", "hsa-", "rocm", "rocblas", "rocsolver", "rocsparse",
    "rocrand", "rocfft", "rocprim", "roctracer", "roctx", "rocprofiler", "rccl", "MIOpen",
    "migraphx", "composable_kernel",
    // Intel
    "mkl", "sycl", "OpenCL", "ze_", "iomp5", "imf.", "svml", "irng", "irc.", "intlc", "tbb", "ccl.",
    "ur_", "pi_", "dnnl", "openvino", "umf.", "ifcoremt", "ifport", "onemkl",
    // other vendors' devices
    "ascend", "hccl", "opapi", "ge_", "graph.", "runtime.", "musa", "mudnn", "mublas", "murand",
    "mccl", "cnrt", "cnnl", "cndev", "Qnn", "xpu", "bang", "tpu", "neuron", "nrt.", "vulkan",
    "edgetpu",
    // Ascend's toolkit (CANN), whose names say little
    "acl_", "alog.", "atb.", "c_sec.", "error_manager.", "exe_graph.", "lowering.", "mmpa.",
    "msprof", "nnopbase.", "platform.", "profapi.", "register.", "slog.", "tiling_api.",
    // frameworks and interpreters
    "tensorflow", "tflite", "jax", "xla", "onnxruntime", "tvm", "ggml", "llama", "executorch",
    "python", "pypy", "mpi", "mxnet", "paddle", "mindspore", "arrow", "ray_", "R.", "julia", "jvm",
    "ruby"};

std::string core_of(std::string_view name) {
  std::string core;
  for (const char byte : name) {
    if (std::isalnum(static_cast<unsigned char>(byte)) != 0) {
      core += static_cast<char>(std::tolower(static_cast<unsigned char>(byte)));
    }
  }
  return core;
}

std::string_view without_lib(std::string_view soname) {
  if (soname.starts_with("lib")) soname.remove_prefix(3);
  return soname;
}

PlatformBase base_of_tag(std::string_view tag) {
  if (tag.find("manylinux") != tag.npos) return PlatformBase::manylinux;
  if (tag.find("musllinux") != tag.npos) return PlatformBase::musllinux;
  return PlatformBase::none;
}

}  // namespace

PlatformBase platform_base(const Fact& distribution) {
  if (!distribution[Key::kind].is("wheel")) return PlatformBase::none;
  bool said = false;
  PlatformBase base = PlatformBase::manylinux;
  for (const Fact tag : distribution[Key::tags].items()) {
    if (!tag.is_text()) continue;
    const PlatformBase own = base_of_tag(tag.text());
    if (!said) base = own;
    if (own != base) return PlatformBase::none;
    said = true;
  }
  return said ? base : PlatformBase::none;
}

std::string_view platform_tag(const Fact& distribution) {
  for (const Fact tag : distribution[Key::tags].items()) {
    const std::size_t dash = tag.text().rfind('-');
    if (dash != std::string_view::npos) return tag.text().substr(dash + 1);
  }
  return {};
}

bool is_loader_library(std::string_view soname) {
  return soname.starts_with("ld-linux") || soname.starts_with("ld64.so") ||
         soname.starts_with("ld.so") || soname.starts_with("linux-vdso") ||
         soname.starts_with("ld-musl");
}

bool is_base_library(PlatformBase base, std::string_view soname) {
  if (is_loader_library(soname)) return true;
  if (base == PlatformBase::musllinux) {
    return soname.starts_with("libc.musl-") || soname == "libc.so";
  }
  return std::find(manylinux_base.begin(), manylinux_base.end(), soname) != manylinux_base.end();
}

bool is_framework_library(std::string_view soname) {
  const std::string_view name = without_lib(soname);
  return std::any_of(std::begin(frameworks), std::end(frameworks),
                     [name](std::string_view begin) { return name.starts_with(begin); });
}

bool may_bring(std::string_view requirement, std::string_view soname) {
  std::size_t end = 0;
  while (end < requirement.size() &&
         (std::isalnum(static_cast<unsigned char>(requirement[end])) != 0 ||
          requirement[end] == '-' || requirement[end] == '_' || requirement[end] == '.')) {
    ++end;
  }
  const std::string package = core_of(requirement.substr(0, end));
  std::string_view stem = without_lib(soname_family(soname));
  stem = stem.substr(0, stem.rfind(".so"));
  const std::string library = core_of(stem);
  // torch's wheels bring the runtime of OpenMP.
  if (library == "gomp") return package == "torch";
  if (library.size() < 2 || package.size() < 3) return false;
  return package.find(library) != package.npos || library.find(package) != library.npos;
}

bool asks_for_version(std::string_view requirement, std::string_view version) {
  const std::size_t marker = requirement.find(';');
  if (marker != requirement.npos && requirement.find("extra", marker) != requirement.npos) {
    return false;
  }
  std::string_view asked = requirement.substr(0, marker);
  const std::size_t equal = asked.find("==");
  if (version.empty() || equal == asked.npos) return false;
  asked.remove_prefix(equal);
  // In brackets: the older form `foo (==1.0)`.
  while (!asked.empty() && (asked.front() == '=' || asked.front() == ' ')) asked.remove_prefix(1);
  while (!asked.empty() && (asked.back() == ' ' || asked.back() == ')')) asked.remove_suffix(1);
  return asked == version;
}

std::string_view soname_family(std::string_view soname) {
  const std::size_t at = soname.find(".so.");
  return at == soname.npos ? soname : soname.substr(0, at + 3);
}

std::string_view soname_version(std::string_view soname) {
  const std::size_t at = soname.find(".so.");
  return at == soname.npos ? std::string_view() : soname.substr(at + 4);
}

}  // namespace opseal
