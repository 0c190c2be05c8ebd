import Foundation

/// A new directory of one test.
package struct TemporaryDirectory {
    package let url: URL

    package init() throws {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("scorebook-peer-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    /// Removes the directory with all that is in it.
    package func remove() {
        try? FileManager.default.removeItem(at: url)
    }
}

/// Runs a test with a directory that goes away with the test.
package func withTemporaryDirectory<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    return try await body(directory.url)
}
