#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzers/sources/records.h"
#include "analyzers/sources/source_texts.h"

namespace opseal {

// Takes out what is registered through functions of the tree that hand nothing on to torch, as
// projects leave them behind where registration is switched off; and shape functions where such a
// function goes on when torch refuses them. `paths`: of the files, by number.
void drop_idle_wrappers(const std::vector<std::string>& paths, const SourceTexts& texts,
                        std::vector<TorchRecord>& records);

}  // namespace opseal
