import Foundation
import TestSupport
import Testing

/// Machines that stay connected pass each change on when it happens, and find each other again.
@Suite(.takingTurns) struct LiveTests {
    @Test func changesOfEveryProgramArriveAtTheOther() async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            let connection = try await study.connect(to: listener)
            try await kitchen.addGame("Added by command in the kitchen")
            try await study.addGame("Added by command in the study")
            try kitchen.write(
                "INSERT INTO SBGame (recordName, name) VALUES ('SBGame|~|k', 'Added by SQL in the kitchen')")
            try study.write(
                "INSERT INTO SBGame (recordName, name) VALUES ('SBGame|~|s', 'Added by SQL in the study')")
            let names = [
                "Added by SQL in the kitchen", "Added by SQL in the study", "Added by command in the kitchen",
                "Added by command in the study",
            ]
            for machine in [kitchen, study] {
                try await eventually("four games in the \(machine.name)") {
                    try machine.rows("SELECT name FROM SBGame ORDER BY name") == names
                }
            }
            try kitchen.write("UPDATE SBGame SET name = 'Changed by SQL' WHERE recordName = 'SBGame|~|s'")
            try await kitchen.peer("game", "delete", "SBGame|~|k", "--yes")
            try await eventually("the change and the deletion in the study") {
                try study.rows(
                    "SELECT name FROM SBGame WHERE recordName IN ('SBGame|~|s', 'SBGame|~|k')") == [
                        "Changed by SQL"
                    ]
            }
            try await eventually("equal digests") { try await haveEqualDigests(kitchen, study) }
            #expect(listener.process.isRunning && connection.isRunning)
        }
    }

    @Test func aLargeImportArrivesWhileConnected() async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            _ = try await study.connect(to: listener)
            try await study.importHousehold()
            // What was written together comes together: nobody sees matches without their scores.
            var seen: Set<String> = []
            try await eventually("the household in the kitchen") {
                let counts = try kitchen.rows(
                    "SELECT (SELECT COUNT(*) FROM SBMatch), (SELECT COUNT(*) FROM SBScore)")
                seen.formUnion(counts)
                return counts != ["0|0"]
            }
            #expect(seen.isSubset(of: ["0|0", "400|1013"]))
            try await eventually("equal digests") { try await haveEqualDigests(kitchen, study) }
            #expect(try kitchen.contents() == study.contents())
        }
    }

    @Test func bothTellThatTheyAreInSync() async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            let connection = try await study.connect(to: listener)
            for process in [listener.process, connection] { try await process.event("inSync") }
            try await kitchen.addGame("Catan")
            let digest = try await kitchen.digest()
            for process in [listener.process, connection] {
                try await eventually("the new digest from \(process)") {
                    try process.events("inSync").contains { $0.sync?.digest == digest }
                }
            }
            for machine in [kitchen, study] {
                let peer = try #require(try await machine.status().peers.first)
                #expect(peer.connected && peer.lastSync != nil && peer.behind == 0)
            }
        }
    }

    @Test func theCallerFindsAListenerThatWasKilledAgain() async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            let connection = try await study.connect(to: listener)
            try await connection.event("inSync")
            listener.process.signal(SIGKILL)
            #expect(try await listener.process.end() == -SIGKILL)
            try await connection.event("retrying")
            #expect(try await !study.status().peers[0].connected)
            #expect(try await !kitchen.status().peers[0].connected)
            try await kitchen.addGame("Written meanwhile")
            try await study.addGame("Written here meanwhile")
            let second = try await kitchen.listen(port: listener.port)
            #expect(second.port == listener.port)
            try await connection.event("connected", count: 2)
            try await eventually("equal digests") { try await haveEqualDigests(kitchen, study) }
            #expect(
                try study.rows("SELECT name FROM SBGame ORDER BY name")
                    == ["Written here meanwhile", "Written meanwhile"])
            try await second.stop()
            try await stop(connection, with: SIGINT)
        }
    }

    @Test func aCallerThatWasKilledIsMissedByNobody() async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            let connection = try await study.connect(to: listener)
            connection.signal(SIGKILL)
            #expect(try await connection.end() == -SIGKILL)
            let event = try await listener.process.event("disconnected")
            #expect(event.peer == "study" && event.reason != nil)
            try await kitchen.addGame("Catan")
            try await study.sync(listener)
            #expect(try study.rows("SELECT name FROM SBGame") == ["Catan"])
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func aSignalEndsBothCommands(signal: Int32) async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            let connection = try await study.connect(to: listener)
            try await connection.event("inSync")
            try await stop(connection, with: signal)
            // The other side is told, so it is no surprise to it.
            let event = try await listener.process.event("disconnected")
            #expect(event.peer == "study" && event.reason == nil)

            let next = try await study.connect(to: listener)
            try await next.event("inSync")
            try await stop(listener.process, with: signal)
            #expect(try await next.event("disconnected").reason == nil)
            try await next.event("retrying")
            try await stop(next, with: signal)
            #expect(try await kitchen.digest() == study.digest())
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func aSignalEndsAListenerThatNobodyUses(signal: Int32) async throws {
        try await withMachine { kitchen in
            let listener = try await kitchen.listen(pair: true)
            try await stop(listener.process, with: signal)
        }
    }

    @Test func theLinkOutlivesWhatBothWriteAtOnce() async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            _ = try await study.connect(to: listener)
            for number in 1...20 {
                for machine in [kitchen, study] {
                    try machine.write(
                        """
                        INSERT INTO SBGame (recordName, name) VALUES ('SBGame|~|\(machine.name)-\(number)', 'new');
                        UPDATE SBGame SET year = \(number), name = '\(machine.name) \(number)'
                            WHERE rowid % 3 = \(number % 3);
                        """)
                }
            }
            try await eventually("all games on both") {
                for machine in [kitchen, study] {
                    guard try machine.rows("SELECT COUNT(*) FROM SBGame") == ["40"] else { return false }
                }
                return try await kitchen.digest() == study.digest()
            }
            #expect(try kitchen.contents() == study.contents())
            #expect(try listener.process.events("disconnected").isEmpty)
        }
    }

    /// What was committed just before waits no longer than the store is held.
    @Test func aStoreThatIsHeldRightAfterACommitForgetsNothing() async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            try await study.connect(to: listener).event("inSync")
            func hasArrived(_ number: Int) throws -> Bool {
                try study.rows("SELECT COUNT(*) FROM SBGame") == ["\(number)"]
            }
            // A look may be so quick that it comes between the commit and the hold. Another commit then gets another look.
            for number in 1...50 where try listener.process.events("storeTrouble").isEmpty {
                let sql = "INSERT INTO SBGame (recordName, name) VALUES ('SBGame|~|\(number)', 'Catan')"
                try await kitchen.holdingTheDatabase(after: sql) {
                    try await eventually("a look in vain") {
                        try !listener.process.events("storeTrouble").isEmpty || hasArrived(number)
                    }
                }
                try await eventually("the game") { try hasArrived(number) }
            }
            let troubles = try listener.process.events("storeTrouble").map(\.reason)
            #expect(troubles == ["another program is writing to this store for a long time"])
            try await listener.process.event("storeTroubleEnded")
        }
    }

    @Test func whoIsConnectedIsTrueHoweverManySessionsThereAre() async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            let first = try await study.connect(to: listener)
            let second = try await study.connect(to: listener)
            try await study.peer("verify", listener.address)
            func areConnected() async throws -> [Bool] {
                try await [kitchen.status(), study.status()].map { $0.peers.allSatisfy(\.connected) }
            }
            #expect(try await areConnected() == [true, true])
            try await stop(second, with: SIGINT)
            #expect(try await areConnected() == [true, true])
            try await stop(first, with: SIGINT)
            try await listener.process.event("disconnected", count: 3)
            #expect(try await areConnected() == [false, false])
        }
    }

    #if os(Linux)
        @Test func aStoreThatWasTakenAwayOrReplacedIsNotGoneOnWith() async throws {
            try await withPair { kitchen, study in
                try await kitchen.addGame("Catan")
                let listener = try await kitchen.listen()
                let caller = try await study.connect(to: listener)
                try await caller.event("inSync")
                let backup = kitchen.store.appendingPathComponent("backup.sqlite")
                try kitchen.write("VACUUM INTO '\(backup.path)'")
                for file in ["-wal", "-shm"] {
                    try? FileManager.default.removeItem(atPath: kitchen.databaseFile.path + file)
                }
                #expect(rename(backup.path, kitchen.databaseFile.path) == 0)
                #expect(try await listener.process.end() == 73)
                #expect(listener.process.errors.contains("was removed or replaced while it was open"))

                try FileManager.default.removeItem(at: study.databaseFile)
                #expect(try await caller.end() == 73)
            }
        }
    #endif

    private func stop(_ process: PeerProcess, with signal: Int32) async throws {
        process.signal(signal)
        #expect(try await process.end() == 0, "\(process)")
        #expect(process.errors.isEmpty)
    }

    /// Another program may hold a store for longer than anybody waits.
    @Test func aStoreThatIsHeldEndsNothingForGood() async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            let connection = try await study.connect(to: listener)
            try await connection.event("inSync")
            for machine in [kitchen, study] {
                try await machine.holdingTheDatabase {
                    try await (machine.name == "kitchen" ? study : kitchen).addGame(
                        "While \(machine.name) is held")
                    try await connection.event("retrying", count: machine.name == "kitchen" ? 1 : 2)
                }
                try await eventually("the game that was added meanwhile") {
                    try machine.rows("SELECT 1 FROM SBGame WHERE name = ?", ["While \(machine.name) is held"])
                        == ["1"]
                }
            }
            #expect(listener.process.isRunning && connection.isRunning)
            // People are told so in their words.
            for process in [listener.process, connection] {
                for reason in try process.events("disconnected").compactMap(\.reason) {
                    #expect(reason.contains("another program is writing"), "\(reason)")
                }
            }
        }
    }
}
