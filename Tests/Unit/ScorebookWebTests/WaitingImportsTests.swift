import Foundation
import TestSupport
import Testing

@testable import ScorebookWeb

/// Files that wait for somebody who says that they may come in.
struct WaitingImportsTests {
    private func file(_ name: String, in directory: URL) throws -> UploadedForm.File {
        let url = directory.appendingPathComponent(UUID().uuidString)
        try Data(name.utf8).write(to: url)
        return UploadedForm.File(
            field: "file", name: name, contentType: nil, size: name.utf8.count, path: url.path)
    }

    private func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    @Test func aFileWaitsUntilItIsRemoved() async throws {
        try await withTemporaryDirectory { directory in
            let imports = WaitingImports()
            let uploaded = try file("a", in: directory)
            let id = try imports.add(uploaded)
            let waiting = try #require(imports.find(id))
            #expect(waiting.name == "a")
            #expect(try Data(contentsOf: URL(fileURLWithPath: waiting.path)) == Data("a".utf8))
            #expect(!isThere(uploaded.path))
            imports.remove(id)
            #expect(imports.find(id) == nil && !isThere(waiting.path))
        }
    }

    @Test func onlyAFewWait() async throws {
        try await withTemporaryDirectory { directory in
            let imports = WaitingImports()
            let start = Date(timeIntervalSince1970: 1_700_000_000)
            var ids: [UUID] = []
            for index in 0...WaitingImports.maximumCount {
                ids.append(
                    try imports.add(
                        file("\(index)", in: directory), now: start.addingTimeInterval(Double(index))))
            }
            #expect(imports.find(ids[0]) == nil)
            #expect(ids.dropFirst().allSatisfy { imports.find($0) != nil })
            // After an hour all others go, too.
            let last = try imports.add(
                file("last", in: directory), now: start.addingTimeInterval(WaitingImports.lifetime + 100))
            #expect(ids.allSatisfy { imports.find($0) == nil })
            #expect(imports.find(last) != nil)
        }
    }

    @Test func theyGoWithTheProgram() async throws {
        try await withTemporaryDirectory { directory in
            var imports: WaitingImports? = WaitingImports()
            let id = try #require(try imports?.add(file("a", in: directory)))
            let path = try #require(imports?.find(id)?.path)
            #expect(isThere(path))
            imports = nil
            #expect(!isThere(path))
        }
    }
}
