import Foundation
import GRDB
import PeerSync

/// A copy of a scorebook in memory, for a look that must not change anything: not the file, and not the files beside it.
public enum ScorebookSnapshot {
    /// Copies the scorebook at a path, and opens the copy. What the copy has to be folded or migrated, the file does not see.
    ///
    /// - Parameter replica: the id under which this machine writes.
    /// - Throws: ``RecordStoreError``: `corrupt` when the file is damaged or no database, `newerFormat` when a newer version
    ///   of the program wrote it; errors of SQLite and of the system.
    public static func open(at path: String, replica: ReplicaID) throws -> ScorebookStore {
        let copy = try DatabaseQueue(configuration: ScorebookDatabase.configurationInMemory())
        do {
            try read(path) { try $0.backup(to: copy) }
            let faults = try copy.read { try String.fetchAll($0, sql: "PRAGMA quick_check(1)") }
            guard faults == ["ok"] else { throw ScorebookDatabase.damage(path) }
            return try ScorebookStore(copy, replica: replica)
        } catch {
            switch StoreFailure(error) {
            case .damaged, .noDatabase: throw ScorebookDatabase.damage(path)
            default: throw error
            }
        }
    }

    /// Opens an empty scorebook in memory.
    ///
    /// - Parameter replica: the id under which this machine writes.
    public static func empty(replica: ReplicaID) throws -> ScorebookStore {
        try ScorebookStore(
            DatabaseQueue(configuration: ScorebookDatabase.configurationInMemory()), replica: replica)
    }

    /// Reads the database as it is. SQLite would make the log and its index if they were missing, and so needs to be told
    /// how it stands with them.
    private static func read(_ path: String, _ body: (DatabaseQueue) throws -> Void) throws {
        let path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let files = FileManager.default
        func hasContent(_ file: String) -> Bool {
            ((try? files.attributesOfItem(atPath: file)[.size] as? Int) ?? 0) > 0
        }
        if !hasContent(path + "-wal") {
            // Nobody has written since the last checkpoint, so the file alone has everything.
            return try body(try connection(path, "immutable=1"))
        }
        if files.fileExists(atPath: path + "-shm") {
            // The index tells what the log has; where nobody keeps it, SQLite makes one in memory.
            return try body(try connection(path, "mode=ro&readonly_shm=1"))
        }
        // A program that runs has an index. So nobody writes now, and the files can be copied.
        let directory = files.temporaryDirectory.appendingPathComponent(UUID().uuidString, isDirectory: true)
        try files.createDirectory(
            at: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? files.removeItem(at: directory) }
        let copy = directory.appendingPathComponent("copy").path
        for suffix in ["", "-wal"] { try files.copyItem(atPath: path + suffix, toPath: copy + suffix) }
        try body(try DatabaseQueue(path: copy))
    }

    private static func connection(_ path: String, _ options: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        configuration.label = "scorebook snapshot"
        // Of a path only these mean something else in a URI.
        let name = path.replacingScalars(["%": "%25", "?": "%3f", "#": "%23"])
        return try DatabaseQueue(path: "file:\(name)?\(options)", configuration: configuration)
    }
}
