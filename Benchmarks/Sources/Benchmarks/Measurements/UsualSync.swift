import Foundation

/// What it takes to sync two scorebooks that differ in few of their records: changes of one column, and, for `verify`,
/// changes that no trigger has seen.
struct UsualSync {
    /// Two machines that hold the same.
    struct Pair {
        let server: MachineProcess
        let client: MachineProcess
        let records: Int

        /// Makes a machine from a scorebook, and another one that takes everything over from it.
        init(_ source: SourceStore, in directory: URL) throws {
            server = try MachineProcess(source.directory, source.name)
            client = try MachineProcess(directory, "client-\(source.records)")
            records = source.records
            _ = try client.connect(to: server)
        }

        func end() {
            client.end()
            server.end()
        }
    }

    let pairs: [Pair]

    /// - Parameter largeRounds: rounds of what takes long in a large scorebook.
    func run(rounds: Int, largeRounds: Int) throws -> [Figure] {
        var figures: [Figure] = []
        for count in [1, 100] { figures += try changes(count, rounds: rounds) }
        return try figures + changes(10_000, rounds: largeRounds) + verifications(rounds: largeRounds)
    }

    // MARK: Changes

    private func changes(_ count: Int, rounds: Int) throws -> [Figure] {
        let pairs = pairs.filter { $0.records >= count * 10 }
        var times = pairs.map {
            figure("sync of \(grouped(count)) changes", $0, .seconds, "making them on both sides")
        }
        var bytes = pairs.map { figure("bytes for \(grouped(count)) changes", $0, .bytes) }
        var cpu = pairs.map { figure("processor time of both for \(grouped(count)) changes", $0, .seconds) }
        for _ in 0..<rounds {
            for (index, pair) in pairs.enumerated() {
                let outcome = try sync(pair, count)
                times[index].add(outcome.sync.seconds, beside: outcome.update * 2)
                bytes[index].add(Double(outcome.sync.bytes))
                cpu[index].add(outcome.cpuSeconds)
            }
        }
        return times + bytes + cpu + Self.growth(times, count)
    }

    /// The times of the largest scorebook against those of the smallest, round by round.
    private static func growth(_ times: [Figure], _ count: Int) -> [Figure] {
        guard times.count > 1, let small = times.first, let large = times.last else { return [] }
        let sizes = [large, small].compactMap { $0.size.map(grouped) }
        var figure = Figure(
            "sync of \(grouped(count)) changes in \(sizes[0]), against \(sizes[1])", .seconds,
            goal: count == 100 ? .atMost(1.5) : nil)
        for (large, small) in zip(large.subject, small.subject) { figure.add(large, beside: small) }
        return [figure]
    }

    private func sync(_ pair: Pair, _ count: Int) throws -> (
        sync: Machine.Sync, update: Double, cpuSeconds: Double
    ) {
        let before = (server: try pair.server.usage(), client: try pair.client.usage())
        let update = try pair.server.change(count)
        let sync = try pair.client.sync()
        let cpu =
            try pair.server.usage().since(before.server).cpuSeconds
            + pair.client.usage().since(before.client).cpuSeconds
        return (sync, update, cpu)
    }

    // MARK: Comparing everything

    private func verifications(rounds: Int) throws -> [Figure] {
        let count = 100
        var times = pairs.map {
            figure("verify with \(count) differences", $0, .seconds, "reading both stores once")
        }
        var bytes = pairs.map { figure("bytes of verify with \(count) differences", $0, .bytes) }
        var steps = pairs.map { figure("rounds of verify with \(count) differences", $0, .number) }
        for _ in 0..<rounds {
            for (index, pair) in pairs.enumerated() {
                try pair.client.changeUnnoticed(count)
                let look = try pair.client.look() + pair.server.look()
                let sync = try pair.client.verify()
                times[index].add(sync.seconds, beside: look)
                bytes[index].add(Double(sync.bytes))
                steps[index].add(Double(sync.reconciliationRounds))
            }
        }
        return times + bytes + steps
    }

    private func figure(
        _ name: String, _ pair: Pair, _ unit: Figure.Unit, _ beside: String? = nil
    ) -> Figure {
        let against = beside.map { ", against \($0)" } ?? ""
        return Figure(
            "\(name) in \(grouped(pair.records))\(against)", unit, size: pair.records, series: name)
    }
}
