import Foundation

/// The files of some stores, in memory. What many tests begin with is made once, and each test writes a copy of it.
struct StoredFiles: Sendable {
    /// The stores of two machines that have just paired, “kitchen” and “study”.
    static let pair = Task {
        try await withTwoMachines { kitchen, study in
            try await study.pair(with: kitchen)
            return try StoredFiles(of: [kitchen.store, study.store])
        }
    }

    /// The same two: the kitchen has imported the household, and the study has it from there.
    static let household = Task {
        let paired = try await pair.value
        return try await withTwoMachines { kitchen, study in
            try paired.write(to: kitchen.scene.directory)
            try await kitchen.importHousehold()
            try await study.sync(with: kitchen)
            return try StoredFiles(of: [kitchen.store, study.store])
        }
    }

    private struct File {
        let path: String
        /// Nil for a directory.
        let content: Data?
        /// Kept, because a key that others may read is refused.
        let permissions: Int
    }

    private let files: [File]

    /// - Parameter stores: the directories of stores that no process has open, of one scene.
    init(of stores: [URL]) throws {
        let manager = FileManager.default
        files = try stores.flatMap { store in
            let names = [""] + (try manager.subpathsOfDirectory(atPath: store.path).sorted())
            return try names.map { name in
                let url = name.isEmpty ? store : store.appendingPathComponent(name)
                let attributes = try manager.attributesOfItem(atPath: url.path)
                let isDirectory = attributes[.type] as? FileAttributeType == .typeDirectory
                return File(
                    path: store.lastPathComponent + "/" + name,
                    content: isDirectory ? nil : try Data(contentsOf: url),
                    permissions: (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0o600)
            }
        }
    }

    /// Writes the stores into the directory of another scene.
    func write(to directory: URL) throws {
        let manager = FileManager.default
        for file in files {
            let url = directory.appendingPathComponent(file.path)
            if let content = file.content {
                try content.write(to: url)
            } else {
                try manager.createDirectory(at: url, withIntermediateDirectories: true)
            }
            try manager.setAttributes([.posixPermissions: file.permissions], ofItemAtPath: url.path)
        }
    }
}
