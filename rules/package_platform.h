#pragma once

#include "opseal/rule.h"

namespace opseal {

// The part of `device-declared-missing` for whole packages: a platform that a package's name,
// version or manifest declares, and no library that has code for it or a way to get at any.
void check_package_platform(const Facts& facts, Sink& sink);

}  // namespace opseal
