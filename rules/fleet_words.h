#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opseal {

// The words of a statement about the fleet, which builds write as `8.0;9.0+PTX` (as in
// TORCH_CUDA_ARCH_LIST), `80;90-real` (as in CMAKE_CUDA_ARCHITECTURES) or `sm_80,sm_90`: what
// stands between spaces, `;` and `,`. They point into `text`.
std::vector<std::string_view> fleet_words(std::string_view text);

// The architecture of an AMD device: `gfx90a`, `gfx942:sramecc+:xnack-`.
bool is_amd_architecture(std::string_view word);

// What a word that names neither a CUDA nor an AMD architecture looks like: `sm_90` for `sm_9`,
// `sm90` of another letter case, or `hopper`. Empty when it looks like none.
std::string_view nearest_architecture(std::string_view word);

// Why nothing can be held against a statement: "`sm_9` names no GPU architecture; did you mean
// `sm_90`?", or that it has no word. Empty when each of its words names one.
std::string fleet_mistake(std::string_view text);

}  // namespace opseal
