#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opseal {

// A C++ type as its mangled name shows it: a tree whose parts may be shared, since the mangling
// names what came before by number.
struct MangledNode {
  enum class Kind : std::uint8_t {
    // `text` within `scope`.
    name,
    // `scope` with the template arguments `parts`.
    instance,
    // `text`: `int`, `unsigned long`.
    builtin,
    // The only part with `text` behind it: `*`, ` const`, `&`.
    decorated,
    // The result type and the parameters.
    function,
    // The only part is its type, `text` its digits as mangled (`n1` is -1); or, without a part, the
    // address of what `scope` names.
    literal,
    // Arguments of a template parameter pack.
    pack,
    // What opseal has no use for: a template parameter, a lambda, an expression.
    other,
  };
  Kind kind = Kind::other;
  std::string_view text;
  std::uint32_t scope = 0;
  std::vector<std::uint32_t> parts;
  // Levels below it, itself among them.
  std::uint16_t depth = 1;
};

// Reads type names as the Itanium C++ ABI mangles them (its section "Mangling"), which gcc and
// clang both follow, in time and memory proportional to the name's length. The C++ runtime has a
// demangler, too, but that one gives up on names beyond 1,024 characters, which an object with many
// template arguments passes, and it copies every shared part.
class MangledType {
 public:
  // Node 0: nothing.
  static constexpr std::uint32_t nothing = 0;

  // Nothing for what is no type name, goes deeper than 200 levels, is longer than 64 KiB, or uses
  // parts of the grammar that don't occur in names of types (most expressions). The result shows
  // the bytes of `mangled`, which must outlive it.
  static std::optional<MangledType> parse(std::string_view mangled);

  std::uint32_t root() const { return root_; }
  const MangledNode& node(std::uint32_t index) const { return nodes_[index]; }
  // `xla::ffi::Buffer` of `xla::ffi::Buffer<...>`; empty for what has no name.
  std::string name_of(std::uint32_t index) const;
  // Template arguments, packs opened up; empty for what has none.
  std::vector<std::uint32_t> arguments_of(std::uint32_t index) const;
  // As C++ writes it, cut off (`...`) at some 2,000 characters: shared parts are written out, which
  // could grow without limit.
  std::string text_of(std::uint32_t index) const;

 private:
  friend class MangledReader;
  void write(std::uint32_t index, std::string& out) const;
  void write_list(const std::vector<std::uint32_t>& parts, std::size_t first,
                  std::string& out) const;

  std::vector<MangledNode> nodes_{MangledNode{}};
  std::uint32_t root_ = nothing;
};

}  // namespace opseal
