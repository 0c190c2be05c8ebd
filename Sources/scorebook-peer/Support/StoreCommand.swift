import ArgumentParser
import Foundation
import GRDB
import PeerSync
import RecordStore
import Scorebook

/// Which store a command works on.
struct StoreOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The directory of the scorebook (default: $SCOREBOOK_STORE, else ~/.local/share/scorebook-peer).",
            valueName: "dir"))
    var store: String?

    /// The directory that was asked for, or the default one.
    var directory: URL {
        let environment = ProcessInfo.processInfo.environment
        if let path = store ?? environment["SCOREBOOK_STORE"], !path.isEmpty {
            return URL(fileURLWithPath: (path as NSString).expandingTildeInPath, isDirectory: true)
        }
        let home = FileManager.default.homeDirectoryForCurrentUser
        let data = environment["XDG_DATA_HOME"].flatMap {
            $0.isEmpty ? nil : URL(fileURLWithPath: $0, isDirectory: true)
        }
        return (data ?? home.appendingPathComponent(".local/share", isDirectory: true))
            .appendingPathComponent("scorebook-peer", isDirectory: true)
    }
}

/// Which zone of the store a command works on.
struct ZoneOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Only look at this zone, and put there what is new (default: look at all, put into the default zone).",
            valueName: "name"))
    var zone: String?
}

/// Whether a command prints for people or for programs.
struct OutputOptions: ParsableArguments {
    @Flag(name: .long, help: "Print JSON, for other programs.")
    var json = false
}

/// A store that is open.
struct OpenStore: Sendable {
    let directory: URL
    let identity: Identity
    /// What nobody may write over.
    let files: StoreFiles
    /// Limited to a zone where a command was asked to be.
    private(set) var scorebook: ScorebookStore

    /// The same store, with a scorebook that is limited to a zone.
    ///
    /// - Throws: `noSuchZone`.
    func limited(to zone: String?) async throws -> OpenStore {
        guard let zone else { return self }
        var store = self
        store.scorebook = scorebook.limited(to: try await scorebook.records.zones.find(named: zone))
        return store
    }

    /// Whether there is more than one zone, so that people are told which a record is in.
    func hasSeveralZones() async throws -> Bool { try await scorebook.records.zones.all().count > 1 }

    /// Opens the store in a directory, and makes it if there is none.
    ///
    /// - Parameter staysOpen: whether it is kept open for long.
    init(_ directory: URL, staysOpen: Bool = false) throws {
        self.directory = directory
        do {
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Failure(
                .cannotCreate,
                "the store directory \(directory.path) cannot be made; choose another one with --store DIR")
        }
        guard FileManager.default.isWritableFile(atPath: directory.path) else {
            throw Failure(
                .cannotCreate,
                "the store directory \(directory.path) is not writable; choose another one with --store DIR")
        }
        let key = directory.appendingPathComponent(Identity.fileName)
        let database = directory.appendingPathComponent("scorebook.sqlite").path
        let pictures = directory.appendingPathComponent("assets", isDirectory: true)
        let backups = directory.appendingPathComponent("backups", isDirectory: true)
        files = StoreFiles([key, pictures, backups] + ScorebookDatabase.files(at: database))
        identity = try Identity.loadOrCreate(at: key)
        // One program at a time makes the tables, or brings them up to date.
        let lock = open(key.path, O_RDONLY | O_CLOEXEC)
        flock(lock, LOCK_EX)
        defer { close(lock) }
        scorebook = try ScorebookStore(
            Self.database(database, staysOpen: staysOpen), replica: identity.replicaID,
            assets: AssetDirectory(at: pictures))
    }

    private static func database(_ path: String, staysOpen: Bool) throws -> any DatabaseWriter {
        do {
            return try ScorebookDatabase.open(at: path)
        } catch  where StoreFailure(error)?.isOutOfRoom == true && !staysOpen {
            return try ScorebookDatabase.openWithoutRoom(at: path)
        }
    }
}

/// A command that works on a store.
protocol StoreCommand: AsyncParsableCommand {
    var storeOptions: StoreOptions { get }

    /// Whether the command makes a store where there is none.
    static var makesStore: Bool { get }

    /// The name of the only zone that the command works on; nil for all.
    var zone: String? { get }

    func run(_ store: OpenStore) async throws
}

extension StoreCommand {
    static var makesStore: Bool { true }

    var zone: String? { nil }

    func run() async throws {
        let store = try await openStore(false)
        defer {
            if store.scorebook.isShortOfRoom {
                Terminal.writeError(
                    "warning: the disk is full, so what other programs wrote last is not taken in yet; make room"
                )
            }
        }
        try await run(store)
    }

    fileprivate func openStore(_ staysOpen: Bool) async throws -> OpenStore {
        let directory = storeOptions.directory
        let database = directory.appendingPathComponent("scorebook.sqlite").path
        guard Self.makesStore || FileManager.default.fileExists(atPath: database) else {
            throw Failure(.noInput, "there is no scorebook in \(directory.path)")
        }
        // Another program may keep this waiting.
        return try await blocking { try OpenStore(directory, staysOpen: staysOpen) }.limited(to: zone)
    }
}

/// A command that talks to other machines. SIGINT and SIGTERM end it in good order.
protocol SyncingCommand: StoreCommand {
    /// What it fails with when it is stopped before its work is done; nil when it goes on until it is stopped.
    var stopped: Failure? { get }
}

extension SyncingCommand {
    func run() async throws {
        await StopSignals.shared.trap(stopped.map(Ending.failure) ?? .done)
        try await run(openStore(true))
    }
}

/// A command that works on the records of one zone, if it is asked to.
protocol ZonedCommand: StoreCommand {
    var zoneOptions: ZoneOptions { get }
}

extension ZonedCommand {
    var zone: String? { zoneOptions.zone }
}
