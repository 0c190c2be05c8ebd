import Foundation
import TestSupport
import Testing

/// One session moves what changed on either side, both ways, and ends when both hold the same.
@Suite(.takingTurns) struct SyncTests {
    @Test func theFirstSyncBringsTheWholeHouseholdAndOneLineSumsUp() async throws {
        try await withPair { kitchen, study in
            try await kitchen.importHousehold()
            let listener = try await kitchen.listen()
            let output = try await study.peer("connect", listener.address, "--once", "--verbose")
            let line = try #require(output.split(separator: "\n").last)
            let form =
                /in sync with kitchen: 3,007 records, digest ([0-9a-f]+); sent 0, received 3,007, [0-9,]+ bytes, [0-9]+\.[0-9]{2} s/
            let digest = try #require(line.wholeMatch(of: form)?.output.1)
            #expect(try await kitchen.digest() == digest)
            #expect(try await study.digest() == digest)
            #expect(try kitchen.contents() == study.contents())
            #expect(try study.isSound())
            let event = try #require(try await listener.process.event("inSync").sync)
            #expect(event.digest == digest && event.sent == 3007 && event.received == 0)
        }
    }

    @Test func theCallerMaySendTheWholeHousehold() async throws {
        try await withPair { kitchen, study in
            try await study.importHousehold()
            let figures = try await study.sync(with: kitchen)
            #expect(figures.sent == Household.recordCount)
            #expect(figures.received == 0)
            #expect(try await kitchen.digest() == study.digest())
            #expect(try kitchen.contents() == study.contents())
        }
    }

    @Test func nothingToDoMovesNothing() async throws {
        try await withHousehold { kitchen, study in
            // Either may call, and both have been restarted.
            for (caller, other) in [(study, kitchen), (kitchen, study), (study, kitchen)] {
                let figures = try await caller.sync(with: other)
                #expect(figures.sent == 0 && figures.received == 0)
                #expect(figures.bytes < 2048)
                #expect(figures.records == Household.recordCount)
            }
        }
    }

    @Test func onlyWhatHasChangedMoves() async throws {
        try await withHousehold { kitchen, study in
            try await kitchen.peer("game", "edit", "Catan", "--year", "1900")
            try await study.peer("game", "edit", "Scythe", "--year", "1901")
            try await study.peer("person", "add", "Ada Lovelace")
            let figures = try await study.sync(with: kitchen)
            #expect(figures.received == 1)
            #expect(figures.sent == 2)
            #expect(figures.bytes < 4096)
            #expect(try kitchen.contents() == study.contents())
        }
    }

    @Test func whatBothHadBeforeTheyMetIsJoined() async throws {
        try await withTwoMachines { kitchen, study in
            try await kitchen.peer(
                "match", "add", kitchen.addGame("Catan"), "Ada=1", "Alan=2", "--new-persons")
            try await study.peer("match", "add", study.addGame("Hearts"), "Grace=3", "--new-persons")
            try await study.pair(with: kitchen)
            #expect(try await kitchen.digest() == study.digest())
            #expect(try kitchen.contents() == study.contents())
            #expect(try study.rows("SELECT name FROM SBGame ORDER BY 1") == ["Catan", "Hearts"])
            #expect(try study.rows("SELECT firstName FROM SBPerson ORDER BY 1") == ["Ada", "Alan", "Grace"])
        }
    }

    @Test func aFileThatBothImportedMakesNoDuplicates() async throws {
        try await withTwoMachines { kitchen, study in
            try await kitchen.importHousehold()
            try await study.importHousehold()
            try await study.pair(with: kitchen)
            #expect(try await study.status().live == Household.recordCount)
            #expect(try await kitchen.digest() == study.digest())
            #expect(try kitchen.contents() == study.contents())
        }
    }

    @Test func editsOfDifferentFieldsBothSurvive() async throws {
        try await withPair { kitchen, study in
            let game = try await kitchen.addGame("Catan")
            try await study.sync(with: kitchen)
            try await kitchen.peer("game", "edit", game, "--year", "1995")
            try await study.peer("game", "edit", game, "--name", "Die Siedler von Catan")
            try await study.sync(with: kitchen)
            for machine in [kitchen, study] {
                #expect(try machine.rows("SELECT name, year FROM SBGame") == ["Die Siedler von Catan|1995"])
            }
            #expect(try await kitchen.digest() == study.digest())
        }
    }

    @Test(arguments: [true, false])
    func theLaterEditOfOneFieldWins(theCallerIsLater: Bool) async throws {
        try await withPair { kitchen, study in
            let game = try await kitchen.addGame("Catan")
            try await study.sync(with: kitchen)
            let (first, second) = theCallerIsLater ? (kitchen, study) : (study, kitchen)
            try await first.peer("game", "edit", game, "--name", "Earlier")
            try await second.peer("game", "edit", game, "--name", "Later")
            try await study.sync(with: kitchen)
            #expect(try kitchen.rows("SELECT name FROM SBGame") == ["Later"])
            #expect(try study.rows("SELECT name FROM SBGame") == ["Later"])
            #expect(try await kitchen.digest() == study.digest())
        }
    }

    @Test func statusTellsHowFarThePeerIsBehind() async throws {
        try await withPair { kitchen, study in
            #expect(try await kitchen.status().pending == 0)
            try await kitchen.addGame("Catan")
            try await kitchen.addGame("Hearts")
            let before = try await kitchen.status()
            #expect(before.pending == 2 && before.peers.map(\.behind) == [2])
            try await study.sync(with: kitchen)
            let after = try await kitchen.status()
            #expect(after.pending == 0 && after.peers.map(\.behind) == [0])
            let peer = try #require(after.peers.first)
            let (lastSeen, lastSync) = (try #require(peer.lastSeen), try #require(peer.lastSync))
            // The session ended after the two were found equal.
            #expect(lastSeen >= lastSync)
            #expect(
                try await kitchen.peer("peers").contains(
                    lastSeen.prefix(16).replacing("T", with: " ")))
        }
    }

    /// A script must not take a sync that was broken off for one that is done.
    @Test(arguments: [SIGINT, SIGTERM])
    func aSyncThatASignalBreaksOffIsNoSuccess(signal: Int32) async throws {
        try await withPair { kitchen, study in
            try await kitchen.importHousehold()
            let listener = try await kitchen.listen()
            let proxy = try Proxy(to: listener.port, .stall(.listener, afterBytes: 100_000))
            let process = try study.start(["connect", proxy.address, "--once"])
            try await eventually("half of the household") { proxy.isFull }
            process.signal(signal)
            #expect(try await process.end() == 75)
            #expect(process.errors.contains("run it again"))
            #expect(try study.isSound())
            // The listener is in the middle of sending, and ends nevertheless.
            try await listener.stop()
            #expect(try await study.sync(with: kitchen).records == Household.recordCount)
        }
    }
}
