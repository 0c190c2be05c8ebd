import Foundation
import GRDB
import Logging
import Scorebook
import Synchronization
import TestSupport
import Testing

@testable import PeerSync

/// Whoever watches a store that cannot be looked at says so once, and says when it is over.
struct StoreTroubleTests {
    @Test(arguments: [false, true]) func aWatchThatEndsHasNoTrouble(isCancelled: Bool) async {
        let count = Mutex(0)
        let trouble = StoreTrouble(Logger(label: "test")) { _ in count.withLock { $0 += 1 } }
        await Task {
            if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
            trouble.failed(.changes, because: CancellationError())
        }.value
        #expect(count.withLock { $0 } == (isCancelled ? 0 : 1))
    }

    /// The app has to hear of the trouble before it hears of its end.
    @Test func theEndComesAfterTheBeginning() async {
        let events = Mutex<[String]>([])
        let isTelling = DispatchSemaphore(value: 0)
        let trouble = Trouble<Int> { _ in
            isTelling.signal()
            Thread.sleep(forTimeInterval: 0.05)
            events.withLock { $0.append("began") }
        } ended: {
            events.withLock { $0.append("ended") }
        }
        await withCheckedContinuation { done in
            Thread.detachNewThread {
                isTelling.wait()
                trouble.succeeded(1)
                done.resume()
            }
            trouble.failed(1, because: PeerSyncError(.storeBusy, "busy"))
        }
        #expect(events.withLock { $0 } == ["began", "ended"])
    }

    @Test(.timeLimit(.minutes(5))) func whatOthersWroteAndCannotBeTakenInIsTold() async throws {
        let files = try TemporaryDirectory()
        defer { files.remove() }
        let directory = files.url
        let path = directory.appendingPathComponent("scorebook.sqlite").path
        var configuration = ScorebookDatabase.configuration()
        configuration.busyMode = .immediateError
        let identity = Identity.generate()
        let store = try ScorebookStore(
            DatabasePool(path: path, configuration: configuration), replica: identity.replicaID
        ).records
        let events = Mutex<[String]>([])
        let engine = SyncEngine(app: .scorebook, store: store, identity: identity, displayName: "kitchen") {
            event in
            switch event {
            case .storeTrouble(let error): events.withLock { $0.append(error.message) }
            case .storeTroubleEnded: events.withLock { $0.append("ended") }
            default: break
            }
        }
        func told(_ count: Int) async throws {
            try await eventually("\(count) events", within: .seconds(300)) {
                events.withLock { $0.count } >= count
            }
        }
        var others = Configuration()
        others.allowsUnsafeTransactions = true
        others.busyMode = .timeout(10)
        let other = try DatabaseQueue(path: path, configuration: others)
        func write(_ sql: String) async throws {
            try await other.writeWithoutTransaction { try $0.execute(sql: sql) }
        }
        try await write(
            "INSERT INTO SBGame (recordName, name) VALUES ('SBGame|~|1', 'Catan'); BEGIN IMMEDIATE")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.watchStore() }
            try await told(1)
            // Whatever is called like the database and changes is a reason to look again.
            for _ in 0..<5 {
                try Data().write(to: URL(fileURLWithPath: path + "-touched"))
                try await Task.sleep(for: .milliseconds(5))
            }
            try await write("UPDATE SBGame SET year = 1995; COMMIT")
            try await told(2)
            group.cancelAll()
        }
        #expect(
            events.withLock { $0 } == ["another program is writing to this store for a long time", "ended"])
        #expect(try await store.database.read { try store.status($0) }.digest.count == 1)
    }
}
