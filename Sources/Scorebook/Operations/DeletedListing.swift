import GRDB
import RecordStore
import SyncModel

/// A deleted record that can be restored, with what people want to know of it.
public struct DeletedListing: RecordListing, Equatable {
    /// Who deleted a record.
    public enum Machine: Sendable, Hashable {
        case here
        /// A machine that is paired with this one, or the program that a file comes from.
        case named(String)
        case unknown
    }

    public let recordName: RecordName
    /// What people call it: a person's name, or the game and the day of a match.
    public let title: String?
    /// ISO 8601.
    public let deletedAt: String
    public let machine: Machine
    /// The id of the machine, which stands in its stamps.
    public let replica: ReplicaID
    /// How many records went with it, and come back with it.
    public let companions: Int
    /// Until when it can be restored at least, ISO 8601. Machines forget a deletion later, when all of them know it.
    public let restorableUntil: String
    public let zone: String

    private enum CodingKeys: String, CodingKey {
        case recordName, title, deletedAt, here, machine, replica, companions, restorableUntil, zone
    }

    /// `here` says whether this machine deleted it, `machine` is the name of another one, null if that is not known.
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
    /// The deleted records that can be restored, the last one first.
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

/// Says what people call a record, also one that has no row.
struct RecordTitles {
    private let db: Database
    private let records: RecordStore

    init(_ db: Database, _ records: RecordStore) {
        self.db = db
        self.records = records
    }

    /// nil for a record that has no name, and for one of which nothing is known.
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

    /// What people call the record that a field refers to.
    private func target(_ field: String, of state: RecordState) throws -> String? {
        // Of the type that the schema gives, which has no circle: a peer may have put any name there.
        let type = records.schema.type(state.name.recordType)?.references.first { $0.field == field }?.target
        guard case .reference(let name)? = state.field(field)?.value, name.recordType == type else {
            return nil
        }
        return try title(of: name)
    }
}

extension RecordState {
    /// A value as people read it; nil when there is none, or an empty one.
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
    /// Those that there are, in one text; nil when there are none.
    fileprivate func joined(_ separator: String) -> String? {
        compactMap(\.self).joined(separator: separator).filled
    }
}
