// Tells the thread sanitizer how Swift's Mutex orders threads on Linux.
//
// Whoever finds a Mutex free, or gives one back for which nobody waits, does it by an atomic operation in code of ours: the sanitizer
// sees that. The rest is in libswiftSynchronization, which is not built for the sanitizer, so that it would report every access under a
// lock somebody has waited for. These functions come before those of the library (LD_PRELOAD), do what they do, and tell it.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// Weak: the programs of the system have no sanitizer.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

// _MutexHandle._lockSlow(UInt32)
SWIFT void lock_slow(uint32_t thread, SELF void *mutex) __asm(LOCK);
SWIFT void lock_slow(uint32_t thread, SELF void *mutex) {
    SWIFT void (*next)(uint32_t, SELF void *) = dlsym(RTLD_NEXT, LOCK);
    next(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

// _MutexHandle._tryLockSlow() -> Bool
SWIFT bool try_lock_slow(SELF void *mutex) __asm(TRY);
SWIFT bool try_lock_slow(SELF void *mutex) {
    SWIFT bool (*next)(SELF void *) = dlsym(RTLD_NEXT, TRY);
    bool is_locked = next(mutex);
    if (is_locked && __tsan_acquire) __tsan_acquire(mutex);
    return is_locked;
}

// _MutexHandle._unlockSlow()
SWIFT void unlock_slow(SELF void *mutex) __asm(UNLOCK);
SWIFT void unlock_slow(SELF void *mutex) {
    SWIFT void (*next)(SELF void *) = dlsym(RTLD_NEXT, UNLOCK);
    if (__tsan_release) __tsan_release(mutex);
    next(mutex);
}
