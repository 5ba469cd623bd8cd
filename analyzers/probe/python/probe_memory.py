"""Memory that holds a pattern when it is handed out, so that what a result leaves as it was shows."""

import ctypes

import numpy

# The complement of each is what new memory holds. In every floating dtype three numbers far apart.
PATTERNS = (0x5A, 0xA5, 0x94)
# Calls with each: what changes by itself repeats for none.
REPEATS = 3

# Of the C library's `mallopt`, which fills memory that it hands out (glibc alone).
M_PERTURB = -6


def pattern_setter():
    """A function that chooses the pattern (0: none), or None where the C library knows none."""
    try:
        libc = ctypes.CDLL(None)
        libc.gnu_get_libc_version
        mallopt = libc.mallopt
    except (OSError, AttributeError):
        return None
    return lambda pattern: mallopt(M_PERTURB, pattern)


def memory_can_be_chosen(empty):
    """Whether new memory holds the pattern: not where an allocator of its own hands it out. `empty()`
    gives an array in new memory."""
    found = follows_memory(lambda: [empty()])
    return found is not None and all(one.all() for one in found)


def follows_memory(run):
    """Elements of each result that are made of what their memory held before: for each a boolean
    array, or None where that can't be asked. `run()` gives arrays in memory of their own, and ends
    with the pattern that it began with."""
    choose = pattern_setter()
    if choose is None:
        return None
    seen = []
    for pattern in PATTERNS * REPEATS:
        choose(pattern)
        try:
            results = run()
        finally:
            choose(0)
        seen.append([numpy.array(one) for one in results])
    follows = []
    for column in zip(*seen):
        if any(one.shape != column[0].shape or one.dtype != column[0].dtype for one in column):
            return None
        size = column[0].dtype.itemsize
        rows = [numpy.ascontiguousarray(one).view(numpy.uint8).reshape(-1, size) for one in column]
        groups = [rows[at :: len(PATTERNS)] for at in range(len(PATTERNS))]
        found = numpy.ones(len(rows[0]), bool)
        for group in groups:
            for other in group[1:]:
                found &= (group[0] == other).all(axis=1)
        for at, group in enumerate(groups):
            for other in groups[at + 1 :]:
                found &= (group[0] != other[0]).any(axis=1)
        follows.append(found.reshape(column[0].shape))
    return follows
