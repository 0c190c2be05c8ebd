import CSodium
import Foundation

/// Random texts that nobody can guess.
enum Secret {
    /// Returns 32 hexadecimal digits: 128 random bits.
    static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<2).map { _ in
            let digits = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// Returns the hash under which a secret is stored: BLAKE2b-256 of its UTF-8.
    static func hash(_ text: String) -> Data {
        let input = Array(text.utf8)
        var hash = [UInt8](repeating: 0, count: 32)
        let status = crypto_generichash(&hash, hash.count, input, UInt64(input.count), nil, 0)
        precondition(status == 0, "libsodium makes hashes of 32 bytes")
        return Data(hash)
    }

    /// Compares two secrets in the same time, wherever they differ.
    static func areEqual(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        return left.count == right.count && sodium_memcmp(left, right, left.count) == 0
    }
}
