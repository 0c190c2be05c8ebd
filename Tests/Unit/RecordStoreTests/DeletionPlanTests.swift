import GRDB
import PeerSyncModel
import PeerSyncStore
import Testing

/// What goes with a record that several references of one other lead to.
struct DeletionPlanTests {
    /// A store with a team, and a match of it that holds three references to teams.
    private func store(_ match: String) async throws -> RecordStore {
        let database = try DatabaseQueue()
        try await database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE Team (recordName TEXT NOT NULL PRIMARY KEY, name TEXT, modificationDate TEXT);
                    CREATE TABLE Match (
                        recordName TEXT NOT NULL PRIMARY KEY, modificationDate TEXT,
                        home TEXT REFERENCES Team (recordName) ON DELETE CASCADE,
                        guest TEXT REFERENCES Team (recordName) ON DELETE NO ACTION,
                        winner TEXT REFERENCES Team (recordName) ON DELETE SET NULL);
                    """)
        }
        let reference = { (rule: DeleteRule) in
            FieldDefinition.Kind.reference(to: "Team", rule: rule, isRequired: false)
        }
        let schema = try RecordSchema([
            RecordType("Team", [FieldDefinition("name")]),
            RecordType(
                "Match",
                [
                    FieldDefinition("home", reference(.cascade)), FieldDefinition("guest", reference(.deny)),
                    FieldDefinition("winner", reference(.nullify)),
                ]),
        ])
        let store = try RecordStore(database, schema: schema, replica: ReplicaID(rawValue: 1))
        try await store.write { db in
            try db.execute(
                sql: """
                    INSERT INTO Team (recordName, name) VALUES ('Team|~|1', 'Reds'), ('Team|~|2', 'Blues');
                    INSERT INTO Match (recordName, home, guest, winner) VALUES ('Match|~|1', \(match));
                    """)
        }
        return store
    }

    private func steps(_ match: String) async throws -> [String] {
        let store = try await store(match)
        return try await store.write { db in
            try store.delete(db, RecordName("Team|~|1")).map(\.description)
        }
    }

    /// A record that denies is no obstacle when it goes with the deletion by another reference.
    @Test func whatGoesAnywayDeniesNothing() async throws {
        let steps = try await steps("'Team|~|1', 'Team|~|1', NULL")
        #expect(steps == ["delete Match|~|1 (home)", "delete Team|~|1"])
    }

    /// Nothing is emptied in a record that goes.
    @Test func whatGoesIsNotEmptied() async throws {
        let steps = try await steps("'Team|~|1', 'Team|~|2', 'Team|~|1'")
        #expect(steps == ["delete Match|~|1 (home)", "delete Team|~|1"])
    }

    @Test func whatDeniesStaysAndIsNamed() async throws {
        let store = try await store("'Team|~|2', 'Team|~|1', 'Team|~|1'")
        let error = await #expect(throws: RecordStoreError.self) {
            try await store.write { db in _ = try store.delete(db, RecordName("Team|~|1")) }
        }
        #expect(error?.code == .deletionDenied && error?.message.contains("Match|~|1") == true)
        let winner = try await store.database.read {
            try String.fetchOne($0, sql: "SELECT winner FROM Match")
        }
        #expect(winner == "Team|~|1")
    }

    @Test func whatStaysIsEmptied() async throws {
        let steps = try await steps("'Team|~|2', 'Team|~|2', 'Team|~|1'")
        #expect(steps == ["nullify Match|~|1 (winner)", "delete Team|~|1"])
    }
}
