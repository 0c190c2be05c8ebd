import CSodium

/// The sum of ids modulo 2^256. The difference between the sums up to two items is the sum of the ids between them.
package struct NegentropySum: Hashable, Sendable {
    private var low: UInt128 = 0
    private var high: UInt128 = 0

    package init() {}

    /// Makes a sum from 32 bytes, little-endian; returns nil for any other number.
    package init?(_ bytes: [UInt8]) {
        guard let id = NegentropyID(bytes) else { return nil }
        self.init(id)
    }

    private init(_ id: NegentropyID) {
        low = UInt128(id.word1) << 64 | UInt128(id.word0)
        high = UInt128(id.word3) << 64 | UInt128(id.word2)
    }

    package static func += (left: inout NegentropySum, right: NegentropyID) {
        let right = NegentropySum(right)
        let (low, carry) = left.low.addingReportingOverflow(right.low)
        left.low = low
        left.high = left.high &+ right.high &+ (carry ? 1 : 0)
    }

    static func -= (left: inout NegentropySum, right: NegentropyID) {
        left -= NegentropySum(right)
    }

    package static func -= (left: inout NegentropySum, right: NegentropySum) {
        let (low, borrow) = left.low.subtractingReportingOverflow(right.low)
        left.low = low
        left.high = left.high &- right.high &- (borrow ? 1 : 0)
    }

    /// The 32 bytes, little-endian.
    package var bytes: [UInt8] {
        withUnsafeBytes(of: (low.littleEndian, high.littleEndian)) { Array($0) }
    }

    /// Returns the 16 bytes that peers compare for `count` ids with this sum: the first half of SHA-256 over both.
    ///
    /// Source: Negentropy Protocol V1, "Fingerprint"; the count is its base-128 varint.
    package func fingerprint(count: UInt64) -> [UInt8] {
        var input = bytes
        Base128Integer.append(count, to: &input)
        var hash = [UInt8](repeating: 0, count: 32)
        crypto_hash_sha256(&hash, input, UInt64(input.count))
        return Array(hash.prefix(16))
    }
}
