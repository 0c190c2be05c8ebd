import Foundation

/// Two paired machines, and a folder that both reach. No two of their commands run at the same time.
func withMailboxFolder(_ body: (Machine, Machine, URL) async throws -> Void) async throws {
    try await withPair { kitchen, study in
        let folder = URL(fileURLWithPath: kitchen.scene.path("nas"))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try await body(kitchen, study, folder)
    }
}
