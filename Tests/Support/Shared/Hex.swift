import PeerSyncModel

/// Bytes that a test or a vector writes in hexadecimal digits.
package struct Hex: Decodable, Equatable, Sendable {
    /// A part of very long bytes, which a file writes once with a count.
    private struct Part: Decodable {
        let bytes: Hex
        let times: Int
    }

    package let bytes: [UInt8]

    /// - Parameter text: hexadecimal digits in pairs; white space between them is ignored.
    package init(_ text: String) {
        guard let bytes = [UInt8](hexadecimal: text.filter { !$0.isWhitespace }) else {
            preconditionFailure("not hexadecimal: \(text)")
        }
        self.bytes = bytes
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let parts = try? container.decode([Part].self) {
            bytes = parts.flatMap { part in
                part.bytes.bytes.count == 1
                    ? [UInt8](repeating: part.bytes.bytes[0], count: part.times)
                    : (0..<part.times).flatMap { _ in part.bytes.bytes }
            }
            return
        }
        guard let bytes = [UInt8](hexadecimal: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not hexadecimal")
        }
        self.bytes = bytes
    }
}

extension Hex: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) {
        self.init(text)
    }
}
