import GRDB
import PeerSync

/// The zones in which no other machine takes what this one writes.
struct RefusedWrites {
    private let db: Database
    private let records: RecordStore
    /// The zones, each with the machines that refuse.
    private let zones: [(zone: Zone, machines: [String])]

    init(_ db: Database, _ records: RecordStore) throws {
        self.db = db
        self.records = records
        zones = try records.zones.all(db).map { ($0, try records.zones.machinesRefusingWrites(db, in: $0)) }
            .filter { !$0.1.isEmpty }
    }

    /// Whether nobody else takes a write to a record.
    func covers(_ name: String) throws -> Bool {
        guard !zones.isEmpty, let zone = try zone(of: name) else { return false }
        return zones.contains { $0.zone.id == zone.id }
    }

    /// - Throws: ``ScorebookError`` `readOnly` if nobody else takes a write to one of the records.
    func check(_ names: [String]) throws {
        guard !zones.isEmpty else { return }
        _ = try records.fold(db)
        for name in names {
            guard let zone = try zone(of: name), let found = zones.first(where: { $0.zone.id == zone.id })
            else { continue }
            let place = zone.isDefault ? "here" : "in the zone “\(Display.printable(zone.name))”"
            let machines = found.machines.map { Display.printable($0) }.joined(separator: ", ")
            throw ScorebookError(
                .readOnly, "this machine may only read \(place): \(machines) does not take what is written",
                hint: "`scorebook-peer peers grant` on \(machines) lets this machine write")
        }
    }

    private func zone(of name: String) throws -> Zone? {
        try records.zones.find(db, of: RecordName(name))
    }
}
