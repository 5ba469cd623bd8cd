#pragma once

#include <cstddef>

namespace opseal {

// Processes that code under probe leaves behind, in a session of their own, become children of this
// one, in place of those that nobody ends.
void adopt_orphans();

// Ends the children of this process, and what these leave behind in turn; how many. Needs: nobody
// else waits for a child.
std::size_t end_orphans();

}  // namespace opseal
