import CoreMetrics
import Foundation
import GRDB
import Logging
import PeerSyncChannel
import PeerSyncModel
import PeerSyncProtocol
import PeerSyncStore
import ServiceLifecycle

/// What an app with a database of its own needs.
extension SyncEngine: Service {
    /// Creates an engine that syncs some tables of an app's database, as they are declared there. From then on sync
    /// covers every write to them, by any program.
    ///
    /// ```swift
    /// let sync = try SyncEngine(
    ///     for: database, app: "org.example.todo", tables: ["TodoList", SyncedTable("Item", local: ["isExpanded"])])
    /// ```
    ///
    /// - Parameters:
    ///   - database: the app's database, with its tables as the app's migrations leave them.
    ///   - app: the same on all machines of an app, and different for every other app. Machines of other apps cannot
    ///     connect, so never change it.
    ///   - tables: a reference leads to one of them. Every program that opens the database lists the same ones, also an extension or a tool of
    ///     the same app: whoever lists fewer takes the others out of sync, and the engines that run with them end.
    ///   - identity: by default the one in the file beside the database, see ``Identity/loadOrCreate(besideDatabase:)``.
    ///   - displayName: by default ``hostName``.
    ///   - host: by default all IPv4 addresses of this machine; see ``host``.
    ///   - port: by default ``port(of:)``, so that two apps of a machine do not want the same one; 0 picks a free
    ///     one, see ``listeningPort``.
    ///   - discovery: how machines of the app on this network find each other; ``DiscoveryOptions/off`` switches that off.
    ///   - assetDirectory: the directory for the files of columns that hold files; it belongs to this database alone.
    ///   - allowedSkew: how far the stamps of a peer may lie in the future; see
    ///     ``init(app:store:identity:displayName:host:port:discovery:allowedSkew:logger:metrics:words:onEvent:decide:)``, also for what
    ///     follows.
    ///   - logger: takes what helps to find a fault.
    ///   - metrics: takes counts and times.
    ///   - words: the app's words for what the engine stores for people.
    ///   - onEvent: called for each event, one at a time; it should return soon.
    ///   - decide: asked what becomes of two default zones that meet for the first time.
    ///   - now: a wall clock for tests, in milliseconds since 1970; see
    ///     ``/PeerSyncStore/RecordStore/init(_:schema:replica:assetDirectory:now:)``.
    /// - Throws: ``/PeerSyncStore/RecordStoreError`` when the tables cannot be synced as they are declared; the sentence says how they
    ///   can. ``PeerSyncError`` when the identity cannot be read or written. Errors of SQLite.
    public convenience init(
        for database: any DatabaseWriter, app: AppID, tables: [SyncedTable], identity: Identity? = nil,
        displayName: String = SyncEngine.hostName, host: String = "0.0.0.0", port: Int? = nil,
        discovery: DiscoveryOptions = DiscoveryOptions(), assetDirectory: AssetDirectory? = nil,
        allowedSkew: Duration = .milliseconds(StoreClock.defaultAllowedSkew),
        logger: Logger = Logger(label: "PeerSync", factory: { _ in SwiftLogNoOpLogHandler() }),
        metrics: any MetricsFactory = MetricsSystem.factory, words: AppWords = AppWords(),
        onEvent: @escaping @Sendable (SyncEvent) -> Void = { _ in },
        decide: @escaping @Sendable (ZoneQuestion) async -> ZoneAnswer = { _ in .nobody },
        now: (@Sendable () -> Int64)? = nil
    ) throws {
        let identity = try identity ?? Identity.loadOrCreate(besideDatabase: database.path)
        let store = try RecordStore(
            database, tables: tables, replica: identity.replicaID, assetDirectory: assetDirectory, now: now)
        self.init(
            app: app, store: store, identity: identity, displayName: displayName, host: host,
            port: port ?? Self.port(of: app), discovery: discovery,
            allowedSkew: allowedSkew, logger: logger,
            metrics: metrics, words: words, onEvent: onEvent, decide: decide)
    }

    /// The name of the host, without the `.local` that macOS adds.
    public static var hostName: String {
        // ProcessInfo of macOS asks the network for a name, which takes time, and gives another one in another network.
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return "localhost" }
        let name = String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        #if canImport(Darwin)
            return name.hasSuffix(".local") ? String(name.dropLast(6)) : name
        #else
            return name
        #endif
    }

    /// The port of an app that names none: from 20000 to 29999, the same for an id on all machines.
    public static func port(of app: AppID) -> Int {
        20_000 + Int(ReplicaID(hashing: app.description.utf8).rawValue % 10_000)
    }

    /// Keeps this machine in step with all machines that it is paired with, also with those that are paired later: it
    /// listens on ``port``, and connects to each where it has reached it before. A machine that is not there is no error.
    /// If another program has the port, it tries again and again, and connects to the others meanwhile; the event
    /// `retrying` tells that, with the code `cannotListen`. While sync is paused (``pause()``), it waits.
    ///
    /// Runs until the task is cancelled or the service group shuts down. ``start()`` does the same in a task of the engine's own.
    /// If the run before is just ending, it begins after that: a view's task may run it, and the view may go and come back.
    ///
    /// - Throws: ``PeerSyncError``: `storeUnusable` when a file of the database was removed or replaced; `cannotListen` when
    ///   ``port`` is none, or when this engine runs already. `CancellationError` when the task is cancelled before the run has begun.
    public func run() async throws {
        try await started.run { try await backgroundListener.run() }
    }

    var backgroundListener: SyncListener {
        var listener = SyncListener(self, dialsKnownPeers: true)
        listener.neverGivesUp = true
        listener.waitsWhileSwitchedOff = true
        return listener
    }

    /// Shows a pairing code for ``PairingDesk/lifetime``, as `123-456`: a person types it on the other machine. ``run()``
    /// has to run meanwhile.
    ///
    /// - Throws: errors of SQLite.
    public func showPairingCode() async throws -> String { try await pairing.show().formatted }

    /// Pairs with a machine that shows a code, and syncs with it once. From then on ``run()`` keeps the two in step.
    ///
    /// - Parameters:
    ///   - address: a name or an IP address, with a port if it is not that of this machine.
    ///   - code: what the other machine shows.
    ///   - union: what becomes of the two default zones, if that has to be decided; nil asks the engine's `decide`.
    /// - Throws: ``PeerSyncError``: `invalidInput` when the address or the code is not written as it should be; `differentZones` when
    ///   the two are paired, but nobody has decided about their default zones; what ``pair(code:at:union:)`` throws.
    @discardableResult
    public func pair(with address: String, code: String, union: ZoneUnion? = nil) async throws -> SyncReport {
        guard let peer = PeerAddress(address, defaultPort: port == 0 ? Self.port(of: app) : port) else {
            throw PeerSyncError(.invalidInput, "“\(address)” is no address")
        }
        return try await pair(code: Self.code(code), at: peer, union: union)
    }

    /// What the store holds, how it stands with each paired machine, and how far the sessions are: now, and after each change, also of
    /// another program's while ``run()`` runs and sync is on.
    /// Each reader has a stream of its own, and gets the newest status if it lags. The stream ends with the engine, or with an
    /// error of SQLite when the database cannot be read.
    ///
    /// To observe the store together with an app's own values, call ``/PeerSyncStore/RecordStore/status(_:)`` in a
    /// `ValueObservation`.
    public var status: AsyncThrowingStream<SyncStatus, any Error> { StatusStream.make(of: store, events) }

    /// Whether a paired machine still lacks what was last written to a row, also within a `ValueObservation`.
    ///
    /// - Parameters:
    ///   - db: a connection to the engine's database.
    ///   - key: the row's primary key; of a key of several columns all values, in its order. A `UUID` counts as the record type writes it, by
    ///     its `databaseUUIDEncodingStrategy(for:)`.
    ///   - record: the GRDB record type of the row's table.
    /// - Throws: see ``/PeerSyncStore/StoreListing/isPending(_:_:of:)``.
    public func isPending(
        _ db: Database, _ key: any DatabaseValueConvertible..., of record: any TableRecord.Type
    ) throws -> Bool {
        try store.listing.isPending(db, key, of: record)
    }
}
