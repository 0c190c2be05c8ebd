import CSodium

/// The libsodium library as a whole: its start and its random numbers.
package enum Sodium {
    /// Starts libsodium once per process; further calls cost one atomic load.
    ///
    /// Everything in this module that calls libsodium runs this first, so no caller has to remember it.
    /// A `static let` runs its initializer once, whichever thread comes first. Failure means that the
    /// operating system gives no random numbers; nothing may go on without them, so the process stops.
    static func start() {
        _ = started
    }

    private static let started: Void = {
        guard sodium_init() >= 0 else {
            fatalError("libsodium could not be initialized: the system's random number source does not work")
        }
    }()

    /// Returns `count` unpredictable bytes.
    ///
    /// For values that are going to be public; secrets belong into ``SecretBytes/random(count:)``.
    package static func randomBytes(count: Int) -> [UInt8] {
        start()
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
            if let base = buffer.baseAddress {
                randombytes_buf(base, count)
            }
            initializedCount = count
        }
    }
}
