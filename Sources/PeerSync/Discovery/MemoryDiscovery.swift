import Synchronization

/// Discovery among the engines of one process that share this value: for the tests of an app.
public final class MemoryDiscovery: Discovery {
    private struct State {
        var lastNumber = 0
        var announced: [Int: (type: String, service: FoundService)] = [:]
        var failure: Failure?
    }

    /// The error of a network that was made to fail.
    public struct Failure: Error {}

    private let state = Mutex(State())
    private let changes = Registry<@Sendable () -> Void>()
    private let host: String

    /// Makes a network without anybody.
    ///
    /// - Parameter host: the address of all machines in it.
    public init(host: String = "127.0.0.1") {
        self.host = host
    }

    /// Whether discovery works. While it does not, everything that runs, and that begins, ends with ``Failure``.
    public var isAvailable: Bool {
        get { state.withLock { $0.failure == nil } }
        set {
            state.withLock { $0.failure = newValue ? nil : Failure() }
            notify()
        }
    }

    public func announce(_ service: AnnouncedService, onReady: @escaping @Sendable () -> Void) async throws {
        let found = FoundService(
            name: service.name, text: service.text,
            addresses: [PeerAddress(host: host, port: service.port)])
        try await announce(found, type: service.type, onReady: onReady)
    }

    /// Announces a service at any address, as a test may want it.
    public func announce(
        _ service: FoundService, type: String, onReady: @escaping @Sendable () -> Void = {}
    ) async throws {
        let change = Signal()
        let membership = changes.add { change.raise() }
        defer { withExtendedLifetime(membership) {} }
        let number = try state.withLock { state in
            if let failure = state.failure { throw failure }
            state.lastNumber += 1
            state.announced[state.lastNumber] = (type, service)
            return state.lastNumber
        }
        notify()
        defer {
            state.withLock { _ = $0.announced.removeValue(forKey: number) }
            notify()
        }
        onReady()
        for await _ in change { try check() }
    }

    public func browse(for type: String, onChange: @escaping @Sendable ([FoundService]) -> Void) async throws
    {
        let change = Signal()
        let membership = changes.add { change.raise() }
        defer { withExtendedLifetime(membership) {} }
        change.raise()
        for await _ in change {
            try check()
            onChange(
                state.withLock { state in
                    state.announced.sorted { $0.key < $1.key }.filter { $0.value.type == type }
                        .map(\.value.service)
                })
        }
    }

    private func check() throws {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    private func notify() {
        for onChange in changes.elements { onChange() }
    }
}
