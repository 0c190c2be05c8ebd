import CSodium

/// BLAKE2b (RFC 7693) without key, from libsodium.
package enum BLAKE2b {
    /// The hash of `bytes`.
    ///
    /// - Parameter length: bytes of the hash, 16...64.
    package static func hash(_ bytes: [UInt8], length: Int) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: length)
        let status = crypto_generichash(&output, length, bytes, UInt64(bytes.count), nil, 0)
        precondition(status == 0, "BLAKE2b takes output lengths of 16...64 bytes")
        return output
    }
}
