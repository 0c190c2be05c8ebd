import Foundation
import Testing

@testable import SecureChannel

/// The files in `Protocol/vectors`, found from this source file, so that tests run from any directory.
enum TestVectors {
    static func load<Content: Decodable>(_ name: String, as type: Content.Type = Content.self) throws
        -> Content
    {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appendingPathComponent("Protocol/vectors/\(name).json")
        return try JSONDecoder().decode(Content.self, from: Data(contentsOf: file))
    }
}

/// Bytes that a vector file spells in hexadecimal.
struct Hex: Decodable, Equatable, Sendable, ExpressibleByStringLiteral {
    let bytes: [UInt8]

    init(stringLiteral text: String) {
        guard let bytes = Self.decode(text) else { preconditionFailure("not hexadecimal: \(text)") }
        self.bytes = bytes
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let bytes = Self.decode(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not hexadecimal")
        }
        self.bytes = bytes
    }

    var secret: SecretBytes { SecretBytes(copying: bytes) }

    private static func decode(_ text: String) -> [UInt8]? {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

extension SecretBytes {
    /// The content, which only tests look at.
    var revealed: [UInt8] { withUnsafeBytes { Array($0) } }
}

extension [UInt8] {
    /// A copy in which one byte is changed.
    func flipped(at index: Int, by mask: UInt8 = 0x01) -> [UInt8] {
        var copy = self
        copy[index] ^= mask
        return copy
    }
}

/// Runs `body` and returns the code of the error that it throws, or nil if it throws none.
func failure<Result>(_ body: () throws -> Result) -> SecureChannelError.Code? {
    do {
        _ = try body()
        return nil
    } catch let error as SecureChannelError {
        return error.code
    } catch {
        Issue.record("an error of another type: \(error)")
        return nil
    }
}
