import Foundation

/// The files and directories that a store consists of. Nothing that a user names is written over them, or into them.
public struct StoreFiles: Sendable {
    public static let none = StoreFiles([])

    private let own: [String]

    /// - Parameter own: also those that are not there yet.
    public init(_ own: [URL]) {
        self.own = own.map(\.path)
    }

    /// Whether a path leads to one of them or into one, whatever links it goes through and however it is written.
    public func contain(_ path: String) -> Bool {
        let own = Set(own.flatMap(FilePlace.all))
        var path = FilePlace.real(path)
        while true {
            guard own.isDisjoint(with: FilePlace.all(path)) else { return true }
            guard let slash = path.lastIndex(of: "/"), path != "/" else { return false }
            path = slash == path.startIndex ? "/" : String(path[..<slash])
        }
    }
}

/// How a file or directory is known again, whatever path leads to it.
enum FilePlace: Hashable {
    /// What is there.
    case there(device: UInt64, number: UInt64)
    /// What is there now, or will be, under a name in a directory. Some file systems do not tell upper from lower case.
    indirect case named(String, in: FilePlace)

    /// All that is known of what a path leads to.
    static func all(_ path: String) -> [FilePlace] {
        let real = URL(fileURLWithPath: real(path))
        let named = there(real.deletingLastPathComponent().path)
            .map { FilePlace.named(real.lastPathComponent.lowercased(), in: $0) }
        return [there(real.path), named].compactMap(\.self)
    }

    private static func there(_ path: String) -> FilePlace? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return .there(device: UInt64(status.st_dev), number: UInt64(status.st_ino))
    }

    /// The path without links, from the root on; what is not there yet stays as it is written.
    static func real(_ path: String) -> String {
        var path = followingLinks(path)
        if !path.hasPrefix("/") { path = FileManager.default.currentDirectoryPath + "/" + path }
        var missing = ""
        // The root is always there.
        while true {
            if let real = realpath(path.isEmpty ? "/" : path, nil) {
                defer { free(real) }
                let there = String(cString: real)
                return missing.isEmpty ? there : (there == "/" ? "" : there) + missing
            }
            let slash = path.lastIndex(of: "/") ?? path.startIndex
            missing = path[slash...] + missing
            path = String(path[..<slash])
        }
    }

    /// Where a path leads when it is a link, also one to something that is not there yet.
    static func followingLinks(_ path: String) -> String {
        var path = path
        // As many links as systems follow themselves.
        for _ in 0..<40 {
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else { break }
            path =
                target.hasPrefix("/")
                ? target : URL(fileURLWithPath: path).deletingLastPathComponent().path + "/" + target
        }
        return path
    }
}
