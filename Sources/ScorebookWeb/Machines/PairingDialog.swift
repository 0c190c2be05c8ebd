import Foundation
import PeerSync
import Synchronization

/// The pairing on the page: the code that this machine shows, or the one that somebody has typed. All browsers see the same.
final class PairingDialog: Sendable {
    /// How far the pairing is.
    enum Phase: Sendable {
        case nothing
        /// The code, the text of its QR code, and when it expires, in milliseconds since 1970.
        case showing(PairingDesk.Shown, link: PairingLink, until: Int64)
        /// Somebody has typed this, and the machine that shows it is called.
        case calling(String)
        /// Paired with the machine of this name.
        case paired(String)
        /// What went wrong, in a sentence.
        case failed(String)
    }

    /// What somebody has typed, or what a camera has read.
    enum Typed: Sendable {
        case code(PairingCode, at: PeerAddress?)
        case link(PairingLink)
    }

    private struct State {
        var phase = Phase.nothing
        /// Ends a call, or tells that a code expires.
        var task: Task<Void, Never>?
    }

    private let engine: SyncEngine
    private let onChange: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameter onChange: called when a call has ended, or a code expires. What pairs with a code changes the store.
    init(_ engine: SyncEngine, onChange: @escaping @Sendable () -> Void) {
        self.engine = engine
        self.onChange = onChange
    }

    deinit { state.withLock { $0.task?.cancel() } }

    /// How far the pairing is now.
    func phase() async throws -> Phase {
        guard case .showing(let shown, _, _) = state.withLock({ $0.phase }) else {
            return state.withLock { $0.phase }
        }
        switch try await shown.state {
        case .shown: break
        case .paired(let name): replace(shown, by: .paired(name))
        case .over:
            replace(
                shown,
                by: .failed("The code has expired or is used up, and no machine has paired. Show a new one."))
        }
        return state.withLock { $0.phase }
    }

    /// Shows a code, in place of one that was shown before.
    ///
    /// - Parameter welcome: what the new machine gets; nil for what every paired machine gets.
    /// - Throws: ``PageError`` while somebody pairs with another machine, or when nothing listens here.
    func show(for welcome: Welcome?) async throws {
        guard isFree else { throw Self.busy }
        guard let port = try await engine.store.pairing.listeningPorts().first else {
            throw PageError(
                .conflict, "Other machines cannot call this one, because this page runs without sync.",
                hint: "Whoever started it can run “scorebook-peer listen --web” in its place.")
        }
        let shown = try await engine.pairing.show(for: welcome)
        let link = PairingLink(to: engine, code: shown.code, at: OwnAddresses.reachable(port: port))
        let lifetime = PairingDesk.lifetime
        let until = RecordStore.wallClock() + Int64(lifetime / .milliseconds(1))
        let former = set(.showing(shown, link: link, until: until)) { [onChange] in
            guard (try? await Task.sleep(for: lifetime)) != nil else { return }
            onChange()
        }
        guard former != nil else {
            try await shown.hide()
            throw Self.busy
        }
    }

    /// Takes back the code that is shown, or forgets how the last pairing ended. A call goes on.
    func end() async throws {
        if case .showing(let shown, _, _)? = set(.nothing) { try await shown.hide() }
    }

    /// Calls the machine that shows what somebody has typed, and pairs with it.
    ///
    /// - Throws: ``PageError`` while another call goes on.
    func call(_ typed: Typed, text: String) async throws {
        try await begin(text) { engine in
            let report = try await Self.pair(engine, typed)
            guard report.didPair else {
                throw PeerSyncError(
                    .pairingUnavailable, "the two were paired before, and rights stay as they are")
            }
            return report
        }
    }

    /// Begins a call, and goes on without waiting for it.
    private func begin(
        _ text: String, _ call: @escaping @Sendable (SyncEngine) async throws -> SyncReport
    ) async throws {
        let former = set(.calling(text)) { [weak self, engine] in
            let end: Phase
            do {
                end = .paired(try await call(engine).peer)
            } catch is CancellationError {
                return
            } catch {
                end = .failed(MachineWords.sentence(PeerSyncError(pairing: error)))
            }
            self?.state.withLock { $0 = State(phase: end) }
            self?.onChange()
        }
        guard let former else { throw Self.busy }
        if case .showing(let shown, _, _) = former { try await shown.hide() }
    }

    /// Meets a paired machine once more, and says what becomes of two scorebooks that differ.
    ///
    /// - Throws: ``PageError`` while another call goes on.
    func meet(_ peer: Peer, _ union: ZoneUnion) async throws {
        try await begin(peer.name) { engine in
            try await SyncConnector(engine, to: peer, union: union).syncOnce()
        }
    }

    private static func pair(_ engine: SyncEngine, _ typed: Typed) async throws -> SyncReport {
        switch typed {
        case .code(let code, nil): try await engine.pair(code: code)
        case .code(let code, let address?): try await engine.pair(code: code, at: address)
        case .link(let link): try await engine.pair(link: link)
        }
    }

    private static let busy = PageError(
        .conflict, "This machine pairs with another one at this moment. Try it again soon.")

    private var isFree: Bool {
        if case .calling = state.withLock({ $0.phase }) { false } else { true }
    }

    /// Goes on with a phase, and with the work of it, unless a call goes on: only its own end ends a call.
    ///
    /// - Returns: the phase before; nil if a call goes on.
    private func set(_ phase: Phase, _ work: (@Sendable () async -> Void)? = nil) -> Phase? {
        state.withLock { state in
            let former = state.phase
            switch (former, phase) {
            case (.calling, _): return nil
            // Of two codes that were made at once only the later one pairs.
            case (.showing(let shown, _, _), .showing(let new, _, _)) where new.isOlder(than: shown): break
            default:
                state.task?.cancel()
                state = State(phase: phase, task: work.map { work in Task { await work() } })
            }
            return former
        }
    }

    /// Goes on from a code, unless somebody else did so first.
    private func replace(_ shown: PairingDesk.Shown, by phase: Phase) {
        let former = state.withLock { state -> Task<Void, Never>? in
            guard case .showing(let current, _, _) = state.phase, current.code == shown.code else {
                return nil
            }
            defer { state = State(phase: phase) }
            return state.task
        }
        former?.cancel()
    }
}

extension PeerSyncError {
    /// The error of a pairing that failed.
    fileprivate init(pairing error: any Error) {
        self = error as? PeerSyncError ?? PeerSyncError(.interrupted, "the pairing ended with \(error)")
    }
}
