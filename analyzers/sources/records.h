#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "opseal/build_condition.h"

namespace opseal {

// What single sources say of a registry, before it is known what the others say.

// Bytes of a source.
struct SourcePlace {
  // Index of the file in the tree.
  std::uint32_t file = 0;
  std::uint32_t offset = 0;
  std::uint32_t length = 0;

  friend bool operator==(const SourcePlace&, const SourcePlace&) = default;
};

struct PlacedName {
  std::string text;
  SourcePlace place;
};

enum class DispatchKind : std::uint8_t {
  // A macro or a `switch` with one case for each dtype, which refuses all others.
  choice,
  // An assertion that nothing else comes here.
  check,
  // Something else is done for these; what is done for others isn't said.
  test,
};

// A place where C++ code chooses by the dtype of something.
struct DispatchSite {
  DispatchKind kind = DispatchKind::choice;
  // What is looked at, as written: `x.scalar_type()`.
  std::string expression;
  // In opseal's spelling, sorted.
  std::vector<std::string> dtypes;
  // There is none but these.
  bool known = true;
  // Labels of which the text doesn't say what dtype they are.
  std::vector<SourcePlace> unknown;
  // Those were told by their values.
  bool typed = false;
  // As written in the file; empty where there is none.
  std::string macro;
  SourcePlace place;

  friend bool operator==(const DispatchSite&, const DispatchSite&) = default;
};

// A function that is handed to a registry, as far as its declaration was seen.
struct SourceFunction {
  // As written, without `&` and wrappers; empty where it has no name.
  std::string name;
  SourcePlace place;
  // The rest is known.
  bool declared = false;
  std::uint32_t positional = 0;
  std::uint32_t required = 0;
  bool variadic = false;
  std::vector<std::string> parameters;
  // Python: parameters that are given by name alone; `**`: any further ones.
  std::vector<std::string> names;
  // C++: `Tensor (const Tensor &, int64_t)`; without the first word where the type is worked out by
  // the compiler. `(...)` where functions of one name differ in it, so that it isn't known.
  std::string signature;
  // C++: that type, and those of the parameters, without what makes no other type for a registry:
  // to tell whether two declarations are of one function.
  std::vector<std::string> types;
  // libclang told the signature.
  bool typed = false;
  // Dtypes of the tensors that it hands back: `f16`, `$x` for that of parameter `x`, `?`; empty
  // where nothing is known.
  std::vector<std::string> results;
  // Python: parameters that choose between shapes, or dtypes, of what it hands back.
  std::vector<std::string> choices;
  // Dimensions of each tensor that it hands back, nothing where that isn't known.
  std::vector<std::optional<std::uint32_t>> ranks;
  // Python, shape functions: the parameters that the body reads, where that is known.
  std::vector<std::string> reads;
  bool reads_known = false;
};

// The namespace in which something is registered.
struct TorchSpace {
  std::string text;
  // It is a word that only the build knows (`TORCH_EXTENSION_NAME`), so that it may be any.
  bool open = false;

  friend bool operator==(const TorchSpace&, const TorchSpace&) = default;
};

// A function of a gradient, and what the system calls it with.
struct RuleCall {
  SourceFunction function;
  // As the system calls it; empty for the backward itself.
  std::string kind;
  std::uint32_t positional = 0;
  std::vector<std::string> names;
  // What those by position are called where the operator is defined; empty: nothing.
  std::vector<std::string> called;
  // A number of values that it hands back; the one that no system asks for, if there is one.
  std::optional<std::uint32_t> returns;
  SourcePlace returns_place;
};

// One count of gradients that a backward hands back.
struct GradientCount {
  SourcePlace place;
  std::uint32_t values = 0;
  // The same without what may be no gradient at its end.
  std::uint32_t without_nones = 0;
  // One that is surely no tuple.
  bool bare = false;
};

enum class TorchUse : std::uint8_t {
  // The operator's definition: with a schema, or with a function that one is inferred from.
  define,
  implement,
  // A shape function.
  fake,
  gradient,
  // Asked for by name.
  lookup,
  // The namespace is taken as a whole (`TORCH_LIBRARY`, `Library(ns, "DEF")`), which one package
  // alone may do; there is no name.
  own,
  // Python: a name of a module, `name`, is a library for the namespace, with `key` where it has
  // one.
  // Only to look up by.
  holder,
  // A kernel for every operator under a key (`m.fallback(…)`); there is no name.
  backend_fallback,
};

struct TorchRecord {
  TorchUse use = TorchUse::define;
  TorchSpace space;
  // `name.overload`, without the namespace; empty where only the running code knows it, and then
  // `written` is what stands there.
  PlacedName name;
  std::string written;
  // define: as torch keeps it, namespace and all; empty where torch infers it.
  std::string schema;
  // implement: a dispatch key as torch spells it; empty where only the running code knows it.
  std::string key;
  // implement, Python: registered by `Library.impl`, which refuses a second kernel at a key.
  bool refuses_second = false;
  // C++: a macro that the build defines stands for the namespace where torch, before 2.5, took the
  // word itself; this word.
  std::string unexpanded;
  // lookup: `hasattr`, or an assignment that puts something there: fine if nobody registers it.
  bool asks_whether = false;
  // lookup: whoever imports the module asks.
  bool at_import = false;
  // implement: passes on and is no kernel.
  bool fallthrough = false;
  SourceFunction function;
  // implement, C++: where the function, or what it calls in the tree, chooses by dtype.
  std::vector<DispatchSite> dispatches;
  // Python: names of the arguments that it writes, as handed over.
  std::vector<std::string> mutates;
  bool says_mutates = false;
  // A text stands where a list is asked for; `unknown` is one that torch takes.
  bool says_mutates_text = false;
  std::string mutates_text;
  BuildCondition when;
  // Python: the function within which it stands, so that it happens only when that is called.
  std::string scope;
  // The macro of the project that it came through.
  std::string macro;
  // Of the whole registration.
  SourcePlace place;
  bool python = false;
  // implement: parameters whose memory the body writes to, and where that is known.
  std::vector<PlacedName> writes;
  // implement: likewise those that it hands back, in Python also as a view.
  std::vector<std::string> returned_views;
  // Python: the dotted path of the library that it is registered through, where another file makes
  // that: `.library.lib`.
  std::string library_path;
  // implement, C++: functions with a backward of their own that its code applies.
  std::vector<std::string> uses;
  // gradient: every count that the text tells, and the functions beside the backward.
  std::vector<GradientCount> returns;
  std::vector<RuleCall> calls;
};

}  // namespace opseal
