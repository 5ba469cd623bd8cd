#pragma once

#include <sys/resource.h>

namespace opseal {

// What a child may use of the machine. Called by the child itself.

using LimitedResource = decltype(RLIMIT_CPU);

// The soft limit; what is over the hard one is cut.
void limit_resource(LimitedResource what, rlim_t most);

// The hard limit, too, which nothing without privileges can raise again.
void limit_for_good(LimitedResource what, rlim_t most);

// False for a program with sanitizers, which reserve more address space than there is memory.
bool can_limit_memory();

// Of processor time, from now on.
void give_seconds(rlim_t seconds);

}  // namespace opseal
