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
    /// - Throws: ``ScorebookError`` `invalidValue` for what looks like a number, but could not be added up, and for a hyphen alone.
    init(typed text: String) throws {
        let text = try Bounds.name(text, "score").replacing("\u{2212}", with: "-")
        self.init(text)
        guard text != "-" else {
            throw ScorebookError(
                .invalidValue, "“-” is no score", hint: "leave out who has none")
        }
        let meant = Self.meant(text)
        guard !meant.isEmpty || self.text != nil && Self.isNumberLike(text) else { return }
        throw ScorebookError(
            .invalidValue, "“\(Display.printable(text))” is no number that can be added up",
            hint: meant.isEmpty
                ? "write a number as 1250 or 3.5, with at most \(Self.digits) digits"
                : "did you mean \(meant.joined(separator: " or "))?")
    }

    /// Whether a text is a number with a slip in it, such as `1,2,3` or `x30`, and not one of several words or numbers, such as
    /// `level 3`, `3-1` and `2:30`.
    private static func isNumberLike(_ text: String) -> Bool {
        if text.wholeMatch(of: /[-+]?[0-9.,' ]*[0-9][0-9.,' ]*/) != nil { return true }
        return text.allSatisfy { $0.isLetter || $0.isNumber }
            && text.count(where: \.isNumber) > text.count(where: \.isLetter)
    }

    /// Returns the numbers that a text with a slip may stand for: `8O`, `1e3`, `3,5`, `1/2`, `٣`, and `1.000`,
    /// which is a thousand to some.
    private static func meant(_ text: String) -> [String] {
        var meant: [String] = []
        let thousands = /-?[1-9][0-9]{0,2}([.,'\u{2019} ][0-9]{3})+/
        if text.wholeMatch(of: thousands) != nil {
            meant.append(text.filter { $0.isNumber || $0 == "-" })
        }
        if text.wholeMatch(of: /-?[0-9]+[.,][0-9]+/) != nil {
            let number = text.replacing(",", with: ".")
            // What is no thousand is a plain number as it stands.
            if number != text || !meant.isEmpty { meant.append(Self.shortest(number)) }
        }
        if text.contains(where: \.isNumber), text.wholeMatch(of: /-?[0-9OoIl]+/) != nil,
            text.contains(where: \.isLetter)
        {
            meant.append(text.replacing(/[Oo]/, with: "0").replacing(/[Il]/, with: "1"))
        }
        if text.wholeMatch(of: /-?[0-9]+(\.[0-9]+)?[eE]\+?[0-9]{1,2}/) != nil, let number = Double(text),
            abs(number) < 1e15
        {
            meant.append(Self.shortest("\(number)"))
        }
        if ["1/2", "½"].contains(text) { meant.append("0.5") }
        let digits = text.map { $0.wholeNumberValue.map(String.init) ?? String($0) }.joined()
        if digits != text { meant.append(digits) }
        return meant.filter { plainNumber($0) != nil }.map { number in
            // Otherwise it would look like a thousand again.
            number.wholeMatch(of: thousands) != nil && number.contains(".") ? number + "0" : number
        }
    }

    /// Returns a decimal number without zeros at its end.
    private static func shortest(_ number: String) -> String {
        number.replacing(/\.?0+$/) { number.contains(".") ? "" : "\($0.output)" }
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
