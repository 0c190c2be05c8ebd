import Foundation
import TestSupport
import Testing

/// Two stores compare all that they hold, at the price of what differs, and what was broken is mended.
@Suite(.takingTurns) struct VerifyTests {
    private struct Figures: Decodable {
        struct Finding: Decodable, Equatable {
            let recordName: String
            let kind: String
        }

        let mended: [Finding]
        let sent: [String]
        let received: [String]
        let sync: SyncFigures
    }

    @Test func aFirstMeetingCostsWhatDiffers() async throws {
        try await withTwoMachines { kitchen, study in
            for machine in [kitchen, study] { try await machine.importHousehold() }
            try await kitchen.addGame("Only in the kitchen")
            try await study.addGame("Only in the study")
            let listener = try await kitchen.listen(pair: true)
            let code = try #require(listener.code)
            let figures = try await study.json(
                SyncFigures.self, "connect", listener.address, "--code", code, "--once")
            #expect(figures.sent == 1 && figures.received == 1)
            // All 3,000 records take two hundred thousand.
            #expect(figures.bytes < 10_000)
            #expect(figures.records == Household.recordCount + 2)
            #expect(try kitchen.contents() == study.contents())
            #expect(try await study.sync(listener).bytes < 2048)
        }
    }

    @Test func equalStoresHaveNothingToMend() async throws {
        try await withHousehold { kitchen, study in
            let listener = try await kitchen.listen()
            let figures = try await study.json(Figures.self, "verify", listener.address)
            #expect(figures.mended.isEmpty && figures.sent.isEmpty && figures.received.isEmpty)
            #expect(figures.sync.bytes < 4096)
            #expect(try await study.peer("verify", listener.address).hasPrefix("no record differed\n"))
        }
    }

    @Test func whatWasBrokenIsFoundAndMendedAndNothingElse() async throws {
        try await withHousehold { kitchen, study in
            let unknown = try study.rows("SELECT recordName FROM SBPerson ORDER BY 1 LIMIT 2")
            let changed = try study.rows("SELECT recordName FROM SBGame ORDER BY 1 LIMIT 1")
            let missing = try study.rows("SELECT recordName FROM SBScore ORDER BY 1 LIMIT 3")
            let quoted = { (names: [String]) in names.map { "'\($0)'" }.joined(separator: ", ") }
            // Past the triggers, as a program may that drops them.
            try study.write(
                """
                DELETE FROM grdb_sync_remoteRecord WHERE remoteRecordID IN (\(quoted(unknown)));
                BEGIN;
                INSERT INTO grdb_sync_capturePause (id) VALUES (1);
                UPDATE SBGame SET year = 1234 WHERE recordName IN (\(quoted(changed)));
                DELETE FROM SBScore WHERE recordName IN (\(quoted(missing)));
                DELETE FROM grdb_sync_capturePause;
                COMMIT;
                """)
            #expect(try await study.run("status", "--check").exitCode == 65)

            let listener = try await kitchen.listen()
            let figures = try await study.json(Figures.self, "verify", listener.address)
            let found = Dictionary(grouping: figures.mended, by: \.kind)
                .mapValues { $0.map(\.recordName).sorted() }
            #expect(found == ["unknownRow": unknown, "changedRow": changed, "missingRow": missing])
            #expect(Set(figures.sent + figures.received) == Set(unknown + changed + missing))
            #expect(try kitchen.rows("SELECT COUNT(*) FROM SBGame WHERE year = 1234") == ["1"])
            #expect(try kitchen.contents() == study.contents())
            #expect(try await study.peer("status", "--check", "--verbose").hasPrefix("sound: digest"))
            let again = try await study.json(Figures.self, "verify", listener.address)
            #expect(again.mended.isEmpty && again.sent.isEmpty && again.received.isEmpty)
        }
    }

    @Test func theOtherMachineLooksAtItsRecordsToo() async throws {
        try await withHousehold { kitchen, study in
            let changed = try kitchen.rows("SELECT recordName FROM SBGame ORDER BY 1 LIMIT 1")
            let missing = try kitchen.rows("SELECT recordName FROM SBScore ORDER BY 1 LIMIT 1")
            try kitchen.write(
                """
                BEGIN;
                INSERT INTO grdb_sync_capturePause (id) VALUES (1);
                UPDATE SBGame SET year = 1234 WHERE recordName = '\(changed[0])';
                DELETE FROM SBScore WHERE recordName = '\(missing[0])';
                DELETE FROM grdb_sync_capturePause;
                COMMIT;
                """)
            let listener = try await kitchen.listen()
            let figures = try await study.json(Figures.self, "verify", listener.address)
            #expect(figures.mended.isEmpty)
            #expect(Set(figures.sent + figures.received) == Set(changed + missing))
            #expect(try study.rows("SELECT COUNT(*) FROM SBGame WHERE year = 1234") == ["1"])
            #expect(try kitchen.contents() == study.contents())
            let mended = try await listener.process.event("mended")
            #expect(mended.records == (changed + missing).sorted())
            #expect(try await kitchen.peer("status", "--check", "--verbose").hasPrefix("sound: digest"))
        }
    }

    @Test func unequalDigestsMendThemselvesInTheNextSync() async throws {
        try await withHousehold { kitchen, study in
            // The store is told that a record is there that is not.
            try study.write(
                "UPDATE grdb_sync_recordZone SET recordCount = recordCount + 1, digestSum = zeroblob(32)")
            #expect(try await study.run("status", "--check").exitCode == 65)
            let figures = try await study.sync(with: kitchen)
            #expect(figures.sent == 0 && figures.received == 0)
            #expect(figures.records == Household.recordCount)
            #expect(try await study.peer("status", "--check", "--verbose").hasPrefix("sound: digest"))
        }
    }

    @Test func unequalDigestsMendThemselvesInALiveSession() async throws {
        try await withPair { kitchen, study in
            try await kitchen.importHousehold()
            let listener = try await kitchen.listen()
            let caller = try await study.connect(to: listener)
            try await caller.event("inSync")
            try study.write("UPDATE grdb_sync_recordZone SET recordCount = recordCount + 1")
            try await caller.event("mended")
            try await eventually("equal digests") { try await haveEqualDigests(kitchen, study) }

            // Rows that are gone come back as soon as another program has noticed.
            try study.write(
                """
                BEGIN;
                INSERT INTO grdb_sync_capturePause (id) VALUES (1);
                DELETE FROM SBScore WHERE rowid % 100 = 0;
                DELETE FROM grdb_sync_capturePause;
                COMMIT;
                """)
            try await study.peer("status", "--check", "--repair")
            try await eventually("the scores", within: .seconds(90)) {
                try kitchen.contents() == study.contents()
            }
            #expect(try kitchen.rows("SELECT COUNT(*) FROM SBScore") == ["1013"])
            #expect(listener.process.isRunning && caller.isRunning)
        }
    }

    @Test func aPauseThatSomebodyLeftBehindEndsWithTheNextProgram() async throws {
        try await withPair { kitchen, study in
            try kitchen.write(
                """
                INSERT INTO grdb_sync_capturePause (id) VALUES (1);
                INSERT INTO SBGame (recordName, name) VALUES ('SBGame|~|1', 'Written unseen');
                """)
            try await kitchen.addGame("Written after")
            try await study.sync(with: kitchen)
            #expect(
                try study.rows("SELECT name FROM SBGame ORDER BY 1") == ["Written after", "Written unseen"])
        }
    }

    @Test func aStrangerIsNotComparedWith() async throws {
        try await withTwoMachines { kitchen, study in
            try await study.addGame("Catan")
            let listener = try await kitchen.listen()
            #expect(try await study.run("verify", listener.address).isSentence(77))
        }
    }
}
