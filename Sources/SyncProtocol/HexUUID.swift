/// UUIDs in the form 8-4-4-4-12, all digits in one case, as the suffixes of record names usually are.
enum HexUUID {
    /// The 16 bytes, or nil when the text has any other form, or digits of the other case.
    static func bytes(_ text: Substring, uppercase: Bool) -> [UInt8]? {
        guard text.utf8.count == 36 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        var high: UInt8?
        for (position, character) in text.utf8.enumerated() {
            if [8, 13, 18, 23].contains(position) {
                guard character == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = digit(character, uppercase: uppercase) else { return nil }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return bytes
    }

    /// The text of 16 bytes.
    static func text(_ bytes: [UInt8], uppercase: Bool) -> String {
        let letters = uppercase ? UInt8(ascii: "A") : UInt8(ascii: "a")
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
            for digit in [byte >> 4, byte & 15] {
                text.append(digit < 10 ? UInt8(ascii: "0") + digit : letters + digit - 10)
            }
        }
        return String(decoding: text, as: UTF8.self)
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
