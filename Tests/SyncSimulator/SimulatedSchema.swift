import RecordStore

/// The schema of the simulated app, in two versions: the second has a type and a field more.
///
/// It has every delete rule, a cycle of references, and a type that several others refer to.
enum SimulatedSchema {
    static let sql = """
        CREATE TABLE Team (
            recordName TEXT NOT NULL PRIMARY KEY, title TEXT, modificationDate TEXT,
            captain TEXT REFERENCES Member (recordName)
                ON DELETE SET NULL ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED);
        CREATE INDEX Team_captain ON Team (captain);
        CREATE TABLE Member (
            recordName TEXT NOT NULL PRIMARY KEY, name TEXT, age INTEGER, modificationDate TEXT,
            team TEXT NOT NULL REFERENCES Team (recordName)
                ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED);
        CREATE INDEX Member_team ON Member (team);
        CREATE TABLE Note (
            recordName TEXT NOT NULL PRIMARY KEY, text TEXT, modificationDate TEXT,
            member TEXT NOT NULL REFERENCES Member (recordName)
                ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED);
        CREATE INDEX Note_member ON Note (member);
        CREATE TABLE Fee (
            recordName TEXT NOT NULL PRIMARY KEY, amount REAL, modificationDate TEXT,
            member TEXT NOT NULL REFERENCES Member (recordName)
                ON DELETE NO ACTION ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED);
        CREATE INDEX Fee_member ON Fee (member);
        """

    static let upgrade = """
        ALTER TABLE Note ADD COLUMN mood TEXT NOT NULL DEFAULT 'plain';
        CREATE TABLE Prize (
            recordName TEXT NOT NULL PRIMARY KEY, medal TEXT, modificationDate TEXT,
            member TEXT NOT NULL REFERENCES Member (recordName)
                ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED);
        CREATE INDEX Prize_member ON Prize (member);
        """

    static func schema(version: Int) throws -> RecordSchema {
        let member = FieldDefinition("member", .reference(to: "Member", rule: .cascade, isRequired: true))
        let mood = version >= 2 ? [FieldDefinition("mood")] : []
        let prize = version >= 2 ? [RecordType("Prize", [member, FieldDefinition("medal")])] : []
        return try RecordSchema(
            [
                RecordType(
                    "Member",
                    [
                        FieldDefinition("team", .reference(to: "Team", rule: .cascade, isRequired: true)),
                        FieldDefinition("name"), FieldDefinition("age"),
                    ]),
                RecordType("Note", [member, FieldDefinition("text")] + mood),
                RecordType(
                    "Fee",
                    [
                        FieldDefinition("member", .reference(to: "Member", rule: .deny, isRequired: true)),
                        FieldDefinition("amount"),
                    ]),
                RecordType(
                    "Team",
                    [
                        FieldDefinition(
                            "captain", .reference(to: "Member", rule: .nullify, isRequired: false)),
                        FieldDefinition("title"),
                    ]),
            ] + prize)
    }

    /// The types of a version with their plain columns, their reference column and what it refers to.
    static func types(version: Int) -> [(
        type: String, columns: [String], reference: String?, target: String?
    )] {
        var types: [(type: String, columns: [String], reference: String?, target: String?)] = [
            ("Team", ["title"], "captain", "Member"),
            ("Member", ["name", "age"], "team", "Team"),
            ("Note", version >= 2 ? ["text", "mood"] : ["text"], "member", "Member"),
            ("Fee", ["amount"], "member", "Member"),
        ]
        if version >= 2 { types.append(("Prize", ["medal"], "member", "Member")) }
        return types
    }
}
