/// The sum of ids modulo 2^256, for any range of items; a difference of two sums is the sum of what lies between.
struct NegentropySum: Hashable, Sendable {
    private var low: UInt128 = 0
    private var high: UInt128 = 0

    static func += (left: inout NegentropySum, right: NegentropyID) {
        left.add(
            low: UInt128(right.word1) << 64 | UInt128(right.word0),
            high: UInt128(right.word3) << 64 | UInt128(right.word2))
    }

    static func -= (left: inout NegentropySum, right: NegentropySum) {
        let (low, borrow) = left.low.subtractingReportingOverflow(right.low)
        left.low = low
        left.high = left.high &- right.high &- (borrow ? 1 : 0)
    }

    private mutating func add(low otherLow: UInt128, high otherHigh: UInt128) {
        let (sum, carry) = low.addingReportingOverflow(otherLow)
        low = sum
        high = high &+ otherHigh &+ (carry ? 1 : 0)
    }

    /// The 16 bytes that peers compare for `count` ids with this sum. The digest of a zone defines them.
    func fingerprint(count: Int) -> [UInt8] {
        let sumBytes = withUnsafeBytes(of: (low.littleEndian, high.littleEndian)) { Array($0) }
        guard let digest = ZoneDigest(count: UInt64(count), sumBytes: sumBytes) else {
            preconditionFailure("a sum has 32 bytes")
        }
        return digest.fingerprint
    }
}
