import Foundation
import GRDB
import Testing

@testable import PeerSyncStore

/// What a store says of the machines that it is paired with.
struct PeerTests {
    private let machine: Machine
    private let peer: Peer

    init() async throws {
        machine = try Machine("a", number: 1)
        peer = try await machine.store.peers.add(key: [UInt8](repeating: 9, count: 32), name: "b")
    }

    private func isConnected() async throws -> Bool? {
        try await machine.store.peers.all().first?.isConnected
    }

    @Test func aSessionOfThisProcessIsOneUntilItEnds() async throws {
        #expect(try await isConnected() == false)
        try await machine.store.peers.noteConnected(with: peer) { true }
        #expect(try await isConnected() == true)
        try await machine.store.peers.noteConnected(with: peer) { false }
        #expect(try await isConnected() == false)
    }

    /// A process that was killed leaves its number, and the system gives it to another: here to the system's first
    /// process, which began in another clock tick than this one.
    @Test func aProcessWithTheNumberOfAnotherIsNotTheOther() async throws {
        try await machine.store.peers.noteConnected(with: peer) { true }
        try machine.shell("UPDATE grdb_sync_peerSession SET process = 1")
        #expect(try await isConnected() == false)
        try await machine.store.peers.noteConnected(with: peer) { true }
        #expect(try await isConnected() == true)
        #expect(try machine.rows("SELECT process FROM grdb_sync_peerSession") == ["\(getpid())"])
    }
}
