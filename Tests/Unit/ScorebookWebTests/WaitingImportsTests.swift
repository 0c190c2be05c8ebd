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

    @Test func onlyAFewWaitAndNotForLong() async throws {
        try await withTemporaryDirectory { directory in
            let imports = WaitingImports()
            let start = Date(timeIntervalSince1970: 1_700_000_000)
            var files: [(id: UUID, path: String)] = []
            for index in 0...WaitingImports.maximumCount {
                let now = start.addingTimeInterval(Double(index))
                let id = try imports.add(file("\(index)", in: directory), now: now)
                files.append((id, try #require(imports.find(id, now: now)).path))
            }
            #expect(imports.find(files[0].id, now: start) == nil && !isThere(files[0].path))
            #expect(files.dropFirst().allSatisfy { imports.find($0.id, now: start) != nil })
            let late = start.addingTimeInterval(WaitingImports.lifetime + 100)
            #expect(imports.find(files[1].id, now: late) == nil && !isThere(files[1].path))
            // The others go when the next one comes.
            let last = try imports.add(file("last", in: directory), now: late)
            #expect(files.allSatisfy { !isThere($0.path) })
            #expect(imports.find(last, now: late) != nil)
        }
    }

    @Test func theyGoWhenTheServerEnds() async throws {
        try await withTemporaryDirectory { directory in
            let imports = WaitingImports()
            let id = try imports.add(file("a", in: directory))
            let path = try #require(imports.find(id)?.path)
            #expect(isThere(path))
            imports.removeAll()
            #expect(imports.find(id) == nil && !isThere(path))
        }
    }
}
