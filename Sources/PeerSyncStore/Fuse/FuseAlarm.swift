import PeerSyncModel

/// What waits for a person, because it would take away much of a zone at once.
public struct FuseAlarm: Sendable, Hashable, Identifiable {
    /// Who wrote it.
    public enum Source: Sendable, Hashable {
        /// A paired machine, by its name here. This store has taken its changes in and does not show them.
        case peer(String)
        /// Programs on this machine that wrote past the engine. Their tables show it, and this store does not send it.
        case programs
    }

    /// One record.
    public struct Record: Sendable, Hashable {
        /// The name of the record.
        public let name: RecordName
        /// Whether the record would go, or is gone. Otherwise values of it would be overwritten, or are.
        public let isDeleted: Bool
    }

    /// The maximum number of ``records``.
    public static let maximumListed = 100

    /// A hash of what waits, of what would go along, and of a secret of this store: another machine could find something else with the
    /// few digits of ``id`` otherwise.
    package let hash: [UInt8]
    /// Six hexadecimal digits that name the alarm as it is now, for people: when more waits, or less, it has others.
    public var id: String { hash.prefix(3).hexadecimal }
    /// Who wrote it.
    public let source: Source
    /// The name of the zone on this machine.
    public let zone: String
    /// Since when it waits, in milliseconds since 1970.
    public let since: Int64
    /// The number of records that would go, with those that go along with them.
    public let deletedCount: Int
    /// The number of records of which values would be overwritten.
    public let overwrittenCount: Int
    /// The first records by name, without those that go along with others.
    public let records: [Record]
    /// In the column `peer` of the table.
    let peer: Int64
    /// The row of the zone.
    let zoneRow: Int64
}
