import CAllocator
import Foundation

/// The parts in which glibc's allocator manages memory.
///
/// Each new thread gets an arena of its own, until there are eight for each processor. One thread makes a batch, another one
/// writes it, a third one releases it, and each arena keeps what is left between the pieces. With two arenas both sides of a
/// first sync take 5 to 8 MiB less, and no more time: a few threads are busy at once, and seldom with the allocator.
enum Arenas {
    static let limit: Int32 = 2

    /// Limits the arenas of this process. The first threads must not have begun.
    static func setLimit() {
        #if canImport(Glibc)
            // Whoever starts the program may know better.
            guard getenv("MALLOC_ARENA_MAX") == nil else { return }
            _ = mallopt(M_ARENA_MAX, limit)
        #endif
    }
}
