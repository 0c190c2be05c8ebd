import PeerSyncStore

/// The schema of the simulated app, in two versions. The second has one more type and one more field, and other names for a
/// table and two columns.
///
/// The schema has every delete rule, a cycle of references, a type that several others refer to, and one that needs
/// two. Two types have files, one of them only in the second version. The keys are of all kinds (``SimulatedKeys``).
enum SimulatedSchema {
    static let sql = """
        CREATE TABLE Team (
            recordName TEXT NOT NULL PRIMARY KEY, title TEXT, modificationDate TEXT,
            captain BLOB REFERENCES Member (id)
                ON DELETE SET NULL ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED);
        CREATE INDEX Team_captain ON Team (captain);
        CREATE TABLE Member (
            id BLOB NOT NULL PRIMARY KEY, name TEXT, age INTEGER, modificationDate TEXT,
            team TEXT NOT NULL REFERENCES Team (recordName)
                ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED);
        CREATE INDEX Member_team ON Member (team);
        CREATE TABLE Note (
            id TEXT NOT NULL PRIMARY KEY, text TEXT, picture TEXT, modificationDate TEXT,
            member BLOB NOT NULL REFERENCES Member (id)
                ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED);
        CREATE INDEX Note_member ON Note (member);
        CREATE TABLE Seat (
            number INTEGER,
            team TEXT NOT NULL REFERENCES Team (recordName)
                ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED,
            member BLOB NOT NULL REFERENCES Member
                ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED,
            PRIMARY KEY (team, member));
        CREATE INDEX Seat_team ON Seat (team);
        CREATE INDEX Seat_member ON Seat (member);
        CREATE TABLE Fee (
            receipt INTEGER PRIMARY KEY, amount REAL, modificationDate TEXT,
            member BLOB NOT NULL REFERENCES Member (id)
                ON DELETE NO ACTION ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED);
        CREATE INDEX Fee_member ON Fee (member);
        """

    static let upgrade = """
        ALTER TABLE Note ADD COLUMN mood TEXT NOT NULL DEFAULT 'plain';
        CREATE TABLE Prize (
            recordName TEXT NOT NULL PRIMARY KEY, medal TEXT, picture TEXT, modificationDate TEXT,
            member BLOB NOT NULL REFERENCES Member (id)
                ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED);
        CREATE INDEX Prize_member ON Prize (member);
        ALTER TABLE Fee RENAME TO Due;
        ALTER TABLE Due RENAME COLUMN amount TO price;
        ALTER TABLE Seat RENAME COLUMN number TO place;
        """

    /// What a migration writes into the column that it has added.
    static let filling = "UPDATE Note SET mood = 'sad' WHERE id IN ('0', '%41')"

    /// A migration that makes a table anew, as GRDB recommends: it changes values, and mostly leaves out a row.
    static let rebuilding = """
        CREATE TABLE new_Due (
            receipt INTEGER PRIMARY KEY, price REAL, modificationDate TEXT,
            member BLOB NOT NULL REFERENCES Member (id)
                ON DELETE NO ACTION ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED);
        INSERT INTO new_Due
            SELECT receipt, CASE receipt WHEN -1 THEN 1000.5 ELSE price END, modificationDate, member
            FROM Due WHERE receipt <> 0 OR (SELECT COUNT(*) FROM Due) < 2;
        DROP TABLE Due;
        ALTER TABLE new_Due RENAME TO Due;
        CREATE INDEX Due_member ON Due (member);
        """

    static let first = try! schema(version: 1)
    static let second = try! schema(version: 2)

    private static func schema(version: Int) throws -> RecordSchema {
        let member = FieldDefinition("member", .reference(to: "Member", rule: .cascade, isRequired: true))
        let mood = version >= 2 ? [FieldDefinition("mood")] : []
        let picture = FieldDefinition("picture", .asset)
        let prize = version >= 2 ? [RecordType("Prize", [member, FieldDefinition("medal"), picture])] : []
        return try RecordSchema(
            [
                RecordType(
                    "Member",
                    [
                        FieldDefinition("team", .reference(to: "Team", rule: .cascade, isRequired: true)),
                        FieldDefinition("name"), FieldDefinition("age"),
                    ]),
                RecordType("Note", [member, FieldDefinition("text"), picture] + mood),
                RecordType(
                    "Seat",
                    [
                        FieldDefinition("team", .reference(to: "Team", rule: .cascade, isRequired: true)),
                        member,
                        version >= 2
                            ? FieldDefinition("place", formerName: "number") : FieldDefinition("number"),
                    ]),
                RecordType(
                    version >= 2 ? "Due" : "Fee",
                    [
                        FieldDefinition("member", .reference(to: "Member", rule: .deny, isRequired: true)),
                        version >= 2
                            ? FieldDefinition("price", formerName: "amount") : FieldDefinition("amount"),
                    ], areNumbersShared: true, formerName: version >= 2 ? "Fee" : nil),
                RecordType(
                    "Team",
                    [
                        FieldDefinition(
                            "captain", .reference(to: "Member", rule: .nullify, isRequired: false)),
                        FieldDefinition("title"),
                    ]),
            ] + prize)
    }

    /// The table of a type, as the simulated programs that write to it know it.
    struct Table {
        /// The type in names of records.
        let type: String
        let name: String
        /// Those of the first version come first, in the same order in each version.
        let columns: [String]
        let references: [(column: String, target: String, isRequired: Bool)]

        init(
            type: String, name: String? = nil, columns: [String],
            references: [(column: String, target: String, isRequired: Bool)]
        ) {
            self.type = type
            self.name = name ?? type
            self.columns = columns
            self.references = references
        }

        var isKeyMadeOfReferences: Bool {
            SimulatedKeys.columns(of: type).allSatisfy { column in references.contains { $0.column == column }
            }
        }
    }

    static func tables(version: Int) -> [Table] {
        let member = (column: "member", target: "Member", isRequired: true)
        let team = (column: "team", target: "Team", isRequired: true)
        let captain = (column: "captain", target: "Member", isRequired: false)
        let tables = [
            Table(type: "Team", columns: ["title"], references: [captain]),
            Table(type: "Member", columns: ["name", "age"], references: [team]),
            Table(
                type: "Note", columns: ["text", "picture"] + (version >= 2 ? ["mood"] : []),
                references: [member]),
            Table(type: "Seat", columns: [version >= 2 ? "place" : "number"], references: [team, member]),
            Table(
                type: "Fee", name: version >= 2 ? "Due" : "Fee",
                columns: [version >= 2 ? "price" : "amount"], references: [member]),
        ]
        return version >= 2
            ? tables + [Table(type: "Prize", columns: ["medal", "picture"], references: [member])] : tables
    }
}
