import Foundation

/// A new directory for one test.
package struct TemporaryDirectory {
    package let url: URL

    package init() throws {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("scorebook-peer-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    /// Removes the directory with all its contents.
    package func remove() {
        try? FileManager.default.removeItem(at: url)
    }
}

/// Runs a test with a directory, and removes it after the test.
package func withTemporaryDirectory<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    return try await body(directory.url)
}
