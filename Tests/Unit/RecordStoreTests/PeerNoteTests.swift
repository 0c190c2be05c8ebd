import PeerSyncModel
import Testing

@testable import PeerSyncStore

/// What a store keeps of its sessions with peers.
struct PeerNoteTests {
    private let machine: Machine

    init() async throws {
        machine = try Machine("a", number: 1)
        for (number, name) in [(3, "kitchen"), (4, "study")] {
            _ = try await machine.store.peers.add(
                key: [UInt8](repeating: UInt8(number), count: 32), name: name)
        }
    }

    private func peer(_ name: String) async throws -> Peer {
        try #require(try await machine.store.peers.all().first { $0.name == name })
    }

    /// What went wrong is told until the two are in sync again.
    @Test func theLastErrorIsThatSinceTheLastSync() async throws {
        let store = machine.store
        try await store.peers.noteConnected(with: peer("kitchen"), error: "its clock is wrong") { false }
        #expect(try await peer("kitchen").lastError == "its clock is wrong")
        #expect(try await peer("study").lastError == nil)
        try await store.peers.noteConnected(with: peer("kitchen"), error: "its disk is full") { false }
        #expect(try await peer("kitchen").lastError == "its disk is full")
        try await store.peers.noteInSync(with: peer("study"))
        #expect(try await peer("kitchen").lastError == "its disk is full")
        try await store.peers.noteInSync(with: peer("kitchen"))
        #expect(try await peer("kitchen").lastError == nil)
        #expect(try await peer("kitchen").lastSync != nil)
    }

    /// Programs are started often. The numbers of those that are forgotten are the oldest.
    @Test func theLatestRunsAreRemembered() async throws {
        let runs = (1...1001).map { run in (0..<8).map { UInt8(truncatingIfNeeded: run >> ($0 * 8)) } }
        let covering = try await machine.store.database.write { db in
            for (index, run) in runs.enumerated() {
                try Generations.record(db, run, firstSequence: Int64(index + 1))
            }
            return try [1, 2, 1001].map { try Generations.covering(db, $0) }
        }
        #expect(covering == [ChangeToken.start.generation, runs[1], runs[1000]])
    }
}
