import Foundation
import TestSupport
import Testing

/// What the guide for apps shows is what compiles.
struct LibraryGuideTests {
    private func lines(_ path: String) throws -> [String] {
        try String(contentsOf: Repository.root.appendingPathComponent(path), encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The lines of the first sample after a heading of the guide.
    private func shown(after heading: String) throws -> [String] {
        let guide = try lines("docs/library.md")
        let section = try #require(guide.firstIndex(of: heading))
        let begin = try #require(guide[section...].firstIndex(of: "```swift"))
        return Array(guide[(begin + 1)...].prefix { $0 != "```" })
    }

    /// The lines of a function that compiles, and those that import what it needs.
    private func compiled(_ name: String) throws -> (imports: [String], body: [String]) {
        let source = try lines("Tests/Unit/PeerSyncTests/LibraryGuide.swift")
        let function = try #require(source.firstIndex { $0.contains("func \(name)(") })
        let body = source[(function + 1)...].prefix { $0 != "}" }.map {
            $0.isEmpty ? "" : String($0.dropFirst(4))
        }
        return (source.filter { $0.hasPrefix("import ") } + [""], body)
    }

    @Test func theFirstSampleCompiles() throws {
        let (imports, body) = try compiled("sample")
        #expect(try shown(after: "# Under your own app") == imports + body)
        // The README has the main lines of it.
        let readme = try lines("README.md")
        let first = try #require(readme.firstIndex(of: "```swift"))
        let main = readme[(first + 1)...].prefix { $0 != "```" }
        #expect(main.count > 3 && main.allSatisfy(body.contains))
    }

    @Test func theSampleOfKeysCompiles() throws {
        #expect(try shown(after: "### An app that has numbers as keys") == compiled("keySample").body)
    }
}
