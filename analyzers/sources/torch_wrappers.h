#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "analyzers/sources/records.h"

namespace opseal {

// Takes out what is registered through functions of the tree that hand nothing on to torch, as
// projects leave them behind where registration is switched off; and shape functions where such a
// function goes on when torch refuses them. `paths`: of the files, by number.
void drop_idle_wrappers(const std::vector<std::string>& paths,
                        const std::function<bool(std::size_t, std::string&)>& read,
                        std::vector<TorchRecord>& records);

}  // namespace opseal
