/// The record types of a scorebook.
public enum RecordKind: String, CaseIterable, Sendable, Hashable {
    /// Somebody who plays.
    case person = "SBPerson"
    /// A game that can be played.
    case game = "SBGame"
    /// One play of a game.
    case match = "SBMatch"
    /// The part of one person in one match.
    case player = "SBPlayer"
    /// A player's score, in one round or in the whole match.
    case score = "SBScore"
    /// The place of a match.
    case matchLocation = "SBMatchLocation"
    /// A picture of a match.
    case matchImage = "SBMatchImage"

    /// The name of the record type and of its table.
    public var recordType: String { rawValue }

    /// The word for one such record.
    public var noun: String {
        switch self {
        case .person: "person"
        case .game: "game"
        case .match: "match"
        case .player: "player"
        case .score: "score"
        case .matchLocation: "place"
        case .matchImage: "picture"
        }
    }

    /// As in “1 match” and “1,200 new matches”.
    public func counted(_ count: Int, _ adjective: String? = nil) -> String {
        let noun = count == 1 ? noun : self == .match ? "matches" : noun + "s"
        return [Self.grouped(count), adjective, noun].compactMap(\.self).joined(separator: " ")
    }

    /// The number with separators between thousands.
    private static func grouped(_ count: Int) -> String {
        var digits = "\(count)"[...]
        var groups: [Substring] = []
        while digits.count > 3 {
            groups.insert(digits.suffix(3), at: 0)
            digits.removeLast(3)
        }
        return ([digits] + groups).joined(separator: ",")
    }
}
