import ArgumentParser
import Foundation

@main
struct Benchmarks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measures what sync costs, against the same work without it, run beside it.",
        subcommands: [Run.self, ServeHub.self], defaultSubcommand: Run.self)
}

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run benchmarks, and print their figures as Markdown.",
        discussion: "Each figure is the median of several rounds, with the least and the greatest behind it."
    )

    enum Benchmark: String, ExpressibleByArgument, CaseIterable {
        case localWrites = "local-writes"
        case firstSync = "first-sync"
        case liveLatency = "live-latency"
        case pictures
        case largeStores = "large-stores"
        case hub
    }

    @Argument(
        help: ArgumentHelp("Which to run (default: all but large-stores and hub).", valueName: "benchmark"))
    var benchmarks: [Benchmark] = []

    @Option(help: "How many records the first sync moves.")
    var records = 20_000

    @Option(help: "How many rows are written, changed and deleted with 10,000 a transaction.")
    var rows = 50_000

    @Option(help: "How many rows are written, changed and deleted with one a transaction.")
    var singles = 5_000

    @Option(help: "How many times each of these figures is measured.")
    var rounds = 5

    @Option(help: "How many commits live-latency follows.")
    var commits = 1_000

    @Option(help: "How many records the scorebooks of large-stores have.")
    var storeSize = 1_000_000

    @Option(help: "How many megabytes of pictures are moved.")
    var megabytes = 200

    @Option(help: "How many machines are connected to the hub.")
    var machines = 500

    @Flag(help: "Only see whether everything runs, all of it; the figures mean nothing.")
    var tiny = false

    func validate() throws {
        guard [records, rows, singles, rounds, commits, storeSize, megabytes].allSatisfy({ $0 > 0 }),
            machines > 1
        else {
            throw ValidationError("all sizes are 1 or more, and a hub has 2 machines or more")
        }
    }

    func run() async throws {
        let chosen =
            benchmarks.isEmpty
            ? (tiny ? Benchmark.allCases : [.localWrites, .firstSync, .liveLatency, .pictures]) : benchmarks
        let rounds = tiny ? 2 : rounds
        for benchmark in chosen {
            switch benchmark {
            case .localWrites:
                let writes = LocalWrites(rows: tiny ? 200 : rows, singles: tiny ? 50 : singles)
                try await writes.run(rounds: rounds).print()
            case .firstSync:
                try await FirstSync(records: tiny ? 500 : records).run(rounds: rounds).print()
            case .liveLatency:
                try await LiveLatency(commits: tiny ? 20 : commits).run().print()
            case .pictures:
                let pictures = Pictures(megabytes: tiny ? 2 : megabytes)
                try await pictures.run(rounds: rounds).print()
                try await pictures.runLatency(commits: tiny ? 20 : 200).print()
            case .largeStores:
                let size = tiny ? 500 : storeSize
                try await LargeStores(records: size).run().print(records: size)
            case .hub:
                try await Hub(machines: tiny ? 3 : machines, changes: tiny ? 2 : 10).run().print()
            }
        }
    }
}

/// The listener of the benchmark `hub`.
struct ServeHub: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "serve-hub", shouldDisplay: false)

    @Argument var directory: String

    func run() async throws {
        let household = try Household(in: URL(fileURLWithPath: directory), "hub")
        let listening = try await ListeningHousehold(household, name: "hub")
        write("\(listening.port)")
        while readLine() != nil { write(await listening.code().formatted) }
    }

    /// Writes a line, at once: the other side waits for it.
    private func write(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
