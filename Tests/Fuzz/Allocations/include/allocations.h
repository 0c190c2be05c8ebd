#pragma once
#include <stddef.h>

/// Begins to count what this thread allocates and frees.
void allocations_begin(void);

/// Ends that. Returns by how many bytes what was allocated exceeded, at most, what there was at the beginning.
size_t allocations_end(void);
