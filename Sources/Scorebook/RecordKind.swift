/// The record types of a scorebook.
public enum RecordKind: String, CaseIterable, Sendable, Hashable {
    case person = "SBPerson"
    case game = "SBGame"
    case match = "SBMatch"
    case player = "SBPlayer"
    case score = "SBScore"
    case matchLocation = "SBMatchLocation"
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
