/// Reads a JSON array of texts and nulls as SQLite's `json_array` writes it. The decoder of Foundation takes ten times as long,
/// and a journal has such an array for each deletion.
enum JSONTexts {
    /// Returns the elements; nil for all that SQLite does not write, which may be JSON all the same.
    static func read(_ json: String) -> [String?]? {
        var json = json
        return json.withUTF8 { bytes in
            var reader = Reader(bytes: bytes)
            return reader.array()
        }
    }

    private struct Reader {
        let bytes: UnsafeBufferPointer<UInt8>
        private var position = 0

        init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

        mutating func array() -> [String?]? {
            guard next() == UInt8(ascii: "[") else { return nil }
            var texts: [String?] = []
            while true {
                switch next() {
                case UInt8(ascii: "\""):
                    guard let text = text() else { return nil }
                    texts.append(text)
                case UInt8(ascii: "n"):
                    guard next() == UInt8(ascii: "u"), next() == UInt8(ascii: "l"),
                        next() == UInt8(ascii: "l")
                    else { return nil }
                    texts.append(nil)
                default: return nil
                }
                switch next() {
                case UInt8(ascii: ","): continue
                case UInt8(ascii: "]"): return position == bytes.count ? texts : nil
                default: return nil
                }
            }
        }

        private mutating func next() -> UInt8? {
            guard position < bytes.count else { return nil }
            defer { position += 1 }
            return bytes[position]
        }

        /// Reads a text up to its closing quotation mark.
        private mutating func text() -> String? {
            let start = position
            while position < bytes.count, bytes[position] >= 0x20 {
                switch bytes[position] {
                case UInt8(ascii: "\""):
                    defer { position += 1 }
                    return String(decoding: bytes[start..<position], as: UTF8.self)
                case UInt8(ascii: "\\"): return escapedText(Array(bytes[start..<position]))
                default: position += 1
                }
            }
            return nil
        }

        /// Reads the rest of a text in which something is escaped.
        private mutating func escapedText(_ beginning: [UInt8]) -> String? {
            var text = beginning
            while let byte = next(), byte >= 0x20 {
                switch byte {
                case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
                case UInt8(ascii: "\\"):
                    guard let byte = escaped() else { return nil }
                    text.append(byte)
                default: text.append(byte)
                }
            }
            return nil
        }

        /// Reads what follows a backslash. SQLite escapes only ASCII.
        private mutating func escaped() -> UInt8? {
            switch next() {
            case UInt8(ascii: "\""): UInt8(ascii: "\"")
            case UInt8(ascii: "\\"): UInt8(ascii: "\\")
            case UInt8(ascii: "b"): 0x08
            case UInt8(ascii: "f"): 0x0C
            case UInt8(ascii: "n"): 0x0A
            case UInt8(ascii: "r"): 0x0D
            case UInt8(ascii: "t"): 0x09
            case UInt8(ascii: "u"): unicode()
            default: nil
            }
        }

        private mutating func unicode() -> UInt8? {
            guard next() == UInt8(ascii: "0"), next() == UInt8(ascii: "0"), bytes.count - position >= 2 else {
                return nil
            }
            defer { position += 2 }
            let digits = String(decoding: bytes[position..<position + 2], as: UTF8.self)
            // A sign would be taken, too.
            guard digits.first?.isHexDigit == true else { return nil }
            return UInt8(digits, radix: 16).flatMap { $0 < 0x80 ? $0 : nil }
        }
    }
}
