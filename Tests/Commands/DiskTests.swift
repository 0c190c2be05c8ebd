import Foundation
import TestSupport
import Testing

/// Where there is no room for pictures there still is for records; where there is none for records, they wait.
@Suite(.takingTurns) struct DiskTests {
    @Test func picturesWaitForRoomAndRecordsDoNot() async throws {
        try await withPair { kitchen, study in
            let assets = study.store.appendingPathComponent("assets")
            try FileManager.default.createDirectory(at: assets, withIntermediateDirectories: true)
            let disk = SmallDisk(directory: assets, megabytes: 42)
            try kitchen.addPictures(3, bytes: 6_000_000)
            let listener = try await kitchen.listen()
            let caller = try study.start(["connect", listener.address, "--json"], with: disk)
            let paused = try await caller.event("assetsPaused")
            #expect(paused.reason?.contains("no room") == true)
            #expect(disk.files(of: caller).count < 3)
            // Once is enough, however often it is tried again.
            try await kitchen.addGame("Catan")
            try await eventually("the game") {
                try study.rows("SELECT 1 FROM SBGame WHERE name = 'Catan'") == ["1"]
            }
            #expect(try study.rows("SELECT COUNT(*) FROM SBMatchImage") == ["3"])
            #expect(try caller.events("assetsPaused").count == 1)
            try disk.grow(to: 100, of: caller)
            try await eventually("all pictures") { disk.files(of: caller).count == 3 }
            #expect(caller.isRunning)
        }
    }

    @Test func aSyncOnceEndsWithoutThePicturesThatHaveNoRoom() async throws {
        try await withPair { kitchen, study in
            let assets = study.store.appendingPathComponent("assets")
            try FileManager.default.createDirectory(at: assets, withIntermediateDirectories: true)
            try kitchen.addPictures(1, bytes: 6_000_000)
            let listener = try await kitchen.listen()
            let caller = try study.start(
                ["connect", listener.address, "--once"], with: SmallDisk(directory: assets, megabytes: 34))
            let outcome = try await caller.outcome()
            #expect(outcome.exitCode == 0, "\(outcome)")
            #expect(outcome.output.contains("no room"))
            #expect(try await haveEqualDigests(kitchen, study))
        }
    }

    /// What does not fit keeps nothing smaller waiting, and it is said once that it does not.
    @Test func aPictureThatDoesNotFitKeepsNoOtherWaiting() async throws {
        try await withPair { kitchen, study in
            let assets = study.store.appendingPathComponent("assets")
            try FileManager.default.createDirectory(at: assets, withIntermediateDirectories: true)
            try kitchen.addPictures(1, bytes: 20_000_000, label: "panorama")
            try kitchen.addPictures(5, bytes: 200_000, label: "small")
            let listener = try await kitchen.listen()
            let disk = SmallDisk(directory: assets, megabytes: 42)
            let once = try await study.start(["connect", listener.address, "--once", "--json"], with: disk)
                .outcome()
            #expect(once.exitCode == 0, "\(once)")
            let figures = try JSONDecoder().decode(SyncFigures.self, from: Data(once.output.utf8))
            #expect(figures.assetsReceived == 5)

            let caller = try study.start(["connect", listener.address, "--json"], with: disk)
            try await eventually("the small ones") { disk.files(of: caller).count == 5 }
            #expect(try caller.events("assetsPaused").count == 1)
            try disk.grow(to: 100, of: caller)
            try await eventually("all pictures") { disk.files(of: caller).count == 6 }
            #expect(try caller.events("assetsPaused").count == 1)
        }
    }

    /// A write that fails is no end: who came to sync once goes, and who stays tries again.
    @Test func aWriteThatFailsKeepsNobodyWaitingForEver() async throws {
        try await withPair { kitchen, study in
            let assets = study.store.appendingPathComponent("assets")
            try FileManager.default.createDirectory(at: assets, withIntermediateDirectories: true)
            try kitchen.addPictures(1, bytes: 6_000_000)
            let listener = try await kitchen.listen()
            let outcome = try await study.start(
                ["connect", listener.address, "--once"],
                with: SmallDisk(directory: assets, megabytes: 100, largestFile: 4)
            ).outcome()
            #expect(outcome.exitCode == 0, "\(outcome)")
            #expect(outcome.output.contains("no room"), "\(outcome)")
            #expect(try await haveEqualDigests(kitchen, study))
        }
    }

    /// Takes what room the disk of a process has left.
    private func fill(_ disk: SmallDisk, of process: PeerProcess) throws {
        let script = "dd if=/dev/zero of=\"$1/filler\" bs=4k 2>/dev/null; true"
        try Network.run(
            "nsenter", "--target", "\(process.number)", "--mount", "/bin/sh", "-c", script, "sh",
            disk.directory.path)
    }

    /// A full disk passes, on whichever side it is: the connection is made again until there is room.
    @Test(arguments: [true, false]) func aFullDiskEndsNoConnection(isCallersDisk: Bool) async throws {
        try await withTwoMachines { kitchen, study in
            let small = isCallersDisk ? study : kitchen
            try FileManager.default.createDirectory(at: small.store, withIntermediateDirectories: true)
            let disk = SmallDisk(directory: small.store, megabytes: 12)
            let listener = try kitchen.start(
                ["listen", "--host", "127.0.0.1", "--port", "0", "--pair", "--json"],
                with: isCallersDisk ? nil : disk)
            let port = try #require(try await listener.event("listening").port)
            let code = try #require(try await listener.event("pairingCode").code)
            let caller = try study.start(
                ["connect", "127.0.0.1:\(port)", "--code", code, "--json"], with: isCallersDisk ? disk : nil)
            try await caller.event("inSync")
            try fill(disk, of: isCallersDisk ? caller : listener)
            try await (isCallersDisk ? kitchen : study).importHousehold()
            let reason = try #require(try await caller.event("retrying").reason)
            #expect(
                reason.contains("disk of \(isCallersDisk ? "this machine's" : "the other machine's") store"))
            // It is said once, however often it is tried.
            try await caller.event("disconnected", count: 3)
            #expect(try caller.events("retrying").count == 1)
            try disk.grow(to: 64, of: isCallersDisk ? caller : listener)
            let digest = try await (isCallersDisk ? kitchen : study).digest()
            try await eventually("the household on both") {
                try [listener, caller].allSatisfy { try $0.events("inSync").last?.sync?.digest == digest }
            }
        }
    }
}
