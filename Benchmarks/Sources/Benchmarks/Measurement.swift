import Foundation

/// The median of some figures, and how far they lie apart.
struct Spread {
    let median: Double
    let least: Double
    let greatest: Double

    init(_ figures: [Double]) {
        let sorted = figures.sorted()
        let middle = sorted.count / 2
        median = sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
        least = sorted[0]
        greatest = sorted[sorted.count - 1]
    }
}

/// The speeds of one piece of work and of what it is held against, in records a second. Speeds of one round belong
/// together: they were measured one right after the other.
struct Comparison {
    let name: String
    private(set) var speeds: [Double] = []
    private(set) var baselines: [Double] = []

    init(_ name: String) {
        self.name = name
    }

    mutating func add(speed: Double, baseline: Double) {
        speeds.append(speed)
        baselines.append(baseline)
    }

    var ratio: Spread { Spread(zip(speeds, baselines).map { $0 / $1 }) }
}

/// Comparisons of one kind, as a Markdown table.
struct ResultTable {
    let title: String
    let baseline: String
    let subject: String
    let comparisons: [Comparison]

    func print() {
        Swift.print("\n| \(title) | \(baseline)/s | \(subject)/s | ratio | least to greatest |")
        Swift.print("| --- | ---: | ---: | ---: | ---: |")
        for comparison in comparisons {
            let ratio = comparison.ratio
            let cells = [
                comparison.name, Self.speed(Spread(comparison.baselines)),
                Self.speed(Spread(comparison.speeds)),
                String(format: "%.2f", ratio.median),
                String(format: "%.2f to %.2f", ratio.least, ratio.greatest),
            ]
            Swift.print("| \(cells.joined(separator: " | ")) |")
        }
    }

    /// To three digits; more would pretend.
    private static func speed(_ spread: Spread) -> String {
        let unit = pow(10, max(0, floor(log10(spread.median)) - 2))
        return String(Int((spread.median / unit).rounded() * unit))
    }
}

/// How many times a second something would be done that was done `count` times in `body`.
func speed<Value>(of count: Int, _ body: () async throws -> Value) async throws -> Double {
    let begin = ContinuousClock.now
    _ = try await body()
    return Double(count) / ((ContinuousClock.now - begin) / .seconds(1))
}

/// Calls `body` with a directory that is gone afterwards.
func withTemporaryDirectory<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
    let directory = FileManager.default.temporaryDirectory
        .appendingPathComponent("scorebook-benchmark-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    return try await body(directory)
}
