#pragma once

#include <cstdint>
#include <vector>

#include "analyzers/python/miss_errors.h"
#include "analyzers/python/registrations.h"
#include "analyzers/python/repeated_targets.h"
#include "analyzers/sources/registrars_cpp.h"

namespace opseal {

// Registrations of Python whose exceptions nobody sees.
void read_registrars_python(const std::vector<PythonRegistration>& registrations,
                            std::uint32_t file, std::vector<RegistrarRecord>& records);

// Targets that a function, `name`, registers again where it is asked for a replacement.
void read_repeated_targets(const std::vector<PythonRepeatedTarget>& targets, std::uint32_t file,
                           std::vector<RegistrarRecord>& records);

// Errors, `type`, for what a registry doesn't have.
void read_miss_errors(const std::vector<PythonMissError>& errors, std::uint32_t file,
                      std::vector<RegistrarRecord>& records);

}  // namespace opseal
