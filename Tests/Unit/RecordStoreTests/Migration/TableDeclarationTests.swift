import Testing

@testable import PeerSyncStore

/// A declaration changes at one place, and keeps every other byte.
struct TableDeclarationTests {
    @Test(arguments: [
        ("CREATE TABLE t (id INTEGER PRIMARY KEY)", "CREATE TABLE t (id BLOB PRIMARY KEY)"),
        ("CREATE TABLE t(a,id)", "CREATE TABLE t(a,id BLOB)"),
        ("CREATE TABLE t(\"ID\"PRIMARY KEY)", "CREATE TABLE t(\"ID\" BLOB PRIMARY KEY)"),
        ("CREATE TABLE t(id\"INT\"PRIMARY KEY)", "CREATE TABLE t(id BLOB PRIMARY KEY)"),
        (
            "CREATE TABLE \"a (id\" ('x' TEXT DEFAULT 'id, (', [id] UNSIGNED BIG INT(10, 2) NOT NULL) STRICT",
            "CREATE TABLE \"a (id\" ('x' TEXT DEFAULT 'id, (', [id] BLOB NOT NULL) STRICT"
        ),
        (
            "CREATE TABLE t (a TEXT CHECK (a <> 'id INTEGER,'), -- id INTEGER, the key\n /* ( */ `id` INTEGER\n)",
            "CREATE TABLE t (a TEXT CHECK (a <> 'id INTEGER,'), -- id INTEGER, the key\n /* ( */ `id` BLOB\n)"
        ),
        (
            "CREATE TABLE t (\"a\"\"b\" INT, id INTEGER, CHECK (id > 0), FOREIGN KEY (id) REFERENCES t (id))",
            "CREATE TABLE t (\"a\"\"b\" INT, id BLOB, CHECK (id > 0), FOREIGN KEY (id) REFERENCES t (id))"
        ),
        (
            "CREATE TABLE t (größe INT, id INT DEFAULT 1e-5)",
            "CREATE TABLE t (größe INT, id BLOB DEFAULT 1e-5)"
        ),
        (
            "CREATE TABLE t (primary_id INT, checked INT, id INT)",
            "CREATE TABLE t (primary_id INT, checked INT, id BLOB)"
        ),
    ])
    func onlyTheTypeOfTheColumnChanges(sql: String, expected: String) throws {
        var declaration = try #require(TableDeclaration(sql))
        let isDeclared = declaration.setType(of: "id", to: "BLOB")
        #expect(isDeclared && declaration.sql == expected)
    }

    @Test(arguments: [
        ("id INT DEFAULT 7 NOT NULL", "id BLOB DEFAULT (n) NOT NULL"),
        ("id INT DEFAULT -1.5e+3 NOT NULL", "id BLOB DEFAULT (n) NOT NULL"),
        ("id INT DEFAULT x'00' NOT NULL", "id BLOB DEFAULT (n) NOT NULL"),
        (
            "id INT CONSTRAINT d DEFAULT (abs((1)) + ')') NOT NULL",
            "id BLOB CONSTRAINT d DEFAULT (n) NOT NULL"
        ),
        ("id INT REFERENCES t ON DELETE SET DEFAULT", "id BLOB REFERENCES t ON DELETE SET DEFAULT"),
        ("id INT CHECK ('DEFAULT' <> (id))", "id BLOB CHECK ('DEFAULT' <> (id))"),
    ])
    func theDefaultOfAColumnIsReplaced(column: String, expected: String) throws {
        var declaration = try #require(TableDeclaration("CREATE TABLE t (\(column), b)"))
        let isDeclared = declaration.setType(of: "id", to: "BLOB", defaultSQL: "(n)")
        #expect(isDeclared && declaration.sql == "CREATE TABLE t (\(expected), b)")
    }

    @Test(arguments: [
        ("id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL", "id INTEGER PRIMARY KEY  NOT NULL"),
        ("id INTEGER, PRIMARY KEY (id autoincrement)", "id INTEGER, PRIMARY KEY (id )"),
        ("id INTEGER PRIMARY KEY, \"autoincrement\" INT", "id INTEGER PRIMARY KEY, \"autoincrement\" INT"),
    ])
    func autoincrementGoesWhereverItStands(body: String, expected: String) throws {
        var declaration = try #require(TableDeclaration("CREATE TABLE t (\(body))"))
        declaration.removeAutoincrement()
        #expect(declaration.sql == "CREATE TABLE t (\(expected))")
    }

    @Test(arguments: [
        ("a TEXT UNIQUE NOT NULL, b", "a", "a TEXT  NOT NULL, b"),
        ("a TEXT CONSTRAINT \"one, a\" UNIQUE ON CONFLICT REPLACE NOT NULL", "a", "a TEXT  NOT NULL"),
        ("a, b UNIQUE", "a", "a, b UNIQUE"),
        ("a, b, CONSTRAINT u UNIQUE (\"B\" COLLATE NOCASE, a DESC) ON CONFLICT IGNORE", "a b", "a, b "),
        (
            "a, b, UNIQUE (a), UNIQUE (a, b) -- both\n, CHECK (b)", "a b",
            "a, b, UNIQUE (a)  -- both\n, CHECK (b)"
        ),
        ("a, b, CHECK (a) UNIQUE (b)", "b", "a, b, CHECK (a) "),
        ("a, b, UNIQUE (a, b)", "a", "a, b, UNIQUE (a, b)"),
        ("a CHECK (a <> 'UNIQUE')", "a", "a CHECK (a <> 'UNIQUE')"),
    ])
    func uniqueGoesFromExactlyTheseColumns(body: String, columns: String, expected: String) throws {
        var declaration = try #require(TableDeclaration("CREATE TABLE t (\(body))"))
        declaration.removeUnique(on: columns.split(separator: " ").map(String.init))
        #expect(declaration.sql == "CREATE TABLE t (\(expected))")
    }

    @Test(
        arguments: [
            ("id INT, code TEXT GENERATED ALWAYS AS ('G' || ID) STORED", "code"),
            ("id INT, code AS (abs(\"id\"))", "code"),
            ("id INT, a AS (1), \"b\" AS ((id + 1))", "b"),
            ("id INT, code TEXT AS (doc ->> 'id'), doc TEXT", nil),
            ("id INT, code AS (x'id')", nil),
            ("id INT, code AS (id (made)), made TEXT", nil),
            ("id INT DEFAULT (1), code TEXT CHECK (id > 0)", nil),
        ] as [(String, String?)])
    func aGeneratedColumnFollowsFromTheColumnsThatItNames(body: String, expected: String?) throws {
        let declaration = try #require(TableDeclaration("CREATE TABLE t (\(body))"))
        #expect(declaration.generatedColumn(from: "id") == expected)
    }

    @Test(arguments: [
        "", "CREATE TABLE t", "CREATE TABLE t (a", "CREATE TABLE \"t (a)", "CREATE TABLE t (a /* )",
        "CREATE TABLE t (a DEFAULT '')')",
    ])
    func whatNeverEndsIsNotRead(sql: String) { #expect(TableDeclaration(sql) == nil) }
}
