import Foundation

/// The files and directories of a store. No output that a user names may overwrite them, or go into them.
public struct StoreFiles: Sendable {
    /// No files: an output may go anywhere.
    public static let none = StoreFiles([])

    private let own: [String]

    /// - Parameter own: the files and directories, including those that do not exist yet.
    public init(_ own: [URL]) {
        self.own = own.map(\.path)
    }

    /// Returns whether a path leads to or into one of them, through any links and in any spelling.
    public func contain(_ path: String) -> Bool {
        let own = Set(own.flatMap(FilePlace.all))
        var path = FilePlace.real(path)
        while true {
            guard own.isDisjoint(with: FilePlace.all(path)) else { return true }
            guard let slash = path.utf8.lastIndex(of: FilePlace.slash), path != "/" else { return false }
            path = slash == path.startIndex ? "/" : String(path[..<slash])
        }
    }
}

/// The identity of a file or directory, whatever path leads to it.
enum FilePlace: Hashable {
    /// Paths are taken apart by bytes: a slash and an accent behind it are one character.
    static let slash = UInt8(ascii: "/")

    /// A file or directory that exists.
    case there(device: UInt64, number: UInt64)
    /// An entry of a directory, even one that does not exist yet. The name is in lower case, because some file systems
    /// do not tell upper from lower case.
    indirect case named(String, in: FilePlace)

    /// Returns all identities of the file or directory at a path.
    static func all(_ path: String) -> [FilePlace] {
        let real = URL(fileURLWithPath: real(path))
        let named = there(real.deletingLastPathComponent().path)
            .map { FilePlace.named(real.lastPathComponent.lowercased(), in: $0) }
        return [there(real.path), named].compactMap(\.self)
    }

    private static func there(_ path: String) -> FilePlace? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return .there(device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(status.st_ino))
    }

    /// Returns the path without links, from the root on. A part that does not exist yet stays as written.
    static func real(_ path: String) -> String {
        var path = followingLinks(path)
        if path.utf8.first != slash { path = FileManager.default.currentDirectoryPath + "/" + path }
        var missing = ""
        // This ends, because the root always exists.
        while true {
            if let real = realpath(path.isEmpty ? "/" : path, nil) {
                defer { free(real) }
                let there = String(cString: real)
                return missing.isEmpty ? there : (there == "/" ? "" : there) + missing
            }
            let last = path.utf8.lastIndex(of: slash) ?? path.startIndex
            missing = path[last...] + missing
            path = String(path[..<last])
        }
    }

    /// Follows the links at a path, including one whose target does not exist yet.
    static func followingLinks(_ path: String) -> String {
        var path = path
        // Operating systems follow as many links.
        for _ in 0..<40 {
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else { break }
            path =
                target.utf8.first == slash
                ? target : URL(fileURLWithPath: path).deletingLastPathComponent().path + "/" + target
        }
        return path
    }
}
