import Foundation
import Testing

@testable import ScorebookWeb

struct UploadDirectoriesTests {
    /// A browser goes while it sends, or the program ends.
    @Test func aCancelledTaskRemovesItsFiles() async throws {
        let directory = try UploadDirectories.make()
        try Data("a".utf8).write(to: directory.appendingPathComponent("file"))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await Uploads.remove(directory)
        }
        await task.value
        #expect(!FileManager.default.fileExists(atPath: directory.path))
    }
}
