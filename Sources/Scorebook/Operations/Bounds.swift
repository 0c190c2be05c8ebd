import PeerSyncModel

/// The bounds of values that people type. They catch typing errors; records from elsewhere may hold other values.
enum Bounds {
    /// The maximum length of a name, in characters.
    static let nameLength = 500

    /// Checks a name, and returns it without the blanks around it.
    static func name(_ text: String, _ noun: String) throws -> String {
        let trimmed = text.trimmed
        guard !trimmed.isEmpty else {
            throw ScorebookError(.invalidValue, "the \(noun) cannot be empty")
        }
        guard trimmed.count <= nameLength else {
            throw ScorebookError(
                .invalidValue,
                "the \(noun) has \(trimmed.count) characters; at most \(nameLength) are allowed")
        }
        guard !trimmed.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw ScorebookError(
                .invalidValue, "the \(noun) cannot hold line breaks or other control characters")
        }
        return trimmed
    }

    static func whole(_ value: Int?, _ noun: String, _ range: ClosedRange<Int>) throws {
        guard let value, !range.contains(value) else { return }
        throw ScorebookError(
            .invalidValue,
            "\(value) cannot be the \(noun); it goes from \(range.lowerBound) to \(range.upperBound)")
    }

    static let year = -10_000...9999
    static let players = 1...1000
    /// Up to a year of playing.
    static let minutes = 0...527_040
    static let rounds = 0...100_000
    static let rank = 1...1000
    static let bggID = 1...Int(Int32.max)

    /// Returns the canonical text of a moment, given as a day, a day and a time, or full ISO 8601 in UTC.
    ///
    /// `2024-03-05`, `2024-03-05 19:30`, `2024-03-05T19:30:00Z`.
    static func date(_ text: String) throws -> String {
        var canonical = text.trimmed
        if canonical.utf8.count > 10, canonical.dropFirst(10).first == " " {
            let space = canonical.index(canonical.startIndex, offsetBy: 10)
            canonical.replaceSubrange(space...space, with: "T")
        }
        if canonical.utf8.count == 10 { canonical += "T00:00" }
        if canonical.utf8.count == 16 { canonical += ":00" }
        if !canonical.hasSuffix("Z") { canonical += "Z" }
        guard ISO8601.milliseconds(canonical: canonical) != nil else {
            throw ScorebookError(
                .invalidValue,
                "“\(text)” is no date; write 2024-03-05, “2024-03-05 19:30” or 2024-03-05T19:30:00Z (UTC)")
        }
        return canonical
    }
}

extension StringProtocol {
    /// The text without the blanks at both ends; nil if nothing is left.
    var filled: String? {
        let text = trimmed
        return text.isEmpty ? nil : text
    }

    /// The text without the blanks at both ends.
    var trimmed: String {
        var rest = self[...]
        while rest.first?.isWhitespace == true { rest.removeFirst() }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }
}
