/// The values of a table's primary key, written as the suffix of a record name (Protocol, "Names").
///
/// - A text stands as it is, but each byte that is not printable ASCII, each `%` and each `,` stands as `%` and two
///   hexadecimal digits in upper case.
/// - A BLOB of 16 bytes stands as a UUID in lower case, any other BLOB as hexadecimal digits in lower case.
/// - An integer stands in decimal.
/// - A key of several columns has `,` between the values.
///
/// Each key has exactly one suffix. An empty text, an empty BLOB, a real number and NULL have none.
package enum KeyEncoding {
    /// The values that a column of a key holds.
    package enum Kind: Sendable, Hashable {
        case text, blob, integer
    }

    /// Returns the suffix of a key; nil when a value has none.
    package static func suffix(of values: [FieldValue]) -> String? {
        var parts: [String] = []
        for value in values {
            guard let part = text(of: value), !part.isEmpty else { return nil }
            parts.append(part)
        }
        return parts.isEmpty ? nil : parts.joined(separator: ",")
    }

    /// Reads a suffix.
    ///
    /// - Parameter kinds: what the columns hold, in the order of the key.
    /// - Returns: nil when the suffix is not that of such a key.
    package static func values(of suffix: some StringProtocol, kinds: [Kind]) -> [FieldValue]? {
        // Most keys are one value, of which these bytes are the only spelling.
        if kinds.count == 1 {
            if kinds[0] == .text, !suffix.isEmpty, suffix.utf8.allSatisfy(isPlain) {
                return [.text(String(suffix))]
            }
            var uuid: [UInt8] = []
            if kinds[0] == .blob, HexUUID.append(suffix.utf8, uppercase: false, to: &uuid) {
                return [.blob(uuid)]
            }
        }
        let parts = suffix.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard parts.count == kinds.count else { return nil }
        var values: [FieldValue] = []
        for (part, kind) in zip(parts, kinds) {
            guard let value = value(of: Array(part), kind) else { return nil }
            values.append(value)
        }
        // Another suffix of the same key would be a second record with the same row.
        return self.suffix(of: values).map { $0.utf8.elementsEqual(suffix.utf8) } == true ? values : nil
    }

    private static func text(of value: FieldValue) -> String? {
        switch value {
        case .text(let text): escaped(text)
        case .integer(let value): String(value)
        case .blob(let bytes): bytes.count == HexUUID.byteCount ? uuid(bytes) : bytes.hexadecimal
        case .null, .real, .date, .reference, .asset: nil
        }
    }

    private static func value(of part: [UInt8], _ kind: Kind) -> FieldValue? {
        let text = String(decoding: part, as: UTF8.self)
        switch kind {
        case .text: return unescaped(part).map(FieldValue.text)
        case .integer: return Int64(text).map(FieldValue.integer)
        case .blob:
            var uuid: [UInt8] = []
            if HexUUID.append(part, uppercase: false, to: &uuid) { return .blob(uuid) }
            return [UInt8](hexadecimal: text).map(FieldValue.blob)
        }
    }

    private static func uuid(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: HexUUID.length) { output in
            bytes.withUnsafeBytes { HexUUID.write($0, uppercase: false, to: output) }
            return HexUUID.length
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "%") && byte != UInt8(ascii: ",")
    }

    private static func escaped(_ text: String) -> String {
        guard !text.utf8.allSatisfy(isPlain) else { return text }
        let digits = Array("0123456789ABCDEF".utf8)
        var output: [UInt8] = []
        for byte in text.utf8 {
            if isPlain(byte) {
                output.append(byte)
            } else {
                output += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Returns nil when the bytes are not valid UTF-8, or a `%` has no two digits after it.
    private static func unescaped(_ part: [UInt8]) -> String? {
        var output: [UInt8] = []
        var rest = part[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                output.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, let decoded = [UInt8](hexadecimal: digits) else { return nil }
            output += decoded
            rest = rest.dropFirst(2)
        }
        return String(validating: output, as: UTF8.self)
    }
}
