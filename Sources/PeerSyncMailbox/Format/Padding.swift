/// The padding of plaintexts (Protocol/mailbox.md section 2.3): the lengths of objects tell few bits of what is in them.
package enum Padding {
    private static let mark: UInt8 = 0x80

    /// The PADMÉ length of `length`, which is at most 12 % more.
    package static func padded(_ length: Int) -> Int {
        guard length >= 2 else { return length }
        let exponent = Int.bitWidth - 1 - length.leadingZeroBitCount
        let significant = Int.bitWidth - exponent.leadingZeroBitCount
        let mask = (1 << (exponent - significant)) - 1
        return (length + mask) & ~mask
    }

    /// Appends the padding to a plaintext.
    ///
    /// - Parameter count: the length of the longest of several plaintexts that shall have one length.
    package static func add(to plaintext: [UInt8], asFor count: Int? = nil) -> [UInt8] {
        let length = padded(max(count ?? 0, plaintext.count) + 1)
        return plaintext + [mark] + [UInt8](repeating: 0, count: length - plaintext.count - 1)
    }

    /// Takes the padding off.
    package static func remove(from padded: [UInt8]) throws(DamagedObject) -> [UInt8] {
        guard let end = padded.lastIndex(where: { $0 != 0 }), padded[end] == mark else {
            throw DamagedObject("a plaintext without padding")
        }
        return Array(padded[..<end])
    }
}
