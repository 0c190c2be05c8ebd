import GRDB
import PeerSyncModel
import PeerSyncRules
import PeerSyncStore

extension VectorFile {
    /// States of several records, and their consequences.
    static func rules() async throws -> VectorFile {
        var cases: [JSON] = []
        for entry in ruleCases { cases.append(try await describe(entry)) }
        return VectorFile(
            "rules.json",
            "What follows from the states that a replica holds, all taken in at once, in whatever order. `after` has all "
                + "states: they differ from `states` in revivals only. `shown` has the names of the records that are "
                + "shown, `hidden` those that are hidden, each with the deleted record that hides it, `held` those that "
                + "are held; the others are deleted. `empty` has the references that are empty in the row of a record "
                + "that is shown, although they are not in its state. `elsewhere` names the records that are not in the "
                + "zone of the others, but all in one other zone.",
            section: "9.2, 9.3",
            [
                (
                    "references",
                    .array(
                        references.map {
                            [
                                "type": .string($0.type), "field": .string($0.field),
                                "target": .string($0.target),
                                "rule": .string($0.rule.rawValue), "required": .bool($0.isRequired),
                            ]
                        })
                ),
                ("types", .array(types.map { .string($0) })),
                ("cases", .array(cases)),
            ])
    }

    private struct Reference {
        let type: String
        let field: String
        let target: String
        let rule: DeleteRule
        let isRequired: Bool
    }

    private static let types = ["Author", "Shelf", "Book", "Page", "Loan"]

    private static let references = [
        Reference(type: "Book", field: "author", target: "Author", rule: .cascade, isRequired: true),
        Reference(type: "Book", field: "shelf", target: "Shelf", rule: .nullify, isRequired: false),
        Reference(type: "Loan", field: "book", target: "Book", rule: .deny, isRequired: true),
        Reference(type: "Loan", field: "page", target: "Page", rule: .nullify, isRequired: false),
        Reference(type: "Page", field: "next", target: "Page", rule: .cascade, isRequired: false),
    ]

    // MARK: The store that computes the consequences

    private static func references(of type: String) -> [Reference] { references.filter { $0.type == type } }

    private static func table(_ type: String) -> String {
        let columns = references(of: type).map { reference in
            let action =
                reference.rule == .nullify ? "SET NULL" : reference.rule == .deny ? "NO ACTION" : "CASCADE"
            return """
                , \(reference.field) TEXT \(reference.isRequired ? "NOT NULL" : "") REFERENCES \(reference.target) (recordName)
                ON DELETE \(action) ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED
                """
        }
        let indexes = references(of: type).map {
            "CREATE INDEX \(type)_\($0.field) ON \(type) (\($0.field));"
        }
        return """
            CREATE TABLE \(type) (
                recordName TEXT NOT NULL PRIMARY KEY, text, modificationDate TEXT \(columns.joined()));
            \(indexes.joined())
            """
    }

    private static func store() throws -> RecordStore {
        let database = try DatabaseQueue()
        try database.write { db in
            for type in types { try db.execute(sql: table(type)) }
        }
        let schema = try RecordSchema(
            types.map { type in
                RecordType(
                    type,
                    references(of: type).map {
                        FieldDefinition(
                            $0.field, .reference(to: $0.target, rule: $0.rule, isRequired: $0.isRequired))
                    } + [FieldDefinition("text")])
            })
        return try RecordStore(database, schema: schema, replica: Samples.kitchen, now: { Samples.moment })
    }

    /// Merges the states of a case into a store, and reads their consequences.
    package static func outcome(of entry: RuleCase) async throws -> RuleOutcome {
        let store = try store()
        let elsewhere = try await store.zones.create("elsewhere")
        return try await store.database.write { [store] db in
            let (others, own) = entry.states.split { entry.elsewhere.contains($0.name.description) }
            _ = try store.merge(db, own)
            _ = try store.merge(db, others, zone: .one(elsewhere))
            var outcome = RuleOutcome()
            for name in Set(entry.states.map(\.name)).sorted() {
                guard let state = try store.state(db, of: name) else { continue }
                outcome.after.append(state)
                let status = try Int.fetchOne(
                    db, sql: "SELECT status FROM grdb_sync_remoteRecord WHERE remoteRecordID = ?",
                    arguments: [name.description])
                switch status {
                case 0:
                    outcome.shown.append(name.description)
                    outcome.empty += try empty(db, state)
                case 2: outcome.held.append(name.description)
                case 3: outcome.hidden[name.description] = ""
                default: break
                }
            }
            // A store does not keep which record hides another, because it follows from the states.
            let zones = entry.elsewhere
            for (name, seen) in try visibility(outcome.after, elsewhere: zones) {
                guard case .hidden(let by, _) = seen else { continue }
                outcome.hidden[name.description]? += by.description
            }
            return outcome
        }
    }

    private static func empty(_ db: Database, _ state: RecordState) throws -> [RuleOutcome.Reference] {
        try references(of: state.name.recordType).filter { reference in
            guard case .reference? = state.field(reference.field)?.value else { return false }
            return try String.fetchOne(
                db,
                sql: "SELECT \(reference.field) FROM \(state.name.recordType) WHERE recordName = ?",
                arguments: [state.name.description]) == nil
        }.map { RuleOutcome.Reference(record: state.name.description, field: $0.field) }
    }

    private static func visibility(_ states: [RecordState], elsewhere: Set<String>) throws
        -> [RecordName: Visibility]
    {
        let records = states.map { state in
            RuleRecord(
                name: state.name, zone: elsewhere.contains(state.name.description) ? 2 : 1, life: state.life,
                deletion: state.deletion, isErased: state.isErased, hasFields: !state.fields.isEmpty,
                references: !types.contains(state.name.recordType)
                    ? nil
                    : references(of: state.name.recordType).map { reference in
                        let field = state.field(reference.field)
                        let target: RuleRecord.Target =
                            switch field?.value {
                            case .null, nil: .none
                            case .reference(let name) where name.recordType == reference.target: .record(name)
                            default: .invalid
                            }
                        return RuleRecord.Reference(
                            rule: reference.rule, isRequired: reference.isRequired, target: target,
                            stamp: field?.stamp)
                    })
        }
        return try Visibility.of(Dictionary(uniqueKeysWithValues: records.map { ($0.name, $0) })) { _ in nil }
    }

    private static func describe(_ entry: RuleCase) async throws -> JSON {
        let outcome = try await outcome(of: entry)
        func names(_ names: some Sequence<String>) -> JSON { .array(names.map { .string($0) }) }
        var members: [(String, JSON)] = [
            ("why", .string(entry.why)), ("states", .array(entry.states.map(JSON.state))),
        ]
        if !entry.elsewhere.isEmpty { members.append(("elsewhere", names(entry.elsewhere.sorted()))) }
        let hidden = outcome.hidden.sorted { $0.key < $1.key }.map { name, by -> JSON in
            ["name": .string(name), "by": .string(by)]
        }
        let empty = outcome.empty.map { reference -> JSON in
            ["name": .string(reference.record), "field": .string(reference.field)]
        }
        members += [
            ("after", .array(outcome.after.map(JSON.state))), ("shown", names(outcome.shown)),
            ("hidden", .array(hidden)), ("held", names(outcome.held)), ("empty", .array(empty)),
        ]
        return .object(members)
    }
}

/// The consequences of the states of a case.
package struct RuleOutcome: Equatable, Sendable {
    package struct Reference: Hashable, Sendable {
        package let record: String
        package let field: String
    }

    package var after: [RecordState] = []
    package var shown: [String] = []
    /// The hidden records, each with the record that hides it.
    package var hidden: [String: String] = [:]
    package var held: [String] = []
    package var empty: [Reference] = []
}

extension Array {
    /// Splits the array into the elements for which something holds, and the others.
    fileprivate func split(_ isFirst: (Element) -> Bool) -> ([Element], [Element]) {
        (filter(isFirst), filter { !isFirst($0) })
    }
}
