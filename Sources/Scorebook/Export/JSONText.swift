/// JSON as bytes, with only what an export needs. Foundation's encoder would hold the whole file in memory.
struct JSONText {
    private(set) var bytes: [UInt8] = []

    mutating func append(raw text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    /// Appends a string in quotes.
    mutating func append(quoted text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case UInt8(ascii: "\n"):
                append(raw: "\\n")
            case 0..<0x20, 0x7F:
                let digits = String(byte, radix: 16)
                append(raw: "\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
            default:
                bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends `"key": `.
    mutating func append(key: String) {
        append(quoted: key)
        append(raw: ": ")
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }
}
