import ArgumentParser
import Foundation
import GRDB
import Logging
import NIOPosix
import PeerSync
import Scorebook

/// The store on which a command works.
struct StoreOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The directory of the scorebook (default: $SCOREBOOK_STORE, else ~/.local/share/scorebook-peer).",
            valueName: "dir"))
    var store: String?

    @Flag(name: .customLong("new"), help: "Begin a new scorebook in that directory without asking.")
    var isNew = false

    /// What the user calls the directory, on the command line or in the environment; nil for the default one.
    private var text: String? {
        let text = store ?? ProcessInfo.processInfo.environment["SCOREBOOK_STORE"]
        return text?.isEmpty == true ? nil : text
    }

    /// Whether a directory without a scorebook may be a slip: somebody has named it, and has not said that it is new.
    var mayBeSlip: Bool { text != nil && !isNew }

    /// The path of the directory that the user asked for; nil for the default one.
    ///
    /// - Throws: ``Failure`` if it begins with a home directory that is not there.
    private func named() throws -> String? {
        try text.map { URL(fileURLWithPath: try Home.expanding($0), isDirectory: true).path }
    }

    /// The path of the directory where it depends on the command line or the environment, of which a service has another one;
    /// nil for the one that it finds itself.
    func unusual() throws -> String? {
        let path = try directory().path
        return try path == Home.directory(".local/share/scorebook-peer").path ? nil : path
    }

    /// The directory that the user asked for, or the default one.
    ///
    /// - Throws: ``Failure`` if it is in a home directory that is not there.
    func directory() throws -> URL {
        if let named = try named() { return URL(fileURLWithPath: named, isDirectory: true) }
        return try Home.directory(
            "XDG_DATA_HOME", else: ".local/share",
            hint: "set HOME, or name the directory of the scorebook with --store DIR"
        ).appendingPathComponent("scorebook-peer", isDirectory: true)
    }
}

/// The zone of the store on which a command works.
struct ZoneOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Only look at this zone, and put there what is new (default: look at all, put into the zone in use; an import \
            goes to the zone that its file names, and an export is of the zone that every store has).
            """,
            valueName: "name"))
    var zone: String?
}

/// The choice between output for people and for programs.
struct OutputOptions: ParsableArguments {
    @Flag(name: .long, help: "Print JSON, for other programs.")
    var json = false
}

/// An open store.
struct OpenStore: Sendable {
    let directory: URL
    let identity: Identity
    /// The files that no output may overwrite.
    let files: StoreFiles
    /// The scorebook, limited to a zone if the user asked for one.
    private(set) var scorebook: ScorebookStore
    /// The lists that were printed, whose numbers name records.
    let printedLists: PrintedLists

    /// Returns the same store, with a scorebook that is limited to a zone.
    ///
    /// - Throws: `noSuchZone`.
    func limited(to zone: String?) async throws -> OpenStore {
        guard let zone else { return self }
        var store = self
        store.scorebook = scorebook.limited(to: try await scorebook.records.zones.find(named: zone))
        return store
    }

    /// Returns the same store, where names are looked up first in the zone that the person uses.
    func usingZone() async throws -> OpenStore {
        var store = self
        var habits = scorebook.habits
        habits.zone = try await scorebook.zoneInUse()
        store.scorebook = scorebook.with(habits)
        return store
    }

    /// Returns the same store, which writes what no other machine takes. Asks on a terminal, and otherwise warns.
    func keepingRefusedWrites(after error: ScorebookError) async throws -> OpenStore {
        let hint = error.hint.map { " (\($0))" } ?? ""
        if Terminal.isInputATerminal {
            let question = "\(error.message)\(hint). Write it here all the same, on this machine alone?"
            guard await Terminal.isConfirmed(question) else {
                throw Failure(.temporaryFailure, "nothing was changed")
            }
        } else {
            Terminal.writeError("warning: \(error.message), so it stays on this machine\(hint)")
        }
        var store = self
        var habits = scorebook.habits
        habits.keepsRefusedWrites = true
        store.scorebook = scorebook.with(habits)
        return store
    }

    /// Returns the same store, where a text that fits several records means the one that the user chose.
    func choosing(_ name: RecordName, for question: RecordChoice.Question) -> OpenStore {
        var store = self
        var habits = scorebook.habits
        habits.chosen[question] = name
        store.scorebook = scorebook.with(habits)
        return store
    }

    /// Returns whether there is more than one zone. Then output for people names the zone of a record.
    func hasSeveralZones() async throws -> Bool { try await scorebook.records.zones.all().count > 1 }

    /// Opens the store in a directory. Makes it if there is none.
    ///
    /// - Parameter staysOpen: whether the command keeps it open for long.
    init(_ directory: URL, staysOpen: Bool = false) throws {
        self.directory = directory
        do {
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Failure(
                .cannotCreate,
                "the store directory \(directory.path) cannot be made",
                hint: "choose another one with --store DIR")
        }
        guard FileManager.default.isWritableFile(atPath: directory.path) else {
            throw Failure(
                .cannotCreate,
                "the store directory \(directory.path) is not writable",
                hint: "choose another one with --store DIR")
        }
        let key = directory.appendingPathComponent(Identity.fileName)
        let database = directory.appendingPathComponent("scorebook.sqlite").path
        let page = directory.appendingPathComponent(OwnCertificate.fileName)
        let pictures = directory.appendingPathComponent("assets", isDirectory: true)
        let backups = directory.appendingPathComponent("backups", isDirectory: true)
        let lists = directory.appendingPathComponent("lists", isDirectory: true)
        let thumbnails = directory.appendingPathComponent("thumbnails", isDirectory: true)
        files = StoreFiles(
            [key, page, MailboxFile(in: directory).url, pictures, thumbnails, backups, lists]
                + ScorebookDatabase.files(at: database))
        if !FileManager.default.fileExists(atPath: key.path) {
            let isThere = FileManager.default.fileExists(atPath: database)
            _ = try Identity.loadOrCreate(
                at: key, for: isThere ? Self.database(database, staysOpen: false) : nil)
        }
        // The lock lets only one program at a time make or migrate the tables, or renew the key.
        let lock = Self.lock(key)
        defer { close(lock) }
        identity = try Identity.loadOrCreate(at: key)
        scorebook = try ScorebookStore(
            Self.database(database, staysOpen: staysOpen), replica: identity.replicaID,
            assetDirectory: AssetDirectory(at: pictures))
        let printedLists = PrintedLists(at: lists)
        self.printedLists = printedLists
        var habits = Habits { kind, number in printedLists.record(kind, number) }
        habits.command = Habits.Command(name: CommandName.current, run: UUID().uuidString)
        scorebook = scorebook.with(habits)
    }

    /// Locks the file of the key until the descriptor is closed.
    static func lock(_ key: URL) -> Int32 {
        while true {
            let lock = open(key.path, O_RDONLY | O_CLOEXEC)
            flock(lock, LOCK_EX)
            var (locked, current) = (stat(), stat())
            // Who renews the key puts another file in its place.
            guard fstat(lock, &locked) == 0, stat(key.path, &current) == 0, locked.st_ino != current.st_ino
            else { return lock }
            close(lock)
        }
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

    /// Whether the command makes a store if there is none.
    static var makesStore: Bool { get }

    /// The name of the only zone on which the command works; nil for all.
    var zone: String? { get }

    func run(_ store: OpenStore) async throws
}

extension StoreCommand {
    static var makesStore: Bool { true }

    var zone: String? { nil }

    func run() async throws { try await runOnStore() }

    /// Opens the store, and runs the command.
    func runOnStore() async throws {
        let store = try await openStore(false)
        defer {
            if store.scorebook.isShortOfRoom {
                Terminal.writeError(
                    "warning: the disk is full, so what other programs wrote last is not taken in yet; make room"
                )
            }
        }
        try await runAsking(store)
    }

    /// Runs the command. If a text fits several records, asks on a terminal which one is meant, and runs it again. Each
    /// operation finds its records before it writes, and an operation that no other machine would take writes nothing.
    private func runAsking(_ store: OpenStore) async throws {
        do {
            try await run(store)
        } catch let error as ScorebookError where error.code == .readOnly {
            try await run(store.keepingRefusedWrites(after: error))
        } catch let error as ScorebookError {
            guard let choice = error.choice, let name = await Terminal.choose(choice) else { throw error }
            try await runAsking(store.choosing(name, for: choice.question))
        }
    }

    fileprivate func openStore(_ staysOpen: Bool) async throws -> OpenStore {
        let directory = try storeOptions.directory()
        let database = directory.appendingPathComponent("scorebook.sqlite").path
        guard Self.makesStore || FileManager.default.fileExists(atPath: database) else {
            throw Failure(
                .noInput, "there is no scorebook in \(directory.path)",
                hint: "`scorebook-peer play`, `import` or `listen` begin one; --store DIR names another place"
            )
        }
        let isNew = !FileManager.default.fileExists(atPath: database)
        if isNew { try await confirmNew(directory) }
        // This may wait for another program.
        let store = try await NIOThreadPool.singleton.runIfActive {
            try OpenStore(directory, staysOpen: staysOpen)
        }.usingZone().limited(to: zone)
        if isNew, storeOptions.mayBeSlip, !Terminal.isInputATerminal {
            Terminal.writeError("note: a new scorebook begins in \(Display.printable(directory.path))")
        }
        return store
    }
}

extension StoreCommand {
    /// Asks on a terminal whether to begin a scorebook in a directory that somebody has named.
    private func confirmNew(_ directory: URL) async throws {
        guard storeOptions.mayBeSlip, Terminal.isInputATerminal else { return }
        let place = Display.printable(directory.path)
        guard await Terminal.isConfirmed("There is no scorebook in \(place). Begin a new one there?") else {
            throw Failure(
                .noInput, "there is no scorebook in \(place)",
                hint: "--store DIR names another place, and --new begins one without asking")
        }
    }
}

/// A command that talks to other machines. Signals end it in good order; see ``StopSignals``.
protocol SyncingCommand: StoreCommand {
    /// The failure if a signal stops the command before its work is done; nil if the command runs until it is stopped.
    var stopped: Failure? { get }
    /// Takes what helps to find a fault.
    var logger: Logger { get }
}

extension SyncingCommand {
    func run() async throws {
        await StopSignals.shared.trap(stopped.map(Ending.failure) ?? .done)
        let store = try await openStore(true)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [logger] in
                // Another machine may delete for ever what `undo` here could bring back.
                while !Task.isCancelled {
                    do {
                        try await store.scorebook.forgetErasedRecords()
                    } catch  where !Task.isCancelled {
                        // Another program may hold the store now. The next minute tries again, and the end says what is wrong.
                        logger.warning("what other machines deleted for ever is not forgotten yet: \(error)")
                    }
                    try? await Task.sleep(for: .seconds(60))
                }
            }
            do {
                try await run(store)
            } catch {
                throw await store.scorebook.told(error)
            }
            group.cancelAll()
        }
        try await store.scorebook.forgetErasedRecords()
    }
}

/// A command that works on the records of one zone if the user names one.
protocol ZonedCommand: StoreCommand {
    var zoneOptions: ZoneOptions { get }
}

extension ZonedCommand {
    var zone: String? { zoneOptions.zone }
}
