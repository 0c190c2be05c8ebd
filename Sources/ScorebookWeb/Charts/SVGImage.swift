/// An image in SVG. Places across are in per cent of its width, so that it fits every screen and its texts keep their size.
struct SVGImage {
    /// What the image shows, for who cannot see it.
    let label: String
    /// In pixels.
    let height: Int
    /// The width in pixels of an image that grows with the screen as a whole; nil if only its distances across do.
    var width: Int?
    private var body = ""

    init(label: String, height: Int, width: Int? = nil) {
        self.label = label
        self.height = height
        self.width = width
    }

    /// Adds an element.
    ///
    /// - Parameters:
    ///   - title: what a pointer that rests on it shows.
    ///   - text: what it contains.
    mutating func add(
        _ element: String, _ attributes: KeyValuePairs<String, String>, title: String? = nil,
        text: String? = nil
    ) {
        body += "<\(element)"
        for (name, value) in attributes { body += " \(name)=\"\(MarkupText.escaped(value))\"" }
        guard title != nil || text != nil else {
            body += "/>"
            return
        }
        body += ">"
        if let title { body += "<title>\(MarkupText.escaped(title))</title>" }
        if let text { body += MarkupText.escaped(text) }
        body += "</\(element)>"
    }

    /// Adds elements of one class, which is written once for all of them.
    mutating func addGroup(_ name: String, _ addElements: (inout SVGImage) -> Void) {
        body += "<g class=\"\(name)\">"
        addElements(&self)
        body += "</g>"
    }

    /// The image for a page.
    var text: String {
        let size = width.map { "viewBox=\"0 0 \($0) \(height)\"" } ?? "width=\"100%\" height=\"\(height)\""
        return "<svg \(size) role=\"img\" aria-label=\"\(MarkupText.escaped(label))\">\(body)</svg>"
    }

    /// A bar that fills a part of the width, from 0 to 1. The number stands beside it, so nobody has to be told of the bar.
    static func meter(_ part: Double) -> String {
        "<svg class=\"meter\" aria-hidden=\"true\"><rect width=\"\(number(100 * min(1, max(0, part))))%\" height=\"6\" rx=\"3\"/></svg>"
    }

    /// Writes a number with at most two decimals.
    static func number(_ number: Double) -> String {
        let hundredths = Int((number * 100).rounded())
        return hundredths % 100 == 0 ? "\(hundredths / 100)" : "\(Double(hundredths) / 100)"
    }
}
