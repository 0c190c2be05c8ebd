import Foundation

/// One figure at several sizes.
struct GrowthLine {
    let name: String
    let unit: Figure.Unit
    /// By size, which ascends.
    let points: [(size: Double, value: Double)]

    /// The exponent of the power of the size that the figure grows with, from the first point to the last.
    var exponent: Double {
        guard let first = points.first, let last = points.last, first.size < last.size else { return 0 }
        return log(last.value / first.value) / log(last.size / first.size)
    }

    /// What the exponent comes to, in words.
    var growth: String {
        switch exponent {
        case ..<0.15: "constant"
        case ..<0.85: "less than linear"
        case ..<1.08: "linear"
        default: "n log n, or a little more than linear"
        }
    }
}

extension Report {
    /// The figures that were taken at several sizes. Speeds are drawn as the time that they come to.
    var growth: [GrowthLine] {
        var lines: [String: [(size: Double, value: Double)]] = [:]
        var order: [(name: String, unit: Figure.Unit)] = []
        for figure in figures {
            guard let series = figure.series, let size = figure.size else { continue }
            let median = Spread(figure.subject).median
            let isSpeed = figure.unit == .perSecond
            let name = String(
                series.prefix(upTo: series.firstRange(of: ", against")?.lowerBound ?? series.endIndex))
            if lines[name] == nil { order.append((name, isSpeed ? .seconds : figure.unit)) }
            lines[name, default: []].append((Double(size), isSpeed ? Double(size) / median : median))
        }
        return order.map { name, unit in
            // The same speed may be held against several things.
            let points = Dictionary(lines[name]!, uniquingKeysWith: { first, _ in first }).sorted {
                $0.key < $1.key
            }
            return GrowthLine(name: name, unit: unit, points: points.map { ($0.key, $0.value) })
        }
    }
}

/// Lines on two logarithmic axes, each relative to its value at the smallest size: what stays level costs the same however
/// large the scorebook is, what runs along the dashed line costs as many times more as there are records.
struct GrowthPlot {
    let lines: [GrowthLine]

    private static let width = 960.0
    private static let plot = (left: 70.0, top: 30.0, right: 510.0, bottom: 430.0)
    private static let colors = [
        "#1b6ca8", "#d1495b", "#2e8b57", "#8a5a9e", "#c77d0a", "#3c4f65", "#a23b72", "#5f8f00", "#00798c",
        "#7d4f50", "#444444", "#b5651d", "#6b8e23", "#4169e1", "#c71585", "#20b2aa",
    ]

    private var drawn: [GrowthLine] { lines.filter { $0.points.count > 1 } }
    private var sizes: [Double] { Array(Set(drawn.flatMap { $0.points.map(\.size) })).sorted() }

    var svg: String {
        let greatest =
            drawn.flatMap { line in line.points.map { $0.value / line.points[0].value } }.max() ?? 10
        let decades = max(1, Int(log10(max(greatest, sizes.last! / sizes.first!)).rounded(.up)))
        let height = max(480, Self.plot.top + 30 * Double(drawn.count) + 60)
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(height))" \
            font-family="sans-serif" font-size="11">
            <rect width="100%" height="100%" fill="#ffffff"/>
            \(axes(decades))
            \(drawn.enumerated().map { path($1, $0, decades) }.joined(separator: "\n"))
            </svg>

            """
    }

    private func x(_ size: Double) -> Double {
        let part = log(size / sizes.first!) / log(sizes.last! / sizes.first!)
        return Self.plot.left + part * (Self.plot.right - Self.plot.left)
    }

    /// The lowest line of the plot is a third of what the smallest size has.
    private func y(_ ratio: Double, _ decades: Int) -> Double {
        let low = log10(1.0 / 3)
        let part = (log10(max(ratio, 0.34)) - low) / (Double(decades) - low)
        return Self.plot.bottom - part * (Self.plot.bottom - Self.plot.top)
    }

    private func axes(_ decades: Int) -> String {
        let grid = (0...decades).map { decade in
            let ratio = pow(10, Double(decade))
            let level = Self.text(y(ratio, decades))
            return """
                <line x1="\(Self.plot.left)" x2="\(Self.plot.right)" y1="\(level)" y2="\(level)" stroke="#dddddd"/>
                <text x="\(Self.plot.left - 8)" y="\(level)" text-anchor="end" dy="4">× \(grouped(Int(ratio)))</text>
                """
        }
        let marks = sizes.map { size in
            """
            <text x="\(Self.text(x(size)))" y="\(Self.plot.bottom + 20)" text-anchor="middle">\(grouped(Int(size)))</text>
            """
        }
        let last = sizes.last! / sizes.first!
        return """
            \((grid + marks).joined(separator: "\n"))
            <text x="\((Self.plot.left + Self.plot.right) / 2)" y="\(Self.plot.bottom + 40)" text-anchor="middle">\
            records in the scorebook</text>
            <text x="\(Self.plot.left)" y="18">cost, against that of the smallest scorebook</text>
            <line x1="\(x(sizes.first!))" y1="\(Self.text(y(1, decades)))" x2="\(x(sizes.last!))" \
            y2="\(Self.text(y(last, decades)))" stroke="#999999" stroke-dasharray="4 4"/>
            <text x="\(Self.plot.right - 4)" y="\(Self.text(y(last, decades) - 6))" text-anchor="end" fill="#777777">\
            linear</text>
            """
    }

    private func path(_ line: GrowthLine, _ index: Int, _ decades: Int) -> String {
        let color = Self.colors[index % Self.colors.count]
        let points = line.points.map {
            "\(Self.text(x($0.size))),\(Self.text(y($0.value / line.points[0].value, decades)))"
        }
        let top = Self.plot.top + 30 * Double(index)
        let values = line.points.map { line.unit.text($0.value) }.joined(separator: ", ")
        return """
            <polyline points="\(points.joined(separator: " "))" fill="none" stroke="\(color)" stroke-width="2"/>
            <rect x="560" y="\(top - 8)" width="12" height="4" fill="\(color)"/>
            <text x="578" y="\(top)">\(line.name): \(line.growth)</text>
            <text x="578" y="\(top + 13)" fill="#777777">\(values)</text>
            """
    }

    private static func text(_ number: Double) -> String { String(format: "%.1f", number) }
}
