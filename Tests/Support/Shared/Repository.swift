import Foundation

/// The files of this repository. It finds them from this source file, so tests run from any directory.
package enum Repository {
    package static let root: URL = {
        var folder = URL(fileURLWithPath: #filePath)
        repeat {
            folder.deleteLastPathComponent()
        } while !FileManager.default.fileExists(atPath: folder.appendingPathComponent("Package.swift").path)
        return folder
    }()

    package static let vectors = root.appendingPathComponent("Protocol/vectors")

    /// Reads a file of vectors.
    package static func vector<Content: Decodable>(
        _ name: String, as type: Content.Type = Content.self
    ) throws -> Content {
        try JSONDecoder().decode(Content.self, from: Data(contentsOf: vectors.appendingPathComponent(name)))
    }
}
