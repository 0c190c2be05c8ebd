import Foundation
import TestSupport
import Testing

/// What the guide for apps shows is what compiles.
struct LibraryGuideTests {
    private func lines(_ path: String) throws -> [String] {
        try String(contentsOf: Repository.root.appendingPathComponent(path), encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    @Test func theFirstSampleCompiles() throws {
        let guide = try lines("docs/library.md")
        let begin = try #require(guide.firstIndex(of: "```swift"))
        let shown = guide[(begin + 1)...].prefix { $0 != "```" }
        let source = try lines("Tests/Unit/PeerSyncTests/LibraryGuide.swift")
        let function = try #require(source.firstIndex { $0.contains("func sample()") })
        let imports = source.filter { $0.hasPrefix("import ") } + [""]
        let body = source[(function + 1)...].prefix { $0 != "}" }.map {
            $0.isEmpty ? "" : String($0.dropFirst(4))
        }
        #expect(Array(shown) == imports + body)
        // The README has the main lines of it.
        let readme = try lines("README.md")
        let first = try #require(readme.firstIndex(of: "```swift"))
        let main = readme[(first + 1)...].prefix { $0 != "```" }
        #expect(main.count > 3 && main.allSatisfy(body.contains))
    }
}
