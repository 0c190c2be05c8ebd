import Foundation
import MailboxSimulator
import MailboxSupport
import PeerSync
import PeerSyncStore
import TestSupport
import Testing

@testable import PeerSyncMailbox

/// A mailbox in a folder: what the protocol of storages promises, and what lies beside its objects.
@Suite struct FolderStorageTests {
    private let name = MailboxObjectName("heads/00ff-01")!

    @Test func anObjectOfAFolderIsReadListedReplacedAndRemoved() async throws {
        try await withTemporaryDirectory { url in
            let storage = FolderStorage(at: url)
            #expect(try await storage.get(name) == nil)
            #expect(try await storage.list(name.folder) == [])
            try await storage.delete(name)
            try await storage.put(name, [1, 2, 3])
            try await storage.put(name, [4, 5])
            #expect(try await storage.get(name) == [4, 5])
            #expect(try await storage.list(name.folder) == [MailboxObject(name: name, size: 2)])
            try await storage.delete(name)
            #expect(try await storage.get(name) == nil)
            #expect(try await storage.list(name.folder) == [])
        }
    }

    @Test func filesOfOthersInAFolderAreNoObjectsAndStay() async throws {
        try await withTemporaryDirectory { url in
            let storage = FolderStorage(at: url)
            try await storage.put(name, [1])
            let folder = url.appendingPathComponent("heads")
            for other in ["Thumbs.db", ".DS_Store", "00ff-01 (conflicted copy)", ".put-1"] {
                try Data([7]).write(to: folder.appendingPathComponent(other))
            }
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent("sub"), withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(
                at: folder.appendingPathComponent("link"),
                withDestinationURL: folder.appendingPathComponent("Thumbs.db"))
            #expect(try await storage.list(name.folder).map(\.name) == [name])
            #expect(try await storage.get(MailboxObjectName("heads/link")!) == nil)
            #expect(try await storage.get(MailboxObjectName("heads/sub")!) == nil)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 7)
        }
    }

    /// Whoever may write in the mailbox's folder can put a link where a folder of objects was, to a place where only others of its users may write.
    @Test(arguments: ["heads", "00ff"]) func nothingHappensBehindALinkInTheFoldersPlace(folder: String)
        async throws
    {
        try await withTemporaryDirectory { url in
            let (box, secret) = (url.appendingPathComponent("box"), url.appendingPathComponent("secret"))
            for directory in [box, secret] {
                try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
            }
            #expect(chmod(box.path, 0o777) == 0 && chmod(secret.path, 0o700) == 0)
            let files = ["01", ".put-" + String(repeating: "a", count: 32)]
            for file in files {
                let file = secret.appendingPathComponent(file)
                try Data([7]).write(to: file)
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSinceNow: -25 * 3600)], ofItemAtPath: file.path)
            }
            try FileManager.default.createSymbolicLink(
                at: box.appendingPathComponent(folder), withDestinationURL: secret)
            let storage = FolderStorage(at: box)
            let (known, new) = (MailboxObjectName("\(folder)/01")!, MailboxObjectName("\(folder)/02")!)
            let attempts: [@Sendable () async throws -> Void] = [
                { try await storage.put(new, [1]) }, { try await storage.put(known, [1]) },
                { _ = try await storage.list(known.folder) }, { try await storage.delete(known) },
            ]
            for attempt in attempts {
                let error = await #expect(throws: MailboxError.self) { try await attempt() }
                #expect(error?.code == .invalid)
            }
            // Readers hear the same; one object that cannot be read ends no pass.
            let error = await #expect(throws: MailboxError.self) { try await storage.get(known) }
            #expect(error?.code == .unreadable)
            #expect(error?.message.contains("is not a folder") == true)
            #expect(try Set(FileManager.default.contentsOfDirectory(atPath: secret.path)) == Set(files))
            #expect(try Data(contentsOf: secret.appendingPathComponent("01")) == Data([7]))
            let rights = try FileManager.default.attributesOfItem(atPath: secret.path)[.posixPermissions]
            #expect(rights as? Int == 0o700)
        }
    }

    /// Whoever may write in the mailbox's folder can do that to the folder of any machine.
    @Test func whatIsInTheFoldersPlaceEndsNoPass() async throws {
        try await withTemporaryDirectory { url in
            let storage = FolderStorage(at: url)
            let machines = try await MailboxMachine.paired(["a", "b", "c"], MemoryDisk())
            func mailbox(of machine: MailboxMachine) async throws -> Mailbox {
                Mailbox(machine.engine, try await machine.store.mailboxes.all()[0], in: storage)
            }
            for (number, machine) in machines.enumerated() { try await machine.add([number]) }
            for _ in 0..<3 {
                for machine in machines { try await mailbox(of: machine).syncOnce() }
            }
            try await machines[2].add(7...7)
            try await mailbox(of: machines[2]).syncOnce()
            for object in try await storage.list(MailboxFormat.heads)
            where AuthorID.parse(object.name)?.author == machines[0].author {
                try await storage.delete(object.name)
            }
            for machine in machines.prefix(2) {
                let folder = url.appendingPathComponent("\(machine.author.folder)")
                try FileManager.default.removeItem(at: folder)
                try Data([7]).write(to: folder)
            }
            // It cannot write, and reads on.
            let error = await #expect(throws: MailboxError.self) {
                try await mailbox(of: machines[1]).syncOnce()
            }
            #expect(error?.code == .invalid)
            #expect(try await machines[1].titles().contains("Item number 7"))
            let entry = try await machines[1].store.mailboxes.all()[0]
            #expect(entry.machines.first { $0.name == "a" }?.problem != nil)
            try await mailbox(of: machines[2]).syncOnce()
        }
    }

    /// The folder that a user names may be a link.
    @Test func theMailboxsOwnFolderMayBeALink() async throws {
        try await withTemporaryDirectory { url in
            let (box, link) = (url.appendingPathComponent("box"), url.appendingPathComponent("link"))
            try FileManager.default.createDirectory(at: box, withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: box)
            try await FolderStorage(at: link).put(name, [1])
            #expect(try await FolderStorage(at: box).get(name) == [1])
        }
    }

    /// What lies in a machine's folder may be another user's.
    @Test func aMailboxRemovesOnlyWhatItMayHaveWritten() async throws {
        let disk = MemoryDisk()
        let machines = try await MailboxMachine.paired(["a", "b"], disk)
        try await MailboxMachine.settle(machines)
        let folder = machines[0].author.folder
        let others = try #require(MailboxObjectName(folder, "notes-2026"))
        let left = try #require(MailboxObjectName(folder, String(repeating: "0a", count: 16)))
        for name in [others, left] { disk.objects[name] = [1] }
        let entry = try await machines[0].store.mailboxes.all()[0]
        let mailbox = Mailbox(machines[0].engine, entry, in: machines[0].storage)
        try await mailbox.syncOnce()
        #expect(disk.objects[left] == nil)
        #expect(disk.objects[others] == [1])
        try await mailbox.removeWithOwnObjects()
        #expect(disk.objects.keys.filter { $0.folder == folder } == [others])
    }

    @Test func aTemporaryFileOfADayAgoGoesAndANewOneStays() async throws {
        try await withTemporaryDirectory { url in
            let storage = FolderStorage(at: url)
            try await storage.put(name, [1])
            let folder = url.appendingPathComponent("heads")
            let files = ["a", "b"].map {
                folder.appendingPathComponent(".put-" + String(repeating: $0, count: 32))
            }
            for file in files { try Data([7]).write(to: file) }
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -25 * 3600)], ofItemAtPath: files[0].path)
            #expect(try await storage.list(name.folder).map(\.name) == [name])
            #expect(files.map { FileManager.default.fileExists(atPath: $0.path) } == [false, true])
        }
    }

    @Test func aFolderThatIsNotThereIsNeverMade() async throws {
        try await withTemporaryDirectory { url in
            let storage = FolderStorage(at: url.appendingPathComponent("stick"))
            let attempts: [@Sendable () async throws -> Void] = [
                { try await storage.put(name, [1]) }, { _ = try await storage.get(name) },
                { _ = try await storage.list(name.folder) },
            ]
            for attempt in attempts {
                var code: MailboxError.Code?
                do { try await attempt() } catch let error as MailboxError { code = error.code }
                #expect(code == .unreachable)
            }
            let made = try FileManager.default.contentsOfDirectory(atPath: url.path)
            #expect(made.isEmpty)
        }
    }

    @Test func aFileInTheFoldersPlaceAndOneThatIsTooLargeAreTold() async throws {
        try await withTemporaryDirectory { url in
            let file = url.appendingPathComponent("file")
            try Data().write(to: file)
            var error = await #expect(throws: MailboxError.self) {
                _ = try await FolderStorage(at: file).list(name.folder)
            }
            #expect(error?.code == .invalid)
            let storage = FolderStorage(at: url)
            try await storage.put(name, [1])
            let object = try FileHandle(forWritingTo: url.appendingPathComponent(name.description))
            try object.truncate(atOffset: UInt64(MailboxLimits.objectSize) + 1)
            error = await #expect(throws: MailboxError.self) { _ = try await storage.get(name) }
            #expect(error?.code == .unreadable)
        }
    }

    /// As of a bad sector. Where the whole disk goes, nothing is damaged.
    @Test func aFileThatTheDiskCannotReadIsDamaged() async throws {
        try await withTemporaryDirectory { url in
            let folder = url.appendingPathComponent("stick")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            try await FolderStorage(at: folder).put(name, [1])
            for (isDiskGone, code) in [(false, MailboxError.Code.unreadable), (true, .unreachable)] {
                var broken = FolderStorage(at: folder)
                broken.read = { _, _ in
                    if isDiskGone { try FileManager.default.removeItem(at: folder) }
                    errno = EIO
                    throw PosixError()
                }
                let storage = broken
                let error = await #expect(throws: MailboxError.self) { _ = try await storage.get(name) }
                #expect(error?.code == code)
            }
        }
    }

    /// Whoever may write in the folder may put heads, and whoever may read it may read all objects, although those who put them let nobody else
    /// read or write what is new.
    @Test(arguments: [0o777, 0o2770, 0o700]) func theFolderSaysWhoMayReadAndPutHeads(mode: Int) async throws {
        try await withTemporaryDirectory { url in
            func rights(_ url: URL) throws -> Int? {
                try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
            }
            #expect(chmod(url.path, mode_t(mode)) == 0)
            var storage = FolderStorage(at: url)
            storage.rights = 0o700
            try await storage.put(name, [1])
            #expect(try rights(url.appendingPathComponent("heads")) == mode)
            #expect(try rights(url.appendingPathComponent("\(name)")) == 0o600 | mode & 0o044)
            // The others only read what an author puts into its own folder.
            try await storage.put(MailboxObjectName("00ff/01")!, [1])
            #expect(try rights(url.appendingPathComponent("00ff"))! & 0o777 == 0o700 | mode & 0o055)
            #expect(try rights(url.appendingPathComponent("00ff/01")) == 0o600 | mode & 0o044)
        }
    }

    @Test func aWatchTellsOfAHead() async throws {
        try await withTemporaryDirectory { url in
            let storage = FolderStorage(at: url)
            #expect(await storage.changes() == nil)
            try await storage.put(name, [1])
            let changes = try #require(await storage.changes())
            try await storage.put(name, [2])
            var iterator = changes.makeAsyncIterator()
            #expect(await iterator.next() != nil)
        }
    }

    /// As when a disk is unmounted, and mounted again: its folder is another one.
    @Test(.timeLimit(.minutes(5))) func aWatchOfAFolderThatIsGoneEnds() async throws {
        try await withTemporaryDirectory { url in
            let storage = FolderStorage(at: url)
            try await storage.put(name, [1])
            let changes = try #require(await storage.changes())
            try FileManager.default.removeItem(at: url.appendingPathComponent("heads"))
            for await _ in changes {}
            #expect(await storage.changes() == nil)
            try await storage.put(name, [1])
            #expect(await storage.changes() != nil)
        }
    }

    @Test(arguments: [
        "heads", "/a", "a/", "a/b/c", "A/b", "a/b.c", "-a/b", "a/" + String(repeating: "b", count: 65), "a/é",
    ])
    func noObjectHasAnOddName(text: String) {
        #expect(MailboxObjectName(text) == nil)
    }
}
