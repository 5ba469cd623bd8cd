#include "opseal/platforms.h"

#include <algorithm>
#include <iterator>

#include "opseal/ascii.h"
#include "opseal/text.h"

namespace opseal {
namespace {

struct Spelling {
  std::string_view written;
  std::string_view canonical;
  PlatformRole role;
};

constexpr PlatformRole device = PlatformRole::device;
constexpr PlatformRole every = PlatformRole::every;
constexpr PlatformRole wrapper = PlatformRole::wrapper;

// Lower-case words, sorted. Where one word has another meaning in other letters (torch's `Meta`,
// `Python`), only the exact spelling is in `exact_spellings`.
constexpr Spelling spellings[] = {
    {"acl", "acl", device},                  // ONNX Runtime, ACLExecutionProvider
    {"amd", "rocm", device},                 // the vendor's name for his devices
    {"amdgpu", "rocm", device},              // LLVM target
    {"any", "any", every},                   // the manifest format
    {"armnn", "armnn", device},              // ONNX Runtime
    {"blas", "blas", device},                // ggml: GGML_USE_BLAS
    {"cann", "cann", device},                // ONNX Runtime and ggml, Huawei Ascend
    {"coreml", "coreml", device},            // ONNX Runtime, ExecuTorch
    {"cpu", "cpu", device},                  // all
    {"cuda", "cuda", device},                // all
    {"directml", "directml", device},        // ONNX Runtime
    {"dml", "directml", device},             // ONNX Runtime, DmlExecutionProvider
    {"dnnl", "dnnl", device},                // ONNX Runtime
    {"gpu", "gpu", PlatformRole::family},    // JAX: cuda, rocm, oneapi (xla_bridge.py)
    {"hexagon", "hexagon", device},          // ggml, TVM
    {"hip", "rocm", device},                 // torch's key for ROCm; ggml: GGML_USE_HIP
    {"host", "cpu", device},                 // XLA: "cpu" and "host" are one (platform_util.cc)
    {"hpu", "hpu", device},                  // torch, Intel Gaudi
    {"hsa", "rocm", device},                 // ROCm's runtime
    {"interpreter", "interpreter", device},  // XLA
    {"ipu", "ipu", device},                  // torch
    {"kompute", "vulkan", device},           // ggml, runs on Vulkan
    {"llvm", "cpu", device},                 // TVM target
    {"mali", "opencl", device},              // TVM target
    {"metal", "metal", device},              // ggml, JAX (METAL), ExecuTorch
    {"migraphx", "migraphx", device},        // ONNX Runtime
    {"mkl", "mkl", device},                  // torch
    {"mps", "metal", device},                // torch's key for Metal
    {"mtia", "mtia", device},                // torch
    {"mtl", "metal", device},                // ggml's device name
    {"musa", "musa", device},                // ggml, Moore Threads
    {"nnapi", "nnapi", device},              // ONNX Runtime
    {"npu", "npu", device},                  // torch_npu
    {"nvptx", "cuda", device},               // LLVM target
    {"oneapi", "oneapi", device},            // JAX 0.10: an alias of gpu
    {"opencl", "opencl", device},            // ggml, TVM
    {"openvino", "openvino", device},        // ONNX Runtime
    {"qnn", "qnn", device},                  // ONNX Runtime, ExecuTorch
    {"rocm", "rocm", device},                // all
    {"sycl", "oneapi", device},              // XLA calls the platform sycl, JAX oneapi
    {"tensorrt", "tensorrt", device},        // ONNX Runtime
    {"tpu", "tpu", device},                  // JAX, TensorFlow
    {"vulkan", "vulkan", device},            // ggml, TVM, ExecuTorch, torch
    {"wasm", "wasm", device},                // ONNX Runtime Web
    {"webgpu", "webgpu", device},            // ggml, TVM, ONNX Runtime
    {"x86", "cpu", device},                  // TVM, TensorFlow
    {"xla", "xla", device},                  // torch
    {"xnnpack", "xnnpack", device},          // ONNX Runtime, ExecuTorch
    {"xpu", "oneapi", device},               // torch's key for Intel GPUs
    {"zendnn", "zendnn", device},            // torch
};

// Exact words, sorted by bytes. torch: c10/core/DispatchKey.h; a key that names a kind of tensor
// (`SparseCPU`) is a table of its own and serves no plain call.
constexpr Spelling exact_spellings[] = {
    {"ADInplaceOrView", "adinplaceorview", wrapper},
    {"Autograd", "autograd", every},  // its kernel may compute the result itself
    {"BackendSelect", "backendselect", wrapper},
    {"Batched", "batched", wrapper},
    {"CatchAll", "any", every},
    {"CompositeExplicitAutograd", "any", every},
    {"CompositeExplicitAutogradNonFunctional", "any", every},
    {"CompositeImplicitAutograd", "any", every},
    {"Conjugate", "conjugate", wrapper},
    {"DEFAULT", "any", every},  // TensorFlow: DEVICE_DEFAULT
    {"FPGA", "fpga", device},
    {"Functionalize", "functionalize", wrapper},
    {"Meta", "meta", wrapper},
    {"Named", "named", wrapper},
    {"Negative", "negative", wrapper},
    {"PreDispatch", "predispatch", wrapper},
    {"Python", "python", wrapper},
    {"PythonDispatcher", "pythondispatcher", wrapper},
    {"PythonTLSSnapshot", "pythontlssnapshot", wrapper},
    {"Tracer", "tracer", wrapper},
    {"Undefined", "undefined", wrapper},
    {"VmapMode", "vmapmode", wrapper},
    {"XLA_CPU_JIT", "cpu", device},  // TensorFlow, tf2xla
    {"XLA_GPU_JIT", "gpu", PlatformRole::family},
    {"XLA_TPU_JIT", "tpu", device},
    {"ZeroTensor", "zerotensor", wrapper},
};

// torch forms the keys of a functionality by a prefix to the device (c10/core/DispatchKey.h). Those
// for a kind of tensor compute; the others wrap.
constexpr std::string_view tensor_prefixes[] = {"SparseCsr", "Sparse", "Quantized", "NestedTensor",
                                                "Mkldnn"};
constexpr std::string_view wrapper_prefixes[] = {"Autocast", "Autograd", "FuncTorch"};

// JAX's aliases of `gpu` (jax/_src/xla_bridge.py), and what other systems run on such a device.
constexpr std::string_view gpu_members[] = {"cuda", "metal", "oneapi", "rocm", "tensorrt"};

template <std::size_t size>
const Spelling* find(const Spelling (&table)[size], std::string_view word) {
  const Spelling* found = std::lower_bound(
      std::begin(table), std::end(table), word,
      [](const Spelling& spelling, std::string_view wanted) { return spelling.written < wanted; });
  return found != std::end(table) && found->written == word ? found : nullptr;
}

constexpr bool sorted(const Spelling* first, const Spelling* end) {
  for (; first + 1 < end; ++first) {
    if (!(first->written < (first + 1)->written)) return false;
  }
  return true;
}
static_assert(sorted(std::begin(spellings), std::end(spellings)));
static_assert(sorted(std::begin(exact_spellings), std::end(exact_spellings)));

// `CUDA0` of ggml, `cuda:1` of torch.
std::string_view without_device_number(std::string_view word) {
  std::size_t end = word.size();
  while (end > 0 && is_digit(word[end - 1])) --end;
  if (end == word.size()) return word;
  if (end > 0 && word[end - 1] == ':') --end;
  return word.substr(0, end);
}

// `CPUExecutionProvider` of ONNX Runtime, `XnnpackBackend` of ExecuTorch.
std::string_view without_suffix(std::string_view word) {
  for (const std::string_view suffix : {"ExecutionProvider", "Backend"}) {
    if (word.size() > suffix.size() && word.ends_with(suffix)) {
      return word.substr(0, word.size() - suffix.size());
    }
  }
  return word;
}

bool is_gpu(std::string_view name) {
  return std::find(std::begin(gpu_members), std::end(gpu_members), name) != std::end(gpu_members);
}

}  // namespace

Platform canonical_platform(std::string_view written) {
  if (const Spelling* exact = find(exact_spellings, written)) {
    return {exact->canonical, exact->role, exact->canonical};
  }
  // Longer words are not platforms, and lower-casing them costs.
  if (written.size() > 64) return {written, PlatformRole::unknown, written};
  const std::string word = lower(without_suffix(written));
  const Spelling* known = find(spellings, word);
  if (known == nullptr) known = find(spellings, without_device_number(word));
  if (known != nullptr) return {known->canonical, known->role, known->canonical};
  for (const std::string_view prefix : tensor_prefixes) {
    if (!written.starts_with(prefix)) continue;
    if (const Spelling* below = find(spellings, lower(written.substr(prefix.size())))) {
      return {written, device, below->canonical};
    }
  }
  for (const std::string_view prefix : wrapper_prefixes) {
    if (written.size() > prefix.size() && written.starts_with(prefix)) {
      return {written, wrapper, written};
    }
  }
  return {written, PlatformRole::unknown, written};
}

bool same_platform(const Platform& a, const Platform& b) {
  if (a.name == b.name) return true;
  return a.role == PlatformRole::unknown && b.role == PlatformRole::unknown &&
         a.name.size() == b.name.size() && lower(a.name) == lower(b.name);
}

bool platform_reaches(const Platform& asked, const Platform& registered) {
  if (registered.role == PlatformRole::every || same_platform(asked, registered)) return true;
  if (registered.role == PlatformRole::device && asked.name == registered.hardware) return true;
  if (asked.role == PlatformRole::family) return is_gpu(registered.hardware);
  return registered.role == PlatformRole::family && is_gpu(asked.name);
}

PlatformNames::PlatformNames(const Fact& manifest) {
  for (const auto& [name, value] : manifest[Key::platform_aliases].entries()) {
    if (value.is_text()) aliases_.emplace(name.name(), value.name());
  }
}

Name PlatformNames::resolve(Name name) {
  std::vector<Name> walked;
  while (true) {
    const auto alias = aliases_.find(name);
    if (alias == aliases_.end()) break;
    // A name stands for itself while its chain is walked: meeting one again is a ring.
    const auto [known, fresh] = resolved_.try_emplace(name, name);
    if (!fresh) {
      name = known->second;
      break;
    }
    walked.push_back(name);
    name = alias->second;
  }
  for (const Name passed : walked) resolved_[passed] = name;
  return name;
}

Platform PlatformNames::of(const Fact& written) {
  if (!written.is_text()) return {};
  if (const auto found = seen_.find(written.name()); found != seen_.end()) return found->second;
  const Name name = resolve(written.name());
  const Platform platform = canonical_platform(written.facts().names.text(name));
  seen_.emplace(written.name(), platform);
  return platform;
}

std::vector<Fact> required_platforms(const Facts& facts, const Fact& manifest,
                                     PlatformNames& names) {
  constexpr std::size_t most = 64;
  std::vector<Fact> required;
  const auto add = [&](const Fact& list) {
    for (const Fact item : list.items()) {
      if (required.size() == most) return;
      if (!item.is_text()) continue;
      const bool known = std::any_of(required.begin(), required.end(),
                                     [&](const Fact& other) { return names.same(other, item); });
      if (!known) required.push_back(item);
    }
  };
  add(manifest[Key::required_platforms]);
  for (const Document& document : facts.documents) {
    if (document.settings) add(facts.root(document)[Key::required_platforms]);
  }
  return required;
}

bool platform_was_visible(const Fact& manifest, const Fact& asked, PlatformNames& names) {
  const Fact devices = manifest[Key::devices];
  if (!devices.is_list() || names.of(asked).name == "cpu") return true;
  for (const Fact device_word : devices.items()) {
    if (names.reaches(asked, device_word)) return true;
  }
  return false;
}

bool registers_with_xla(const Fact& manifest) {
  const std::string_view system = manifest[Key::system].text();
  return system == "jax" || system == "brainevent" || system == "braintrace";
}

std::vector<std::string_view> xla_registration_platforms() {
  // `cpu` and `gpu` are rewritten to `Host` and `CUDA` (jaxlib/xla_client.py); the other two are
  // what the plugins of ROCm and oneAPI call register_custom_call_handler with.
  return {"cpu", "Host", "gpu", "CUDA", "ROCM", "ONEAPI"};
}

}  // namespace opseal
