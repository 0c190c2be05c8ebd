import Foundation
import ProtocolVectors
import TestSupport
import Testing

extension VectorFile: CustomTestStringConvertible {
    public var testDescription: String { name }
}

/// The files are golden: what the code makes today is what they hold, byte for byte.
struct VectorFileTests {
    /// Published by others, or computed by another program; other tests hold the code against them.
    private static let published: Set = [
        "cpace-ristretto255.json", "noise-xx.json", "pairing.json", "transport-rekey.json",
    ]

    /// Made once: the sessions take a while.
    private static let made = Task { try await VectorFile.all() }

    @Test(arguments: try await made.value)
    func theCodeMakesTheFileAgain(file: VectorFile) throws {
        let stored = try String(
            contentsOf: Repository.vectors.appendingPathComponent(file.name), encoding: .utf8)
        #expect(
            file.content.text == stored,
            """
            the code does not make \(file.name) any more: if the protocol was to change, see Protocol/README.md \
            “Versions”, then run `swift run make-vectors Protocol/vectors`
            """)
        #expect(try JSONSerialization.jsonObject(with: Data(stored.utf8)) is [String: Any])
    }

    @Test func everyFileIsMadeOrPublishedAndListed() async throws {
        let names = Set(try FileManager.default.contentsOfDirectory(atPath: Repository.vectors.path))
        #expect(names == Self.published.union(try await Self.made.value.map(\.name)))
        let readme = try String(
            contentsOf: Repository.root.appendingPathComponent("Protocol/README.md"),
            encoding: .utf8)
        for name in names {
            #expect(readme.contains("`\(name)`"), "Protocol/README.md does not list \(name)")
        }
    }
}
