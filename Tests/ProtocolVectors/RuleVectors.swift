import GRDB
import RecordStore
import SyncModel

extension VectorFile {
    /// States of several records in, and what the rules between them make of those.
    static func rules() throws -> VectorFile {
        VectorFile(
            "rules.json",
            "What the rules that connect records make of the states that a replica holds, all taken in at once, in "
                + "whatever order. `after` has all states, `shown` the names of the records that are shown; the other "
                + "live ones, and the hollow ones, are held.",
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
                ("cases", .array(try ruleCases.map(describe))),
            ])
    }

    private struct Reference {
        let type: String
        let field: String
        let target: String
        let rule: DeleteRule
        let isRequired: Bool
    }

    private static let types = ["Author", "Shelf", "Book", "Loan", "Page"]

    private static let references = [
        Reference(type: "Book", field: "author", target: "Author", rule: .cascade, isRequired: true),
        Reference(type: "Book", field: "shelf", target: "Shelf", rule: .nullify, isRequired: false),
        Reference(type: "Loan", field: "book", target: "Book", rule: .deny, isRequired: true),
        Reference(type: "Page", field: "next", target: "Page", rule: .cascade, isRequired: false),
    ]

    // MARK: The store that says what comes of it

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

    /// The states after the rules, and the names of the records that are shown.
    package static func settle(_ states: [RecordState]) throws -> (after: [RecordState], shown: [String]) {
        let store = try store()
        return try store.database.write { db in
            _ = try store.merge(db, states)
            let names = Set(states.map(\.name)).sorted()
            let shown = try names.filter { name in
                try Bool.fetchOne(
                    db, sql: "SELECT EXISTS (SELECT 1 FROM \(name.recordType) WHERE recordName = ?)",
                    arguments: [name.description]) ?? false
            }
            return (try names.compactMap { try store.state(db, of: $0) }, shown.map(\.description))
        }
    }

    private static func describe(_ why: String, _ states: [RecordState]) throws -> JSON {
        let (after, shown) = try settle(states)
        return [
            "why": .string(why), "states": .array(states.map(JSON.state)),
            "after": .array(after.map(JSON.state)),
            "shown": .array(shown.map { .string($0) }),
        ]
    }

    // MARK: Cases

    private static func at(_ milliseconds: Int64) -> Stamp { Samples.stamp(milliseconds) }

    private static func record(
        _ name: String, _ references: [String: String] = [:], at stamp: Stamp, deletion: Stamp? = nil,
        revival: Stamp? = nil
    ) -> RecordState {
        let fields = references.mapValues { FieldValue.reference(Samples.name($0)) }
            .merging(["text": .text(name)]) { $1 }
        return Samples.state(
            name, fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value, stamp) }, deletion: deletion,
            revival: revival)
    }

    private static let author = "Author|~|1"
    private static let shelf = "Shelf|~|1"
    private static let book = "Book|~|1"

    private static func tombstone(_ name: String, at stamp: Stamp) -> RecordState {
        Samples.state(name, deletion: stamp)
    }

    package static var ruleCases: [(why: String, states: [RecordState])] {
        cascades + nullifications + revivals + held
    }

    private static var cascades: [(String, [RecordState])] {
        [
            (
                "what is older than the deletion goes along",
                [record(author, at: at(0), deletion: at(100)), record(book, ["author": author], at: at(50))]
            ),
            (
                "and what refers to that",
                [
                    tombstone(author, at: at(100)), record(book, ["author": author], at: at(50)),
                    record("Loan|~|1", ["book": book], at: at(60)),
                ]
            ),
            (
                "a write under the stamp of the deletion is not newer",
                [tombstone(author, at: at(100)), record(book, ["author": author], at: at(100))]
            ),
            (
                "deny is cascade when the deletion has happened elsewhere",
                [
                    record(book, ["author": author], at: at(0), deletion: at(100)), record(author, at: at(0)),
                    record("Loan|~|1", ["book": book], at: at(50)),
                ]
            ),
            (
                "a deletion that a newer write has ended takes what is older than it all the same",
                [
                    record(author, at: at(200), deletion: at(100)),
                    record(book, ["author": author], at: at(50)),
                    record("Book|~|2", ["author": author], at: at(150)),
                ]
            ),
            (
                "records that refer to each other in a circle",
                [
                    record("Page|~|1", ["next": "Page|~|2"], at: at(0)),
                    record("Page|~|2", ["next": "Page|~|3"], at: at(0)),
                    record("Page|~|3", ["next": "Page|~|1"], at: at(0), deletion: at(100)),
                ]
            ),
            (
                "a record that refers to itself",
                [record("Page|~|1", ["next": "Page|~|1"], at: at(0), deletion: at(100))]
            ),
            (
                "two references at once: one takes it along, the other becomes null",
                [
                    tombstone(author, at: at(100)), tombstone(shelf, at: at(200)),
                    record(book, ["author": author, "shelf": shelf], at: at(50)),
                ]
            ),
        ]
    }

    private static var nullifications: [(String, [RecordState])] {
        [
            (
                "a reference older than the deletion becomes null, under its own stamp",
                [
                    record(author, at: at(0)), tombstone(shelf, at: at(100)),
                    record(book, ["author": author, "shelf": shelf], at: at(50)),
                ]
            ),
            (
                "a reference newer than the deletion brings the record back",
                [
                    record(author, at: at(0)), record(shelf, at: at(0), deletion: at(100)),
                    record(book, ["author": author, "shelf": shelf], at: at(150)),
                ]
            ),
            (
                "another field that is newer does not",
                [
                    record(author, at: at(0)), tombstone(shelf, at: at(100)),
                    Samples.state(
                        book,
                        [
                            ("author", .reference(Samples.name(author)), at(50)),
                            ("shelf", .reference(Samples.name(shelf)), at(50)), ("text", .text("x"), at(150)),
                        ]),
                ]
            ),
            (
                "null also where the deletion was ended by a newer write",
                [
                    record(author, at: at(0)), record(shelf, at: at(200), deletion: at(100)),
                    record(book, ["author": author, "shelf": shelf], at: at(50)),
                ]
            ),
        ]
    }

    private static var revivals: [(String, [RecordState])] {
        [
            (
                "a child newer than the deletion brings its parent back whole",
                [record(author, at: at(0), deletion: at(100)), record(book, ["author": author], at: at(150))]
            ),
            (
                "and the parent of the parent",
                [
                    record(author, at: at(0), deletion: at(100)),
                    record(book, ["author": author], at: at(50), deletion: at(100)),
                    record("Loan|~|1", ["book": book], at: at(150)),
                ]
            ),
            (
                "but not its older siblings",
                [
                    record(author, at: at(0), deletion: at(100)),
                    record(book, ["author": author], at: at(150)),
                    record("Book|~|2", ["author": author], at: at(50)),
                ]
            ),
            (
                "where the parent's fields are elsewhere it is hollow, and the child is held",
                [tombstone(author, at: at(100)), record(book, ["author": author], at: at(150))]
            ),
            (
                "a revival by a newer circle",
                [
                    record("Page|~|1", ["next": "Page|~|2"], at: at(150)),
                    record("Page|~|2", ["next": "Page|~|1"], at: at(0), deletion: at(100)),
                ]
            ),
            (
                "what was revived by a record that was deleted since stays",
                [
                    record(author, at: at(0), deletion: at(100), revival: at(150)),
                    record(book, ["author": author], at: at(150), deletion: at(200)),
                ]
            ),
        ]
    }

    private static var held: [(String, [RecordState])] {
        [
            ("a parent that has not come", [record(book, ["author": author], at: at(0))]),
            (
                "and what needs the record that is held",
                [record(book, ["author": author], at: at(0)), record("Loan|~|1", ["book": book], at: at(0))]
            ),
            (
                "a reference that is none",
                [Samples.state(book, [("author", .text("nobody"), at(0)), ("text", .null, at(0))])]
            ),
            (
                "a reference to another type",
                [record(shelf, at: at(0)), record(book, ["author": shelf], at: at(0))]
            ),
            (
                "a required reference that is null, or missing",
                [
                    Samples.state(book, [("author", .null, at(0))]),
                    Samples.state("Loan|~|1", [("text", .text("x"), at(0))]),
                ]
            ),
            (
                "a circle is shown together",
                [
                    record("Page|~|1", ["next": "Page|~|2"], at: at(0)),
                    record("Page|~|2", ["next": "Page|~|1"], at: at(0)),
                ]
            ),
            (
                "or held together",
                [
                    record("Page|~|1", ["next": "Page|~|2"], at: at(0)),
                    record("Page|~|2", ["next": "Page|~|3"], at: at(0)),
                ]
            ),
        ]
    }
}
