#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzers/source/plain_source.h"
#include "analyzers/sources/ignores.h"
#include "analyzers/sources/records.h"
#include "opseal/build_condition.h"

namespace opseal {

// A kernel that code of the host starts.
struct KernelLaunch {
  // As far as it has a name.
  std::string kernel;
  // Index into `LaunchCode::functions`.
  std::uint32_t function = 0;
  // Index of the token in its file.
  std::uint32_t at = 0;
  // The status that the launch gives is used, or its error is read after it.
  bool checked = false;
  // It is a call of a function that gives back the error of its launch, as its type says.
  bool typed = false;
  // What is asked of the device's capability on the way to it, where the kernel needs that.
  std::optional<std::vector<std::string>> conditions;
  // What is sure of the capability there, by its own function; empty: nothing.
  std::string guard;
  // Its function makes the device of its tensors the current one; false: neither that nor any who
  // call it do.
  std::optional<bool> pinned;
  BuildCondition when;
  // It is in the body of this macro.
  std::string macro;
  SourcePlace place;
};

// A name in a function: indices of the tokens where it stands first and last, and where it is
// called last (0: it never is, a table only names it).
struct NameUse {
  std::uint32_t hash = 0;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::uint32_t last_call = 0;
  // Where the arguments of that call end, which a launch may be among.
  std::uint32_t call_end = 0;
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
};

// A function of the host with a body, and what it names; or a macro's body.
struct NamingCode {
  std::string name;
  std::uint32_t hash = 0;
  // Of the class that it is a member of; 0: it is none's.
  std::uint32_t owner = 0;
  bool is_macro = false;
  // What it does it does at the end of the block that has an object of the class.
  bool is_destructor = false;
  bool launches = false;
  // Names what makes a device the current one; has a parameter that is a tensor.
  bool guards_device = false;
  bool takes_tensors = false;
  bool reads_error = false;
  // Of functions: index of the last token that reads the error of a launch.
  std::uint32_t last_read = 0;
  // macro: of the first kernel that it starts.
  std::string kernel;
  // What it asks of the device's capability.
  std::vector<std::string> conditions;
  // Sorted by hash.
  std::vector<NameUse> uses;
};

struct LaunchCode {
  // Who calls its functions may be no part of the tree.
  bool is_header = false;
  // Launches by macros were added.
  bool joined = false;
  // The project checks some launches far above them, so that of the others it isn't known.
  bool checked_from_afar = false;
  std::vector<NamingCode> functions;
  std::vector<NamingCode> macros;
  std::vector<KernelLaunch> launches;
  // Where a comment accepts that nobody reads the error.
  std::vector<TextRange> accepted;

  bool accepts(const KernelLaunch& launch) const;
};

// `<<<` starts a kernel where the source is one of CUDA or HIP; calls that start one say so
// themselves.
void read_launches(const PlainSource& source, bool is_cuda, LaunchCode& code);

// Adds launches by macros, and marks those that are checked: in their own function, by a function
// or macro that it names, or by those that call it. `codes` are by number of the file. Gives the
// names of the functions whose callers may still check, so that more files can be read and all be
// joined again.
std::vector<std::string> join_launches(const std::vector<LaunchCode*>& codes);

}  // namespace opseal
