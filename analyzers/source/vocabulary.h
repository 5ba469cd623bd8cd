#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace opseal {

// What makes a name one that registers something.
enum class WordUse : std::uint8_t {
  // Never expanded, even where the project defines it: an Invocation is made of it.
  terminal,
  // The same, but expanded where a definition of it is seen.
  terminal_unless_defined,
  // Makes a macro whose body has it worth expanding, and is nothing by itself.
  seed,
};

struct VocabularyWord {
  std::string_view text;
  // Names that begin with the text; else those that are it.
  bool is_prefix = false;
  WordUse use = WordUse::terminal;
};

// The names that a scan of sources looks for.
struct Vocabulary {
  std::span<const VocabularyWord> words;
  // Members whose calls are Invocations: `def` for `m.def(…)`.
  std::span<const std::string_view> members;
  // Members that make a macro worth expanding whose body calls them.
  std::span<const std::string_view> seed_members;
  // A file that has none of these (nor a macro of the project that leads to one) is not looked at.
  std::span<const std::string_view> needles;
  // Definitions of macros that headers outside of a project hold; those of the project win.
  std::string_view prelude;
  // What the comments begin with that are kept.
  std::span<const std::string_view> comment_marks;

  // The word for a name; null where it is none.
  const VocabularyWord* find(std::string_view name) const;
};

// Registrations of torch, XLA, ONNX Runtime, TensorFlow, ExecuTorch, pybind11 and nanobind.
const Vocabulary& registration_vocabulary();

}  // namespace opseal
