import Foundation

/// First syncs, usual syncs and `verify`, at several sizes of the scorebook.
struct Stores {
    let sizes: [Int]

    /// From here on a round takes minutes.
    private static let large = 1_000_000

    func run(rounds: Int, largeRounds: Int) async throws -> [Figure] {
        try await withTemporaryDirectory { directory in
            var figures: [Figure] = []
            var pairs: [UsualSync.Pair] = []
            defer { for pair in pairs { pair.end() } }
            for size in sizes {
                let source = try await SourceStore(in: directory, "source-\(size)", records: size)
                figures += try FirstSync(source: source, directory: directory).run(
                    rounds: size < Self.large ? rounds : largeRounds)
                pairs.append(try UsualSync.Pair(source, in: directory))
            }
            return try figures + UsualSync(pairs: pairs).run(rounds: rounds, largeRounds: largeRounds)
        }
    }
}
