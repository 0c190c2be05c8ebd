import Foundation
import PeerSync

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

    /// Checks what a name is set to.
    static func name(_ change: Change<String>, _ noun: String) throws -> Change<String> {
        guard case .set(let text) = change else { return change }
        return .set(try name(text, noun))
    }

    static func whole(_ value: Int?, _ noun: String, _ range: ClosedRange<Int>) throws {
        guard let value, !range.contains(value) else { return }
        throw ScorebookError(
            .invalidValue,
            "\(value) cannot be the \(noun); it goes from \(range.lowerBound) to \(range.upperBound)")
    }

    static func number(_ value: Double?, _ noun: String, _ range: ClosedRange<Double>) throws {
        guard let value, !range.contains(value) else { return }
        let words = [value, range.lowerBound, range.upperBound].map(MatchSheet.Entry.written)
        throw ScorebookError(
            .invalidValue, "\(words[0]) cannot be the \(noun); it goes from \(words[1]) to \(words[2])")
    }

    static let year = -10_000...9999
    static let players = 1...1000
    /// Up to a year of playing.
    static let minutes = 0...527_040
    static let rounds = 0...100_000
    /// How far a new round may lie behind the last one: 33 in place of 3 is a typing error.
    static let roundGap = 5

    /// Bounds the last round that a scorebook has, 0 for none, so that one can count on from there: other programs may write any number.
    static func lastRound(_ found: Int?) -> Int { min(max(0, found ?? 0), rounds.upperBound) }

    static let rating = 0.0...10.0
    static let rank = 1...1000
    static let bggID = 1...Int(Int32.max)
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
