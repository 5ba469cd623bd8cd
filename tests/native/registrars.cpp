// The marks that the registration macros of several frameworks leave, without those frameworks.

struct Handle;
extern "C" {
int aoti_torch_library_init_def(const char* name_space, const char* file, unsigned line,
                                Handle** made);
int aoti_torch_library_def(Handle* library, const char* schema);

int RegisterCustomOps(void*, const void*) { return 0; }
void* ggml_backend_init() { return nullptr; }
void* ggml_backend_magic_reg() { return nullptr; }
void* ggml_backend_dev_backend_reg(void*) { return nullptr; }
int __tvm_ffi_scale(void*, const void*, int, void*) { return 0; }
int __tvm_ffi__metadata_scale(void*, const void*, int, void*) { return 0; }
int __tvm_ffi_main(void*, const void*, int, void*) { return 0; }
void* PyInit_registrars() { return nullptr; }
// An object is no entry, whatever it is called.
int PyInit_object = 0;
}

namespace torch {
class Library {};
}  // namespace torch

extern const char* volatile defined;
const char* volatile defined;

// As the macros do: a local function, and an object whose initializer calls it.
struct Init {
  explicit Init(void (*block)(torch::Library&)) {
    torch::Library library;
    block(library);
  }
  ~Init() { defined = nullptr; }
};

__attribute__((noinline)) static void TORCH_LIBRARY_init_first_ops(torch::Library&) {
  defined = "add(Tensor a, Tensor b) -> Tensor";
  defined = "fill(Tensor! out, Scalar value) -> ()";
  defined = "add(Tensor a, Tensor b) -> no_type";
}
static const Init TORCH_LIBRARY_static_init_first_ops(&TORCH_LIBRARY_init_first_ops);

namespace inner {
namespace {
__attribute__((noinline)) void TORCH_LIBRARY_FRAGMENT_init_second_3(torch::Library&) {
  defined = "second::scale(Tensor a) -> Tensor";
  defined = "unnamed(Tensor a) -> Tensor";
}
const Init TORCH_LIBRARY_FRAGMENT_static_init_second_3(&TORCH_LIBRARY_FRAGMENT_init_second_3);
}  // namespace

static void STABLE_TORCH_LIBRARY_IMPL_init_first_ops_CUDA_0(torch::Library&) {
  defined = "other::looked_up(Tensor a) -> Tensor";
}
static const Init STABLE_TORCH_LIBRARY_IMPL_static_init_first_ops_CUDA_0(
    &STABLE_TORCH_LIBRARY_IMPL_init_first_ops_CUDA_0);
static void TORCH_LIBRARY_IMPL_init_first_ops_TESTING_ONLY_GenericMode_1(torch::Library&) {}
static const Init TORCH_LIBRARY_IMPL_static_init_first_ops_TESTING_ONLY_GenericMode_1(
    &TORCH_LIBRARY_IMPL_init_first_ops_TESTING_ONLY_GenericMode_1);
}  // namespace inner

// A template argument that names a block is no block.
template <typename Functor>
__attribute__((noinline)) void keep(Functor functor) {
  functor();
}

__attribute__((noinline)) static void TORCH_LIBRARY_FRAGMENT_init_third_0(torch::Library&) {
  keep([] { defined = nullptr; });
}
static const Init TORCH_LIBRARY_FRAGMENT_static_init_third_0(&TORCH_LIBRARY_FRAGMENT_init_third_0);

static const char* const schema_of_nobody = "floating(int n) -> int";
const char* use(Handle** made) {
  aoti_torch_library_init_def("first_ops", __FILE__, __LINE__, made);
  aoti_torch_library_def(*made, schema_of_nobody);
  return "dot(a, b) -> out";
}
