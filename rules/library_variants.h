#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "opseal/facts.h"

namespace opseal {

// Packages ship one piece of software built in several ways, of which a process loads one: by
// runtime version (`libx_cuda118.so`, `libx_cuda130.so`), by architecture (`sm90/ops.so`,
// `sm100/ops.so`), by interpreter, by instruction set, or with only a part of it
// (`libx_runtime.so` beside `libx.so`). Such libraries are never held against each other, and what
// one of them lacks the others need not give.

// The path with the words that tell builds apart taken out: versions of runtimes, interpreters and
// sonames, architectures of devices and hosts. Equal for `sm90/ops.so` and `sm100/ops.so`. Numbers
// that tell other things stay: `fa2` and `fa3` are two libraries.
std::string variant_stem(std::string_view path);

// The same where the words that tell the kind of device are taken out too: equal for `x_cpu.so` and
// `x_cuda118.so`. Only together with equal exports is that a sign of variants: a library for the
// host and one for the device often work side by side.
std::string backend_stem(std::string_view path);

// The path without any number: `core4.so` and `core5.so` have one such stem. Alone it says little
// (`fa2`, `fa3`); of libraries that need two versions of one thing it shows that each is made for
// one of them.
std::string numberless_stem(std::string_view path);

// Some library is needed by both, in two versions: `libavcodec.so.58` and `libavcodec.so.59`.
bool need_other_versions(const Fact& a, const Fact& b);

// Whether two libraries are variants. Each library's exports are sorted once.
class LibraryVariants {
 public:
  // `a`, `b`: the content of libraries (`LibraryFacts::content`); `path_a`, `path_b`: where they
  // lie. True, too, for one file met twice: equal digest or build id.
  bool alternatives(const Fact& a, std::string_view path_a, const Fact& b, std::string_view path_b);
  bool alternatives(const Fact& a, const Fact& b);

 private:
  const std::vector<Name>& strong_functions(const Fact& content);
  bool nearly_equal_exports(const Fact& a, const Fact& b);
  bool is_reduced_build(const Fact& part, std::string_view part_path, const Fact& whole,
                        std::string_view whole_path);

  std::unordered_map<std::uint32_t, std::vector<Name>> functions_;
};

}  // namespace opseal
