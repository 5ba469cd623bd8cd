#include "analyzers/clang/prelude.h"

namespace opseal {

constinit const std::string_view clang_framework_prelude = R"cpp(
  namespace c10 {
  using std::nullopt;
  using std::optional;
  template <class T>
  class ArrayRef {
   public:
    ArrayRef();
    template <class U>
    ArrayRef(const U&);
    const T* data() const;
    size_t size() const;
    const T& operator[](size_t) const;
    const T* begin() const;
    const T* end() const;
  };
  template <class T>
  class List {
   public:
    size_t size() const;
    T get(size_t) const;
  };
  typedef ArrayRef<int64_t> IntArrayRef;
  enum class ScalarType : int8_t {
    Byte,
    Char,
    Short,
    Int,
    Long,
    Half,
    Float,
    Double,
    Bool,
    BFloat16
  };
  enum class DeviceType : int8_t { CPU, CUDA };
  enum class Layout : int8_t { Strided };
  enum class MemoryFormat : int8_t { Contiguous };
  enum class DispatchKey : uint16_t { CPU, CUDA };
  struct Device {
    Device(DeviceType);
    DeviceType type() const;
  };
  struct SymInt {
    SymInt(int64_t);
  };
  typedef ArrayRef<SymInt> SymIntArrayRef;
  struct Scalar {
    Scalar();
    template <class T>
    Scalar(T);
    template <class T>
    T to() const;
    double toDouble() const;
    long toLong() const;
  };
  struct TensorOptions {
    TensorOptions();
    template <class T>
    TensorOptions(T);
    TensorOptions dtype(ScalarType) const;
  };
  using string_view = std::string_view;
  struct Storage {};
  struct Half {};
  struct BFloat16 {};
  template <class T>
  class OptionalArrayRef {
   public:
    bool has_value() const;
  };
  class DispatchKeySet {};
  }  // namespace c10
  namespace at {
  using c10::ArrayRef;
  using c10::BFloat16;
  using c10::Device;
  using c10::DeviceType;
  using c10::Half;
  using c10::IntArrayRef;
  using c10::Layout;
  using c10::MemoryFormat;
  using c10::optional;
  using c10::Scalar;
  using c10::ScalarType;
  using c10::SymInt;
  using c10::SymIntArrayRef;
  using c10::TensorOptions;
  typedef c10::OptionalArrayRef<int64_t> OptionalIntArrayRef;
  struct Generator {};
  class Tensor {
   public:
    Tensor();
    Tensor(const Tensor&);
    ~Tensor();
    Tensor contiguous() const;
    Tensor clone() const;
    template <class... A>
    Tensor to(A...) const;
    Tensor view(IntArrayRef) const;
    IntArrayRef sizes() const;
    IntArrayRef strides() const;
    int64_t size(int64_t) const;
    int64_t stride(int64_t) const;
    int64_t numel() const;
    int64_t dim() const;
    ScalarType scalar_type() const;
    ScalarType dtype() const;
    Device device() const;
    TensorOptions options() const;
    void* data_ptr() const;
    template <class T>
    T* data_ptr() const;
    template <class T>
    T* mutable_data_ptr() const;
    template <class T>
    const T* const_data_ptr() const;
    bool defined() const;
    bool is_cuda() const;
    bool is_contiguous() const;
    template <class T>
    T item() const;
  };
  typedef ArrayRef<Tensor> TensorList;
  template <class... A>
  Tensor empty(A&&...);
  template <class... A>
  Tensor zeros(A&&...);
  Tensor empty_like(const Tensor&);
  Tensor zeros_like(const Tensor&);
  Tensor ones_like(const Tensor&);
  }  // namespace at
  namespace torch {
  using namespace at;
  using c10::List;
  using std::nullopt;
  struct CppFunction {
    template <class F>
    CppFunction(F);
    static CppFunction makeFallthrough();
  };
  using c10::optional;
  class Library {
   public:
    template <class... A>
    Library& def(A&&...);
    template <class... A>
    Library& impl(A&&...);
    template <class... A>
    Library& fallback(A&&...);
  };
  template <class... A>
  CppFunction dispatch(A&&...);
  namespace stable {
  using at::Tensor;
  }
  }  // namespace torch
#define OPSEAL_JOIN_(a, b) a##b
#define OPSEAL_JOIN(a, b) OPSEAL_JOIN_(a, b)
#define OPSEAL_BLOCK(m) static void OPSEAL_JOIN(opseal_block_, __COUNTER__)(torch::Library & m)
#define TORCH_LIBRARY(ns, m) OPSEAL_BLOCK(m)
#define TORCH_LIBRARY_FRAGMENT(ns, m) OPSEAL_BLOCK(m)
#define TORCH_LIBRARY_IMPL(ns, key, m) OPSEAL_BLOCK(m)
#define STABLE_TORCH_LIBRARY(ns, m) OPSEAL_BLOCK(m)
#define STABLE_TORCH_LIBRARY_FRAGMENT(ns, m) OPSEAL_BLOCK(m)
#define STABLE_TORCH_LIBRARY_IMPL(ns, key, m) OPSEAL_BLOCK(m)
#define TORCH_FN(f) f
#define TORCH_BOX(f) f
#define TORCH_API
#define TORCH_CHECK(...)
#define TORCH_INTERNAL_ASSERT(...)
#define C10_EXPORT
  namespace absl {
  class Status {
   public:
    Status();
    bool ok() const;
  };
  template <class T>
  class StatusOr {
   public:
    template <class U>
    StatusOr(U&&);
    bool ok() const;
    T& value();
    T& operator*();
    T* operator->();
  };
  Status OkStatus();
  template <class... A>
  Status InternalError(A&&...);
  template <class... A>
  Status AlreadyExistsError(A&&...);
  template <class... A>
  Status InvalidArgumentError(A&&...);
  using std::string_view;
  }  // namespace absl
  namespace tsl {
  using absl::Status;
  using absl::StatusOr;
  }  // namespace tsl
  namespace tensorflow {
  using absl::Status;
  }
)cpp";

}  // namespace opseal
