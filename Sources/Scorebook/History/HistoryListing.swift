import GRDB
import PeerSync

/// A value that lost against another one when records of a machine came, as a list shows it.
public struct HistoryListing: Encodable, Sendable, Hashable {
    /// A value, and who wrote it when.
    public struct Value: Encodable, Sendable, Hashable {
        /// The value as people read it; nil for an empty one.
        public let text: String?
        /// When it was written, ISO 8601.
        public let at: String
        /// Who wrote it.
        public let machine: WritingMachine

        private enum CodingKeys: String, CodingKey { case text, at, here, machine }

        /// Writes the keys `here`, whether this machine wrote it, and `machine`, the name of another one, null if unknown.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(text, forKey: .text)
            try container.encode(at, forKey: .at)
            try container.encode(machine == .here, forKey: .here)
            let name: String? = if case .named(let name) = machine { name } else { nil }
            try container.encode(name, forKey: .machine)
        }
    }

    /// The record.
    public let recordName: RecordName
    /// What people call it.
    public let title: String
    /// The field; nil if a deletion took the whole record away.
    public let field: String?
    /// When this machine noticed, ISO 8601.
    public let noticedAt: String
    /// The value that lost.
    public let lost: Value
    /// The value that won.
    public let won: Value
    /// Whether the lost value stood here; otherwise it came too late.
    public let wasShown: Bool
    /// The time of the lost value, for ``ScorebookStore/restore(_:at:field:)``, in milliseconds since 1970.
    public let lostMoment: Int64

    private enum CodingKeys: String, CodingKey {
        case recordName, title, field, noticedAt, lost, won, wasShown
    }

    /// Writes null for missing values, so that every object has the same keys.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(recordName, forKey: .recordName)
        try container.encode(title, forKey: .title)
        try container.encode(field, forKey: .field)
        try container.encode(noticedAt, forKey: .noticedAt)
        try container.encode(lost, forKey: .lost)
        try container.encode(won, forKey: .won)
        try container.encode(wasShown, forKey: .wasShown)
    }
}
