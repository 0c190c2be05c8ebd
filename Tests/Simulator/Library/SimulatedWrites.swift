import RecordStore
import TestSupport

/// The writes of other programs to a machine's tables: statements drawn from a seed.
///
/// Names come from a small pool, so that machines write to the same records, insert the same names, and refer to
/// records that others are deleting.
enum SimulatedWrites {
    private static let poolSize = 4

    /// Records that refer to each other, and to no missing record.
    static let beginning = [
        "INSERT INTO Team (recordName, captain) VALUES ('Team|~|0', 'Member|~|0'), ('Team|~|1', NULL)",
        """
        INSERT INTO Member (recordName, team)
        VALUES ('Member|~|0', 'Team|~|0'), ('Member|~|1', 'Team|~|0'), ('Member|~|2', 'Team|~|1')
        """,
        """
        INSERT INTO Note (recordName, member, picture)
        VALUES ('Note|~|0', 'Member|~|0', '\(SimulatedPictures.small.json)'),
            ('Note|~|1', 'Member|~|1', '\(SimulatedPictures.small.json)'),
            ('Note|~|2', 'Member|~|2', '\(SimulatedPictures.large.json)')
        """,
        """
        INSERT INTO Seat (recordName, team, member)
        VALUES ('Seat|~|0', 'Team|~|0', 'Member|~|1'), ('Seat|~|1', 'Team|~|1', 'Member|~|0')
        """,
        "INSERT INTO Fee (recordName, member) VALUES ('Fee|~|0', 'Member|~|2')",
    ]

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
            let new = "\(type.type)|~|\(Int.random(in: 0..<poolSize, using: &random))"
            return [try insert(type, new, replica, orIgnore: true, &random)]
        }
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<5:
            let column = type.columns.randomElement(using: &random)!
            return [
                "UPDATE \(type.type) SET \(column) = \(value(column, replica, &random)) WHERE recordName = '\(name)'"
            ]
        case 5:
            let reference = type.references.randomElement(using: &random)!
            let parent = try self.parent(
                reference.target, replica, isRequired: reference.isRequired, &random)
            return ["UPDATE \(type.type) SET \(reference.column) = \(parent) WHERE recordName = '\(name)'"]
        case 6, 7:
            return ["DELETE FROM \(type.type) WHERE recordName = '\(name)'"]
        case 8:
            return [
                "DELETE FROM \(type.type) WHERE recordName = '\(name)'",
                try insert(type, name, replica, orIgnore: false, &random),
            ]
        default:
            return [
                try insert(type, name, replica, orIgnore: false, &random).replacingFirst("INSERT", "REPLACE")
            ]
        }
    }

    private static func insert(
        _ type: SimulatedSchema.Table, _ name: String, _ replica: SimulatedReplica, orIgnore: Bool,
        _ random: inout SeededGenerator
    ) throws -> String {
        var columns = ["recordName"]
        var values = ["'\(name)'"]
        for column in type.columns where column == "mood" || !random.oneIn(3) {
            columns.append(column)
            values.append(value(column, replica, &random))
        }
        for reference in type.references {
            columns.append(reference.column)
            values.append(
                try parent(reference.target, replica, isRequired: reference.isRequired, &random))
        }
        let verb = orIgnore ? "INSERT OR IGNORE" : "INSERT"
        return
            "\(verb) INTO \(type.type) (\(columns.joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")))"
    }

    /// Draws mostly a record that exists, and now and then one that does not, as programs without foreign keys may
    /// write.
    private static func parent(
        _ target: String, _ replica: SimulatedReplica, isRequired: Bool, _ random: inout SeededGenerator
    ) throws -> String {
        if !isRequired, random.oneIn(3) { return "NULL" }
        if !random.oneIn(8), let present = try replica.names(of: target).randomElement(using: &random) {
            return "'\(present)'"
        }
        return "'\(target)|~|\(Int.random(in: 0..<poolSize, using: &random))'"
    }

    private static func value(
        _ column: String, _ replica: SimulatedReplica, _ random: inout SeededGenerator
    ) -> String {
        switch column {
        case "picture": SimulatedPictures.value(on: replica, &random)
        case "age", "number": "\(Int.random(in: 0...99, using: &random))"
        case "amount": "\(Double(Int.random(in: 0...999, using: &random)) / 8)"
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
