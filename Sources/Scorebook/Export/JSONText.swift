/// JSON as bytes, with only what an export needs. Foundation's encoder would hold the whole file in memory.
struct JSONText {
    private(set) var bytes: [UInt8] = []

    mutating func append(raw text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    /// Appends a string in quotes. What could steer a terminal is written as an escape.
    mutating func append(quoted text: String) {
        bytes.append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": append(raw: "\\\(scalar)")
            case "\n": append(raw: "\\n")
            case _ where Display.isDangerous(scalar): append(raw: Display.jsonEscape(scalar))
            default: bytes.append(contentsOf: scalar.utf8)
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
