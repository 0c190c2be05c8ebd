import Foundation

/// A score as people write it: a plain number, or another text such as `DNF` or `13,5`.
struct ScoreValue: Equatable, Sendable {
    var points: Double?
    /// The score as written, if it is not a plain number.
    var text: String?

    /// The maximum number of digits in a plain number, so that a `Double` holds all of them exactly.
    private static let digits = 15

    /// Reads a score. A plain number is an optional minus sign, digits, and maybe a point followed by digits; at most
    /// 15 digits.
    init(_ text: String) {
        if let points = Self.plainNumber(text) {
            self.points = points
        } else {
            self.text = text
        }
    }

    /// Reads a score that somebody types. Other texts than numbers are scores too, as `DNF`.
    ///
    /// - Throws: ``ScorebookError`` `invalidValue` for what looks like a number, but could not be added up.
    init(typed text: String) throws {
        let text = try Bounds.name(text, "score").replacing("\u{2212}", with: "-")
        self.init(text)
        guard self.text != nil, text.wholeMatch(of: /[-+]?[0-9.,' ]*[0-9][0-9.,' ]*/) != nil else { return }
        throw ScorebookError(
            .invalidValue, "“\(Display.printable(text))” is no number that can be added up",
            hint: "write a number as 1250 or 3.5, with at most \(Self.digits) digits")
    }

    private static func plainNumber(_ text: String) -> Double? {
        let unsigned = text.hasPrefix("-") ? text.dropFirst() : text[...]
        let parts = unsigned.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, unsigned.utf8.count <= digits + parts.count - 1 else { return nil }
        guard
            parts.allSatisfy({ part in !part.isEmpty && part.utf8.allSatisfy { (0x30...0x39).contains($0) } })
        else { return nil }
        // Minus zero becomes zero.
        return Double(text).map { $0 == 0 ? 0 : $0 }
    }
}
