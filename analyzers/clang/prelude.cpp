#include "analyzers/clang/prelude.h"

#include "analyzers/clang/compile_flags.h"

namespace opseal {
namespace {

// Members without a body: only types are asked for. Everything takes anything, so that no statement
// is lost for want of a conversion.
constexpr std::string_view standard_names = R"cpp(
  typedef signed char int8_t;
  typedef short int16_t;
  typedef int int32_t;
  typedef long int64_t;
  typedef unsigned char uint8_t;
  typedef unsigned short uint16_t;
  typedef unsigned int uint32_t;
  typedef unsigned long uint64_t;
  typedef unsigned long size_t;
  typedef long ptrdiff_t;
  typedef unsigned long uintptr_t;
  typedef long intptr_t;
  extern "C" {
  void* malloc(size_t);
  void free(void*);
  void abort();
  int printf(const char*, ...);
  void* memcpy(void*, const void*, size_t);
  void* memset(void*, int, size_t);
  }
  void* operator new(size_t, void*);
  namespace std {
  using ::abort;
  using ::free;
  using ::int16_t;
  using ::int32_t;
  using ::int64_t;
  using ::int8_t;
  using ::intptr_t;
  using ::malloc;
  using ::memcpy;
  using ::memset;
  using ::printf;
  using ::ptrdiff_t;
  using ::size_t;
  using ::uint16_t;
  using ::uint32_t;
  using ::uint64_t;
  using ::uint8_t;
  using ::uintptr_t;
  typedef decltype(nullptr) nullptr_t;
  template <class T>
  struct remove_reference {
    using type = T;
  };
  template <class T>
  struct remove_reference<T&> {
    using type = T;
  };
  template <class T>
  struct remove_reference<T&&> {
    using type = T;
  };
  template <class T>
  typename remove_reference<T>::type&& move(T&&);
  template <class T>
  T&& forward(typename remove_reference<T>::type&);
  template <class T>
  class initializer_list {
    const T* first_;
    size_t count_;

   public:
    const T* begin() const;
    const T* end() const;
    size_t size() const;
  };
  struct string_view;
  class string {
   public:
    string();
    string(const char*);
    string(const char*, size_t);
    string(size_t, char);
    explicit string(const string_view&);
    string(const string&);
    ~string();
    const char* c_str() const;
    const char* data() const;
    char* data();
    size_t size() const;
    size_t length() const;
    bool empty() const;
    string& operator=(const string&);
    string& append(const string&);
    string& operator+=(const string&);
    string& operator+=(char);
    char& operator[](size_t);
    const char* begin() const;
    const char* end() const;
    string substr(size_t = 0, size_t = 0) const;
    size_t find(const string&, size_t = 0) const;
  };
  string operator+(const string&, const string&);
  string operator+(const char*, const string&);
  string operator+(const string&, const char*);
  bool operator==(const string&, const string&);
  bool operator<(const string&, const string&);
  struct string_view {
    constexpr string_view() {}
    constexpr string_view(const char*) {}
    string_view(const string&);
    const char* data() const;
    size_t size() const;
    bool empty() const;
  };
  string to_string(long);
  template <class T>
  class optional {
   public:
    optional();
    optional(const T&);
    template <class U>
    optional(const U&);
    bool has_value() const;
    T& value() const;
    T& operator*() const;
    T* operator->() const;
    explicit operator bool() const;
  };
  struct nullopt_t {
    template <class T>
    operator optional<T>() const;
  };
  inline constexpr nullopt_t nullopt{};
  template <class T>
  class vector {
   public:
    vector();
    explicit vector(size_t);
    vector(size_t, const T&);
    vector(initializer_list<T>);
    template <class I>
    vector(I, I);
    vector(const vector&);
    ~vector();
    T* data();
    const T* data() const;
    size_t size() const;
    bool empty() const;
    T& operator[](size_t);
    const T& operator[](size_t) const;
    T& at(size_t);
    T& back();
    T& front();
    T* begin() const;
    T* end() const;
    void push_back(const T&);
    template <class... A>
    T& emplace_back(A&&...);
    void resize(size_t);
    void reserve(size_t);
    void clear();
    template <class... A>
    T* insert(A&&...);
    template <class... A>
    T* emplace(A&&...);
  };
  template <class T, size_t N>
  struct array {
    T values_[N];
    constexpr T* data() { return values_; }
    constexpr const T* data() const { return values_; }
    constexpr size_t size() const { return N; }
    T& operator[](size_t);
    const T* begin() const;
    const T* end() const;
  };
  template <class A, class B>
  struct pair {
    A first;
    B second;
  };
  template <class... T>
  class tuple {
   public:
    tuple();
    template <class... A>
    tuple(A&&...);
  };
  template <class... T>
  tuple<T...> make_tuple(T...);
  template <class A, class B>
  pair<A, B> make_pair(A, B);
  template <class T>
  class unique_ptr {
   public:
    unique_ptr();
    explicit unique_ptr(T*);
    unique_ptr(nullptr_t);
    template <class U>
    unique_ptr(unique_ptr<U>&&);
    ~unique_ptr();
    T* get() const;
    T* operator->() const;
    T& operator*() const;
    T* release();
    void reset(T* = nullptr);
    explicit operator bool() const;
  };
  template <class T>
  class unique_ptr<T[]> {
   public:
    unique_ptr();
    explicit unique_ptr(T*);
    ~unique_ptr();
    T* get() const;
    T& operator[](size_t) const;
    T* release();
  };
  template <class T>
  class shared_ptr {
   public:
    shared_ptr();
    template <class U>
    explicit shared_ptr(U*);
    template <class U>
    shared_ptr(const shared_ptr<U>&);
    template <class U>
    shared_ptr(unique_ptr<U>&&);
    T* get() const;
    T* operator->() const;
    T& operator*() const;
    explicit operator bool() const;
  };
  template <class T, class... A>
  unique_ptr<T> make_unique(A&&...);
  template <class T, class... A>
  shared_ptr<T> make_shared(A&&...);
  template <class F>
  class function {
   public:
    function();
    template <class G>
    function(G);
  };
  template <class K, class V>
  struct opseal_map {
    opseal_map();
    opseal_map(initializer_list<pair<const K, V>>);
    V& operator[](const K&);
    V& at(const K&) const;
    pair<const K, V>* find(const K&) const;
    pair<const K, V>* begin() const;
    pair<const K, V>* end() const;
    size_t count(const K&) const;
    size_t size() const;
    bool empty() const;
    bool contains(const K&) const;
    template <class... A>
    pair<pair<const K, V>*, bool> insert(A&&...);
    template <class... A>
    pair<pair<const K, V>*, bool> emplace(A&&...);
    template <class... A>
    pair<pair<const K, V>*, bool> try_emplace(A&&...);
    template <class... A>
    pair<pair<const K, V>*, bool> insert_or_assign(A&&...);
    size_t erase(const K&);
    void clear();
  };
  template <class K>
  struct opseal_set {
    opseal_set();
    opseal_set(initializer_list<K>);
    const K* find(const K&) const;
    const K* begin() const;
    const K* end() const;
    size_t count(const K&) const;
    size_t size() const;
    bool contains(const K&) const;
    template <class... A>
    pair<const K*, bool> insert(A&&...);
    template <class... A>
    pair<const K*, bool> emplace(A&&...);
    size_t erase(const K&);
    void clear();
  };
  template <class K, class V, class... O>
  class map : public opseal_map<K, V> {
   public:
    map();
    map(initializer_list<pair<const K, V>>);
  };
  template <class K, class V, class... O>
  class multimap : public opseal_map<K, V> {
   public:
    multimap();
  };
  template <class K, class V, class... O>
  class unordered_map : public opseal_map<K, V> {
   public:
    unordered_map();
    unordered_map(initializer_list<pair<const K, V>>);
  };
  template <class K, class... O>
  class set : public opseal_set<K> {
   public:
    set();
    set(initializer_list<K>);
  };
  template <class K, class... O>
  class unordered_set : public opseal_set<K> {
   public:
    unordered_set();
    unordered_set(initializer_list<K>);
  };
  template <class T>
  class deque : public vector<T> {
   public:
    deque();
  };
  template <class T>
  class list : public vector<T> {
   public:
    list();
  };
  class mutex {
   public:
    constexpr mutex() {}
    void lock();
    void unlock();
  };
  template <class M>
  class lock_guard {
   public:
    explicit lock_guard(M&);
    ~lock_guard();
  };
  template <class T>
  class atomic {
   public:
    constexpr atomic() {}
    constexpr atomic(T) {}
    T load() const;
    void store(T);
    T fetch_add(T);
    operator T() const;
  };
  template <bool B, class T = void>
  struct enable_if {};
  template <class T>
  struct enable_if<true, T> {
    using type = T;
  };
  template <class A, class B>
  struct is_same {
    static constexpr bool value = false;
  };
  template <class A>
  struct is_same<A, A> {
    static constexpr bool value = true;
  };
  }  // namespace std
)cpp";

constexpr std::string_view torch_names = R"cpp(
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
)cpp";

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
  static const std::string plain = std::string(standard_names) + std::string(torch_names);
  static const std::string cuda = plain + std::string(cuda_names);
  return is_cuda_path(path) ? cuda : plain;
}

}  // namespace opseal
