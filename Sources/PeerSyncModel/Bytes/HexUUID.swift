/// UUIDs as text of the form 8-4-4-4-12, with all digits in one case: the usual suffixes of record names.
package enum HexUUID {
    /// Characters of the text.
    package static let length = 36
    /// Bytes of a UUID.
    package static let byteCount = 16

    /// Appends the 16 bytes of a UUID's text.
    ///
    /// - Returns: false if the text has another form or digits of the other case; then it appends nothing.
    package static func append(
        _ text: some Collection<UInt8>, uppercase: Bool, to output: inout [UInt8]
    ) -> Bool {
        text.withContiguousStorageIfAvailable { append($0, uppercase: uppercase, to: &output) }
            ?? Array(text).withUnsafeBufferPointer { append($0, uppercase: uppercase, to: &output) }
    }

    private static func append(
        _ text: UnsafeBufferPointer<UInt8>, uppercase: Bool, to output: inout [UInt8]
    ) -> Bool {
        guard text.count == length else { return false }
        let count = output.count
        var position = 0
        for index in 0..<byteCount {
            if isHyphenBefore(index) {
                guard text[position] == UInt8(ascii: "-") else { break }
                position += 1
            }
            guard let high = digit(text[position], uppercase: uppercase),
                let low = digit(text[position + 1], uppercase: uppercase)
            else { break }
            output.append(high << 4 | low)
            position += 2
        }
        guard position < length else { return true }
        output.removeSubrange(count...)
        return false
    }

    /// Writes the text of 16 bytes to memory of at least ``length`` bytes.
    package static func write(
        _ bytes: UnsafeRawBufferPointer, uppercase: Bool, to output: UnsafeMutableBufferPointer<UInt8>
    ) {
        let letters = (uppercase ? UInt8(ascii: "A") : UInt8(ascii: "a")) - 10
        var position = 0
        func put(_ digit: UInt8) {
            output[position] = digit + (digit < 10 ? UInt8(ascii: "0") : letters)
            position += 1
        }
        for index in 0..<byteCount {
            if isHyphenBefore(index) {
                output[position] = UInt8(ascii: "-")
                position += 1
            }
            put(bytes[index] >> 4)
            put(bytes[index] & 15)
        }
    }

    private static func isHyphenBefore(_ index: Int) -> Bool {
        index == 4 || index == 6 || index == 8 || index == 10
    }

    private static func digit(_ character: UInt8, uppercase: Bool) -> UInt8? {
        let letters = uppercase ? UInt8(ascii: "A") : UInt8(ascii: "a")
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return character - UInt8(ascii: "0")
        case letters...(letters + 5): return character - letters + 10
        default: return nil
        }
    }
}
