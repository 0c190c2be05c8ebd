import Foundation
import ProtocolVectors
import SyncModel
import Testing

/// The folder `Protocol/vectors`, found from this source file, so that the tests run from any directory.
enum VectorFolder {
    static let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Protocol/vectors")

    static func load<Content: Decodable>(_ name: String, as type: Content.Type = Content.self) throws
        -> Content
    {
        try JSONDecoder().decode(Content.self, from: Data(contentsOf: url.appendingPathComponent(name)))
    }
}

/// Bytes that a file spells in hexadecimal, very long ones in parts.
struct Hex: Decodable, Equatable, Sendable {
    private struct Part: Decodable {
        let bytes: Hex
        let times: Int
    }

    let bytes: [UInt8]

    init(from decoder: any Decoder) throws {
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

extension VectorFile: CustomTestStringConvertible {
    public var testDescription: String { name }
}

/// The files are golden: what the code makes today is what they hold, byte for byte.
struct VectorFileTests {
    /// Published by others, or computed by another program; other tests hold the code against them.
    private static let published: Set = [
        "cpace-ristretto255.json", "noise-xx.json", "pairing.json", "transport-rekey.json",
    ]

    @Test(arguments: try await VectorFile.all())
    func theCodeMakesTheFileAgain(file: VectorFile) throws {
        let stored = try String(
            contentsOf: VectorFolder.url.appendingPathComponent(file.name), encoding: .utf8)
        #expect(
            file.content.text == stored,
            """
            the code does not make \(file.name) any more: if the protocol was to change, see Protocol/README.md \
            “Versions”, then run `swift run make-vectors Protocol/vectors`
            """)
        #expect(try JSONSerialization.jsonObject(with: Data(stored.utf8)) is [String: Any])
    }

    @Test func everyFileIsMadeOrPublishedAndListed() async throws {
        let names = Set(try FileManager.default.contentsOfDirectory(atPath: VectorFolder.url.path))
        #expect(names == Self.published.union(try await VectorFile.all().map(\.name)))
        let readme = try String(
            contentsOf: VectorFolder.url.deletingLastPathComponent().appendingPathComponent("README.md"),
            encoding: .utf8)
        for name in names {
            #expect(readme.contains("`\(name)`"), "Protocol/README.md does not list \(name)")
        }
    }
}
