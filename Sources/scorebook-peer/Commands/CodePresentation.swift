import ArgumentParser
import Foundation
import PeerSync
import Scorebook
import ScorebookWeb
import ServiceLifecycle

/// The presentation of a pairing code, until a machine has paired with it or it is over.
///
/// If a `listen` runs on the store, it takes the connection. Otherwise this listens itself.
struct CodePresentation: Sendable {
    /// The time between looks at what has become of the code.
    private static let interval: Duration = .milliseconds(200)
    /// How long the new machine may be silent while it lacks something, and how long once it has everything.
    private static let patience: Duration = .seconds(600)
    private static let farewell: Duration = .seconds(5)

    let store: OpenStore
    let session: SessionOptions
    let output: OutputOptions
    let welcome: Welcome
    let port: Int
    let isHidden: Bool
    /// The unions that the new machine may choose without a question here.
    let allowed: Set<ZoneUnion>

    func run() async throws {
        try await LiveOutput(scorebook: store.scorebook, isJSON: output.json, isVerbose: session.verbose).run
        {
            try await run(printing: $0)
        }
    }

    private func run(printing print: @escaping @Sendable (LiveOutput.Item) -> Void) async throws {
        let events = Events(print)
        let chooser = ZoneChooser(isJSON: output.json, allowed: allowed)
        let engine = session.engine(store, announces: !isHidden, decide: chooser.decide) { events.take($0) }
        let name = Latest<String>()
        let service = Interruptible {
            if let port = try await store.scorebook.records.pairing.listeningPorts().first {
                guard allowed.isEmpty else {
                    throw Failure(
                        .unavailable,
                        "another program listens for this scorebook, and it decides what becomes of two",
                        hint:
                            "leave --merge out here, and start that `listen` with it; or end it, and pair again"
                    )
                }
                return name.set(try await present(engine, print, at: port, isOwn: false))
            }
            try await whileListening(engine) {
                for await port in events.bound.prefix(1) {
                    let newcomer = try await present(engine, print, at: port, isOwn: true)
                    name.set(newcomer)
                    await events.waitForSync(with: newcomer, Self.patience, Self.farewell)
                }
            }
        }
        try await session.run([service])
        guard name.value != nil else { throw Failure.notPaired }
    }

    /// Listens while `body` runs: on the port that was asked for, or when another program has the usual one on any. Then it
    /// says goodbye to whoever is still connected.
    private func whileListening(
        _ engine: SyncEngine, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let running = Latest<ServiceGroup>()
        let listen: @Sendable (Int) async throws -> Void = { port in
            let services = ServiceGroup(
                services: [SyncListener(engine, port: port)], logger: session.logger)
            running.set(services)
            try await services.run()
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    try await listen(port)
                } catch let error as PeerSyncError
                    where error.code == .cannotListen && port == SyncEngine.defaultPort
                {
                    try await listen(0)
                }
            }
            group.addTask {
                try await body()
                await running.value?.triggerGracefulShutdown()
            }
            defer { group.cancelAll() }
            while try await group.next() != nil {}
        }
    }

    /// Shows a code.
    ///
    /// - Parameter isOwn: whether this program itself listens on the port. Then the events tell of attempts that fail.
    /// - Returns: the name of the machine that has paired with it.
    private func present(
        _ engine: SyncEngine, _ print: @Sendable (LiveOutput.Item) -> Void, at port: Int, isOwn: Bool
    ) async throws -> String {
        var left = PairingDesk.attempts
        let zones = try await store.scorebook.records.zones.all()
        let shown = try await engine.pairing.show(for: welcome)
        do {
            print(
                .line(
                    try text(
                        PairingLink(to: engine, code: shown.code, at: OwnAddresses.reachable(port: port)),
                        port, rights(unless: zones.filter { !$0.isDefault }.map(\.name)))))
            while true {
                switch try await shown.state {
                case .shown(let attempts):
                    if attempts < left, !isOwn { print(.line(try failure(attempts))) }
                    left = attempts
                    try await Task.sleep(for: Self.interval)
                case .paired(let name):
                    print(.event(.paired(name: name)))
                    return name
                case .over:
                    throw Failure(
                        .refused,
                        "the code has expired or is used up, and no machine has paired; show a new one")
                }
            }
        } catch {
            // Also after a signal: nobody looks at the code any more.
            let hiding = Task { try await shown.hide() }
            try? await hiding.value
            throw error
        }
    }

    private func text(_ link: PairingLink, _ port: Int, _ rights: String) throws -> String {
        guard !output.json else {
            return try Terminal.text(
                json: Figures(code: link.code.formatted, link: link.description, port: port), compact: true)
        }
        var lines = [EventPrinter.line(link.code), rights]
        if Terminal.isOutputATerminal, let code = QRCode(link.description) { lines += code.lines }
        lines.append("on the other machine run: scorebook-peer pair \(link.code.formatted)")
        let places = link.addresses.map(\.description).joined(separator: " or ")
        if !places.isEmpty { lines.append("if it finds nothing there, add: --with \(places)") }
        return lines.joined(separator: "\n")
    }

    /// Tells of an attempt that another program has taken, which alone knows from where it came.
    private func failure(_ left: Int) throws -> String {
        guard !output.json else {
            return try Terminal.text(json: FailureFigures(attemptsLeft: left), compact: true)
        }
        return "somebody typed a wrong code, or was cut off; \(left.counted("attempt")) left"
    }

    /// Says what the new machine gets.
    ///
    /// - Parameter others: the zones beside the default one.
    private func rights(unless others: [String]) -> String {
        let may = welcome.rights == .read ? "read" : "read and write"
        if let zone = welcome.zone {
            return "the new machine may \(may) in the zone “\(Display.printable(zone))” only"
        }
        guard !others.isEmpty else { return "the new machine may \(may) everything here" }
        return "the new machine may \(may) the scorebook; not its \(Display.zones(others))"
    }

    private struct Figures: Encodable {
        let event = "pairingCode"
        let code: String
        let link: String
        let port: Int
    }

    private struct FailureFigures: Encodable {
        let event = "pairingFailed"
        let attemptsLeft: Int
    }
}

extension CodePresentation {
    /// The events of a listener that only takes one new machine.
    private final class Events: Sendable {
        private let print: @Sendable (LiveOutput.Item) -> Void
        /// The port, once there is one.
        let bound: AsyncStream<Int>
        private let isBound: AsyncStream<Int>.Continuation
        private let sessions: AsyncStream<SyncEvent>
        private let session: AsyncStream<SyncEvent>.Continuation

        init(_ print: @escaping @Sendable (LiveOutput.Item) -> Void) {
            self.print = print
            (bound, isBound) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
            (sessions, session) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(16))
        }

        func take(_ event: SyncEvent) {
            switch event {
            case .listening(_, let port): isBound.yield(port)
            case .inSync, .progress, .assetProgress, .disconnected: session.yield(event)
            case .pairingFailed, .refused, .discoveryTrouble, .discoveryTroubleEnded: print(.event(event))
            default: break
            }
        }

        /// Waits until a machine has everything and has said goodbye.
        ///
        /// - Parameters:
        ///   - patience: how long to wait while nothing moves and it lacks something.
        ///   - farewell: how long to wait for the goodbye of a machine that has everything.
        func waitForSync(with name: String, _ patience: Duration, _ farewell: Duration) async {
            let deadline = Latest<ContinuousClock.Instant>()
            deadline.set(.now + patience)
            await withTaskGroup { group in
                group.addTask {
                    while let end = deadline.value, end > .now,
                        (try? await Task.sleep(for: .milliseconds(100))) != nil
                    {}
                }
                group.addTask { [sessions] in
                    for await event in sessions {
                        switch event {
                        case .progress(name, _): deadline.set(.now + patience)
                        case .inSync(name, _, _, _): deadline.set(.now + farewell)
                        case .assetProgress(name, let receiving, let sending):
                            let isWhole = receiving.filesLeft == 0 && sending.filesLeft == 0
                            deadline.set(.now + (isWhole ? farewell : patience))
                        case .disconnected(name, _): return
                        default: break
                        }
                    }
                }
                await group.next()
                group.cancelAll()
            }
        }
    }
}

/// Work as a service, which a signal ends at once.
private struct Interruptible: Service {
    let work: @Sendable () async throws -> Void

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown(work)
        } catch is CancellationError {
            // A signal came first. The command reports it.
        }
    }
}
