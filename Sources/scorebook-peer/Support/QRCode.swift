import CQREncode

/// A QR code for a terminal.
struct QRCode {
    /// The blank modules around the code, which cameras need.
    private static let margin = 2

    private let width: Int
    private let isDark: [Bool]

    /// - Returns: nil if the text is too long for a QR code.
    init?(_ text: String) {
        guard let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_L) else { return nil }
        defer { QRcode_free(code) }
        let width = Int(code.pointee.width)
        self.width = width
        // The lowest bit of each module is its colour.
        isDark = (0..<width * width).map { code.pointee.data[$0] & 1 == 1 }
    }

    /// The code as lines of text, two rows of modules in each, dark on white whatever the colours of the terminal are.
    var lines: [String] {
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

    private subscript(row: Int, column: Int) -> Bool {
        let range = 0..<width
        return range.contains(row) && range.contains(column) && isDark[row * width + column]
    }
}
