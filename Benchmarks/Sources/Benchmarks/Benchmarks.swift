import ArgumentParser
import Foundation

@main
struct Benchmarks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measures what sync costs, against the same work without it, run beside it.",
        subcommands: [Run.self, Fill.self, DrawGrowth.self, Machine.self, WriteFloor.self],
        defaultSubcommand: Run.self)
}

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run benchmarks, and print their figures as one table in Markdown.",
        discussion: """
            Each figure is the median of several rounds, with the least and the greatest behind it. What stands beside it \
            was run in the same round.
            """
    )

    enum Benchmark: String, ExpressibleByArgument, CaseIterable {
        case localWrites = "local-writes"
        case stores
        case keys
        case liveLatency = "live-latency"
        case pictures
        case picturesLatency = "pictures-latency"
        case hub
        case reading
    }

    @Argument(help: ArgumentHelp("Which to run (default: all).", valueName: "benchmark"))
    var benchmarks: [Benchmark] = []

    @Option(
        parsing: .upToNextOption,
        help: "How many records the scorebooks of `stores` have, in ascending order.")
    var sizes = [10_000, 100_000, 1_000_000]

    @Option(help: "How many rows are written, changed and deleted with 10,000 a transaction.")
    var rows = 50_000

    @Option(help: "How many rows are written, changed and deleted with one a transaction.")
    var singles = 20_000

    @Option(help: "How many times each of these figures is measured.")
    var rounds = 5

    @Option(help: "How many times, in scorebooks of a million records or more.")
    var largeRounds = 3

    @Option(help: "How many commits live-latency follows.")
    var commits = 1_000

    @Option(help: "How many megabytes of pictures are moved.")
    var megabytes = 200

    @Option(help: "How many machines are connected to the hub.")
    var machines = 500

    @Option(help: "Also write all figures of all rounds to this file, as JSON.")
    var json: String?

    @Flag(help: "Only see whether everything runs, all of it; the figures mean nothing.")
    var tiny = false

    func validate() throws {
        let counts = sizes + [rows, singles, rounds, largeRounds, commits, megabytes]
        guard counts.allSatisfy({ $0 > 0 }), machines > 1 else {
            throw ValidationError("all sizes are 1 or more, and a hub has 2 machines or more")
        }
        guard sizes == sizes.sorted(), (sizes.first ?? 100) >= 100 else {
            throw ValidationError("--sizes are 100 or more, the smallest first")
        }
    }

    func run() async throws {
        var report = Report()
        for benchmark in benchmarks.isEmpty ? Benchmark.allCases : benchmarks {
            report.add(try await measure(benchmark))
        }
        report.print()
        if let json { try JSONEncoder().encode(report).write(to: URL(fileURLWithPath: json)) }
    }

    private func measure(_ benchmark: Benchmark) async throws -> [Figure] {
        let rounds = tiny ? 2 : rounds
        switch benchmark {
        case .localWrites:
            let writes = LocalWrites(rows: tiny ? 200 : rows, singles: tiny ? 50 : singles)
            return try await writes.run(rounds: rounds)
        case .stores:
            let stores = Stores(sizes: tiny ? [200, 1_200] : sizes)
            return try await stores.run(rounds: rounds, largeRounds: tiny ? 2 : largeRounds)
        case .keys:
            return try await KeyForms(records: tiny ? 1_200 : 100_000).run()
        case .liveLatency:
            return try await LiveLatency(commits: tiny ? 20 : commits).run()
        case .pictures:
            return try await Pictures(megabytes: tiny ? 2 : megabytes).run(rounds: rounds)
        case .picturesLatency:
            return try await Pictures(megabytes: tiny ? 2 : megabytes).runLatency(commits: tiny ? 20 : 200)
        case .reading:
            return try await Reading(records: tiny ? 1_200 : 700_000).run(rounds: rounds)
        case .hub:
            return try await Hub(machines: tiny ? 3 : machines, changes: tiny ? 2 : 10).run()
        }
    }
}
