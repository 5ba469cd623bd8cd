#pragma once

#include <string_view>
#include <vector>

#include "analyzers/python/registrations.h"
#include "analyzers/sources/records.h"

namespace opseal {

// What a Python file registers with torch, among its other registrations. `text`: of the file, for
// what is quoted from it.
void read_torch_python(const std::vector<PythonRegistration>& registrations, std::string_view text,
                       std::uint32_t file, std::vector<TorchRecord>& records);

// The conditions of a registration as one.
BuildCondition condition_of(const PythonRegistration& registration);
// What of a Python function the facts keep.
SourceFunction source_function(const PythonFunction& function, std::uint32_t file);

}  // namespace opseal
