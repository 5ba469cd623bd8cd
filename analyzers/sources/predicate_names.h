#pragma once

#include <string_view>

// What the names of functions tell: a predicate that no structure holds is known by nothing else.

namespace opseal {

// `supports`, `isSupportedType`
bool sounds_like_predicate(std::string_view name);

// Each word of a predicate's name is of its kind, of the enumeration or of the dispatch: a function
// `supports_caching` asks for something else. A device may be named by one of the two alone.
bool speaks_for(std::string_view predicate, std::string_view dispatch,
                std::string_view enumeration);

// Texts that a function gives back are what values are called, and not what serves them.
bool names_values(std::string_view function);

}  // namespace opseal
