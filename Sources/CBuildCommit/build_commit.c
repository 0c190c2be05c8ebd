#include "build_commit.h"
#include <stddef.h>

#ifndef BUILD_COMMIT
#define BUILD_COMMIT NULL
#endif

const char *build_commit(void) { return BUILD_COMMIT; }
