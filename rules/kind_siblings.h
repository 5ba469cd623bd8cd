#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "opseal/rule.h"
#include "rules/dispatch_kinds.h"
#include "rules/library_handlers.h"

namespace opseal {

// Finds, for a name that is made of another kind, the one in the same library that is made of the
// own: `mv_q5_0` for `mv_q4_0`.
class KindSiblings {
 public:
  struct Sibling {
    // What the name is made of, as it is spelled there.
    std::string_view found;
    // The export or device kernel of the own kind; not said where there is none.
    Fact fact;
    std::string name;
  };

  explicit KindSiblings(const Facts& facts);

  // No library's names are known.
  bool empty() const { return named_.empty(); }
  // Kinds that names may be made of: `kind` in all spellings. To be sealed after the last.
  void add(std::string_view kind);
  void seal() { kinds_.seal(); }

  // `name`: of a function or kernel. An empty `found` where the name is of no kind or may be of
  // `kind`.
  Sibling of(const Fact& content, std::string_view name, std::string_view kind);
  // Whether the library has a function or kernel of that name.
  bool has(const Fact& content, std::string_view name);
  Fact content(const Fact& library) const { return facts_.content(library); }
  // What `library` and `symbol` of a target or kernel lead to.
  const NamedLibraries& libraries() const { return named_; }
  const LibraryHandlers& handlers() const { return handlers_; }

 private:
  // `compact_kind` of a name -> the first symbol or kernel that has it.
  using Compact = std::unordered_map<std::string, Fact>;
  const Compact& names_of(const Fact& content);

  LibraryFacts facts_;
  NamedLibraries named_;
  LibraryHandlers handlers_;
  KindNames kinds_;
  std::unordered_set<std::string_view> added_;
  // By content.
  std::unordered_map<std::uint32_t, Compact> names_;
};

// The part of `symbol-kind-mismatch` that rests on built libraries: the symbol of a kernel for one
// data format, and the device kernels that its handler reaches.
void check_kind_siblings(const Facts& facts, Sink& sink);

}  // namespace opseal
