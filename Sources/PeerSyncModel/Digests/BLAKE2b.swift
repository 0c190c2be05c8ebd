import CSodium

/// BLAKE2b (RFC 7693) from libsodium.
package enum BLAKE2b {
    /// Returns the hash of `bytes`.
    ///
    /// - Parameter length: bytes of the hash, 16...64.
    package static func hash(_ bytes: [UInt8], length: Int) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: length)
        output.withUnsafeMutableBytes { hash(bytes, into: $0) }
        return output
    }

    /// Returns the keyed hash of `bytes`: only who knows the key can compute it.
    ///
    /// - Parameters:
    ///   - key: 16...64 bytes.
    ///   - length: bytes of the hash, 16...64.
    package static func hash(_ bytes: [UInt8], key: [UInt8], length: Int) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: length)
        let status = crypto_generichash(&output, length, bytes, UInt64(bytes.count), key, key.count)
        precondition(status == 0, "BLAKE2b takes keys and output lengths of 16...64 bytes")
        return output
    }

    /// Writes the hash of `bytes` to memory of 16...64 bytes, which it fills.
    package static func hash(_ bytes: [UInt8], into output: UnsafeMutableRawBufferPointer) {
        let status = crypto_generichash(
            output.bindMemory(to: UInt8.self).baseAddress!, output.count, bytes, UInt64(bytes.count), nil, 0)
        precondition(status == 0, "BLAKE2b takes output lengths of 16...64 bytes")
    }
}

/// Hashes the bytes of a file piece by piece.
package struct AssetHasher: ~Copyable {
    // Swift does not know the structure's layout, and libsodium requires an alignment of 64 bytes.
    private let memory = UnsafeMutableRawPointer.allocate(
        byteCount: crypto_generichash_statebytes(), alignment: 64)
    /// The number of bytes hashed so far.
    package private(set) var count: Int64 = 0

    package init() {
        crypto_generichash_init(OpaquePointer(memory), nil, 0, AssetHash.length)
    }

    deinit { memory.deallocate() }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        crypto_generichash_update(
            OpaquePointer(memory), bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt64(bytes.count)
        )
        count += Int64(bytes.count)
    }

    /// Returns the hash of all bytes so far, and consumes the hasher.
    package consuming func finish() -> AssetHash {
        var output = [UInt8](repeating: 0, count: AssetHash.length)
        crypto_generichash_final(OpaquePointer(memory), &output, output.count)
        return AssetHash(output)!
    }
}
