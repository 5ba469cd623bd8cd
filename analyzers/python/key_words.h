#pragma once

#include <string>
#include <string_view>

#include "analyzers/python/value_flow.h"

namespace opseal {

// opseal's word for what something in a key stands for, by its name in the code; empty where the
// name doesn't tell.
std::string_view input_word(const FlowRoot& root);

// Whether it is one of opseal's words for inputs.
bool is_input_word(std::string_view word);

// Without `self.` and leading underscores, so that an attribute and the parameter that it was made
// of have one name.
std::string plain_name(std::string_view name);

// What a build may be handed without being another build: streams, places for its output, how much
// it tells of itself.
bool leaves_build_alone(const FlowRoot& root);

}  // namespace opseal
