import Logging
import PeerSyncChannel
import PeerSyncProtocol
import PeerSyncStore
import ServiceLifecycle
import Synchronization

/// The machines of the app that announce themselves on this network at this moment.
final class Finder: Sendable {
    /// The most addresses at which one machine is dialled. Whoever repeats its announcement adds some.
    static let addressLimit = 16

    /// An announcement that can be read.
    struct Found: Sendable {
        let service: FoundService
        let announcement: Announcement
    }

    private struct State {
        var found: [Found] = []
        /// Whether the network could be asked when that was last tried; nil before.
        var works: Bool?
    }

    let observers = Registry<@Sendable () -> Void>()
    private let engine: SyncEngine
    private let trouble: Trouble<DiscoveryPart>?
    private let state = Mutex(State())

    /// - Parameter tellsTrouble: whether the app hears by events that the network cannot be asked, and can be again; not if
    ///   somebody waits for the result.
    init(_ engine: SyncEngine, tellsTrouble: Bool = true) {
        self.engine = engine
        trouble = tellsTrouble ? engine.discoveryTrouble : nil
    }

    /// Whether the network could be asked when that was last tried.
    var works: Bool { state.withLock { $0.works == true } }

    /// Whether the network could not be asked when that was last tried.
    var hasFailed: Bool { state.withLock { $0.works == false } }

    /// Everything that is there, except this machine.
    var found: [Found] { state.withLock { $0.found } }

    /// Looks until the task is cancelled. It returns at once if the app wants no discovery.
    func run() async {
        guard let discovery = engine.discovery.discovery else { return }
        let type = engine.discovery.serviceType(of: engine.app)
        await DiscoveryRetry.run {
            try await discovery.browse(for: type) { [self] services in
                trouble?.succeeded(.finding)
                set(services, works: true)
            }
        } onFailure: { error in
            engine.logger.debug("looking for machines has failed: \(error)")
            trouble?.failed(.finding, because: .discoveryFails)
            // What is not there any more cannot be told from what is.
            set([], works: false)
        }
    }

    private func set(_ services: [FoundService], works: Bool) {
        let found = services.compactMap { service in
            Announcement(text: service.text).map { Found(service: service, announcement: $0) }
        }.filter { !$0.announcement.names(engine.identity.publicKey) }
        state.withLock { $0 = State(found: found, works: works) }
        for onChange in observers.elements { onChange() }
    }

    /// The announcements of a machine, by its key, or of those who repeat them.
    func announcements(of key: [UInt8]) -> [FoundService] {
        guard let key = try? PublicKey(key) else { return [] }
        return found.filter { $0.announcement.names(key) }.map(\.service)
    }

    /// Where a machine is announced, by its key, with the names of the announcements: one address of each announcement in turn,
    /// the newest first. So whoever repeats its announcement under two names leaves room for that of the machine.
    func places(of key: [UInt8]) -> [(address: PeerAddress, name: String)] {
        let services = announcements(of: key).reversed()
        let places = (0..<(services.map(\.addresses.count).max() ?? 0)).flatMap { turn in
            services.filter { turn < $0.addresses.count }.map { ($0.addresses[turn], $0.name) }
        }
        return Array(places.prefix(Self.addressLimit))
    }

    /// The addresses at which a machine is announced, by its key.
    func addresses(of key: [UInt8]) -> [PeerAddress] { places(of: key).map(\.address) }

    /// Waits until something holds of what is found, or for some time.
    ///
    /// - Throws: ``PeerSyncError`` `interrupted` when this side gave up: the task is cancelled, or the service shuts down.
    func wait(for time: Duration, until isDone: @escaping @Sendable (Finder) -> Bool) async throws {
        let change = Signal()
        let membership = observers.add { change.raise() }
        defer { withExtendedLifetime(membership) {} }
        await cancelWhenGracefulShutdown {
            await withTaskGroup { group in
                group.addTask { _ = try? await Task.sleep(for: time) }
                group.addTask { [self] in
                    while !isDone(self), await change.wait() {}
                }
                await group.next()
                group.cancelAll()
            }
        }
        guard !Task.isCancelled, !Task.isShuttingDownGracefully else {
            throw PeerSyncError(.interrupted, "stopped while it looked for machines on this network")
        }
    }
}
