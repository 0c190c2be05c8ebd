import Foundation
import GRDB
import PeerSync
import Scorebook
import SecureChannel
import Synchronization

/// One listener in a process of its own, with many paired machines connected, all live: what a connection takes of
/// memory, and how long a change by one machine takes to all others.
struct Hub {
    let machines: Int
    let changes: Int

    func run() async throws -> HubFigures {
        try await withTemporaryDirectory { directory in
            let hub = try HubProcess(in: directory)
            defer { hub.end() }
            let port = try hub.port()
            let before = try hub.residentKilobytes()
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
                    store: scorebook.records, identity: identity, displayName: "machine \(number)"
                ) { event in
                    switch event {
                    case .inSync: synced.yield()
                    case .progress(_, let statistics): arrivals.note(number, statistics.recordsReceived)
                    default: break
                    }
                }
                let connector = SyncConnector(
                    engine, to: PeerAddress(host: "127.0.0.1", port: port), code: try hub.code())
                tasks.append(Task { try await connector.run() })
                for await _ in syncs { break }
                scorebooks.append(scorebook)
            }
            let after = try hub.residentKilobytes()
            var seconds: [Double] = []
            for number in 0..<changes {
                let writer = number % machines
                let begin = ContinuousClock.now
                arrivals.reset()
                try await scorebooks[writer].records.write { try HouseholdRows.game(number).insert($0) }
                seconds.append(try await arrivals.last(of: machines - 1, since: begin))
            }
            return HubFigures(
                machines: machines, kilobytes: Double(after - before) / Double(machines), seconds: seconds)
        }
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

struct HubFigures {
    let machines: Int
    let kilobytes: Double
    let seconds: [Double]

    func print() {
        let spread = Spread(seconds)
        Swift.print(
            """

            | \(machines) machines at one listener | median | least to greatest |
            | --- | ---: | ---: |
            | resident memory of the listener for each | \(Int(kilobytes)) KiB | |
            | from a commit on one to the last of the others | \(Self.text(spread.median)) | \
            \(Self.text(spread.least)) to \(Self.text(spread.greatest)) |
            """)
    }

    private static func text(_ seconds: Double) -> String { String(format: "%.0f ms", seconds * 1000) }
}

/// The listener, as a process that writes its port, and a pairing code for each line it is sent.
private final class HubProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(in directory: URL) throws {
        process.executableURL = Bundle.main.executableURL
        process.arguments = ["serve-hub", directory.path]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    func end() {
        process.terminate()
        process.waitUntilExit()
    }

    func port() throws -> Int {
        guard let port = Int(line()) else { throw IncompleteSync(records: 0) }
        return port
    }

    func code() throws -> PairingCode {
        try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
        return try PairingCode(line())
    }

    private func line() -> String {
        var line = Data()
        while let byte = try? output.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8) {
            guard !byte.isEmpty else { break }
            line += byte
        }
        return String(decoding: line, as: UTF8.self)
    }

    func residentKilobytes() throws -> Int {
        let ps = Process()
        let pipe = Pipe()
        ps.executableURL = URL(fileURLWithPath: "/bin/ps")
        ps.arguments = ["-o", "rss=", "-p", "\(process.processIdentifier)"]
        ps.standardOutput = pipe
        try ps.run()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        ps.waitUntilExit()
        return Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }
}
