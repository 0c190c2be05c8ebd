/// Numbers as bars side by side.
struct BarChart {
    struct Bar {
        /// What the number counts, in full.
        let name: String
        let value: Int
        /// What stands below the bar; nil for nothing.
        var mark: String?
    }

    let bars: [Bar]
    /// Whether a mark is for the bars from its own on, as a year is for its months.
    var marksBegin = false

    private static let top = 22.0
    private static let plot = 120.0
    private static let bottom = 24.0
    /// More numbers than these would touch each other on a phone.
    private static let numberedBars = 10
    private static let marks = 8

    /// - Parameter label: what the chart shows, for who cannot see it.
    func svg(label: String, _ reader: Reader) -> String {
        let most = bars.map(\.value).max() ?? 0
        let scale = Self.roundedUp(most)
        let number = SVGImage.number
        var image = SVGImage(label: label, height: Int(Self.top + Self.plot + Self.bottom))
        let floor = Self.top + Self.plot
        let isNumbered = bars.count <= Self.numberedBars
        if !isNumbered {
            for line in [scale, scale / 2] where line > 0 && (line == scale || scale % 2 == 0) {
                let height = number(floor - Self.plot * Double(line) / Double(scale))
                image.add("line", ["x1": "0", "x2": "100%", "y1": height, "y2": height, "class": "grid"])
                image.add(
                    "text", ["x": "0", "y": height, "dy": "-4", "class": "mark"], text: reader.number(line))
            }
        }
        let slot = 100 / Double(max(1, bars.count))
        for (index, bar) in bars.enumerated() where bar.value > 0 {
            let height = max(1, Self.plot * Double(bar.value) / Double(isNumbered ? most : scale))
            image.add(
                "rect",
                [
                    "x": "\(number(slot * (Double(index) + 0.1)))%", "y": number(floor - height),
                    "width": "\(number(slot * 0.8))%", "height": number(height), "class": "bar",
                ], title: "\(bar.name): \(reader.number(bar.value))")
            guard isNumbered else { continue }
            image.add(
                "text",
                [
                    "x": "\(number(slot * (Double(index) + 0.5)))%", "y": number(floor - height), "dy": "-5",
                    "class": "value",
                ], text: reader.number(bar.value))
        }
        image.add(
            "line", ["x1": "0", "x2": "100%", "y1": number(floor), "y2": number(floor), "class": "axis"])
        addMarks(to: &image, slot: slot, floor: floor)
        return image.text
    }

    private func addMarks(to image: inout SVGImage, slot: Double, floor: Double) {
        let marked = bars.enumerated().filter { $1.mark != nil }
        let step = marksBegin ? max(1, (marked.count + Self.marks - 1) / Self.marks) : 1
        for (index, bar) in stride(from: 0, to: marked.count, by: step).map({ marked[$0] }) {
            let place = "\(SVGImage.number(slot * (Double(index) + (marksBegin ? 0.1 : 0.5))))%"
            // A text that begins at the right end would be cut off.
            let isLast = marksBegin && slot * Double(bars.count - index) < 10
            image.add(
                "text",
                [
                    "x": isLast ? "100%" : place, "y": SVGImage.number(floor + 17),
                    "class": isLast ? "mark end" : marksBegin ? "mark" : "mark middle",
                ], text: bar.mark)
        }
    }

    /// Returns the next number that is easy to read: 1, 2 or 5 with zeros.
    static func roundedUp(_ number: Int) -> Int {
        var unit = 1
        while true {
            for factor in [1, 2, 4, 5, 6, 8] where factor * unit >= number { return factor * unit }
            unit *= 10
        }
    }
}
