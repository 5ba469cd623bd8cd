#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "analyzers/byte_source.h"
#include "opseal/facts.h"

namespace opseal {

enum class Accepts { no, yes, look_further };

// One reader: bytes in, facts out.
struct Analyzer {
  std::string_view name;
  // What a person calls such a file.
  std::string_view describes;
  // Tells by the first bytes (up to `head_size`, or fewer so far) whether the file is its kind;
  // `whole` when these are all its bytes, and the answer then is yes or no.
  Accepts (*accepts)(std::string_view head, bool whole) = nullptr;
  // Asked with the whole file where `accepts` says look_further.
  bool (*confirms)(ByteSource& source) = nullptr;
  // One of these three reads the file with that number, on up to `threads` threads. Throws
  // InputError where it can't go on.
  void (*load)(ByteSource& source, std::uint32_t file, Facts& facts) = nullptr;
  // Is handed all bytes at once: for files that point from one end to the other.
  void (*load_bytes)(std::string_view bytes, std::uint32_t file, unsigned threads,
                     Facts& facts) = nullptr;
  // Opens file 0 itself, and adds a file for each member that it states something of.
  void (*load_package)(const InputFile& input, unsigned threads, Facts& facts) = nullptr;
  // Tells of a file that it accepts whether it is for systems that are not read: an error where the
  // user named the file, and of no interest where it only lies in a directory.
  Accepts (*foreign)(std::string_view head) = nullptr;
};

// Bytes that `Analyzer::accepts` is shown.
inline constexpr std::size_t head_size = 65536;

// In the order in which they are asked; the first that accepts a file reads it.
std::span<const Analyzer> all_analyzers();

// The analyzer for an input, or nullptr. `error` is set when it can't be read.
const Analyzer* find_analyzer(const InputFile& input, std::string& error);

// What `Analyzer::foreign` recognises, for messages.
inline constexpr std::string_view foreign_systems = "Windows, macOS, 32-bit or big-endian systems";

// Whether it is a file of that kind that is not read (`Analyzer::foreign`).
bool is_foreign_input(const Analyzer& analyzer, const InputFile& input);

// What one input says, or the problem that kept it from being read: the single place where
// InputError is caught. The facts have exactly one file, or one more for each member of a package.
Facts load_file(const Analyzer& analyzer, InputFile input, unsigned threads = 1);

Accepts accepts_manifest(std::string_view head, bool whole);
bool confirms_manifest(ByteSource& source);
void load_manifest(ByteSource& source, std::uint32_t file, Facts& facts);

Accepts accepts_kernel_list(std::string_view head, bool whole);
bool confirms_kernel_list(ByteSource& source);
void load_kernel_list(ByteSource& source, std::uint32_t file, Facts& facts);

Accepts accepts_generator_list(std::string_view head, bool whole);
bool confirms_generator_list(ByteSource& source);
void load_generator_list(ByteSource& source, std::uint32_t file, Facts& facts);

Accepts accepts_library(std::string_view head, bool whole);
void load_library(std::string_view bytes, std::uint32_t file, unsigned threads, Facts& facts);

}  // namespace opseal
