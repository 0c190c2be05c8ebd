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
        case .matchLocation: "location"
        case .matchImage: "picture"
        }
    }
}
