import CQREncode

/// A QR code, for a terminal or a page.
public struct QRCode: Sendable {
    /// The blank modules around the code, which cameras need.
    private static let margin = 2

    private let width: Int
    private let isDark: [Bool]

    /// Makes the code of a text.
    ///
    /// - Returns: nil if the text is too long for a QR code.
    public init?(_ text: String) {
        guard let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_L) else { return nil }
        defer { QRcode_free(code) }
        let width = Int(code.pointee.width)
        self.width = width
        // The lowest bit of each module is its colour.
        isDark = (0..<width * width).map { code.pointee.data[$0] & 1 == 1 }
    }

    /// The code as lines of text, two rows of modules in each, dark on white whatever the colours of the terminal are.
    public var lines: [String] {
        let range = -Self.margin..<width + Self.margin
        return stride(from: range.lowerBound, to: range.upperBound, by: 2).map { row in
            let blocks = range.map { column -> Character in
                switch (self[row, column], self[row + 1, column]) {
                case (true, true): "█"
                case (true, false): "▀"
                case (false, true): "▄"
                case (false, false): " "
                }
            }
            return "\u{1B}[30;107m\(String(blocks))\u{1B}[0m"
        }
    }

    /// The code as a picture for a page, dark on white whatever the colours of the page are. It needs no style, which the page
    /// forbids.
    func svg(label: String) -> String {
        let size = width + 2 * Self.margin
        let modules = (0..<width).map { row in
            (0..<width).filter { self[row, $0] }
                .map { "M\($0 + Self.margin) \(row + Self.margin)h1v1h-1z" }.joined()
        }
        return """
            <svg class="qr" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(size) \(size)" role="img" \
            aria-label="\(MarkupText.escaped(label))" shape-rendering="crispEdges">\
            <rect width="\(size)" height="\(size)" fill="#fff"/>\
            <path fill="#000" d="\(modules.joined())"/></svg>
            """
    }

    private subscript(row: Int, column: Int) -> Bool {
        let range = 0..<width
        return range.contains(row) && range.contains(column) && isDark[row * width + column]
    }
}
