import Foundation
import GRDB
import PeerSync
import PeerSyncChannel
import Scorebook
import Synchronization

/// One listener in a process of its own, with many paired machines connected, all live: what a connection takes of
/// memory, and how long a change by one machine takes to all others.
struct Hub {
    let machines: Int
    let changes: Int

    func run() async throws -> [Figure] {
        try await withTemporaryDirectory { directory in
            let hub = try MachineProcess(directory, "hub")
            defer { hub.end() }
            let port = try hub.listen()
            let before = try Self.residentKilobytes(of: hub)
            let arrivals = Arrivals()
            var scorebooks: [ScorebookStore] = []
            var tasks: [Task<Void, any Error>] = []
            defer { for task in tasks { task.cancel() } }
            for number in 0..<machines {
                let identity = Identity.generate()
                // In memory, so that what is measured is the hub and not the disk under all the others.
                let scorebook = try ScorebookStore(DatabaseQueue(), replica: identity.replicaID)
                let (syncs, synced) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
                let engine = SyncEngine(
                    app: .scorebook, store: scorebook.records, identity: identity,
                    displayName: "machine \(number)", discovery: .off
                ) { event in
                    switch event {
                    case .inSync: synced.yield()
                    case .progress(_, let statistics): arrivals.note(number, statistics.recordsReceived)
                    default: break
                    }
                }
                let connector = SyncConnector(
                    engine, to: PeerAddress(host: "127.0.0.1", port: port),
                    code: try PairingCode(hub.code()))
                tasks.append(Task { try await connector.run() })
                for await _ in syncs { break }
                scorebooks.append(scorebook)
            }
            let after = try Self.residentKilobytes(of: hub)
            var seconds: [Double] = []
            for number in 0..<changes {
                let writer = number % machines
                let begin = ContinuousClock.now
                arrivals.reset()
                try await scorebooks[writer].records.write { try SimpleRows.game(number).insert($0) }
                seconds.append(try await arrivals.last(of: machines - 1, since: begin))
            }
            var memory = Figure(
                "resident memory of a listener for each of \(machines) live machines", .mebibytes)
            memory.add(Double(after - before) / Double(machines) / 1024)
            var latency = Figure(
                "from a commit on one of \(machines) machines to the last of the others", .seconds)
            for second in seconds { latency.add(second) }
            return [memory, latency]
        }
    }

    private static func residentKilobytes(of worker: MachineProcess) throws -> Int {
        let ps = Process()
        let pipe = Pipe()
        ps.executableURL = URL(fileURLWithPath: "/bin/ps")
        ps.arguments = ["-o", "rss=", "-p", "\(worker.processIdentifier)"]
        ps.standardOutput = pipe
        try ps.run()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        ps.waitUntilExit()
        return Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }
}

/// Who has got something since the last change.
private final class Arrivals: Sendable {
    private struct State {
        var received: [Int: Int] = [:]
        var arrived: Set<Int> = []
        var last = ContinuousClock.now
    }

    private let state = Mutex(State())

    func note(_ machine: Int, _ received: Int) {
        state.withLock { state in
            guard received > state.received[machine, default: 0] else { return }
            state.received[machine] = received
            state.arrived.insert(machine)
            state.last = .now
        }
    }

    func reset() { state.withLock { $0.arrived = [] } }

    /// Waits until as many machines have got something.
    ///
    /// - Returns: when the last one had, in seconds.
    func last(of count: Int, since begin: ContinuousClock.Instant) async throws -> Double {
        while true {
            let last = state.withLock { $0.arrived.count >= count ? $0.last : nil }
            if let last { return (last - begin) / .seconds(1) }
            guard ContinuousClock.now - begin < .seconds(120) else {
                throw IncompleteSync(records: state.withLock { $0.arrived.count })
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
