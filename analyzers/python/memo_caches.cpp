#include "analyzers/python/memo_caches.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "analyzers/python/key_parts.h"
#include "analyzers/python/key_words.h"
#include "analyzers/words.h"
#include "opseal/text.h"

namespace opseal {
namespace {

// One file holds some few.
constexpr std::size_t max_caches = 64;
constexpr std::size_t max_calls = 4096;
// Of a file, looked at: each may go through the whole text of its function.
constexpr std::size_t max_assignments = 2000;
constexpr std::size_t max_function = std::size_t{256} << 10;

// Words that say what kind of number is worked with.
bool says_type(std::string_view word) {
  const std::string plain = lower(word);
  for (const std::string_view part : {"type", "precision", "format", "fmt", "bits", "element",
                                      "fp8", "fp4", "bf16", "signature"}) {
    if (plain.find(part) != plain.npos) return true;
  }
  return false;
}

// The parameter, and what of it: `config.block`.
std::string path_of(const FlowRoot& root) {
  const std::string name = plain_name(root.name);
  return root.field.empty() ? name : name + "." + root.field;
}

// What tensors and arrays have, whatever they are called: operands of a call, no settings.
bool is_of_tensor(std::string_view field) {
  constexpr std::array<std::string_view, 16> all = {
      "shape",         "dtype", "device",       "strides", "ndim",    "size",
      "layout",        "T",     "itemsize",     "nbytes",  "is_cuda", "data",
      "requires_grad", "grad",  "element_type", "values"};
  return std::find(all.begin(), all.end(), field.substr(0, field.find('.'))) != all.end();
}

// What a tuner finds depends on it; how long it looks and for what sizes may be left out.
bool decides_tuning(std::string_view word) {
  std::string rest = lower(word);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('_'), rest.size());
    const std::string_view part = std::string_view(rest).substr(0, end);
    for (const std::string_view one : {"backend", "dtype", "arch", "architecture", "capability",
                                       "precision", "layout", "dialect", "flags"}) {
      if (part == one) return true;
    }
    rest.erase(0, end + 1);
  }
  return false;
}

// A setting by its name, and no operand whose type alone may count.
bool names_setting(std::string_view word) {
  const std::string plain = lower(word);
  for (const std::string_view part :
       {"num", "warps", "stages", "threads", "block", "tile", "size", "unroll", "mode", "type",
        "bits", "option", "causal", "kind", "precision", "vector", "width"}) {
    if (plain.find(part) != plain.npos) return true;
  }
  return decides_tuning(word);
}

// What tells objects apart by itself.
bool tells_all(std::string_view field) {
  const std::string word = lower(field.substr(field.rfind('.') + 1));
  constexpr std::array<std::string_view, 13> all = {
      "key",     "hash",      "digest",      "name", "id",     "uid", "uuid",
      "version", "signature", "fingerprint", "tag",  "suffix", "repr"};
  std::string_view rest = word;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('_'), rest.size());
    if (std::find(all.begin(), all.end(), rest.substr(0, end)) != all.end()) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

// Two functions of one name are two functions.
bool is_name_of_function(const FlowRoot& root) {
  return root.kind == FlowRoot::Kind::parameter &&
         (root.field == "__name__" || root.field == "__qualname__");
}

class MemoReader {
 public:
  explicit MemoReader(PythonCode& code) : code_(code) {}

  std::vector<PythonCache> run() {
    const PythonSyntax& syntax = code_.syntax;
    for (SyntaxIndex at = 0; at < syntax.nodes.size() && found_.size() < max_caches; ++at) {
      if (syntax.is(at, SyntaxKind::call)) look_at_put(at);
      if (!syntax.is(at, SyntaxKind::assignment)) continue;
      const SyntaxIndex left = syntax.child(at, SyntaxField::left);
      const SyntaxIndex right = syntax.child(at, SyntaxField::right);
      if (!syntax.is(left, SyntaxKind::subscript) || right == no_syntax) continue;
      const SyntaxIndex object = syntax.child(left, SyntaxField::value);
      std::vector<SyntaxIndex> key = syntax.children(left);
      std::erase(key, object);
      look_at({left, object, std::move(key), right});
    }
    return std::move(found_);
  }

 private:
  // `cache[key] = value`, `cache.put(key, value)`
  struct Store {
    SyntaxIndex place = no_syntax;
    SyntaxIndex object = no_syntax;
    std::vector<SyntaxIndex> key;
    SyntaxIndex value = no_syntax;
  };

  // A call that makes code, in a helper of the file where there is a frame.
  struct Made {
    SyntaxIndex call = no_syntax;
    const FlowFrame* frame = nullptr;
  };

  void look_at_put(SyntaxIndex call) {
    const std::string_view name = code_.flow.called(call);
    if (name != "put" && name != "set" && name != "add" && name != "store" && name != "insert") {
      return;
    }
    const SyntaxIndex function = code_.syntax.child(call, SyntaxField::function);
    if (!code_.syntax.is(function, SyntaxKind::attribute)) return;
    const SyntaxIndex object = code_.syntax.child(function, SyntaxField::object);
    const std::vector<SyntaxIndex> given = code_.flow.arguments(call);
    if (object == no_syntax || given.size() != 2) return;
    if (code_.syntax.text_of(object).size() > 80) return;
    if (lower(code_.syntax.text_of(object)).find("cache") == std::string::npos) return;
    look_at({call, object, {given[0]}, given[1]});
  }

  // What makes code of its arguments, and doesn't keep it itself.
  bool compiles(SyntaxIndex call) const {
    std::string_view name = code_.flow.called(call);
    const bool own = name.starts_with("_");
    while (name.starts_with("_")) name.remove_prefix(1);
    constexpr std::array<std::string_view, 15> builders = {
        "RawKernel",     "RawModule",       "SourceModule", "ElementwiseKernel", "ReductionKernel",
        "load_inline",   "build_kernel",    "build_module", "build_program",     "make_kernel",
        "create_kernel", "generate_kernel", "jit_kernel",   "jit_compile",       "create_program"};
    if (std::find(builders.begin(), builders.end(), name) != builders.end()) return true;
    const SyntaxIndex function = code_.syntax.child(call, SyntaxField::function);
    // `self._compile(…)` of whoever keeps the result.
    if (own && name == "compile") return true;
    if (name == "build") {
      const SyntaxIndex object = code_.syntax.child(function, SyntaxField::object);
      return code_.syntax.is(object, SyntaxKind::call) && code_.flow.called(object) == "Program";
    }
    if (name == "compile") {
      // Not that of Python, of `re` and of PyTorch.
      if (!code_.syntax.is(function, SyntaxKind::attribute)) return false;
      const std::string_view text = code_.syntax.text_of(function);
      return !text.starts_with("re.") && !text.starts_with("regex.") &&
             !code_.flow.is_named(function, "re.compile") &&
             !code_.flow.is_named(function, "torch.compile");
    }
    return name.starts_with("compile_");
  }

  // What looks for the best way to run something.
  bool tunes(SyntaxIndex call) const {
    std::string_view name = code_.flow.called(call);
    while (name.starts_with("_")) name.remove_prefix(1);
    if (name == "search") {
      const SyntaxIndex function = code_.syntax.child(call, SyntaxField::function);
      return !code_.flow.is_named(function, "re.search");
    }
    return name == "tune" || name == "autotune" || name.starts_with("tune_") ||
           name.starts_with("autotune_") || name.starts_with("search_") ||
           name.starts_with("find_best");
  }

  // The one call that makes code in a helper of this file, or in one that it calls.
  Made made_in(SyntaxIndex call, const FlowFrame* frame) {
    constexpr std::uint32_t deepest = 3;
    Made made;
    for (std::uint32_t depth = 0; depth < deepest; ++depth) {
      const SyntaxIndex entered = code_.flow.function_of(call);
      if (entered == no_syntax || keeps(entered)) return {};
      frame = code_.flow.enter(entered, call, frame);
      if (frame == nullptr) return {};
      SyntaxIndex next = no_syntax;
      if (code_.calls_in(entered).size() > max_calls) return {};
      for (const SyntaxIndex inner : code_.calls_in(entered)) {
        if (compiles(inner)) {
          if (made.call != no_syntax) return {};
          made = {inner, frame};
        } else if (is_helper(inner)) {
          next = next == no_syntax ? inner : entered;
        }
      }
      if (made.call != no_syntax || next == no_syntax || next == entered) return made;
      call = next;
    }
    return {};
  }

  // By its name it makes something of this file.
  bool is_helper(SyntaxIndex call) const {
    std::string_view name = code_.flow.called(call);
    while (name.starts_with("_")) name.remove_prefix(1);
    const bool makes = name.starts_with("build") || name.starts_with("make") ||
                       name.starts_with("create") || name.starts_with("jit") ||
                       name.starts_with("generate") || name.find("compile") != name.npos;
    return makes && code_.flow.function_of(call) != no_syntax;
  }

  // It looks for itself whether it has made it already.
  bool keeps(SyntaxIndex function) {
    const auto [known, added] = keeps_.emplace(function, true);
    if (added) known->second = looks_itself(function);
    return known->second;
  }

  bool looks_itself(SyntaxIndex function) const {
    const SyntaxIndex above = code_.syntax[function].parent;
    if (code_.syntax.is(above, SyntaxKind::decorated_definition)) return true;
    const std::string text = lower(code_.syntax.text_of(function));
    return text.size() > max_function || text.find("cache[") != text.npos ||
           text.find("cache.") != text.npos;
  }

  // One that is called `cache` is told by its function.
  std::string name_of(std::string_view variable, SyntaxIndex function) const {
    std::string name = plain_name(variable.substr(0, variable.find('[')));
    const SyntaxIndex made = code_.syntax.child(function, SyntaxField::name);
    if (lower(name) != "cache" || made == no_syntax) return name;
    return std::string(code_.syntax.text_of(made));
  }

  // The call that makes the value, in it or in what a name of the function was given.
  Made maker_of(SyntaxIndex function, SyntaxIndex value) {
    std::vector<SyntaxIndex> values = {value};
    if (code_.syntax.is(value, SyntaxKind::identifier)) {
      values.clear();
      for (const PythonBinding& bound : code_.scopes.find(code_.syntax.text_of(value), value)) {
        if (bound.kind == PythonBinding::Kind::value && bound.value != no_syntax) {
          values.push_back(bound.value);
        }
      }
    }
    SyntaxIndex made = no_syntax;
    SyntaxIndex helper = no_syntax;
    const std::vector<SyntaxIndex>& calls = code_.calls_in(function);
    if (calls.size() > max_calls || values.size() > PythonScopes::max_meanings) return {};
    for (const SyntaxIndex one : values) {
      for (const SyntaxIndex call : calls) {
        if (call < one || call >= code_.syntax[one].next) continue;
        if (!compiles(call) && !(call == one && tunes(call))) {
          // The value itself, not something in it.
          if (call == one && is_helper(call)) helper = helper == no_syntax ? call : function;
          continue;
        }
        // Two ways to make it have two lists of what they read.
        if (made != no_syntax) return {};
        made = call;
      }
    }
    if (made != no_syntax) return {made, nullptr};
    return helper == no_syntax || helper == function ? Made() : made_in(helper, nullptr);
  }

  // Whether the function looks first: `key in cache`, `cache.get(key)`.
  bool asks(SyntaxIndex function, std::string_view cache) const {
    const std::string_view text = code_.syntax.text_of(function);
    const std::string name(cache);
    for (const std::string& question : {"in " + name, name + ".get("}) {
      if (text.find(question) != text.npos) return true;
    }
    return text.find("except KeyError") != text.npos;
  }

  void look_at(const Store& store) {
    const SyntaxIndex function = code_.function_of(store.place);
    const SyntaxIndex object = store.object;
    if (function == no_syntax || object == no_syntax || ++looked_ > max_assignments) return;
    if (code_.syntax.text_of(function).size() > max_function) return;
    const std::string_view name = code_.syntax.text_of(object);
    if (name.size() > 80 || !asks(function, name)) return;
    const Made made = maker_of(function, store.value);
    if (made.call == no_syntax || !told_.insert({function, std::string(name)}).second) return;
    FlowTrace key;
    for (const SyntaxIndex part : store.key) key.take(code_.flow.of(part, nullptr), false);
    // `cache[device][key]`
    if (code_.syntax.is(object, SyntaxKind::subscript)) {
      key.take(code_.flow.of(object, nullptr), false);
    }
    if (key.limited || key.roots.empty() || is_handed(function, object)) return;
    // What the caller made of everything that counts.
    const bool made_elsewhere =
        std::any_of(key.roots.begin(), key.roots.end(), [this](const FlowRoot& root) {
          const std::string word = lower(root.name);
          const bool tells = word.find("key") != word.npos || word.find("hash") != word.npos ||
                             word.find("digest") != word.npos;
          return tells && !is_settled(root);
        });
    const bool named = std::any_of(key.roots.begin(), key.roots.end(), is_name_of_function);
    if (made_elsewhere && !named) return;
    PythonCache cache;
    cache.name = name_of(name, function);
    cache.kind = "memory";
    cache.place = code_.place_of(store.place);
    cache.parts_known = true;
    for (const FlowRoot& root : key.roots) {
      const std::string_view form = is_name_of_function(root) ? "name" : form_word(root.form);
      cache.parts.push_back(
          {path_of(root), std::string(input_word(root)), form, code_.place_of(root.node)});
    }
    read_build(function, made, key, made_elsewhere, cache);
    read_device(object, made.call, key, cache);
    if (cache.reads_known) found_.push_back(std::move(cache));
  }

  // An attribute that is made with its object knows nothing of what a call is handed later.
  bool is_settled(const FlowRoot& root) {
    if (root.kind == FlowRoot::Kind::digest) return is_first(code_.function_of(root.node));
    if (root.kind != FlowRoot::Kind::attribute) return false;
    if (!settled_read_) read_settled();
    const auto found = settled_.find(root.name);
    return found != settled_.end() && found->second;
  }

  bool is_first(SyntaxIndex function) const {
    if (function == no_syntax) return false;
    const SyntaxIndex name = code_.syntax.child(function, SyntaxField::name);
    return name != no_syntax && code_.syntax.text_of(name) == "__init__";
  }

  void read_settled() {
    settled_read_ = true;
    for (SyntaxIndex at = 0; at < code_.syntax.nodes.size(); ++at) {
      if (!code_.syntax.is(at, SyntaxKind::assignment)) continue;
      const SyntaxIndex left = code_.syntax.child(at, SyntaxField::left);
      if (!code_.syntax.is(left, SyntaxKind::attribute)) continue;
      const bool first = is_first(code_.function_of(at));
      const auto [known, added] = settled_.emplace(code_.syntax.text_of(left), first);
      if (!added) known->second = known->second && first;
    }
  }

  // Something that CuPy loaded belongs to the device that was the current one.
  void read_device(SyntaxIndex object, SyntaxIndex call, const FlowTrace& key,
                   PythonCache& cache) const {
    const bool tells = std::any_of(key.words.begin(), key.words.end(), [](std::string_view word) {
      const std::string plain = lower(word);
      for (const std::string_view part : {"dev", "ctx", "context", "gpu", "ordinal"}) {
        if (plain.find(part) != plain.npos) return true;
      }
      return false;
    });
    // An object may be made for each device.
    if (tells || !cache.reads_known || !code_.syntax.is(object, SyntaxKind::identifier)) return;
    const SyntaxIndex entered = code_.flow.function_of(call);
    std::vector<SyntaxIndex> calls = {call};
    if (entered != no_syntax) {
      const std::vector<SyntaxIndex>& inner = code_.calls_in(entered);
      if (inner.size() <= max_calls) calls.insert(calls.end(), inner.begin(), inner.end());
    }
    for (const SyntaxIndex one : calls) {
      if (code_.flow.called(one) != "compile_with_cache") continue;
      cache.reads.push_back({"current device", {}, "value", code_.place_of(one)});
      return;
    }
  }

  // Whether a line of the function holds the two against each other: `assert x.shape == y.shape`.
  bool is_held_against(SyntaxIndex function, std::string_view read, const FlowTrace& key) const {
    std::string_view rest = code_.syntax.text_of(function);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      const bool asks = line.find("assert") != line.npos || line.find("!=") != line.npos ||
                        line.find("check") != line.npos;
      if (!asks || !has_word(line, read)) continue;
      for (const FlowRoot& part : key.roots) {
        if (has_word(line, plain_name(part.name))) return true;
      }
    }
    return false;
  }

  // A cache that the function is handed, or that lives for one call of it.
  bool is_handed(SyntaxIndex function, SyntaxIndex cache) const {
    if (!code_.syntax.is(cache, SyntaxKind::identifier)) return false;
    const std::vector<PythonBinding>& bound = code_.scopes.find(code_.syntax.text_of(cache), cache);
    return std::any_of(bound.begin(), bound.end(), [&](const PythonBinding& one) {
      return code_.function_of(one.name) == function &&
             code_.scopes.find(code_.syntax.text_of(cache), 0).empty();
    });
  }

  // Whether every call of the function in this file makes the parameter of what it makes the parts
  // of the key of: `launch(arch, uses_tma(arch))`.
  bool is_derived(SyntaxIndex function, const FlowRoot& read, const FlowTrace& key) {
    const std::vector<SyntaxIndex>& calls = code_.flow.calls_of(function);
    if (calls.empty() || calls.size() > 8) return false;
    return std::all_of(calls.begin(), calls.end(), [&](SyntaxIndex call) {
      if (follows(code_.flow.enter(function, call, nullptr), calls.size(), read, key)) return true;
      // Both may be handed through one more function.
      const SyntaxIndex around = code_.function_of(call);
      const std::vector<SyntaxIndex>& outer = code_.flow.calls_of(around);
      if (around == no_syntax || outer.empty() || outer.size() > 8) return false;
      return std::all_of(outer.begin(), outer.end(), [&](SyntaxIndex above) {
        const FlowFrame* frame = code_.flow.enter(around, above, nullptr);
        return frame != nullptr && follows(code_.flow.enter(function, call, frame),
                                           calls.size() + outer.size() - 1, read, key);
      });
    });
  }

  bool follows(const FlowFrame* frame, std::size_t calls, const FlowRoot& read,
               const FlowTrace& key) {
    if (frame == nullptr) return false;
    const FlowTrace from = code_.flow.of(read.node, frame);
    // One constant is one thing; several calls may give several.
    if (from.limited || (from.roots.empty() && calls > 1)) return false;
    FlowTrace known;
    for (const FlowRoot& part : key.roots) known.take(code_.flow.of(part.node, frame), false);
    return std::all_of(from.roots.begin(), from.roots.end(), [&known](const FlowRoot& root) {
      return std::any_of(known.roots.begin(), known.roots.end(), [&root](const FlowRoot& other) {
        return other.kind == root.kind && other.name == root.name;
      });
    });
  }

  void read_build(SyntaxIndex function, const Made& made, const FlowTrace& key, bool made_elsewhere,
                  PythonCache& cache) {
    const SyntaxIndex call = made.call;
    std::vector<SyntaxIndex> given = code_.flow.arguments(call);
    if (given.empty()) return;
    // Behind the kernel stand the operands of its first call: of these the types alone count.
    if (code_.flow.called(call) == "compile") given.resize(1);
    FlowTrace build;
    for (const SyntaxIndex one : given) build.take(code_.flow.of(one, made.frame), false);
    if (build.limited) return;
    cache.reads_known = true;
    const bool tuned = !compiles(call);
    for (const FlowRoot& root : build.roots) {
      const bool handed =
          root.kind == FlowRoot::Kind::parameter && code_.scopes.scope_of(root.node) == function;
      const std::string name = plain_name(root.name);
      if (tuned && !decides_tuning(root.field.empty() ? root.name : root.field)) continue;
      // `self._compile(x)` may be handed operands.
      if (code_.flow.called(call) == "_compile" && !names_setting(name)) continue;
      if (!handed || name == "self" || name == "cls" || leaves_build_alone(root)) continue;
      // What a name stands for may be all that is built under that name.
      if (input_word(root) == "source" && is_named(cache)) continue;
      if (root.field.empty() && is_told_by_name(root, key)) {
        add_read(name, root, cache);
        continue;
      }
      // A key that the caller may make.
      if (made_elsewhere) continue;
      if (has_field_of(cache, name)) {
        if (is_forgotten(root, key) && !is_held_against(function, root.field, key)) {
          add_read(path_of(root), root, cache);
        }
        continue;
      }
      if (has_part(cache, name) || is_derived(function, root, key) ||
          is_held_against(function, name, key))
        continue;
      add_read(name, root, cache);
    }
    const SyntaxIndex typed = made.frame == nullptr ? type_in(call) : no_syntax;
    if (typed != no_syntax && std::none_of(key.words.begin(), key.words.end(), says_type)) {
      cache.reads.push_back({"dtype", "dtypes", "value", code_.place_of(typed)});
    }
  }

  void add_read(std::string name, const FlowRoot& root, PythonCache& cache) const {
    const bool known =
        std::any_of(cache.reads.begin(), cache.reads.end(),
                    [&name](const PythonKeyPart& read) { return read.name == name; });
    if (known) return;
    cache.reads.push_back({std::move(name), std::string(input_word(root)), form_word(root.form),
                           code_.place_of(root.node)});
  }

  // The key has nothing of the function that is built but its name.
  static bool is_told_by_name(const FlowRoot& read, const FlowTrace& key) {
    bool named = false;
    for (const FlowRoot& part : key.roots) {
      if (part.kind != read.kind || part.name != read.name) continue;
      if (!is_name_of_function(part)) return false;
      named = true;
    }
    return named;
  }

  // The key takes the parameter apart.
  static bool has_field_of(const PythonCache& cache, std::string_view name) {
    return std::any_of(cache.parts.begin(), cache.parts.end(), [name](const PythonKeyPart& part) {
      return part.name.size() > name.size() && part.name[name.size()] == '.' &&
             part.name.starts_with(name);
    });
  }

  // A setting of which the key takes others, and neither it nor all of them.
  bool is_forgotten(const FlowRoot& read, const FlowTrace& key) {
    if (read.field.empty() || is_of_tensor(read.field) || tells_all(read.field)) return false;
    FlowRoot as_named = read;
    as_named.name = read.field.substr(read.field.rfind('.') + 1);
    if (leaves_build_alone(as_named) || is_made_here(read.field)) return false;
    return std::none_of(key.roots.begin(), key.roots.end(), [&read](const FlowRoot& part) {
      if (part.kind != read.kind || part.name != read.name) return false;
      // All of it, something above or below it, or what stands for all of it.
      return part.field.empty() || part.field == read.field || tells_all(part.field) ||
             is_of_tensor(part.field) || part.field.starts_with(read.field + ".") ||
             read.field.starts_with(part.field + ".");
    });
  }

  // A function of the file gives it: what it is made of isn't followed.
  bool is_made_here(std::string_view field) {
    if (named_functions_.empty()) {
      for (const SyntaxIndex function : code_.functions) {
        const SyntaxIndex name = code_.syntax.child(function, SyntaxField::name);
        if (name != no_syntax) named_functions_.insert(code_.syntax.text_of(name));
      }
    }
    return named_functions_.contains(field.substr(0, field.find('.'))) ||
           named_functions_.contains(field.substr(field.rfind('.') + 1));
  }

  static bool is_named(const PythonCache& cache) {
    return std::any_of(cache.parts.begin(), cache.parts.end(), [](const PythonKeyPart& part) {
      return part.name.find("name") != part.name.npos || part.name.find("key") != part.name.npos ||
             part.name == "id" || part.name.ends_with("_id") || part.name.starts_with("id_");
    });
  }

  // `x.dtype` among the arguments of a call.
  SyntaxIndex type_in(SyntaxIndex call) const {
    for (SyntaxIndex at = call; at < code_.syntax[call].next; ++at) {
      if (!code_.syntax.is(at, SyntaxKind::attribute)) continue;
      if (code_.syntax.text_of(at).ends_with(".dtype")) return at;
    }
    return no_syntax;
  }

  PythonCode& code_;
  std::set<std::pair<SyntaxIndex, std::string>> told_;
  std::set<std::string_view> named_functions_;
  // Attributes that are given a value, and whether that is where their object is made alone.
  std::map<std::string_view, bool> settled_;
  bool settled_read_ = false;
  std::map<SyntaxIndex, bool> keeps_;
  std::vector<PythonCache> found_;
  std::size_t looked_ = 0;
};

}  // namespace

std::vector<PythonCache> find_memo_caches(PythonCode& code) {
  code.flow.tell_fields(true);
  std::vector<PythonCache> found = MemoReader(code).run();
  code.flow.tell_fields(false);
  return found;
}

}  // namespace opseal
