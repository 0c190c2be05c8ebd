import Foundation
import GRDB

/// How long a commit of one program takes until another program sees it in another machine's scorebook, over a live
/// link on loopback.
///
/// Held against the least that this can cost: a commit on one side, the same number of bytes there and back over a bare
/// TCP connection, and a commit on the other side before the answer.
struct LiveLatency {
    let commits: Int

    /// How many commits of one kind are measured before the other kind has its turn, so that a busy moment of the machine
    /// meets both.
    private static let stretch = 20

    func run() async throws -> [Figure] {
        try await withTemporaryDirectory { directory in
            let server = try Household(in: directory, "server")
            let client = try Household(in: directory, "client")
            let link = try await LiveLink(
                from: ListeningHousehold(server, name: "server"), to: client)
            defer { link.end() }
            let programs = (
                writer: try Self.connection(to: server.database.path),
                reader: try Self.connection(to: client.database.path)
            )
            // The first ones are not counted, but for what they cost in bytes.
            let bytesBefore = link.bytes
            for number in 0..<Self.stretch {
                _ = try await Self.synced(number, programs)
                try await Task.sleep(for: .milliseconds(50))
            }
            let bytes = max(1, (link.bytes - bytesBefore) / Self.stretch)
            let echo = try EchoedCommits(
                (
                    here: Self.withoutCapture(directory, "here"),
                    there: Self.withoutCapture(directory, "there")
                ),
                bytes: bytes)
            var synced: [Double] = []
            var bare: [Double] = []
            while synced.count < commits {
                for _ in 0..<Self.stretch {
                    try await Self.pause()
                    bare.append(try echo.milliseconds(of: bare.count))
                }
                for _ in 0..<Self.stretch {
                    try await Self.pause()
                    synced.append(try await Self.synced(Self.stretch + synced.count, programs))
                }
            }
            return Self.figures(
                "commit until another program sees it there, against commit, \(bytes) B over TCP and back, commit",
                synced, beside: bare)
        }
    }

    /// The middle and the hundredth part that took longest.
    static func figures(_ name: String, _ milliseconds: [Double], beside bare: [Double]) -> [Figure] {
        [(0.5, "p50"), (0.99, "p99")].map { part, label in
            var figure = Figure("\(label) of \(name)", .seconds)
            figure.add(
                Spread.quantile(part, of: milliseconds) / 1000, beside: Spread.quantile(part, of: bare) / 1000
            )
            return figure
        }
    }

    /// Commits that come one after the other, not a burst.
    private static func pause() async throws { try await Task.sleep(for: .milliseconds(10)) }

    /// A connection as another program has one.
    static func connection(to path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    private static func withoutCapture(_ directory: URL, _ name: String) throws -> DatabaseQueue {
        let path = try Household.withoutCapture(in: directory, name).path
        return try connection(to: path)
    }

    static func synced(
        _ number: Int, _ programs: (writer: DatabaseQueue, reader: DatabaseQueue)
    ) async throws -> Double {
        let row = SimpleRows.game(number)
        let name = SimpleRows.name("SBGame", number)
        let begin = ContinuousClock.now
        try await programs.writer.write { try row.insert($0) }
        while true {
            let isThere = try await programs.reader.read { db in
                let statement = try db.cachedStatement(sql: "SELECT 1 FROM SBGame WHERE recordName = ?")
                return try Int.fetchOne(statement, arguments: [name]) != nil
            }
            if isThere { return (ContinuousClock.now - begin) / .milliseconds(1) }
            usleep(100)
        }
    }
}
