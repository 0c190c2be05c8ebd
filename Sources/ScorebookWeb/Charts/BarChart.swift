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
        let isNumbered = bars.count <= Self.numberedBars
        let scale = isNumbered ? most : Self.roundedUp(most)
        let number = SVGImage.number
        var image = SVGImage(label: label, height: Int(Self.top + Self.plot + Self.bottom))
        let left = isNumbered ? 0 : scale < 1000 ? 7.0 : 11
        let slots = Slots(left: left, width: (100 - left) / Double(max(1, bars.count)))
        if !isNumbered { addScale(to: &image, scale, left, reader) }
        let shown = bars.enumerated().filter { $1.value > 0 }.map { index, bar in
            (index, bar, height: max(1, Self.plot * Double(bar.value) / Double(scale)))
        }
        image.addGroup("bar") { image in
            for (index, bar, height) in shown {
                image.add(
                    "rect",
                    [
                        "x": slots.place(index, 0.5 - slots.bar / slots.width / 2),
                        "y": number(Self.floor - height), "width": "\(number(slots.bar))%",
                        "height": number(height),
                    ], title: "\(bar.name): \(reader.number(bar.value))")
            }
        }
        for (index, bar, height) in shown where isNumbered {
            image.add(
                "text",
                ["x": slots.place(index, 0.5), "y": number(Self.floor - height - 5), "class": "value"],
                text: reader.number(bar.value))
        }
        addMarks(to: &image, slots)
        return image.text
    }

    /// Where the bars are, in per cent of the width.
    private struct Slots {
        let left: Double
        let width: Double

        /// The width of a bar, which is bound where there are few.
        var bar: Double { min(width * 0.8, 10) }

        /// - Parameter part: of the slot, from 0 to 1.
        func place(_ index: Int, _ part: Double) -> String {
            "\(SVGImage.number(left + width * (Double(index) + part)))%"
        }
    }

    private static let floor = top + plot

    private func addScale(to image: inout SVGImage, _ scale: Int, _ left: Double, _ reader: Reader) {
        for line in [scale, scale / 2] where line > 0 && (line == scale || scale % 2 == 0) {
            let height = Self.floor - Self.plot * Double(line) / Double(scale)
            let text = SVGImage.number(height)
            image.add("line", ["x1": "\(left)%", "x2": "100%", "y1": text, "y2": text, "class": "grid"])
            image.add(
                "text", ["x": "\(left - 1)%", "y": SVGImage.number(height + 4), "class": "mark end"],
                text: reader.number(line))
        }
    }

    private func addMarks(to image: inout SVGImage, _ slots: Slots) {
        let floor = SVGImage.number(Self.floor)
        image.add(
            "line", ["x1": "\(slots.left)%", "x2": "100%", "y1": floor, "y2": floor, "class": "axis"])
        let marked = bars.enumerated().filter { $1.mark != nil }
        let step = marksBegin ? max(1, (marked.count + Self.marks - 1) / Self.marks) : 1
        for (index, bar) in stride(from: 0, to: marked.count, by: step).map({ marked[$0] }) {
            // A text that begins at the right end would be cut off.
            let isLast = marksBegin && slots.width * Double(bars.count - index) < 10
            image.add(
                "text",
                [
                    "x": isLast ? "100%" : slots.place(index, marksBegin ? 0.1 : 0.5),
                    "y": SVGImage.number(Self.floor + 17),
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
