import Foundation
import GRDB
import MailboxSimulator
import MailboxSupport
import PeerSyncModel
import PeerSyncStore
import TestSupport
import Testing

@testable import PeerSyncMailbox

/// Pictures travel through a mailbox, and lie there no longer than anybody lacks them.
@Suite(.timeLimit(.minutes(10))) struct MailboxFileTests {
    private func withMachines(
        _ names: [String] = ["a", "b"], areMembers: Bool = true,
        _ body: (MemoryDisk, [MailboxMachine]) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { url in
            let disk = MemoryDisk()
            var machines: [MailboxMachine] = []
            for name in names {
                machines.append(
                    try await MailboxMachine(name, disk, assets: url.appendingPathComponent(name)))
            }
            try await MailboxMachine.pair(machines, areMembers: areMembers)
            try await MailboxMachine.settle(machines)
            try await body(disk, machines)
        }
    }

    /// Damages an object of a machine that was put after a moment, and is longer than a piece.
    private func damagePiece(
        of machine: MailboxMachine, _ disk: MemoryDisk, putAfter before: Set<MailboxObjectName>
    ) throws {
        let piece = disk.objects.first {
            !before.contains($0.key) && $0.key.folder == machine.author.folder
                && $0.value.count > FilePiece.size
        }
        disk.change(try #require(piece).key) { $0[FilePiece.size / 2] ^= 1 }
    }

    private func addPicture(_ machine: MailboxMachine, _ id: Int, _ bytes: [UInt8]) async throws -> Asset {
        let asset = try #require(machine.store.assetDirectory).add(bytes)
        try await machine.store.write { db in
            try db.execute(
                sql: "INSERT INTO Item (id, title, photo) VALUES (?, 'Picture', ?)",
                arguments: ["\(id)", asset.json])
        }
        return asset
    }

    /// Of three pieces, the last one short.
    private let bytes = (0..<(2 * FilePiece.size + 77)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }

    /// As when a program ended between taking a write in and making a file of its bytes, and nobody writes any more.
    @Test func aPictureThatWaitsForItsFileGoesWithTheNextVisit() async throws {
        try await withMachines { _, machines in
            let directory = try #require(machines[0].store.assetDirectory)
            // Something is in the way of the directory.
            try Data().write(to: directory.url)
            try await machines[0].store.write { [bytes] db in
                try db.execute(
                    sql: "INSERT INTO Item (id, title, photo) VALUES ('1', 'Picture', ?)",
                    arguments: [Data(bytes)])
            }
            #expect(try await machines[0].sync().filesPut == 0)
            try FileManager.default.removeItem(at: directory.url)
            #expect(try await machines[0].sync().filesPut == 1)
            #expect(try await machines[1].sync().filesRead == 1)
        }
    }

    @Test func aPictureComesWithTheFirstVisitAndGoesWhenAllHaveIt() async throws {
        try await withMachines { disk, machines in
            let asset = try await addPicture(machines[0], 1, bytes)
            #expect(try await machines[0].sync().filesPut == 1)
            #expect(try await machines[1].sync().filesRead == 1)
            #expect(machines[1].store.assetDirectory?.isIntact(asset.hash) == true)
            try await MailboxMachine.settle(machines)
            try await machines[0].sync()
            #expect(disk.objects.keys.filter { $0.folder == machines[0].author.folder }.count == 2)
        }
    }

    /// The author has gone; a machine that has the file puts it when another one asks.
    @Test func aPictureThatAReaderAsksForIsPutAgain() async throws {
        try await withMachines(["a", "b", "c"]) { _, machines in
            let asset = try await addPicture(machines[0], 1, bytes)
            try await MailboxMachine.settle(machines)
            let directory = try #require(machines[2].store.assetDirectory)
            try FileManager.default.removeItem(at: directory.file(asset.hash))
            for machine in [machines[2], machines[1], machines[2]] { try await machine.sync() }
            #expect(directory.isIntact(asset.hash))
        }
    }

    @Test func aPolicyKeepsFilesAway() async throws {
        try await withMachines { _, machines in
            try await machines[1].store.assets.setPolicy(.none)
            let asset = try await addPicture(machines[0], 1, bytes)
            try await machines[0].sync()
            #expect(try await machines[1].sync().filesRead == 0)
            try await machines[1].store.assets.setWished([asset.hash], true)
            try await MailboxMachine.settle(machines)
            #expect(machines[1].store.assetDirectory?.isIntact(asset.hash) == true)
        }
    }

    /// A cut upload goes on, and a damaged piece is told.
    @Test func aCutPictureComesWholeLater() async throws {
        try await withMachines { disk, machines in
            let asset = try await addPicture(machines[0], 1, bytes)
            machines[0].storage.faults.writesLeft = 4
            await #expect(throws: MailboxError.self) { try await machines[0].sync() }
            machines[0].storage.faults = MemoryStorage.Faults()
            #expect(try await machines[1].sync().filesRead == 0)
            try await MailboxMachine.settle(machines)
            #expect(machines[1].store.assetDirectory?.isIntact(asset.hash) == true)
        }
    }

    /// What came from another machine before was not of this file; nobody is blamed for it.
    @Test func aWrongBeginningIsDiscarded() async throws {
        try await withMachines { _, machines in
            let asset = try await addPicture(machines[0], 1, bytes)
            try await machines[0].sync()
            let directory = try #require(machines[1].store.assetDirectory)
            let incoming = directory.url.appendingPathComponent("incoming")
            try FileManager.default.createDirectory(at: incoming, withIntermediateDirectories: true)
            try Data(count: FilePiece.size + 5).write(
                to: incoming.appendingPathComponent(asset.hash.description))
            #expect(try await machines[1].sync().filesRead == 1)
            #expect(machines[1].stops == [])
            #expect(directory.isIntact(asset.hash))
        }
    }

    /// The storage has lost a piece: the author sees it when it begins to run.
    @Test func aPictureOfWhichAPieceIsGoneIsPutAgain() async throws {
        try await withMachines { disk, machines in
            let asset = try await addPicture(machines[0], 1, bytes)
            let before = Set(disk.objects.keys)
            try await machines[0].sync()
            let piece = disk.objects.first {
                !before.contains($0.key) && $0.key.folder == machines[0].author.folder
                    && $0.value.count > FilePiece.size
            }
            disk.objects[try #require(piece).key] = nil
            #expect(try await machines[1].sync().filesRead == 0)
            let entry = try await machines[0].store.mailboxes.all()[0]
            try await Mailbox(machines[0].engine, entry, in: machines[0].storage).syncOnce()
            #expect(try await machines[1].sync().filesRead == 1)
            #expect(machines[1].store.assetDirectory?.isIntact(asset.hash) == true)
        }
    }

    /// The segment is there, and a piece of its picture is not.
    @Test func aPictureWhosePieceIsMissingIsAwaited() async throws {
        try await withMachines { disk, machines in
            _ = try await addPicture(machines[0], 1, bytes)
            let before = Set(disk.objects.keys)
            try await machines[0].sync()
            let piece = disk.objects.first {
                !before.contains($0.key) && $0.key.folder == machines[0].author.folder
                    && $0.value.count > FilePiece.size
            }
            let (name, whole) = try #require(piece)
            disk.objects[name] = nil
            #expect(try await machines[1].sync().filesRead == 0)
            #expect(try await machines[1].store.mailboxes.all()[0].machines[0].problemCode == "waiting")
            disk.objects[name] = whole
            #expect(try await machines[1].sync().filesRead == 1)
            #expect(try await machines[1].store.mailboxes.all()[0].machines[0].problem == nil)
        }
    }

    /// Nobody but the author can mend it, and a reader tells it. The reader's user is told once.
    @Test func aPictureWithADamagedPieceIsPutAgain() async throws {
        try await withMachines { disk, machines in
            let asset = try await addPicture(machines[0], 1, bytes)
            let before = Set(disk.objects.keys)
            try await machines[0].sync()
            try damagePiece(of: machines[0], disk, putAfter: before)
            // It tells that once, also in another run of its program.
            for number in 0..<3 {
                let report = try await machines[1].sync()
                #expect(report.filesRead == 0)
                #expect(report.hasPutHead == (number == 0))
            }
            let entry = try await machines[1].store.mailboxes.all()[0]
            let other = Mailbox(machines[1].engine, entry, in: machines[1].storage)
            #expect(try await !other.syncOnce().hasPutHead)
            #expect(machines[1].stops == ["a"])
            #expect(try await machines[1].store.mailboxes.all()[0].machines[0].problemCode == "invalid")
            // The reader's head has told it.
            try await machines[0].sync()
            #expect(try await machines[1].sync().filesRead == 1)
            #expect(machines[1].store.assetDirectory?.isIntact(asset.hash) == true)
            #expect(try await machines[1].store.mailboxes.all()[0].machines[0].problem == nil)
        }
    }

    /// The program that syncs all the time knows nothing of the check of another one.
    @Test func whatTheCheckOfAnotherProgramRemovesIsPutAgain() async throws {
        try await withMachines { disk, machines in
            let asset = try await addPicture(machines[0], 1, bytes)
            let before = Set(disk.objects.keys)
            try await machines[0].sync()
            try damagePiece(of: machines[0], disk, putAfter: before)
            let entry = try await machines[0].store.mailboxes.all()[0]
            let other = Mailbox(machines[0].engine, entry, in: machines[0].storage)
            #expect(try await other.check().isSound == false)
            try await machines[0].sync()
            #expect(try await machines[1].sync().filesRead == 1)
            #expect(machines[1].store.assetDirectory?.isIntact(asset.hash) == true)
        }
    }

    /// Without a check, the author reads its own objects every 7 days; also if its clock was a year ahead once.
    @Test(arguments: [-7, 365]) func whatIsDamagedIsPutAgainAfterSomeDays(days: Int64) async throws {
        try await withMachines { disk, machines in
            let asset = try await addPicture(machines[0], 1, bytes)
            let before = Set(disk.objects.keys)
            try await machines[0].sync()
            // The segment and all pieces of the picture.
            for name in disk.objects.keys
            where !before.contains(name) && name.folder == machines[0].author.folder {
                disk.change(name) { $0[$0.count / 2] ^= 1 }
            }
            // Nobody has told it of that.
            for _ in 0..<2 { #expect(try await !machines[0].sync().hasPutHead) }
            try await machines[0].database.write { db in
                try db.execute(
                    sql: "UPDATE grdb_sync_mailbox SET checkedAt = checkedAt + ?",
                    arguments: [days * 24 * 3600 * 1000])
            }
            try await MailboxMachine.settle(machines)
            try await MailboxMachine.expectEqual(machines)
            #expect(machines[1].store.assetDirectory?.isIntact(asset.hash) == true)
        }
    }

    /// The third has ended its pairing with the author, which does not know it and offers the picture.
    @Test func aPictureIsPutForAReaderThatDoesNotReadTheOneThatOffersIt() async throws {
        try await withMachines(["a", "b", "c"], areMembers: false) { _, machines in
            _ = try await machines[2].store.peers.forget("a")
            try await machines[2].sync()
            let asset = try await addPicture(machines[0], 1, bytes)
            for machine in machines + machines + machines { try await machine.sync() }
            #expect(try await machines[2].titles().count == 1)
            #expect(machines[2].store.assetDirectory?.isIntact(asset.hash) == true)
        }
    }

    /// Nobody waits for what a machine has written because pictures find no place on it.
    @Test func aPictureThatFindsNoPlaceKeepsNothingElse() async throws {
        try await withMachines { _, machines in
            let asset = try await addPicture(machines[0], 1, bytes)
            try await machines[0].sync()
            let directory = try #require(machines[1].store.assetDirectory)
            try Data().write(to: directory.url)
            try await machines[1].add(2...2)
            #expect(try await machines[1].sync().segmentsPut == 1)
            try await machines[1].sync()
            let waiting = machines[1].events.filter {
                if case .filesWait("a", _) = $0 { true } else { false }
            }
            #expect(waiting.count == 1)
            try await machines[0].sync()
            #expect(try await machines[0].titles().count == 2)
            try FileManager.default.removeItem(at: directory.url)
            #expect(try await machines[1].sync().filesRead == 1)
            #expect(directory.isIntact(asset.hash))
        }
    }

    /// As where a storage is slow, and the machine is soon switched off.
    @Test func whatAMachineHasWrittenGoesBeforeItGetsPictures() async throws {
        try await withMachines { _, machines in
            _ = try await addPicture(machines[0], 1, bytes)
            try await machines[0].sync()
            try await machines[1].add(2...2)
            let folder = machines[0].author.folder
            let before = machines[1].storage
            let storage = GettingStorage(before) { name in
                // The first object is the segment that refers to the picture.
                guard name.folder == folder, before.counts.gets > 2 else { return }
                throw MailboxError(.unreachable, "the machine goes off")
            }
            let entry = try await machines[1].store.mailboxes.all()[0]
            let mailbox = Mailbox(machines[1].engine, entry, in: storage)
            before.counts = MemoryStorage.Counts()
            await #expect(throws: MailboxError.self) { try await mailbox.syncOnce() }
            try await machines[0].sync()
            #expect(try await machines[0].titles().count == 2)
        }
    }

    /// Its author does not come; another machine has it.
    @Test func aPictureWithADamagedPieceComesFromAnotherMachine() async throws {
        try await withMachines(["a", "b", "c"]) { disk, machines in
            let before = Set(disk.objects.keys)
            let asset = try await addPicture(machines[0], 1, bytes)
            for machine in machines.prefix(2) { try await machine.sync() }
            try damagePiece(of: machines[0], disk, putAfter: before)
            for number in [2, 1, 2] { try await machines[number].sync() }
            #expect(machines[2].store.assetDirectory?.isIntact(asset.hash) == true)
        }
    }
}
