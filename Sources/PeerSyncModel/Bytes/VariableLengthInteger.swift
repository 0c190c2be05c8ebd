/// QUIC's variable-length integers (RFC 9000 section 16): 1, 2, 4 or 8 bytes, values below 2^62.
package enum VariableLengthInteger {
    /// The greatest value that the encoding can hold.
    package static let maximum: UInt64 = (1 << 62) - 1

    /// Appends `value` in the fewest bytes.
    package static func append(_ value: UInt64, to output: inout [UInt8]) {
        if value < 1 << 6 { return output.append(UInt8(truncatingIfNeeded: value)) }
        precondition(value <= maximum, "a variable-length integer holds 62 bits")
        let length = byteCount(value)
        let prefix = UInt64(length.trailingZeroBitCount) << UInt64(8 * length - 2)
        let encoded = value | prefix
        for index in (0..<length).reversed() {
            output.append(UInt8(truncatingIfNeeded: encoded >> (8 * UInt64(index))))
        }
    }

    /// Returns the length of the encoding in bytes: 1, 2, 4 or 8.
    package static func byteCount(_ value: UInt64) -> Int {
        switch value {
        case 0..<(1 << 6): 1
        case 0..<(1 << 14): 2
        case 0..<(1 << 30): 4
        default: 8
        }
    }
}

extension [UInt8] {
    /// Appends the number of some bytes, and the bytes.
    package mutating func append(counted bytes: some Collection<UInt8>) {
        VariableLengthInteger.append(UInt64(bytes.count), to: &self)
        append(contentsOf: bytes)
    }
}
