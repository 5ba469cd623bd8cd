#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "opseal/keys.h"

namespace opseal {

// The shape of the manifest format as data. The reader checks against it, `opseal schema manifest`
// prints it, unknown keys find their nearest name in it, and `opseal dump` writes by it, so that
// the four can't drift apart. A new key is a line in `keys.def` and a field here.

struct Form;

struct Field {
  Key key;
  const Form* form;
  bool required = false;
  // One sentence for the schema; units and sentinels included.
  std::string_view meaning = {};
  // It may be missing in what was read from sources, where only the running code knows it.
  bool may_be_undecided = false;
};

// What may stand at one place: any subset of the JSON types, each at most once, so that the type
// decides.
struct Form {
  // For messages and the schema's `$defs`; empty for the plain ones.
  std::string_view name = {};
  bool null = false;
  bool truth = false;
  // Non-negative integers up to `maximum`; never above 2^32 - 1.
  bool count = false;
  // Any number that a double holds.
  bool real = false;
  // Such a number is a bound or a size: 0 or more.
  bool not_negative = false;
  bool text = false;
  std::uint32_t minimum = 0;
  std::uint32_t maximum = 0xffffffff;
  // Where not empty, the only texts that may stand here.
  std::span<const std::string_view> words = {};
  // Where not empty, an object with these keys.
  std::span<const Field> fields = {};
  // A list of these.
  const Form* item = nullptr;
  // An object whose keys are free and whose values have this form.
  const Form* map_value = nullptr;
};

// The whole manifest, version 1.
extern const Form manifest_form;

inline constexpr std::uint32_t manifest_version = 1;

// Fields of an object form, at most: the reader keeps the seen ones in a 64-bit set.
inline constexpr std::size_t max_fields = 64;

// Calls `visit(form)` once for each named form, those that others use first.
void for_each_named_form(const Form& root, void (*visit)(const Form&, void*), void* context);

}  // namespace opseal
