import Foundation
import GRDB
import Scorebook
import Synchronization
import Testing

@testable import PeerSync

/// An app gets one event after the other, also when several tasks of the engine have something to tell.
struct EventOrderTests {
    @Test func noEventComesWhileAnotherIsTaken() async throws {
        let identity = Identity.generate()
        let scorebook = try ScorebookStore(DatabaseQueue(), replica: identity.replicaID)
        let log = Mutex<[String]>([])
        let engine = SyncEngine(
            app: .scorebook, store: scorebook.records, identity: identity, displayName: "kitchen"
        ) {
            event in
            guard case .paired(let name) = event else { return }
            log.withLock { $0.append(name) }
            // Long enough for another thread to come in, if it may.
            usleep(1_000)
            log.withLock { $0.append(name) }
        }
        await withTaskGroup(of: Void.self) { group in
            for task in ["a", "b", "c"] {
                group.addTask {
                    for number in 0..<20 { engine.onEvent(.paired(name: "\(task)\(number)")) }
                }
            }
        }
        let names = log.withLock { $0 }
        for index in stride(from: 0, to: names.count, by: 2) {
            #expect(names[index] == names[index + 1], "two at a time")
        }
        for task in ["a", "b", "c"] {
            let order = (0..<20).flatMap { ["\(task)\($0)", "\(task)\($0)"] }
            #expect(names.filter { $0.hasPrefix(task) } == order)
        }
    }
}
