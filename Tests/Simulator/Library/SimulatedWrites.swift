import PeerSyncModel
import PeerSyncStore
import TestSupport

/// The writes of other programs to a machine's tables: statements drawn from a seed.
///
/// Names come from a small pool, so that machines write to the same records, insert the same names, and refer to
/// records that others are deleting.
enum SimulatedWrites {
    /// Records that refer to each other, and to no missing record.
    static func beginning(version: Int) -> [String] {
        [
            insert("Team", [(0, ["captain": ("Member", 0)]), (1, [:])]),
            insert(
                "Member",
                [(0, ["team": ("Team", 0)]), (1, ["team": ("Team", 0)]), (2, ["team": ("Team", 1)])]),
            insert(
                "Note", [0, 1, 2].map { ($0, ["member": ("Member", $0)]) },
                pictures: [SimulatedPictures.small, SimulatedPictures.small, SimulatedPictures.large]),
            insert("Seat", [(nil, ["team": ("Team", 0), "member": ("Member", 1)])]),
            insert("Seat", [(nil, ["team": ("Team", 1), "member": ("Member", 0)])]),
            insert("Fee", into: version >= 2 ? "Due" : "Fee", [(0, ["member": ("Member", 2)])]),
        ]
    }

    /// SQL that inserts records of the pool, each with its references.
    private static func insert(
        _ type: String, into table: String? = nil,
        _ records: [(number: Int?, references: [String: (String, Int)])],
        pictures: [Asset] = []
    ) -> String {
        let references = Set(records.flatMap(\.references.keys)).sorted()
        let key = records[0].number == nil ? [] : SimulatedKeys.columns(of: type)
        let rows = records.enumerated().map { index, record in
            let values =
                (record.number.map { SimulatedKeys.values(of: SimulatedKeys.name(type, $0)) } ?? [])
                + references.map { column in
                    record.references[column].map {
                        SimulatedKeys.reference(to: SimulatedKeys.name($0.0, $0.1))
                    } ?? "NULL"
                } + (pictures.isEmpty ? [] : ["'\(pictures[index].json)'"])
            return "(\(values.joined(separator: ", ")))"
        }
        let columns = key + references + (pictures.isEmpty ? [] : ["picture"])
        return
            "INSERT INTO \(table ?? type) (\(columns.joined(separator: ", "))) VALUES \(rows.joined(separator: ", "))"
    }

    /// The statements of one transaction.
    static func statements(_ replica: SimulatedReplica, _ random: inout SeededGenerator) throws -> [String] {
        var statements: [String] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let type = SimulatedSchema.tables(version: replica.version).randomElement(using: &random)!
            statements += try self.statements(type, replica, &random)
        }
        return statements
    }

    private static func statements(
        _ type: SimulatedSchema.Table, _ replica: SimulatedReplica, _ random: inout SeededGenerator
    ) throws -> [String] {
        let present = try replica.names(of: type.type)
        guard let name = present.randomElement(using: &random), !random.oneIn(3) else {
            let number = Int.random(in: 0..<SimulatedKeys.poolSize, using: &random)
            let new = type.isKeyMadeOfReferences ? nil : SimulatedKeys.name(type.type, number)
            return [try insert(type, new, replica, orIgnore: true, &random)]
        }
        let row = SimulatedKeys.condition(name)
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<5:
            let column = type.columns.randomElement(using: &random)!
            return ["UPDATE \(type.name) SET \(column) = \(value(column, replica, &random)) WHERE \(row)"]
        case 5:
            let reference = type.references.randomElement(using: &random)!
            let parent = try self.parent(
                reference.target, replica, isRequired: reference.isRequired, &random)
            // Of a key that is made of references, this makes another record.
            return ["UPDATE OR IGNORE \(type.name) SET \(reference.column) = \(parent) WHERE \(row)"]
        case 6, 7:
            return ["DELETE FROM \(type.name) WHERE \(row)"]
        case 8:
            return [
                "DELETE FROM \(type.name) WHERE \(row)",
                try insert(type, name, replica, orIgnore: false, &random),
            ]
        default:
            return [
                try insert(type, name, replica, orIgnore: false, &random).replacingFirst("INSERT", "REPLACE")
            ]
        }
    }

    private static func insert(
        _ type: SimulatedSchema.Table, _ name: String?, _ replica: SimulatedReplica, orIgnore: Bool,
        _ random: inout SeededGenerator
    ) throws -> String {
        var columns = name == nil ? [] : SimulatedKeys.columns(of: type.type)
        var values = name.map(SimulatedKeys.values) ?? []
        for column in type.columns where column == "mood" || !random.oneIn(3) {
            columns.append(column)
            values.append(value(column, replica, &random))
        }
        for reference in type.references where !columns.contains(reference.column) {
            columns.append(reference.column)
            values.append(
                try parent(reference.target, replica, isRequired: reference.isRequired, &random))
        }
        let verb = orIgnore ? "INSERT OR IGNORE" : "INSERT"
        return
            "\(verb) INTO \(type.name) (\(columns.joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")))"
    }

    /// Draws mostly a record that exists, and now and then one that does not, as programs without foreign keys may
    /// write.
    private static func parent(
        _ target: String, _ replica: SimulatedReplica, isRequired: Bool, _ random: inout SeededGenerator
    ) throws -> String {
        if !isRequired, random.oneIn(3) { return "NULL" }
        if !random.oneIn(8), let present = try replica.names(of: target).randomElement(using: &random) {
            return SimulatedKeys.reference(to: present)
        }
        let number = Int.random(in: 0..<SimulatedKeys.poolSize, using: &random)
        return SimulatedKeys.reference(to: SimulatedKeys.name(target, number))
    }

    private static func value(
        _ column: String, _ replica: SimulatedReplica, _ random: inout SeededGenerator
    ) -> String {
        switch column {
        case "picture": SimulatedPictures.value(on: replica, &random)
        case "age", "number", "place": "\(Int.random(in: 0...99, using: &random))"
        case "amount", "price": "\(Double(Int.random(in: 0...999, using: &random)) / 8)"
        case "mood": "'\(["glad", "sad"].randomElement(using: &random)!)'"
        default: random.oneIn(6) ? "NULL" : "'\(Int.random(in: 0...9999, using: &random))'"
        }
    }
}

extension String {
    fileprivate func replacingFirst(_ text: String, _ other: String) -> String {
        hasPrefix(text) ? other + dropFirst(text.count) : self
    }
}
