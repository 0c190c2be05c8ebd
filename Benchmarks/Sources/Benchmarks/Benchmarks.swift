import ArgumentParser

@main
struct Benchmarks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measures what sync costs, against the same work without it, run beside it.",
        discussion: "Each figure is the median of several rounds, with the least and the greatest behind it."
    )

    @Option(help: "How many records the first sync moves.")
    var records = 20_000

    @Option(help: "How many rows are written, changed and deleted with 10,000 a transaction.")
    var rows = 50_000

    @Option(help: "How many rows are written, changed and deleted with one a transaction.")
    var singles = 5_000

    @Option(help: "How many times each figure is measured.")
    var rounds = 5

    @Flag(help: "Only see whether everything runs; the figures mean nothing.")
    var tiny = false

    func validate() throws {
        guard records > 0, rows > 0, singles > 0, rounds > 0 else {
            throw ValidationError("all sizes are 1 or more")
        }
    }

    func run() async throws {
        let rounds = tiny ? 2 : rounds
        let writes = LocalWrites(rows: tiny ? 200 : rows, singles: tiny ? 50 : singles)
        try await writes.run(rounds: rounds).print()
        try await FirstSync(records: tiny ? 500 : records).run(rounds: rounds).print()
    }
}
