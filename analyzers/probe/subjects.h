#pragma once

#include <string>
#include <vector>

#include "analyzers/probe/ffi_question.h"
#include "opseal/facts.h"

namespace opseal {

// A handler of XLA's FFI in a built library, or a plain C function, and what is said of it.
struct ProbeSubject {
  // Where the library can be opened, and how reports name it.
  std::string library;
  std::string shown_library;
  std::string symbol;
  // A module of Python hands it out by the name `symbol`, and no library is opened.
  bool handed = false;
  // Stages before it that are handed out beside it.
  std::vector<ffi::EarlyHandler> early{};
  // Each may be not said: what the library's bytes tell, the target that names it, the operator and
  // its kernel that it serves.
  Fact handler;
  Fact target;
  Fact op;
  Fact kernel;
  // Where reports point where nothing is said of it.
  Location place;
  // `namespace::operator`, or the symbol.
  std::string name;
  // Why it can't be called at all; empty: it can.
  std::string skipped;
  // Why it can't do its work here, though it can be asked what it is; empty: it can.
  std::string calls_skipped;

  // A C function whose arguments the manifest describes.
  bool is_plain() const { return kernel[Key::arguments].is_list(); }
};

// Every handler that the libraries hold, every target and kernel of a manifest that says symbol and
// library, and all that modules hand out (a target's or kernel's name says then which is meant),
// each pair of library and symbol once for each kernel.
std::vector<ProbeSubject> find_probe_subjects(const Facts& facts,
                                              const std::vector<ffi::HandedHandler>& handed);

}  // namespace opseal
