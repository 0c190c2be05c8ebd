import Foundation

/// What is to be reached, as a ratio.
enum Goal: Codable {
    case atLeast(Double)
    case atMost(Double)

    func isMet(by ratio: Double) -> Bool {
        switch self {
        case .atLeast(let least): ratio >= least
        case .atMost(let most): ratio <= most
        }
    }

    var text: String {
        switch self {
        case .atLeast(let least): String(format: "≥ %.2f", least)
        case .atMost(let most): String(format: "≤ %.2f", most)
        }
    }
}

/// One line of the table: what was measured, what was run beside it, and the ratio of the two in each round.
struct Figure: Codable {
    /// What the figures count.
    enum Unit: String, Codable {
        /// Done in a second, of records or of rows.
        case perSecond
        case seconds
        case bytes
        case mebibytes
        case microsecondsEach
        case number

        func text(_ value: Double) -> String {
            switch self {
            case .perSecond: "\(Self.rounded(value))/s"
            case .seconds:
                value < 1 ? String(format: "%.3g ms", value * 1000) : String(format: "%.3g s", value)
            case .bytes: "\(Self.rounded(value, digits: 4)) B"
            case .mebibytes: String(format: value < 10 ? "%.2f MiB" : "%.0f MiB", value)
            case .microsecondsEach: String(format: "%.1f µs each", value)
            case .number: String(format: "%.2f", value)
            }
        }

        /// More digits would pretend.
        private static func rounded(_ value: Double, digits: Double = 3) -> Int {
            guard value > 0 else { return 0 }
            let unit = pow(10, max(0, floor(log10(value)) - digits + 1))
            return Int((value / unit).rounded() * unit)
        }
    }

    let name: String
    let unit: Unit
    /// How many records there are in the store, for figures that were taken at several sizes.
    let size: Int?
    /// What tells figures of several sizes that they are the same one.
    let series: String?
    /// One for each round.
    private(set) var subject: [Double] = []
    /// What was run beside it; empty for a figure that stands for itself.
    private(set) var baseline: [Double] = []
    let goal: Goal?

    init(_ name: String, _ unit: Unit, goal: Goal? = nil, size: Int? = nil, series: String? = nil) {
        self.name = name
        self.unit = unit
        self.goal = goal
        self.size = size
        self.series = series
    }

    mutating func add(_ value: Double, beside baseline: Double? = nil) {
        subject.append(value)
        if let baseline { self.baseline.append(baseline) }
    }

    /// nil for a figure that stands for itself.
    var ratio: Spread? {
        baseline.isEmpty ? nil : Spread(zip(subject, baseline).map { $0 / $1 })
    }
}

/// All figures, as one Markdown table.
struct Report: Codable {
    private(set) var figures: [Figure] = []

    mutating func add(_ new: [Figure]) {
        figures += new
        // Whoever waits sees how far it is.
        for figure in new { FileHandle.standardError.write(Data("measured: \(figure.name)\n".utf8)) }
    }

    func print() {
        Swift.print("\n| figure | scorebook-peer | beside it | ratio | least to greatest | goal |")
        Swift.print("| --- | ---: | ---: | ---: | ---: | ---: |")
        for figure in figures { Swift.print("| \(cells(figure).joined(separator: " | ")) |") }
    }

    private func cells(_ figure: Figure) -> [String] {
        let median = figure.unit.text(Spread(figure.subject).median)
        guard let ratio = figure.ratio else {
            let spread = Spread(figure.subject)
            let range = "\(figure.unit.text(spread.least)) to \(figure.unit.text(spread.greatest))"
            return [figure.name, median, "", "", figure.subject.count > 1 ? range : "", ""]
        }
        let goal = figure.goal.map { "\($0.text) \($0.isMet(by: ratio.median) ? "met" : "missed")" }
        return [
            figure.name, median, figure.unit.text(Spread(figure.baseline).median),
            String(format: "%.2f", ratio.median),
            String(format: "%.2f to %.2f", ratio.least, ratio.greatest), goal ?? "",
        ]
    }
}

/// The median of some figures, and how far they lie apart.
struct Spread {
    let median: Double
    let least: Double
    let greatest: Double

    /// - Precondition: there is one at least.
    init(_ figures: [Double]) {
        let sorted = figures.sorted()
        let middle = sorted.count / 2
        median = sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
        least = sorted[0]
        greatest = sorted[sorted.count - 1]
    }

    /// The value below which that part of the figures lies.
    static func quantile(_ part: Double, of figures: [Double]) -> Double {
        let sorted = figures.sorted()
        return sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
    }
}
