import Foundation
import TestSupport
import Testing

/// Pictures come after the records that have them: whole, once, from whoever has them, and however often they are
/// interrupted.
@Suite(.takingTurns) struct AssetTransferTests {
    @Test func picturesGoBothWays() async throws {
        try await withPair { kitchen, study in
            try kitchen.addPictures(12, bytes: 150_000, label: "kitchen")
            try study.addPictures(7, bytes: 70_000, label: "study")
            try study.write(
                "INSERT INTO SBMatchImage (recordName, match, image) "
                    + "VALUES ('SBMatchImage|~|empty', 'SBMatch|~|pictures', x'')")
            let figures = try await study.sync(with: kitchen)
            #expect(figures.assetsReceived == 12)
            #expect(figures.assetBytesReceived == 12 * 150_000)
            #expect(figures.assetBytesSent == 7 * 70_000)
            #expect(try kitchen.pictureFiles().count == 20)
            #expect(try kitchen.pictureFiles() == study.pictureFiles())
            #expect(kitchen.incoming().isEmpty && study.incoming().isEmpty)
            #expect(try await haveEqualDigests(kitchen, study))
            #expect(try await study.sync(with: kitchen).assetsReceived == 0)
        }
    }

    @Test func theSamePictureIsSentAndKeptOnce() async throws {
        try await withPair { kitchen, study in
            try kitchen.addPictures(1, bytes: 200_000)
            try kitchen.write(
                """
                WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 5)
                INSERT INTO SBMatchImage (recordName, match, image)
                    SELECT 'SBMatchImage|~|copy' || n, match, image FROM number, SBMatchImage
                """)
            let figures = try await study.sync(with: kitchen)
            #expect(figures.assetsReceived == 1)
            #expect(figures.assetBytesReceived == 200_000)
            #expect(try study.pictureFiles().count == 1)
            #expect(try study.rows("SELECT COUNT(DISTINCT image), COUNT(*) FROM SBMatchImage") == ["1|6"])
        }
    }

    /// Either side dies with so many bytes through, and nothing that came is lost or asked for again.
    @Test func aTransferThatIsKilledAtTwentyPointsCompletes() async throws {
        try await withPair { kitchen, study in
            try kitchen.addPictures(6, bytes: 400_000)
            var generator = SeededGenerator(seed: 8)
            for round in 0..<20 {
                let listener = try await kitchen.listen()
                let point = round == 19 ? 110_000 : Int.random(in: 3_000...110_000, using: &generator)
                let proxy = try Proxy(to: listener.port, .stall(.listener, afterBytes: point))
                let caller = try study.start(["connect", proxy.address, "--once"])
                try await eventually("\(point) bytes") { proxy.isFull || !caller.isRunning }
                #expect(caller.isRunning, "round \(round), \(point) bytes: \(caller)")
                // What is killed at once may not have written anything, however often.
                if round == 19 { try await eventually("a piece") { try study.pictureBytes() > 0 } }
                let victims =
                    round.isMultiple(of: 2) ? [caller, listener.process] : [listener.process, caller]
                for victim in victims { victim.signal(SIGKILL) }
                for victim in victims { _ = try await victim.end() }
            }
            let kept = try study.pictureBytes()
            let figures = try await study.sync(with: kitchen)
            #expect(try study.pictureFiles().count == 6)
            #expect(try study.pictureFiles() == kitchen.pictureFiles())
            // What was here before the last connection did not come again.
            #expect(kept > 0)
            #expect(figures.assetBytesReceived <= 6 * 400_000 - kept)
            #expect(study.incoming().isEmpty)
            #expect(try kitchen.isSound() && study.isSound())
        }
    }

    /// On a slow line with megabytes of pictures before it, a record is through long before them.
    @Test func aRecordDoesNotWaitForPictures() async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            let proxy = try Proxy(to: listener.port, .delay(.milliseconds(1)))
            let caller = try study.start(["connect", proxy.address, "--json"])
            try await caller.event("inSync")
            try kitchen.addPictures(10, bytes: 3_000_000)
            try await eventually("the first picture to be on its way") { !study.incoming().isEmpty }
            try await kitchen.addGame("Quick")
            try await eventually("the game") {
                try study.rows("SELECT 1 FROM SBGame WHERE name = 'Quick'") == ["1"]
            }
            #expect(try study.pictureFiles().count < 10)
            try await study.addGame("Back")
            try await eventually("the other game") {
                try kitchen.rows("SELECT 1 FROM SBGame WHERE name = 'Back'") == ["1"]
            }
            #expect(try study.pictureFiles().count < 10)
        }
    }

    /// A machine in the middle gets the record first and the picture later; who waits behind it gets both.
    @Test func aPictureGoesOnFromMachineToMachine() async throws {
        try await withScene { scene in
            let (attic, kitchen, study) = (
                scene.machine("attic"), scene.machine("kitchen"), scene.machine("study")
            )
            try await kitchen.pair(with: attic)
            try await study.pair(with: kitchen)
            let listener = try await kitchen.listen()
            let live = try await study.connect(to: listener)
            try attic.addPictures(3, bytes: 300_000)
            try await attic.sync(listener)
            try await eventually("the pictures") { try study.pictureFiles().count == 3 }
            #expect(try study.pictureFiles() == attic.pictureFiles())
            #expect(live.isRunning)
        }
    }

    @Test func whatOnePeerLacksAnotherHas() async throws {
        try await withScene { scene in
            let (attic, kitchen, study) = (
                scene.machine("attic"), scene.machine("kitchen"), scene.machine("study")
            )
            try await kitchen.pair(with: attic)
            try await study.pair(with: attic)
            try await study.pair(with: kitchen)
            try attic.addPictures(3, bytes: 50_000)
            try await kitchen.peer("assets", "none")
            try await kitchen.sync(with: attic)
            #expect(try kitchen.pictureFiles().isEmpty)
            // The kitchen has the records alone, and says so.
            let figures = try await study.sync(with: kitchen)
            #expect(figures.assetsReceived == 0)
            #expect(try study.rows("SELECT COUNT(*) FROM SBMatchImage") == ["3"])
            #expect(try await study.sync(with: attic).assetsReceived == 3)
            #expect(try study.pictureFiles() == attic.pictureFiles())
        }
    }

    @Test func aPolicyThatChangesTakesEffectInALiveSession() async throws {
        try await withPair { kitchen, study in
            try kitchen.addPictures(2, bytes: 40_000, label: "small")
            try kitchen.addPictures(2, bytes: 80_000, label: "large")
            try await study.peer("assets", "none")
            let listener = try await kitchen.listen()
            let caller = try study.start(["connect", listener.address, "--json"])
            try await caller.event("inSync")
            #expect(try study.pictureFiles().isEmpty)
            try await study.peer("assets", "under", "50kB")
            try await eventually("the small ones") { try study.pictureFiles().count == 2 }
            #expect(try study.pictureFiles().values.allSatisfy { $0.count == 40_000 })
            try await study.peer("assets", "all")
            try await eventually("all of them") { try study.pictureFiles() == kitchen.pictureFiles() }
        }
    }

    /// A damaged picture goes nowhere; its owner notices when it is asked for it, and gets it back.
    @Test func aDamagedPictureIsNotPassedOnAndIsFetchedAgain() async throws {
        try await withScene { scene in
            let (attic, kitchen, study) = (
                scene.machine("attic"), scene.machine("kitchen"), scene.machine("study")
            )
            try await kitchen.pair(with: attic)
            try await study.pair(with: kitchen)
            try attic.addPictures(1, bytes: 500_000)
            try await kitchen.sync(with: attic)
            let whole = try attic.pictureFiles()
            let hash = try #require(whole.keys.first)
            try kitchen.damagePicture(hash)
            #expect(try await study.sync(with: kitchen).assetsReceived == 0)
            #expect(try study.pictureFiles().isEmpty)
            #expect(try kitchen.pictureFiles().isEmpty)
            #expect(try await kitchen.sync(with: attic).assetsReceived == 1)
            #expect(try await study.sync(with: kitchen).assetsReceived == 1)
            #expect(try study.pictureFiles() == whole)
        }
    }

    @Test func verifyFindsADamagedPictureAndFetchesIt() async throws {
        try await withPair { kitchen, study in
            try kitchen.addPictures(3, bytes: 100_000)
            try await study.sync(with: kitchen)
            let whole = try kitchen.pictureFiles()
            let hash = try #require(whole.keys.sorted().first)
            try study.damagePicture(hash)
            let listener = try await kitchen.listen()
            // Without the option nobody reads all pictures.
            #expect(!(try await study.peer("verify", listener.address).contains(hash)))
            let outcome = try await study.run("verify", listener.address, "--assets")
            #expect(outcome.exitCode == 0, "\(outcome)")
            #expect(outcome.output.contains(hash))
            #expect(try study.pictureFiles() == whole)
            #expect(!(try await study.peer("verify", listener.address, "--assets").contains(hash)))
        }
    }

    @Test func verifyNamesADamagedPictureThatNobodyHas() async throws {
        try await withPair { kitchen, study in
            try kitchen.addPictures(1, bytes: 100_000)
            try await study.sync(with: kitchen)
            let hash = try #require(try kitchen.pictureFiles().keys.first)
            for machine in [kitchen, study] { try machine.damagePicture(hash) }
            let listener = try await kitchen.listen()
            let outcome = try await study.run("verify", listener.address, "--assets")
            #expect(outcome.exitCode == 65, "\(outcome)")
            #expect(outcome.output.contains("damaged here: the picture \(hash), missing now"))
            #expect(outcome.errors.contains("1 damaged picture did not come from"), "\(outcome)")
        }
    }

    @Test func aPictureThatIsGoneFromTheDirectoryComesBack() async throws {
        try await withPair { kitchen, study in
            try kitchen.addPictures(2, bytes: 100_000)
            try await study.sync(with: kitchen)
            let hash = try #require(try study.pictureFiles().keys.first)
            try FileManager.default.removeItem(at: study.picture(hash))
            #expect(try await study.sync(with: kitchen).assetsReceived == 1)
            #expect(try study.pictureFiles() == kitchen.pictureFiles())
        }
    }

    /// Who has only heard of a picture does not get one that no shared record has.
    @Test func aStoreThatMovesTakesItsPicturesAlong() async throws {
        try await withPair { kitchen, study in
            try kitchen.addPictures(2, bytes: 100_000)
            try await study.sync(with: kitchen)
            let whole = try study.pictureFiles()
            let moved = study.scene.machine("moved")
            try FileManager.default.moveItem(at: study.store, to: moved.store)
            #expect(try moved.pictureFiles() == whole)
            #expect(try await moved.sync(with: kitchen).assetsReceived == 0)
        }
    }

    // MARK: On demand

    @Test func aPictureIsFetchedWhenItIsSaved() async throws {
        try await withPair { kitchen, study in
            try kitchen.addPictures(3, bytes: 60_000)
            try await study.peer("assets", "none")
            try await study.sync(with: kitchen)
            #expect(try study.pictureFiles().isEmpty)
            let target = study.scene.path("saved.bin")
            let alone = try await study.run("image", "save", "SBMatchImage|~|picture2", "--to", target)
            #expect(alone.isSentence(69), "\(alone)")
            let listener = try await kitchen.listen()
            // Where the other machine is now.
            try await study.sync(listener)
            try await study.peer("image", "save", "SBMatchImage|~|picture2", "--to", target)
            let hash = try #require(
                try kitchen.rows(
                    "SELECT json_extract(image, '$.hash') FROM SBMatchImage WHERE recordName LIKE '%picture2'"
                ).first)
            #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == kitchen.pictureFiles()[hash])
            #expect(try study.pictureFiles().count == 1)
            #expect(try study.rows("SELECT * FROM grdb_sync_assetWish") == [])
        }
    }

    /// On a slow line with megabytes of others that are missing too, the one that somebody waits for comes alone.
    @Test func aPictureThatIsSavedDoesNotWaitForTheOthers() async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            let proxy = try Proxy(to: listener.port, .delay(.milliseconds(1)))
            try await study.peer("connect", proxy.address, "--once")
            try await study.peer("assets", "none")
            try kitchen.addPictures(10, bytes: 3_000_000, label: "large")
            try kitchen.addPictures(1, bytes: 60_000, label: "wanted")
            try await study.peer("connect", proxy.address, "--once")
            try await study.peer("assets", "all")
            let target = study.scene.path("saved.bin")
            let name = try #require(
                try study.rows(
                    "SELECT recordName FROM SBMatchImage WHERE json_extract(image, '$.size') = 60000"
                ).first)
            try await study.peer("image", "save", name, "--to", target)
            #expect(try Data(contentsOf: URL(fileURLWithPath: target)).count == 60_000)
            #expect(try study.pictureFiles().count < 11)
        }
    }

    /// A policy of less ends what has not begun.
    @Test func aPolicyOfLessIsHeardInALiveSession() async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            let proxy = try Proxy(to: listener.port, .delay(.milliseconds(1)))
            let caller = try study.start(["connect", proxy.address, "--json"])
            try await caller.event("inSync")
            try kitchen.addPictures(40, bytes: 300_000)
            try await eventually("the first picture to be on its way") { !study.incoming().isEmpty }
            try await study.peer("assets", "none")
            // What is under way comes; of the rest nothing.
            try await eventually("the end") { study.incoming().isEmpty }
            #expect(try study.pictureFiles().count < 40)
            #expect(caller.isRunning)
        }
    }

    /// A machine that only listens fetches over a connection that another has made.
    @Test func aPictureIsFetchedByTheProcessThatIsConnected() async throws {
        try await withPair { kitchen, study in
            try study.addPictures(1, bytes: 60_000)
            try await kitchen.peer("assets", "none")
            let listener = try await kitchen.listen()
            let caller = try await study.connect(to: listener)
            try await caller.event("inSync")
            let target = kitchen.scene.path("saved.bin")
            try await kitchen.peer("image", "save", "SBMatchImage|~|picture1", "--to", target)
            #expect(try Data(contentsOf: URL(fileURLWithPath: target)).count == 60_000)
        }
    }
}
