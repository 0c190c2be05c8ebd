// Swift's module Glibc has no settings of the allocator. Other systems have none.
#if defined(__linux__)
#include <malloc.h>
#endif
