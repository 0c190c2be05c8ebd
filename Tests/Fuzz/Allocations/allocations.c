// Stands in for the C library's allocator, which does the work, and counts. For glibc only, as the fuzzer is.
#include "allocations.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static __thread int is_counting;
static __thread ptrdiff_t live, peak;

void allocations_begin(void) {
    live = peak = 0;
    is_counting = 1;
}

size_t allocations_end(void) {
    is_counting = 0;
    return (size_t)peak;
}

static void *count(void *memory) {
    if (is_counting && memory) {
        live += (ptrdiff_t)malloc_usable_size(memory);
        if (live > peak) peak = live;
    }
    return memory;
}

static void uncount(void *memory) {
    if (is_counting && memory) live -= (ptrdiff_t)malloc_usable_size(memory);
}

void *malloc(size_t size) { return count(__libc_malloc(size)); }

void *calloc(size_t number, size_t size) { return count(__libc_calloc(number, size)); }

void *realloc(void *memory, size_t size) {
    uncount(memory);
    return count(__libc_realloc(memory, size));
}

void free(void *memory) {
    uncount(memory);
    __libc_free(memory);
}

void *memalign(size_t alignment, size_t size) { return count(__libc_memalign(alignment, size)); }

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
    *memory = memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}
