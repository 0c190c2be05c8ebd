import CSodium

/// A secret of fixed length in guarded memory: written once, never printed, erased when the last owner lets go.
///
/// The bytes live in an allocation of libsodium's own (`sodium_malloc`): locked into memory where the system allows
/// it, left out of core dumps, between guard pages, read-only after initialization, and overwritten with zeros when
/// this object goes away. It is a class, because Swift copies structs, and nobody would erase the copies.
///
/// `@unchecked Sendable` holds because the memory is written only inside `init`, before any other thread can
/// know of the object, is write-protected afterwards, and is freed only in `deinit`, when no thread holds a
/// reference any more.
package final class SecretBytes: @unchecked Sendable {
    /// The number of bytes; fixed at initialization.
    package let count: Int

    private let memory: UnsafeRawPointer

    /// Makes a secret of `count` bytes, which `fill` writes in place.
    ///
    /// - Parameters:
    ///   - count: The length in bytes.
    ///   - fill: Writes the secret. It gets a pointer to exactly `count` bytes with arbitrary content and must not
    ///     keep it. If it throws, the initializer erases and frees the memory, and passes the error on.
    package init(count: Int, fill: (UnsafeMutablePointer<UInt8>) throws -> Void) rethrows {
        Sodium.start()
        guard let memory = sodium_malloc(count) else {
            fatalError("out of memory for a secret of \(count) bytes")
        }
        do {
            try fill(memory.bindMemory(to: UInt8.self, capacity: count))
        } catch {
            sodium_free(memory)
            throw error
        }
        sodium_mprotect_readonly(memory)
        self.count = count
        self.memory = UnsafeRawPointer(memory)
    }

    deinit {
        // sodium_free makes the pages writable again, erases them, and checks the canary before it frees.
        sodium_free(UnsafeMutableRawPointer(mutating: memory))
    }

    /// Makes a secret with a copy of `bytes`. The caller erases the original.
    package convenience init(copying bytes: some Collection<UInt8>) {
        let count = bytes.count
        self.init(count: count) { memory in
            UnsafeMutableRawBufferPointer(start: memory, count: count).copyBytes(from: bytes)
        }
    }

    /// Returns a new secret of `count` unpredictable bytes.
    package static func random(count: Int) -> SecretBytes {
        SecretBytes(count: count) { randombytes_buf($0, count) }
    }

    /// Reads a secret from hexadecimal digits, in any case and without separators; returns nil for anything else. The
    /// caller erases the digits.
    package convenience init?(hexadecimal digits: some RandomAccessCollection<UInt8>) {
        guard digits.count.isMultiple(of: 2), digits.allSatisfy({ hexadecimalDigit($0) != nil }) else {
            return nil
        }
        self.init(count: digits.count / 2) { memory in
            var digit = digits.startIndex
            for index in 0..<digits.count / 2 {
                let next = digits.index(after: digit)
                memory[index] = hexadecimalDigit(digits[digit])! << 4 | hexadecimalDigit(digits[next])!
                digit = digits.index(after: next)
            }
        }
    }

    /// Returns the secret as lower-case hexadecimal digits between two texts that are not secret.
    package func hexadecimal(after prefix: [UInt8], before suffix: [UInt8]) -> SecretBytes {
        let digits = Array("0123456789abcdef".utf8)
        return SecretBytes(count: prefix.count + 2 * count + suffix.count) { memory in
            for (index, byte) in prefix.enumerated() { memory[index] = byte }
            withUnsafeBytes { bytes in
                for (index, byte) in bytes.enumerated() {
                    memory[prefix.count + 2 * index] = digits[Int(byte >> 4)]
                    memory[prefix.count + 2 * index + 1] = digits[Int(byte & 0x0f)]
                }
            }
            for (index, byte) in suffix.enumerated() { memory[prefix.count + 2 * count + index] = byte }
        }
    }

    /// Calls `body` with the secret's bytes, which are valid only during the call.
    package func withUnsafeBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        // Without this the optimizer may release `self`, and with it the memory, before `body` is done.
        try withExtendedLifetime(self) {
            try body(UnsafeRawBufferPointer(start: memory, count: count))
        }
    }

    /// Calls `body` with a pointer to the secret's bytes, in the form in which libsodium takes keys.
    func withBytePointer<Result>(_ body: (UnsafePointer<UInt8>) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) {
            try body(memory.assumingMemoryBound(to: UInt8.self))
        }
    }
}

extension SecretBytes: Equatable {
    /// Compares two secrets in a time that depends on their lengths only.
    package static func == (left: SecretBytes, right: SecretBytes) -> Bool {
        left.withUnsafeBytes { equalInConstantTime($0, right) }
    }

    /// Tells whether `bytes` are this secret, in a time that depends on the lengths only.
    package func matches(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { Self.equalInConstantTime($0, self) }
    }

    private static func equalInConstantTime(_ bytes: UnsafeRawBufferPointer, _ secret: SecretBytes) -> Bool {
        guard bytes.count == secret.count else { return false }
        // An empty buffer may have no address, and libsodium asks for one.
        guard let base = bytes.baseAddress else { return true }
        return sodium_memcmp(base, secret.memory, secret.count) == 0
    }
}

extension SecretBytes: CustomStringConvertible, CustomReflectable {
    /// The length, and nothing of the content.
    package var description: String { "SecretBytes(\(count) bytes)" }

    /// An empty mirror, so that `dump` shows no address of the secret either.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
