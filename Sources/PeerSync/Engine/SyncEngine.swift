import CoreMetrics
import Logging
import NIOCore
import NIOPosix
import PeerSyncModel
import PeerSyncProtocol
import PeerSyncStore
import Synchronization

/// The engine that syncs a store with the machines that it is paired with.
///
/// ```swift
/// let engine = SyncEngine(
///     app: "org.example.books", store: store, identity: identity, displayName: "kitchen"
/// ) { event in print(event) }
/// let listener = SyncListener(engine, host: "0.0.0.0", port: SyncEngine.defaultPort)
/// try await ServiceGroup(services: [listener], logger: logger).run()
/// ```
///
/// ``SyncListener`` takes connections, ``SyncConnector`` makes them. Both are services, and say goodbye to every peer
/// when the service group shuts down gracefully. The engine itself does nothing on its own.
public final class SyncEngine: Sendable {
    /// The port to listen on, and to connect to, when the app names none.
    public static let defaultPort = 7431

    /// The app's id. Machines of other apps cannot connect.
    public let app: AppID
    /// The store that this engine syncs: lists of records, peers, zones, files and settings.
    public let store: RecordStore
    /// The key pair by which other machines know this one.
    public let identity: Identity
    /// This machine's name on others when they pair with it. At most 64 bytes of UTF-8 are sent.
    public let displayName: String
    /// The address on which this machine shall listen, unless the listener has another one: `0.0.0.0` means all IPv4 addresses of
    /// this machine, `::` those of IPv6 and, as systems mostly are set, of IPv4, too.
    public let host: String
    /// The port on which this machine shall listen, unless the listener has another one; 0 asks for a free one. See
    /// ``listeningPort``.
    public let port: Int
    /// How machines of the app on this network find each other.
    public let discovery: DiscoveryOptions
    /// Shows pairing codes.
    public var pairing: PairingDesk { PairingDesk(store) }

    /// How far the stamps of a peer may lie in the future, in milliseconds; 0...2^47.
    package let allowedSkew: Int64
    let logger: Logger
    let metrics: SyncMetrics
    let words: AppWords
    private let channel: EventChannel
    private let currentDeadlines = Mutex(Deadlines())
    /// The sockets of the listeners that run.
    let sockets = Registry<ListeningSocket>()
    let decide: @Sendable (ZoneQuestion) async -> ZoneAnswer
    let settings = SettingsWatch()
    let watch: StoreWatch
    /// Distinguishes this run of the program from others on the same store.
    let instance = UInt64.random(in: 1...UInt64.max)
    let connections = Connections()
    let files: OpenFiles?
    let assets = SharedAssets()
    /// What ``start()`` or ``run()`` has begun.
    let started = BackgroundRun()
    let names = CurrentNames()
    let discoveryTrouble: Trouble<DiscoveryPart>
    /// The peers of which the user has heard that nobody has introduced them.
    let outsiders = Mutex<Set<Int64>>([])
    /// The zones that were deleted here, and that the user has heard of as offered.
    let offeredAgain = Mutex<Set<ZoneID>>([])

    /// Creates an engine around a store that is open already. Most apps use ``init(for:app:tables:identity:displayName:host:port:discovery:assetDirectory:allowedSkew:logger:metrics:words:onEvent:decide:now:)``.
    ///
    /// - Parameters:
    ///   - app: the same on all machines of an app, and different for every other app.
    ///   - store: the store to sync. It must have been opened with the identity's replica: with another one, this machine
    ///     would write in another machine's name.
    ///   - identity: the key pair by which other machines know this one.
    ///   - displayName: this machine's name on others when they pair with it.
    ///   - host: see ``host``.
    ///   - port: the port on which this machine listens.
    ///   - discovery: by default a listener announces this machine by DNS-SD, and dials the paired machines that it finds;
    ///     ``DiscoveryOptions/off`` switches that off.
    ///   - allowedSkew: how far the stamps of a peer may lie in the future. The engine refuses a peer whose stamps lie
    ///     further ahead, and applies nothing of that batch. From 0 to 2^47 milliseconds; outside of that, the nearest of these.
    ///   - logger: takes what helps to find a fault. Events tell what a user should see.
    ///   - metrics: takes the counts of sessions, records and bytes, and the time of applying, under labels that begin
    ///     with `peer_sync_`; by default the system's factory.
    ///   - words: the app's words for what the engine stores for people.
    ///   - onEvent: called from the engine's tasks, one event at a time; the events of one session come in their
    ///     order. The engine waits for it, so it should return soon, and must not wait for anything that the engine
    ///     does.
    ///   - decide: asked what becomes of two default zones that meet for the first time, and whether this machine's
    ///     may be replaced. When nobody is there to be asked, two zones that are not shared with others yet become
    ///     one.
    public init(
        app: AppID, store: RecordStore, identity: Identity, displayName: String,
        host: String = "0.0.0.0", port: Int = SyncEngine.defaultPort,
        discovery: DiscoveryOptions = DiscoveryOptions(),
        allowedSkew: Duration = .milliseconds(StoreClock.defaultAllowedSkew),
        logger: Logger = Logger(label: "PeerSync", factory: { _ in SwiftLogNoOpLogHandler() }),
        metrics: any MetricsFactory = MetricsSystem.factory, words: AppWords = AppWords(),
        onEvent: @escaping @Sendable (SyncEvent) -> Void = { _ in },
        decide: @escaping @Sendable (ZoneQuestion) async -> ZoneAnswer = { _ in .nobody }
    ) {
        precondition(
            store.replica == identity.replicaID,
            "a store is opened with the replica of its machine's identity")
        self.app = app
        self.store = store
        watch = StoreWatch(store)
        files = OpenFiles(database: store.database.path)
        self.identity = identity
        self.displayName = displayName
        self.host = host
        self.port = port
        self.discovery = discovery
        let skew = allowedSkew.clamped(to: .zero ... .milliseconds(StoreClock.maximumSkew))
        self.allowedSkew = Int64(skew / .milliseconds(1))
        self.logger = logger
        self.metrics = SyncMetrics(metrics)
        self.words = words
        self.decide = decide
        channel = EventChannel(onEvent)
        discoveryTrouble = Trouble { [channel] in
            channel.send(.discoveryTrouble($0))
        } ended: { [channel] in
            channel.send(.discoveryTroubleEnded)
        }
    }

    /// A new stream of what happens from now on, for each reader that asks. A reader that lags by more than 1,000 events
    /// misses the oldest of them. The stream ends with the engine.
    public var events: AsyncStream<SyncEvent> { channel.stream() }

    var onEvent: @Sendable (SyncEvent) -> Void { channel.send }

    /// The port on which this machine takes connections now; nil while it takes none. If ``port`` is 0, it is the free one
    /// that the system chose. The event `listening` tells when it is taken. If several listeners run, it is the port of one of
    /// them.
    public var listeningPort: Int? { sockets.elements.lazy.compactMap(\.port).first }

    /// How long the sessions of this engine wait. Only tests set it, and sessions that begin later follow it.
    package var deadlines: Deadlines {
        get { currentDeadlines.withLock { $0 } }
        set { currentDeadlines.withLock { $0 = newValue } }
    }

    /// Gives access to the store for the exchange of a zone with a peer.
    func peerZone(_ zone: Zone, _ peer: Peer) -> PeerZone {
        PeerZone(store: store, zone: .one(zone), peer: peer, allowedSkew: allowedSkew)
    }

    /// - Throws: ``PeerSyncError`` `switchedOff`.
    package func checkSwitch() async throws {
        guard try await !store.settings.isSyncOn() else { return }
        throw PeerSyncError.switchedOff
    }

    /// Refuses to sync while sync is switched off, as ``checkSwitch()`` does. While the settings cannot be read, it tells so, and tries again.
    ///
    /// - Throws: also ``PeerSyncError`` `storeUnusable` when a file of the database was removed or replaced.
    func checkSwitchPatiently() async throws {
        let trouble = StoreTrouble(logger, onEvent: onEvent)
        while true {
            do {
                try await checkSwitch()
                return trouble.succeeded(.settings)
            } catch let error as PeerSyncError {
                throw error
            } catch {
                try Task.checkCancellation()
                if let loss = files?.loss { throw await rescue(from: loss) }
                trouble.failed(.settings, because: error)
                try await Task.sleep(for: SettingsWatch.retryPause)
            }
        }
    }

    /// Waits until sync is switched on, by whichever program, or until cancelled.
    ///
    /// - Throws: ``PeerSyncError`` `storeUnusable` when a file of the database was removed or replaced.
    package func waitUntilSwitchedOn() async throws {
        let pause = Pause()
        let observation = store.observeWrites { pause.hurry() }
        defer { observation.cancel() }
        while !Task.isCancelled, (try? await store.settings.isSyncOn()) != true {
            if let loss = files?.loss { throw await rescue(from: loss) }
            // Nothing else tells of what other programs write.
            await pause.sleep(.seconds(1))
        }
    }

    /// Mends the store when an error says that sync's data about a record cannot be read, so that the next session
    /// goes on. A repair overrides nothing that others have written later (``StoreUpkeep/repair(_:progress:)``), so nobody is
    /// asked.
    ///
    /// - Returns: the error that the session ends with.
    func mended(_ error: any Error) async -> any Error {
        guard let damage = error as? RecordStoreError, [.corrupt, .damagedRecord].contains(damage.code) else {
            return error
        }
        // An unstructured task, so that a cancelled session repairs, too.
        let repair = Task { [store] in try await store.database.write { db in try store.upkeep.repair(db) } }
        do {
            let check = try await repair.value
            guard !check.isSound else { return damage }
            onEvent(.mended(check))
            return PeerSyncError(
                .storeMended,
                "what sync knew of some records here was damaged and is mended; the next connection goes on")
        } catch {
            logger.error("the store cannot be mended: \(error)")
            return damage
        }
    }

    /// Stores whether this engine has connections with a peer, and the error that ended one, if any.
    func noteConnected(with peer: Peer, error: PeerSyncError? = nil) async throws {
        let explanation = error.map(words.explanation)
        try await store.peers.noteConnected(with: peer, error: explanation, code: error?.code.description) {
            [connections] in
            connections.hasAny(with: peer.id)
        }
    }

    /// Reads the zones that the peer may have now, the ids of all zones of this store, and of those that a user has deleted here.
    package func offers(to peer: Peer) async throws -> (
        offers: [ZoneOffer], held: Set<ZoneID>, declined: Set<ZoneID>
    ) {
        let (granted, all, declined) = try await store.exchange.zones(for: peer)
        let offers = granted.map { zone, rights in
            ZoneOffer(
                id: zone.id, name: zone.name, isDefault: zone.isDefault, isShared: zone.isShared,
                rights: rights, recordCount: zone.digest.count, fingerprint: zone.digest.fingerprint)
        }
        return (offers, Set(all.map(\.id)), Set(declined.map(\.id)))
    }
}
