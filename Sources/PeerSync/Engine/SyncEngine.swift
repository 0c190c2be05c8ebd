import CoreMetrics
import Logging
import NIOCore
import NIOPosix
import RecordStore
import SyncModel
import SyncProtocol

/// Syncs a store with the machines it is paired with.
///
/// ```swift
/// let engine = SyncEngine(
///     app: "org.example.books", store: store, identity: identity, displayName: "kitchen"
/// ) { event in print(event) }
/// let listener = SyncListener(engine, host: "0.0.0.0", port: SyncEngine.defaultPort)
/// try await ServiceGroup(services: [listener], logger: logger).run()
/// ```
///
/// ``SyncListener`` takes connections, ``SyncConnector`` makes them; both are services, and end with a goodbye to
/// every peer when the service group shuts down gracefully. The engine itself does nothing on its own.
public final class SyncEngine: Sendable {
    /// The port that is listened on, and connected to, when none is given.
    public static let defaultPort = 7431

    /// Machines of other apps cannot connect.
    public let app: AppID
    public let store: RecordStore
    public let identity: Identity
    /// What this machine is called on others when they pair with it; at most 64 bytes of UTF-8 are sent.
    public let displayName: String
    /// Shows pairing codes.
    public let pairing = PairingDesk()

    /// How far the stamps of a peer may lie in the future, in milliseconds.
    let allowedSkew: Int64
    let logger: Logger
    let metrics: SyncMetrics
    let words: AppWords
    let onEvent: @Sendable (SyncEvent) -> Void
    let decide: @Sendable (ZoneQuestion) async -> ZoneAnswer
    let settings = SettingsWatch()
    let watch = StoreWatch()
    /// Tells this run of the program from others with the same store.
    let instance = UInt64.random(in: 1...UInt64.max)
    let connections = Connections()
    let files: OpenFiles?
    let assets = SharedAssets()

    /// - Parameters:
    ///   - app: the same on all machines of an app, and on those of no other.
    ///   - allowedSkew: how far the stamps of a peer may lie in the future; a peer that goes beyond is refused, and
    ///     nothing of what it sent is taken over.
    ///   - logger: what is written to it helps to find a fault; what a user should see comes as events.
    ///   - metrics: where sessions, records, bytes and the time of applying are counted, under labels that begin with
    ///     `peer_sync_`; the system's factory, unless the app has another.
    ///   - words: what the engine writes down for people, in the words of the app.
    ///   - onEvent: called from the engine's tasks, one event at a time, those of one session in the order in which things
    ///     happen. The engine waits for it, so it should return soon, and must not wait for anything that the engine does.
    ///   - decide: asked what becomes of two default zones that meet for the first time, and whether this machine's may be replaced.
    ///     When nobody is there to be asked, two that are not shared with others yet become one.
    public init(
        app: AppID, store: RecordStore, identity: Identity, displayName: String,
        allowedSkew: Duration = .milliseconds(StoreClock.defaultAllowedSkew),
        logger: Logger = Logger(label: "PeerSync", factory: { _ in SwiftLogNoOpLogHandler() }),
        metrics: any MetricsFactory = MetricsSystem.factory, words: AppWords = AppWords(),
        onEvent: @escaping @Sendable (SyncEvent) -> Void = { _ in },
        decide: @escaping @Sendable (ZoneQuestion) async -> ZoneAnswer = { _ in .nobody }
    ) {
        self.app = app
        self.store = store
        files = OpenFiles(database: store.database.path)
        self.identity = identity
        self.displayName = displayName
        self.allowedSkew = Int64(allowedSkew / .milliseconds(1))
        self.logger = logger
        self.metrics = SyncMetrics(metrics)
        self.words = words
        self.decide = decide
        self.onEvent = EventChannel(onEvent).send
    }

    /// What the exchange of a zone with a peer asks of the store.
    func peerZone(_ zone: Zone, _ peer: Peer) -> PeerZone {
        PeerZone(store: store, zone: .one(zone), peer: peer, allowedSkew: allowedSkew)
    }

    /// - Throws: ``PeerSyncError`` `switchedOff`.
    func checkSwitch() async throws {
        guard try await !store.settings.isSyncOn() else { return }
        throw PeerSyncError.switchedOff
    }

    /// Mends the store when an error says that what sync knows of a record cannot be read: the next session then goes on. A
    /// repair takes nothing back that others have written later (``StoreUpkeep/repair(_:)``), so nobody is asked.
    ///
    /// - Returns: what the session is to end with.
    func mended(_ error: any Error) async -> any Error {
        guard let damage = error as? RecordStoreError, [.corrupt, .damagedRecord].contains(damage.code) else {
            return error
        }
        // Also in a task that was cancelled.
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

    /// Keeps in the store whether this engine has connections with a peer, and what went wrong with it, if anything did.
    func noteConnected(with peer: Peer, error: PeerSyncError? = nil) async throws {
        let explanation = error.map(words.explanation)
        try await store.peers.noteConnected(with: peer, error: explanation) { [connections] in
            connections.hasAny(with: peer.id)
        }
    }

    /// The zones that the peer may have, as they are at this moment, and all that this store has.
    package func offers(to peer: Peer) async throws -> (offers: [ZoneOffer], held: Set<ZoneID>) {
        let (granted, all) = try await store.exchange.zones(for: peer)
        let offers = granted.map { zone, rights in
            ZoneOffer(
                id: zone.id, name: zone.name, isDefault: zone.isDefault, isShared: zone.isShared,
                rights: rights, recordCount: zone.digest.count, fingerprint: zone.digest.fingerprint)
        }
        return (offers, Set(all.map(\.id)))
    }
}
