import Foundation
import GRDB
import MailboxSupport

/// The machines of a household, of which the first one had all records.
final class Crowd {
    private(set) var machines: [MeasuredMachine] = []
    /// The most that ever lay in the mailbox, as far as it was noted.
    private(set) var mostStored = 0
    private let disk = MemoryDisk()
    private let directory: URL?
    private let assets: URL?

    /// - Parameters:
    ///   - directory: where the databases are; in memory if none is given.
    ///   - assets: where the pictures are.
    init(_ count: Int, records: Int, directory: URL? = nil, assets: URL? = nil) async throws {
        self.directory = directory
        self.assets = assets
        for _ in 0..<count { try await make() }
        try await MeasuredMachine.pair(machines, by: machines[0])
        try await machines[0].fill(records)
    }

    /// Adds a machine that has nothing.
    func add() async throws {
        try await make()
        try await MeasuredMachine.pair(machines, by: machines[0])
    }

    private func path(_ number: Int) -> String? { directory?.appendingPathComponent("\(number).sqlite").path }

    private func make() async throws {
        let number = machines.count
        let database: any DatabaseWriter =
            try path(number).map { try DatabaseQueue(path: $0) } ?? DatabaseQueue()
        machines.append(
            try await MeasuredMachine(
                "machine \(number)", disk, database: database,
                assets: assets?.appendingPathComponent("\(number)")))
    }

    func settle() async throws { try await MeasuredMachine.settle(machines, rounds: 20) }

    /// One pass of each.
    func pass() async throws { for machine in machines { try await machine.mailbox.syncOnce() } }

    func databaseSize(_ number: Int) throws -> Int {
        try path(number).flatMap {
            try URL(fileURLWithPath: $0).resourceValues(forKeys: [.fileSizeKey]).fileSize
        } ?? 0
    }

    func noteStored() {
        mostStored = max(mostStored, disk.objects.values.reduce(0) { $0 + $1.count })
    }

    /// Counts what all machines ask the storage for.
    func counting(_ what: String, _ body: () async throws -> Void) async throws -> [Figure] {
        for machine in machines { machine.storage.counts = MemoryStorage.Counts() }
        try await body()
        var figure = Figure(what: what)
        for counts in machines.map(\.storage.counts) {
            figure.puts += counts.puts
            figure.gets += counts.gets
            figure.lists += counts.lists
            figure.deletes += counts.deletes
            figure.bytesPut += counts.bytesPut
            figure.bytesGot += counts.bytesGot
        }
        figure.stored = disk.objects.values.reduce(0) { $0 + $1.count }
        figure.objects = disk.objects.count
        return [figure]
    }
}
