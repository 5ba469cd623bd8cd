#include "analyzers/clang/prelude.h"

namespace opseal {

// Members without a body: only types are asked for. Everything takes anything, so that no statement
// is lost for want of a conversion.
constinit const std::string_view clang_standard_prelude = R"cpp(
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

}  // namespace opseal
