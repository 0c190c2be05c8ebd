import Foundation
import GRDB
import TestSupport
import Testing

/// The files of a store are removed or replaced while a program has it open: that is noticed, what is open is saved, and
/// what others have written is left alone.
@Suite(.takingTurns) struct LostFilesTests {
    /// What was saved, by the names of its games.
    private func savedGames(of machine: Machine) throws -> [[String]] {
        let directory = machine.store.appendingPathComponent("backups")
        let files = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        return try files.sorted().map { file in
            try DatabaseQueue(path: directory.appendingPathComponent(file).path).read {
                try String.fetchAll($0, sql: "SELECT name FROM SBGame ORDER BY name")
            }
        }
    }

    // Apple's SQLite refuses to work with files that have gone.
    #if os(Linux)
        private func remove(_ suffixes: [String], of machine: Machine) throws {
            for suffix in suffixes {
                try FileManager.default.removeItem(atPath: machine.databaseFile.path + suffix)
            }
        }

        private func expectRescue(_ process: PeerProcess, _ machine: Machine) async throws {
            #expect(try await process.end() == 73, "\(process)")
            let errors = process.errors
            #expect(errors.contains("was removed or replaced while it was open"), "\(errors)")
            #expect(errors.contains(machine.store.path + "/backups/rescued-"), "\(errors)")
            #expect(errors.split(separator: "\n").count == 1, "\(errors)")
        }

        @Test(arguments: [["-wal", "-shm"], ["-wal"], ["-shm"]])
        func whoListensSavesWhatIsOpenWhenTheLogIsRemoved(suffixes: [String]) async throws {
            try await withMachine { kitchen in
                let listener = try await kitchen.listen()
                try await kitchen.addGame("Before")
                try remove(suffixes, of: kitchen)
                try await expectRescue(listener.process, kitchen)
                #expect(try savedGames(of: kitchen) == [["Before"]])
            }
        }

        @Test func whoIsConnectedSavesWhatIsOpen() async throws {
            try await withPair { kitchen, study in
                let listener = try await kitchen.listen()
                let connection = try await study.connect(to: listener)
                try await connection.event("inSync")
                try await study.addGame("Before")
                try remove(["-wal", "-shm"], of: study)
                try await expectRescue(connection, study)
                #expect(try savedGames(of: study) == [["Before"]])
                // The other machine is told goodbye, and goes on.
                #expect(try await listener.process.event("disconnected").reason == nil)
                #expect(listener.process.isRunning)
            }
        }

        /// Programs that open the store after its log was removed make a new one. It is theirs.
        @Test func whatOthersWroteSinceIsLeftAlone() async throws {
            try await withMachine { kitchen in
                // The tables are in the database itself, not in its log.
                try await kitchen.makeStore()
                let listener = try await kitchen.listen()
                try await kitchen.addGame("Before")
                // What it does before it notices would otherwise be a matter of milliseconds.
                listener.process.signal(SIGSTOP)
                try remove(["-wal", "-shm"], of: kitchen)
                for number in 1...20 {
                    try kitchen.write(
                        "INSERT INTO SBGame (recordName, name) VALUES ('SBGame|~|\(number)', 'After')")
                }
                listener.process.signal(SIGCONT)
                try await expectRescue(listener.process, kitchen)
                #expect(try savedGames(of: kitchen) == [["Before"]])
                #expect(try kitchen.rows("SELECT COUNT(*) FROM SBGame WHERE name = 'After'") == ["20"])
                #expect(try kitchen.isSound())
                // From now on the store is an ordinary one again.
                try await kitchen.addGame("Later")
                let next = try await kitchen.listen()
                try await next.stop()
                #expect(try await kitchen.status().records["SBGame"] == 21)
            }
        }

        /// Whoever is told to end may not have looked since the files went.
        @Test func whoIsToldToEndLooksOnceMore() async throws {
            try await withMachine { kitchen in
                let listener = try await kitchen.listen()
                try await kitchen.addGame("Before")
                listener.process.signal(SIGSTOP)
                try remove(["-wal", "-shm"], of: kitchen)
                listener.process.signal(SIGINT)
                listener.process.signal(SIGCONT)
                try await expectRescue(listener.process, kitchen)
                #expect(try savedGames(of: kitchen) == [["Before"]])
            }
        }

        @Test func aDatabaseThatWasReplacedIsSavedAndTheNewOneLeftAlone() async throws {
            try await withMachine { kitchen in
                try await kitchen.addGame("In both")
                let backup = kitchen.store.appendingPathComponent("backup.sqlite")
                try kitchen.write("VACUUM INTO '\(backup.path)'")
                let listener = try await kitchen.listen()
                try await kitchen.addGame("Before")
                listener.process.signal(SIGSTOP)
                try remove(["-wal", "-shm"], of: kitchen)
                #expect(rename(backup.path, kitchen.databaseFile.path) == 0)
                try kitchen.write("INSERT INTO SBGame (recordName, name) VALUES ('SBGame|~|1', 'After')")
                listener.process.signal(SIGCONT)
                try await expectRescue(listener.process, kitchen)
                #expect(listener.process.errors.contains("start again to use what is there now"))
                #expect(try savedGames(of: kitchen) == [["Before", "In both"]])
                #expect(try kitchen.rows("SELECT name FROM SBGame ORDER BY name") == ["After", "In both"])
                #expect(try kitchen.isSound())
            }
        }
    #endif

    /// SQLite's own work on these files is no loss.
    @Test func whatSQLiteDoesWithItsFilesIsNoLoss() async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            let connection = try await study.connect(to: listener)
            try await connection.event("inSync")
            for number in 1...5 {
                try await kitchen.addGame("Game \(number)")
                for sql in ["PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM", "PRAGMA optimize"] {
                    try kitchen.write(sql)
                    try study.write(sql)
                }
            }
            try await eventually("five games in the study") {
                try study.rows("SELECT COUNT(*) FROM SBGame") == ["5"]
            }
            try await listener.stop()
            #expect(try savedGames(of: kitchen).isEmpty && savedGames(of: study).isEmpty)
        }
    }
}
