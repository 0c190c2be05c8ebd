import Foundation
import Synchronization

/// The files that browsers sent to import, until somebody has seen what would change and says so. Few, and not for long.
final class WaitingImports: Sendable {
    struct File: Sendable {
        /// The name that it has where it comes from, for people.
        let name: String
        let path: String
        fileprivate let directory: URL
        fileprivate let added: Date
    }

    /// The maximum number of files. The oldest ones go.
    static let maximumCount = 4
    static let lifetime: TimeInterval = 3600

    private let files = Mutex<[UUID: File]>([:])

    /// Removes all files: the server calls it when it ends.
    func removeAll() {
        let all = files.withLock { files in
            defer { files = [:] }
            return files.values
        }
        for file in all { UploadDirectories.remove(file.directory) }
    }

    /// Keeps a file of a form.
    ///
    /// - Returns: its id.
    func add(_ uploaded: UploadedForm.File, now: Date = Date()) throws -> UUID {
        let directory = try UploadDirectories.make()
        let path = directory.appendingPathComponent("import").path
        do {
            try FileManager.default.moveItem(atPath: uploaded.path, toPath: path)
        } catch {
            UploadDirectories.remove(directory)
            throw error
        }
        let id = UUID()
        let old = files.withLock { files in
            files[id] = File(name: uploaded.name, path: path, directory: directory, added: now)
            let byAge = files.sorted { $0.value.added > $1.value.added }
            let old = byAge.enumerated().filter {
                $0.offset >= Self.maximumCount
                    || now.timeIntervalSince($0.element.value.added) > Self.lifetime
            }
            for (_, file) in old { files[file.key] = nil }
            return old.map(\.element.value)
        }
        for file in old { UploadDirectories.remove(file.directory) }
        return id
    }

    /// Returns a file; nil if it is not there any more.
    func find(_ id: UUID, now: Date = Date()) -> File? {
        guard let file = files.withLock({ $0[id] }) else { return nil }
        guard now.timeIntervalSince(file.added) <= Self.lifetime else {
            remove(id)
            return nil
        }
        return file
    }

    func remove(_ id: UUID) {
        guard let file = files.withLock({ $0.removeValue(forKey: id) }) else { return }
        UploadDirectories.remove(file.directory)
    }
}
