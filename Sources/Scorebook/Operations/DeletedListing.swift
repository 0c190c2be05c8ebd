import GRDB
import PeerSync

/// A deleted record that can be restored, as a list shows it.
public struct DeletedListing: RecordListing, Equatable {
    /// The record.
    public let recordName: RecordName
    /// The title for people, such as a person's name, or the game and the time of a match on the clock of this machine.
    public let title: String?
    /// The names of those who played, if it is a match.
    public let players: [String]
    /// The time of the deletion, ISO 8601.
    public let deletedAt: String
    /// The machine that deleted it.
    public let machine: WritingMachine
    /// The id of the machine in its stamps.
    public let replica: ReplicaID
    /// How many records come back with it: those that went with it, and those that it needs.
    public let companions: Int
    /// The time until which the record can be restored for certain, ISO 8601. Machines forget a deletion later, when
    /// all of them know it.
    public let restorableUntil: String
    /// The name of its zone on this machine.
    public let zone: String

    private enum CodingKeys: String, CodingKey {
        case recordName, title, players, deletedAt, here, machine, replica, companions, restorableUntil, zone
    }

    /// Writes the keys `here`, whether this machine deleted it, and `machine`, the name of another machine, null if
    /// unknown.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(recordName, forKey: .recordName)
        try container.encode(title, forKey: .title)
        try container.encode(players, forKey: .players)
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
            let titles = RecordTitles(db, records, time)
            let machines = try writingMachines(db)
            return try titles.deleted(db, type: type, in: scope).map { record in
                DeletedListing(
                    recordName: record.name, title: try titles.title(of: record.name),
                    players: try titles.deletedPlayers(of: record.name),
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
