import GRDB
import PeerSync

/// Persons or games that became one with another: for each of them the one that is left.
///
/// The record that was merged stays, with the name of the other one in `mergedInto`. If it were deleted, a match that another machine
/// adds to it offline would bring it back. So each machine moves what still refers to it, whenever it reads or writes; all machines
/// come to the same, whichever does it first.
struct MergedRecords {
    /// The columns that refer to a kind, by table.
    private static let references: [RecordKind: [(table: String, column: String)]] = [
        .person: [("SBPlayer", "person")], .game: [("SBMatch", "game")],
    ]

    let kind: RecordKind
    private let survivors: [String: String]

    init(_ db: Database, _ kind: RecordKind) throws {
        self.kind = kind
        guard Self.references[kind] != nil else {
            survivors = [:]
            return
        }
        let rows = try Row.fetchAll(
            db, sql: "SELECT recordName, mergedInto FROM \(kind.recordType) WHERE mergedInto IS NOT NULL")
        guard !rows.isEmpty else {
            survivors = [:]
            return
        }
        // Other programs may write anything.
        let targets = rows.reduce(into: [String: String]()) { targets, row in
            guard let name = String.fromDatabaseValue(row[0]) else { return }
            targets[name] = String.fromDatabaseValue(row[1])
        }
        let present = Set(try String.fetchAll(db, sql: "SELECT recordName FROM \(kind.recordType)"))
        survivors = targets.keys.reduce(into: [:]) { survivors, name in
            let survivor = Self.survivor(of: name, targets, present)
            if survivor != name { survivors[name] = survivor }
        }
    }

    /// Follows the merges. In a circle, which two machines make when each merges the other way round, the smallest name is
    /// left. A record whose target was deleted stands for itself.
    private static func survivor(of name: String, _ targets: [String: String], _ present: Set<String>)
        -> String
    {
        var path = [name]
        while let next = targets[path[path.count - 1]], present.contains(next) {
            if let begin = path.firstIndex(of: next) { return path[begin...].min() ?? name }
            path.append(next)
        }
        return path[path.count - 1]
    }

    /// The records that became one with a record, directly or through others.
    func merged(into name: String) -> [String] {
        survivors.filter { $0.value == name }.map(\.key).sorted()
    }

    /// Whether a record became one with another.
    func contains(_ name: String) -> Bool { survivors[name] != nil }

    /// The record that is left of a record: itself if it was not merged.
    func survivor(of name: String) -> String { survivors[name] ?? name }

    /// A record that refers to a merged one.
    struct Reference {
        let recordName: String
        let table: String
        let column: String
        /// The merged record.
        let from: String
        /// The one that is left.
        let to: String
    }

    /// Everything that still refers to a merged record.
    func references(_ db: Database) throws -> [Reference] {
        try survivors.sorted { $0.key < $1.key }.flatMap { try Self.references(db, kind, $0, to: $1) }
    }

    /// Everything that refers to a record for which another one is left.
    static func references(_ db: Database, _ kind: RecordKind, _ name: String, to survivor: String) throws
        -> [Reference]
    {
        try (references[kind] ?? []).flatMap { table, column in
            try String.fetchAll(
                db.cachedStatement(sql: "SELECT recordName FROM \(table) WHERE \(column) = ?"),
                arguments: [name]
            ).map { Reference(recordName: $0, table: table, column: column, from: name, to: survivor) }
        }
    }

    /// Makes one of two records: writes into the one that goes which one is left, and gives that one what it lacks. The caller settles
    /// what refers to the one that goes.
    static func join(_ db: Database, _ kind: RecordKind, _ old: String, into new: String) throws {
        for columns in values(of: kind) {
            let list = columns.joined(separator: ", ")
            try db.execute(
                sql: """
                    UPDATE \(kind.recordType) SET (\(list)) = (SELECT \(list) FROM \(kind.recordType) WHERE recordName = ?1)
                    WHERE recordName = ?2 AND COALESCE(\(list), NULL) IS NULL
                    AND EXISTS (SELECT 1 FROM \(kind.recordType) WHERE recordName = ?1 AND COALESCE(\(list), NULL) IS NOT NULL)
                    """, arguments: [old, new])
        }
        try db.execute(
            sql: "UPDATE \(kind.recordType) SET mergedInto = ? WHERE recordName = ?", arguments: [new, old])
        // Otherwise an earlier merge the other way round would make a circle.
        try db.execute(
            sql:
                "UPDATE \(kind.recordType) SET mergedInto = NULL WHERE recordName = ? AND mergedInto IS NOT NULL",
            arguments: [new])
    }

    /// The columns of a kind that make one value each: of two persons' names nobody makes a third one.
    private static func values(of kind: RecordKind) -> [[String]] {
        let name = ["firstName", "lastName"]
        let columns = ScorebookSchema.columns.first { $0.key == kind.recordType }?.value.map(\.key) ?? []
        let single = columns.filter { $0 != "mergedInto" && !name.contains($0) }
        return (kind == .person ? [name] : []) + single.map { [$0] }
    }

    /// A match that two persons both played; nil if they may be one.
    static func sharedMatch(_ db: Database, _ one: String, _ other: String) throws -> RecordName? {
        try RecordName.fetchOne(
            db,
            sql: """
                SELECT match FROM SBPlayer WHERE person = ?
                INTERSECT SELECT match FROM SBPlayer WHERE person = ? LIMIT 1
                """, arguments: [one, other])
    }

    /// Returns a field that refers to the record that is left of the one to which it referred. It stays that of whoever wrote it. It is a
    /// little newer, by less than two milliseconds, the same on every machine, and still older than what anybody wrote since.
    static func moved(_ field: RecordField, to survivor: RecordName) -> RecordField {
        let version = DerivedName.hash([survivor.description]).low & 0xFFFF
        let time = HybridTime(rawValue: field.stamp.time.rawValue + 1 + version)
        return RecordField(
            name: field.name, value: .reference(survivor),
            stamp: Stamp(time: time, replica: field.stamp.replica))
    }

    /// Returns a state of a file that refers to what is left of persons and games that became one with others.
    static func settled(_ state: RecordState, _ merged: [MergedRecords]) throws -> RecordState {
        let fields = try state.fields.map { field in
            guard case .reference(let name) = field.value else { return field }
            let survivor = try RecordName(merged.reduce(name.description) { $1.survivor(of: $0) })
            return survivor == name ? field : moved(field, to: survivor)
        }
        return RecordState(name: state.name, fields: fields, deletion: state.deletion)
    }

    /// Lets records refer to the one that is left. What BoardGameGeek or BG Stats wrote stays theirs, and follows the next file: nobody
    /// has decided about the record here.
    static func settle(_ db: Database, _ records: RecordStore, _ references: [Reference]) throws {
        guard !references.isEmpty else { return }
        _ = try records.fold(db)
        var moved: [ZoneTarget: [RecordState]] = [:]
        for reference in references {
            if let name = try? RecordName(reference.recordName),
                let zone = try records.zones.find(db, of: name),
                let field = try records.state(db, of: name)?.field(reference.column),
                [BGStatsMapping.origin, BGGStamp.origin].contains(field.stamp.replica)
            {
                let field = Self.moved(field, to: try RecordName(reference.to))
                moved[.one(zone), default: []].append(RecordState(name: name, fields: [field]))
            } else {
                try db.execute(
                    sql: "UPDATE \(reference.table) SET \(reference.column) = ? WHERE recordName = ?",
                    arguments: [reference.to, reference.recordName])
            }
        }
        for (zone, states) in moved { _ = try records.merge(db, states, zone: zone) }
    }
}
