import GRDB
import PeerSync

/// A deleted record that can be restored, as a list shows it.
public struct DeletedListing: RecordListing, Equatable {
    /// The machine that deleted a record.
    public enum Machine: Sendable, Hashable {
        case here
        /// A machine that is paired with this one, or the program that wrote an imported file.
        case named(String)
        case unknown
    }

    public let recordName: RecordName
    /// The title for people, such as a person's name, or the game and the day of a match.
    public let title: String?
    /// The time of the deletion, ISO 8601.
    public let deletedAt: String
    public let machine: Machine
    /// The id of the machine in its stamps.
    public let replica: ReplicaID
    /// How many records come back with it: those that went with it, and those that it needs.
    public let companions: Int
    /// The time until which the record can be restored for certain, ISO 8601. Machines forget a deletion later, when
    /// all of them know it.
    public let restorableUntil: String
    public let zone: String

    private enum CodingKeys: String, CodingKey {
        case recordName, title, deletedAt, here, machine, replica, companions, restorableUntil, zone
    }

    /// Writes the keys `here`, whether this machine deleted it, and `machine`, the name of another machine, null if
    /// unknown.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(recordName, forKey: .recordName)
        try container.encode(title, forKey: .title)
        try container.encode(deletedAt, forKey: .deletedAt)
        try container.encode(machine == .here, forKey: .here)
        let name: String? = if case .named(let name) = machine { name } else { nil }
        try container.encode(name, forKey: .machine)
        try container.encode(replica.description, forKey: .replica)
        try container.encode(companions, forKey: .companions)
        try container.encode(restorableUntil, forKey: .restorableUntil)
        try container.encode(zone, forKey: .zone)
    }
}

extension ScorebookStore {
    /// Lists the deleted records that can be restored, the latest deletion first.
    ///
    /// - Parameter type: a record type; nil for all.
    public func deletedRecords(type: String? = nil) async throws -> [DeletedListing] {
        try await foldForReading()
        return try await read { [self] db in
            let titles = RecordTitles(db, records)
            var machines = try Dictionary(
                records.peers.all(db).map {
                    (ReplicaID(hashing: $0.publicKey), DeletedListing.Machine.named($0.name))
                },
                uniquingKeysWith: { first, _ in first })
            machines[BGStatsMapping.origin] = .named("BG Stats")
            machines[BGGStamp.origin] = .named("BoardGameGeek")
            machines[records.replica] = .here
            return try records.listing.deleted(db, type: type, in: scope).map { record in
                DeletedListing(
                    recordName: record.name, title: try titles.title(of: record.name),
                    deletedAt: Self.text(record.time), machine: machines[record.replica] ?? .unknown,
                    replica: record.replica, companions: record.count,
                    restorableUntil: Self.text(record.time + StoreUpkeep.defaultRetention), zone: record.zone)
            }
        }
    }

    private static func text(_ milliseconds: Int64) -> String {
        ISO8601.text(milliseconds: milliseconds, fraction: .ifNeeded) ?? "\(milliseconds)"
    }
}

/// The titles of records for people, also of records without a row.
struct RecordTitles {
    private let db: Database
    private let records: RecordStore

    init(_ db: Database, _ records: RecordStore) {
        self.db = db
        self.records = records
    }

    /// Returns the title of a record; nil for a record that has no name or that the store does not know.
    func title(of name: RecordName) throws -> String? {
        guard let kind = RecordKind(rawValue: name.recordType), let state = try records.state(db, of: name)
        else { return nil }
        return switch kind {
        case .person: state.joined(" ", ["firstName", "lastName"])
        case .game: state.text("name")
        case .match:
            [try target("game", of: state), state.text("date").map { String($0.prefix(10)) }]
                .joined(", ")
        case .player: [try target("person", of: state), try target("match", of: state)].joined(" in ")
        case .score:
            [state.text("text") ?? state.text("points"), try target("player", of: state)]
                .joined(" of ")
        case .matchLocation: [state.text("name"), try target("match", of: state)].joined(" of ")
        case .matchImage:
            [state.text("caption") ?? state.text("image"), try target("match", of: state)].joined(" of ")
        }
    }

    /// Returns the title of the record to which a field refers.
    private func target(_ field: String, of state: RecordState) throws -> String? {
        // Follows only references of the type in the schema, which has no cycle. A peer may have put any name there,
        // and a cycle would never end.
        guard case .reference(let type) = ScorebookSchema.columnKind(state.name.recordType, field),
            case .reference(let name)? = state.field(field)?.value, name.recordType == type
        else { return nil }
        return try title(of: name)
    }
}

extension RecordState {
    /// Returns a value as people read it; nil for a missing or empty one.
    fileprivate func text(_ field: String) -> String? {
        switch self.field(field)?.value {
        case .text(let text): text.filled
        case .integer(let value): "\(value)"
        case .real(let value): "\(value)"
        case .date(let milliseconds): ISO8601.text(milliseconds: milliseconds, fraction: .ifNeeded)
        case .asset(let asset): asset.name.filled
        case .null, .blob, .reference, nil: nil
        }
    }

    fileprivate func joined(_ separator: String, _ fields: [String]) -> String? {
        fields.map { text($0) }.joined(separator)
    }
}

extension [String?] {
    /// Joins the texts that are not nil; returns nil if nothing is left.
    fileprivate func joined(_ separator: String) -> String? {
        compactMap(\.self).joined(separator: separator).filled
    }
}
