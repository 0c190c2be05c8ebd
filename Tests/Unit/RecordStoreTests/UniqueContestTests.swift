import GRDB
import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSyncStore

/// UNIQUE beside the key: of several records with the same values, the one that was given them first has the row, on every
/// machine, and the others are held until the values are free.
struct UniqueContestTests {
    private static let create = """
        CREATE TABLE Tag (
            id TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE, shelf INTEGER, place INTEGER,
            parent TEXT REFERENCES Tag (id) ON DELETE SET NULL, UNIQUE (shelf, place));
        CREATE TABLE Item (
            id TEXT NOT NULL PRIMARY KEY, title TEXT, tag TEXT REFERENCES Tag (id) ON DELETE SET NULL,
            owner TEXT REFERENCES Tag (id) ON DELETE CASCADE, UNIQUE (tag, title));
        """

    /// A machine with tags whose names are unique.
    private final class Machine {
        let database: DatabaseQueue
        private(set) var store: RecordStore
        private let number: UInt64
        private let clock: SetClock

        init(_ number: UInt64, _ clock: SetClock, create: String = UniqueContestTests.create) throws {
            self.number = number
            self.clock = clock
            database = try DatabaseQueue()
            try database.write { try $0.execute(sql: create) }
            store = try Self.open(database, number, clock, holdsDuplicates: true)
        }

        private static func open(
            _ database: DatabaseQueue, _ number: UInt64, _ clock: SetClock, holdsDuplicates: Bool
        ) throws -> RecordStore {
            try RecordStore(
                database,
                tables: [
                    SyncedTable("Tag", holdsDuplicates: holdsDuplicates),
                    SyncedTable("Item", holdsDuplicates: true),
                ],
                replica: ReplicaID(rawValue: number), now: { clock.milliseconds })
        }

        func migrate(_ sql: String, holdsDuplicates: Bool = true) throws {
            try execute(sql)
            store = try Self.open(database, number, clock, holdsDuplicates: holdsDuplicates)
        }

        /// Each transaction comes a second after the last one on any machine.
        func execute(_ sql: String) throws {
            clock.milliseconds += 1000
            try database.write { try $0.execute(sql: sql) }
        }

        var states: [RecordState] {
            get throws {
                try database.write { db in
                    _ = try store.fold(db)
                    var states: [RecordState] = []
                    try store.listing.forEachState(db) { states.append($0) }
                    return states
                }
            }
        }

        func take(_ states: [RecordState]) throws {
            _ = try database.write { try store.merge($0, states) }
        }

        func rows(_ sql: String = "SELECT id, name FROM Tag ORDER BY id") throws -> [String] {
            try database.read { db in
                try Row.fetchAll(db, sql: sql).map { row in
                    row.databaseValues.map { $0.isNull ? "-" : "\($0.storage.value!)" }.joined(separator: "|")
                }
            }
        }

        var everything: [String] {
            get throws {
                try rows("SELECT id, name, shelf, place, parent FROM Tag ORDER BY id")
                    + rows("SELECT id, title, tag, owner FROM Item ORDER BY id")
            }
        }

        var held: [String: HeldReason] {
            get throws {
                try database.read { db in
                    try Dictionary(
                        uniqueKeysWithValues: store.listing.held(db).map {
                            ($0.name, try #require($0.waitsFor))
                        })
                }
            }
        }

        var isSound: Bool {
            get throws {
                try database.write { db in
                    _ = try store.fold(db)
                    return try store.upkeep.check(db).isSound
                }
            }
        }
    }

    private let clock = SetClock(1_800_000_000_000)
    private let a: Machine
    private let b: Machine

    init() throws {
        a = try Machine(1, clock)
        b = try Machine(2, clock)
    }

    private func sync() throws {
        for _ in 0..<2 {
            try b.take(a.states)
            try a.take(b.states)
        }
        #expect(try a.everything == b.everything)
        #expect(try a.held == b.held)
        #expect(try a.isSound && b.isSound)
    }

    /// Two machines choose the same name, the first one earlier.
    private func collide() throws {
        try a.execute("INSERT INTO Tag (id, name) VALUES ('1', 'home')")
        try b.execute("INSERT INTO Tag (id, name) VALUES ('2', 'Home')")
        try sync()
    }

    @Test func theEarlierOneIsShownAndTheLaterOneIsNamed() throws {
        try collide()
        #expect(try a.rows() == ["1|home"])
        #expect(try a.held == ["Tag|~|2": .values(columns: ["name"], holder: RecordName("Tag|~|1"))])
    }

    @Test func theEarlierOneWinsOnTheMachineThatHasTheLaterOne() throws {
        try b.execute("INSERT INTO Tag (id, name) VALUES ('1', 'home')")
        try a.execute("INSERT INTO Tag (id, name) VALUES ('2', 'home')")
        try sync()
        #expect(try a.rows() == ["1|home"])
    }

    @Test(arguments: [
        "UPDATE Tag SET name = 'work' WHERE id = '1'", "DELETE FROM Tag WHERE id = '1'",
        "UPDATE Tag SET id = '3', name = 'work' WHERE id = '1'",
    ])
    func whenTheValueIsFreeTheLaterOneComes(sql: String) throws {
        try collide()
        try a.execute(sql)
        try sync()
        #expect(try b.rows("SELECT id, name FROM Tag WHERE name = 'home'") == ["2|Home"])
        #expect(try a.held.isEmpty)
    }

    @Test func aDeletionOfTheEarlierOneIsTakenBack() throws {
        try collide()
        try a.execute("DELETE FROM Tag WHERE id = '1'")
        try sync()
        #expect(try a.rows() == ["2|Home"])
        _ = try a.database.write { try a.store.restore($0, RecordName("Tag|~|1")) }
        try sync()
        #expect(try a.rows() == ["1|home"])
    }

    @Test func whatRefersToTheLaterOneWaitsOrIsEmpty() throws {
        try a.execute("INSERT INTO Tag (id, name) VALUES ('1', 'home')")
        try b.execute(
            """
            INSERT INTO Tag (id, name) VALUES ('2', 'home');
            INSERT INTO Item VALUES ('1', 'Milk', '2', NULL), ('2', 'Bread', NULL, '2');
            """)
        try sync()
        #expect(try b.rows("SELECT id, tag, owner FROM Item") == ["1|-|-"])
        #expect(try b.held["Item|~|2"] == .record(RecordName("Tag|~|2")))
        try a.execute("UPDATE Tag SET name = 'work' WHERE id = '1'")
        try sync()
        #expect(try a.rows("SELECT id, tag, owner FROM Item ORDER BY id") == ["1|2|-", "2|-|2"])
    }

    /// A write of the same value counts: it makes the value later.
    @Test func aValueThatIsWrittenAnewComesLater() throws {
        try collide()
        try a.execute(
            "UPDATE Tag SET name = 'Work' WHERE id = '1'; UPDATE Tag SET name = 'home' WHERE id = '1'")
        try sync()
        #expect(try a.rows() == ["2|Home"])
    }

    @Test func twoThatExchangeTheirValuesBothStay() throws {
        try a.execute("INSERT INTO Tag (id, name, shelf, place) VALUES ('1', 'x', 1, 1), ('2', 'y', 1, 2)")
        try sync()
        try a.execute(
            """
            UPDATE Tag SET name = 'z', place = NULL WHERE id = '1';
            UPDATE Tag SET name = 'x', place = 1 WHERE id = '2';
            UPDATE Tag SET name = 'y', place = 2 WHERE id = '1';
            """)
        try sync()
        #expect(try b.rows("SELECT id, name, place FROM Tag ORDER BY id") == ["1|y|2", "2|x|1"])
    }

    @Test func emptyValuesNeverMeet() throws {
        try a.execute("INSERT INTO Tag (id, name, shelf) VALUES ('1', 'x', 1)")
        try b.execute("INSERT INTO Tag (id, name, shelf) VALUES ('2', 'y', 1)")
        try sync()
        #expect(try a.rows().count == 2)
    }

    /// The third waits for the second, which loses its own row to the first.
    @Test func whoLosesMakesRoomForOthers() throws {
        try a.execute("INSERT INTO Tag (id, name, shelf, place) VALUES ('1', 'x', 9, 9)")
        try b.execute("INSERT INTO Tag (id, name, shelf, place) VALUES ('2', 'x', 1, 1)")
        let c = try Machine(3, clock)
        try c.execute("INSERT INTO Tag (id, name, shelf, place) VALUES ('3', 'y', 1, 1)")
        try b.take(c.states)
        #expect(try b.rows() == ["2|x"])
        try b.take(a.states)
        #expect(try b.rows() == ["1|x", "3|y"])
        try sync()
    }

    /// In one batch, a record loses to one that loses its own row after it.
    @Test func whoLostToALoserIsShown() throws {
        try a.execute("INSERT INTO Tag (id, name) VALUES ('1', 'x')")
        try b.execute("INSERT INTO Tag (id, name, shelf, place) VALUES ('2', 'x', 1, 1)")
        let c = try Machine(3, clock)
        try c.execute("INSERT INTO Tag (id, name, shelf, place) VALUES ('3', 'y', 1, 1)")
        try b.take(c.states + a.states)
        #expect(try b.rows() == ["1|x", "3|y"])
    }

    @Test func aReferenceThatBecomesEmptyFreesItsValues() throws {
        try a.execute("INSERT INTO Tag (id, name) VALUES ('1', 'home')")
        try b.execute(
            "INSERT INTO Tag (id, name) VALUES ('2', 'home'); INSERT INTO Item (id, title, tag) VALUES ('1', 'Milk', '2')"
        )
        let c = try Machine(3, clock)
        try c.take(b.states)
        try c.execute("DELETE FROM Item; INSERT INTO Item (id, title, tag) VALUES ('2', 'Milk', '2')")
        try b.take(c.states.filter { $0.name.suffix == "2" })
        #expect(
            try b.held == ["Item|~|2": .values(columns: ["tag", "title"], holder: RecordName("Item|~|1"))])
        try b.take(a.states)
        #expect(try b.rows("SELECT id, tag FROM Item ORDER BY id") == ["1|-", "2|-"])
        try a.execute("UPDATE Tag SET name = 'work'")
        try b.take(a.states)
        #expect(try b.rows("SELECT id, tag FROM Item ORDER BY id") == ["1|2"])
        #expect(try b.isSound)
    }

    @Test func withoutTheIndexAllAreShown() throws {
        let create = """
            CREATE TABLE Tag (id TEXT NOT NULL PRIMARY KEY, name TEXT);
            CREATE UNIQUE INDEX tagName ON Tag (name);
            CREATE TABLE Item (id TEXT NOT NULL PRIMARY KEY, title TEXT UNIQUE);
            """
        let c = try Machine(3, clock, create: create)
        let d = try Machine(4, clock, create: create)
        try c.execute("INSERT INTO Tag VALUES ('1', 'x')")
        try d.execute("INSERT INTO Tag VALUES ('2', 'x')")
        try d.take(c.states)
        #expect(try d.rows() == ["1|x"])
        try d.migrate("DROP INDEX tagName", holdsDuplicates: false)
        #expect(try d.rows() == ["1|x", "2|x"])
        #expect(try d.isSound)
    }

    @Test func withoutUniqueInTheTableAllAreShown() throws {
        try collide()
        for machine in [a, b] {
            try machine.migrate(
                """
                PRAGMA defer_foreign_keys = ON;
                CREATE TABLE new (
                    id TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, shelf INTEGER, place INTEGER,
                    parent TEXT REFERENCES new (id) ON DELETE SET NULL);
                INSERT INTO new SELECT * FROM Tag;
                DROP TABLE Tag;
                ALTER TABLE new RENAME TO Tag;
                """, holdsDuplicates: false)
        }
        #expect(try a.rows() == ["1|home", "2|Home"])
        try sync()
    }

    /// SQLite fires no DELETE trigger for a row that REPLACE removes.
    @Test(arguments: [
        "INSERT OR REPLACE INTO Tag (id, name) VALUES ('9', 'home')",
        "UPDATE OR REPLACE Tag SET name = 'HOME' WHERE id = '9'",
    ])
    func whatIsReplacedIsDeletedEverywhere(sql: String) throws {
        try a.execute("INSERT INTO Tag (id, name) VALUES ('1', 'home'), ('9', 'work')")
        try sync()
        try a.execute(sql)
        try sync()
        #expect(try b.rows("SELECT id FROM Tag") == ["9"])
        #expect(try b.states.first { $0.name.suffix == "1" }?.isLive == false)
    }

    @Test func whatIsNotReplacedStays() throws {
        try a.execute("INSERT INTO Tag (id, name) VALUES ('1', 'home')")
        try sync()
        let before = try a.states
        try a.execute(
            """
            INSERT OR IGNORE INTO Tag (id, name) VALUES ('9', 'home');
            INSERT INTO Tag (id, name) VALUES ('9', 'home') ON CONFLICT (name) DO NOTHING;
            """)
        #expect(try a.states == before)
        try sync()
        #expect(try b.rows() == ["1|home"])
    }

    /// A declaration may say what SQLite does with a duplicate, and a CHECK may refuse the value that makes room.
    @Test(arguments: [
        "name TEXT UNIQUE ON CONFLICT REPLACE", "name TEXT UNIQUE ON CONFLICT IGNORE",
        "name TEXT UNIQUE ON CONFLICT ROLLBACK", "name TEXT NOT NULL UNIQUE CHECK (length(name) < 20)",
        "name TEXT NOT NULL UNIQUE COLLATE nocase CHECK (length(name) < 20)",
    ])
    func theDeclarationDoesNotDecide(column: String) throws {
        let create = """
            CREATE TABLE Tag (id TEXT NOT NULL PRIMARY KEY, \(column));
            CREATE TABLE Item (id TEXT NOT NULL PRIMARY KEY, title TEXT UNIQUE);
            """
        let c = try Machine(3, clock, create: create)
        let d = try Machine(4, clock, create: create)
        try c.execute("INSERT INTO Tag VALUES ('2', 'home')")
        try d.execute("INSERT INTO Tag VALUES ('1', 'home'), ('3', 'work')")
        let (first, second) = try (c.states, d.states)
        try c.take(second)
        try d.take(first)
        #expect(try c.rows() == ["2|home", "3|work"])
        #expect(try d.rows() == ["2|home", "3|work"])
        #expect(try c.isSound && d.isSound)
        try c.execute(
            "UPDATE Tag SET name = 'x' WHERE id = '2'; UPDATE Tag SET name = 'home' WHERE id = '3'; UPDATE Tag SET name = 'work' WHERE id = '2'"
        )
        try d.take(c.states)
        #expect(try d.rows() == c.rows())
        #expect(try d.isSound)
    }

    /// However the records come, one by one or together, the same are shown.
    @Test(arguments: 0..<30) func theOrderOfArrivalDoesNotMatter(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed + 1000)
        let stamps = (1...7).map {
            Stamp(time: HybridTime(milliseconds: 1_700_000_000_000 + $0), replica: ReplicaID(rawValue: 7))
        }
        let states = try stamps.enumerated().map { number, stamp in
            RecordState(
                name: try RecordName("Tag|~|\(number)"),
                fields: [
                    RecordField(
                        name: "name", value: .text(String("abc".randomElement(using: &random)!)), stamp: stamp
                    ),
                    RecordField(
                        name: "place", value: .integer(Int64.random(in: 1...3, using: &random)), stamp: stamp),
                    RecordField(name: "shelf", value: .integer(1), stamp: stamp),
                ])
        }
        try a.take(states)
        for _ in 0..<6 {
            let machine = try Machine(3, clock)
            var left = states.shuffled(using: &random)
            while !left.isEmpty {
                let count = Int.random(in: 1...left.count, using: &random)
                try machine.take(Array(left.prefix(count)))
                left.removeFirst(count)
            }
            #expect(try machine.rows() == a.rows())
        }
    }

    /// A record that its table refuses again keeps references to it empty.
    @Test func whatIsRefusedAgainIsStillOutOfSight() throws {
        try a.execute("INSERT INTO Tag (id, name) VALUES ('1', 'x')")
        try sync()
        try b.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON Tag WHEN NEW.name LIKE 'bad%' BEGIN SELECT RAISE(ABORT, 'bad'); END"
        )
        try a.execute(
            "INSERT INTO Tag (id, name) VALUES ('2', 'bad'); INSERT INTO Item VALUES ('1', 'Milk', '2', NULL)"
        )
        try b.take(a.states)
        #expect(try b.rows("SELECT id, tag FROM Item") == ["1|-"])
        try a.execute("UPDATE Tag SET name = 'bad, too' WHERE id = '2'")
        try b.take(a.states)
        #expect(try b.rows("SELECT id, tag FROM Item") == ["1|-"])
        #expect(try b.held == ["Tag|~|2": .fields])
        try a.execute("UPDATE Tag SET name = 'good' WHERE id = '2'")
        try sync()
        #expect(try b.rows("SELECT id, tag FROM Item") == ["1|2"])
    }

    @Test(arguments: [
        ("Tag (id TEXT PRIMARY KEY, name TEXT)", "Tag has no UNIQUE index beside its key"),
        (
            "Tag (id TEXT PRIMARY KEY, name TEXT); CREATE UNIQUE INDEX i ON Tag (name) WHERE name > 'a'",
            "index i"
        ),
        ("Tag (id TEXT PRIMARY KEY, name TEXT); CREATE UNIQUE INDEX i ON Tag (upper(name))", "index i"),
        ("Tag (id TEXT, n TEXT UNIQUE, name TEXT, PRIMARY KEY (id, n))", "only columns of the key"),
        (
            "Tag (id TEXT PRIMARY KEY, name TEXT UNIQUE, parent TEXT REFERENCES Tag ON DELETE CASCADE)",
            "need others of them, by parent"
        ),
        (
            "Tag (id TEXT PRIMARY KEY, name TEXT, parent TEXT REFERENCES Tag ON DELETE SET NULL, UNIQUE (parent, name))",
            "need others of them, by parent"
        ),
    ])
    func whatIsNotCertainIsRefused(table: String, reason: String) throws {
        let database = try DatabaseQueue()
        try database.write { try $0.execute(sql: "CREATE TABLE \(table)") }
        #expect {
            try RecordStore(
                database, tables: [SyncedTable("Tag", holdsDuplicates: true)], replica: ReplicaID(rawValue: 1)
            )
        } throws: { error in
            (error as? RecordStoreError)?.message.contains(reason) == true
        }
    }

    /// Of random writes on three machines, each machine shows the same, in whatever order they come to it.
    @Test(arguments: 0..<40) func allMachinesShowTheSame(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let machines = try [a, b, Machine(3, clock)]
        for _ in 0..<60 {
            let machine = machines.randomElement(using: &random)!
            if random.next() % 4 == 0 {
                let other = machines.randomElement(using: &random)!
                try machine.take(other.states.shuffled(using: &random))
            } else {
                let id = Int.random(in: 0..<6, using: &random)
                let other = Int.random(in: 0..<6, using: &random)
                let name = "abcd".randomElement(using: &random)!
                let sql = [
                    "INSERT OR IGNORE INTO Tag (id, name, shelf, place) VALUES ('\(id)', '\(name)', 1, \(other))",
                    "UPDATE OR IGNORE Tag SET name = upper('\(name)') WHERE id = '\(id)'",
                    "UPDATE OR IGNORE Tag SET place = \(other % 3) WHERE id = '\(id)'",
                    "UPDATE Tag SET parent = (SELECT id FROM Tag WHERE id = '\(other)') WHERE id = '\(id)'",
                    "INSERT OR IGNORE INTO Item SELECT '\(other)', '\(name)', id, NULL FROM Tag WHERE id = '\(id)'",
                    "UPDATE OR IGNORE Item SET title = '\(name)' WHERE id = '\(other)'",
                    "UPDATE Item SET owner = (SELECT id FROM Tag WHERE id = '\(id)') WHERE id = '\(other)'",
                    "DELETE FROM Tag WHERE id = '\(id)'",
                ].randomElement(using: &random)!
                try machine.execute(sql)
            }
        }
        for _ in 0..<2 {
            for machine in machines {
                for other in machines { try machine.take(other.states.shuffled(using: &random)) }
            }
        }
        for machine in machines[1...] {
            #expect(try machine.everything == machines[0].everything)
            #expect(try machine.held == machines[0].held)
        }
        for machine in machines { #expect(try machine.isSound) }
    }
}
