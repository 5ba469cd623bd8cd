#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzers/fact_writer.h"
#include "analyzers/native/device_images.h"
#include "analyzers/native/elf.h"
#include "analyzers/native/ffi_handlers.h"
#include "analyzers/native/registrars.h"

namespace opseal {

// The `kind` of a symbol: `function`, `object`, `tls`, ...
std::string_view kind_word(const ElfSymbol& symbol);

// Each writes one part of an element of `libraries`; `library.cpp` says in which order.

void write_texts(Key key, const std::vector<std::string_view>& texts, FactWriter& writer);

// `soname`, `needed`, `rpath`, `run_path`, `version_needs`, `version_definitions`.
void write_dynamic(const ElfDynamic& dynamic, FactWriter& writer);
// `exports` and `imports`. `from_object`: of a relocatable file, whose imports are not told.
void write_symbols(const std::vector<ElfSymbol>& symbols, bool from_object, FactWriter& writer);
void write_images(const DeviceImages& images, FactWriter& writer);
void write_handler(const FfiHandler& handler, const std::vector<std::string_view>& reaches,
                   bool reaches_known, FactWriter& writer);
void write_registrars(const std::vector<Registrar>& registrars, FactWriter& writer);

}  // namespace opseal
