import Dispatch
import Foundation
import PeerSync
import PeerSyncStore
import Synchronization
import TestSupport
import Testing

@testable import PeerSyncMailbox

/// A mailbox in a folder that does not answer, as on a network drive whose server is off.
@Suite(.timeLimit(.minutes(5))) struct HangingFolderTests {
    private let name = MailboxObjectName("heads/00ff-01")!

    /// Lets the first call of the system wait until the test lets it go on.
    private final class Hang: Sendable {
        let began = Signal()
        private let calls = Mutex(0)
        private let mayEnd = DispatchSemaphore(value: 0)

        func call() {
            let number = calls.withLock { calls -> Int in
                calls += 1
                return calls
            }
            guard number == 1 else { return }
            began.raise()
            // A test that fails does not wait for ever.
            _ = mayEnd.wait(timeout: .now() + 60)
        }

        func end() { mayEnd.signal() }
    }

    /// - Returns: a storage with one object, whose first reading hangs.
    private func folder(_ url: URL, _ hang: Hang) async throws -> FolderStorage {
        var storage = FolderStorage(at: url)
        try await storage.put(name, [1])
        storage.read = { file, count in
            hang.call()
            return try file.read(at: 0, upTo: count)
        }
        return storage
    }

    @Test func whoIsCancelledWaitsForNoFolder() async throws {
        try await withTemporaryDirectory { url in
            let hang = Hang()
            let storage = try await folder(url, hang)
            let reading = Task { try await storage.get(name) }
            for await _ in hang.began { break }
            reading.cancel()
            await #expect(throws: CancellationError.self) { _ = try await reading.value }
            // Nobody has found that it hangs.
            #expect(try await storage.get(name) == [1])
            hang.end()
        }
    }

    @Test func whatWasGivenUpReplacesNothingNewer() async throws {
        try await withTemporaryDirectory { url in
            let hang = Hang()
            var hanging = FolderStorage(at: url)
            hanging.willChange = { hang.call() }
            let storage = hanging
            let putting = Task { try await storage.put(name, [1]) }
            for await _ in hang.began { break }
            putting.cancel()
            await #expect(throws: CancellationError.self) { try await putting.value }
            try await storage.put(name, [2])
            hang.end()
            let folder = url.appendingPathComponent("\(name.folder)").path
            try await eventually("the end of the first") {
                try FileManager.default.contentsOfDirectory(atPath: folder).count == 1
            }
            #expect(try await storage.get(name) == [2])
        }
    }

    /// And all storages of one folder know that it hangs.
    @Test(arguments: [false, true]) func whatHungTooLongChangesNothing(isRemoval: Bool) async throws {
        try await withTemporaryDirectory { url in
            let hang = Hang()
            let other = FolderStorage(at: url)
            try await other.put(name, [1])
            var hanging = FolderStorage(at: url)
            hanging.willChange = { hang.call() }
            hanging.patience = FolderStorage.Patience(usual: .milliseconds(50), object: .milliseconds(50))
            let storage = hanging
            let error = await #expect(throws: MailboxError.self) {
                if isRemoval { try await storage.delete(name) } else { try await storage.put(name, [2]) }
            }
            #expect(error?.code == .unreachable)
            for await _ in hang.began { break }
            await #expect(throws: MailboxError.self) { _ = try await other.get(name) }
            hang.end()
            try await eventually("an answer") { (try? await other.list(name.folder)) != nil }
            #expect(try await other.get(name) == [1])
        }
    }

    /// Each call that hangs has a thread.
    @Test func aFolderThatHangsIsToldAndNotAskedUntilItAnswers() async throws {
        try await withTemporaryDirectory { url in
            let hang = Hang()
            var hanging = try await folder(url, hang)
            let begun = await hanging.changes()
            let watched = try #require(begun)
            hanging.patience = FolderStorage.Patience(object: .milliseconds(50))
            let storage = hanging
            var error = await #expect(throws: MailboxError.self) { _ = try await storage.get(name) }
            #expect(error?.code == .unreachable)
            #expect(error?.message == "the folder \(url.path) does not answer")
            for await _ in hang.began { break }
            error = await #expect(throws: MailboxError.self) { _ = try await storage.list(name.folder) }
            #expect(error?.code == .unreachable)
            // Nobody watches it either.
            #expect(await storage.changes() == nil)
            try Data([2]).write(to: url.appendingPathComponent("\(name)"), options: .atomic)
            var iterator = watched.makeAsyncIterator()
            #expect(await iterator.next() == nil)

            hang.end()
            try await eventually("an answer") { (try? await storage.list(name.folder))?.count == 1 }
        }
    }
}
