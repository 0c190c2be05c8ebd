import Foundation
import GRDB
import NIOCore
import NIOPosix
import Scorebook
import Testing

@testable import PeerSync
@testable import ScorebookWeb

/// A machine pairs with one other at a time, however many browsers ask for it at once.
@Suite(.timeLimit(.minutes(5))) struct PairingDialogTests {
    private let engine: SyncEngine
    private let dialog: PairingDialog

    init() async throws {
        let identity = Identity.generate()
        let scorebook = try ScorebookStore(DatabaseQueue(), replica: identity.replicaID)
        engine = SyncEngine(
            app: .scorebook, store: scorebook.records, identity: identity, displayName: "kitchen",
            discovery: .off)
        engine.deadlines = Deadlines(connecting: .seconds(3600), handshake: .seconds(3600))
        try await engine.store.pairing.noteListening(on: 7431, true)
        dialog = PairingDialog(engine) {}
    }

    /// Lends an address where somebody takes calls and says nothing.
    private func withSilentListener(_ body: (PeerAddress) async throws -> Void) async throws {
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = channel.localAddress?.port ?? 0
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(PeerAddress(host: "127.0.0.1", port: port)))
        } catch { result = .failure(error) }
        try await channel.close()
        try result.get()
    }

    private func shownCodes() async throws -> Int? {
        try await engine.store.database.read {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM grdb_sync_pairingCode WHERE code <> ''")
        }
    }

    /// Runs something many times at once.
    ///
    /// - Returns: how often it went through; otherwise the page said that the machine is busy.
    private func count(_ number: Int, _ body: @escaping @Sendable (Int) async throws -> Void) async throws
        -> Int
    {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<number {
                group.addTask {
                    do {
                        try await body(index)
                        return true
                    } catch let error as PageError where error.status == .conflict {
                        return false
                    }
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
    }

    @Test func ofTwoPairingsAtOnceOneBegins() async throws {
        let code = try PairingCode("123-456")
        try await withSilentListener { address in
            let begun = try await count(8) { [dialog] in
                try await dialog.call(.code(code, at: address), text: "browser \($0)")
            }
            #expect(begun == 1)
            guard case .calling = try await dialog.phase() else {
                Issue.record("nobody pairs")
                return
            }
            // Nor is a code shown beside it, or the call forgotten.
            let shown = try await count(2) { [dialog] _ in try await dialog.show(for: nil) }
            #expect(shown == 0)
            try await dialog.end()
            guard case .calling = try await dialog.phase() else {
                Issue.record("the call was forgotten")
                return
            }
        }
    }

    @Test func ofTwoCodesAtOnceThePageShowsTheOneThatPairs() async throws {
        for _ in 0..<50 {
            let made = try await count(2) { [dialog] _ in try await dialog.show(for: nil) }
            #expect(made == 2)
            guard case .showing(let shown, _, _) = try await dialog.phase(),
                case .shown = try await shown.state
            else {
                Issue.record("the code on the page is over")
                return
            }
            try await dialog.end()
            #expect(try await shownCodes() == 0)
        }
    }

    /// A code goes when somebody types the one of another machine, whichever of the two came first.
    @Test func ofACodeAndACallAtOnceTheCallIsLeft() async throws {
        let code = try PairingCode("123-456")
        try await withSilentListener { address in
            for _ in 0..<50 {
                let dialog = PairingDialog(engine) {}
                _ = try await count(8) { index in
                    if index.isMultiple(of: 2) {
                        try await dialog.show(for: nil)
                    } else {
                        try await dialog.call(.code(code, at: address), text: "browser")
                    }
                }
                guard case .calling = try await dialog.phase() else {
                    Issue.record("nobody pairs")
                    return
                }
                #expect(try await shownCodes() == 0)
            }
        }
    }
}
