import PeerSyncChannel
import Synchronization
import TestSupport
import Testing

@testable import PeerSync
@testable import PeerSyncProtocol

/// An address from which pairing has failed too often has to wait; others need not, and a code is left to them.
struct PairingLimitTests {
    private func wrong(_ code: PairingCode) throws -> PairingCode {
        let other = try PairingCode("000-000")
        return code == other ? try PairingCode("111-111") : other
    }

    private func pair(_ name: String, _ port: Int, from address: String = "127.0.0.1", _ code: PairingCode)
        async throws
    {
        try await LoopbackMachine(name).call(
            port, from: address, SessionCall(pairing: .ifUnknown(code), isOnce: true))
    }

    private func expectFailure(
        _ words: String, _ code: PeerSyncError.Code, _ body: () async throws -> Void
    ) async {
        await #expect {
            try await body()
        } throws: { error in
            (error as? PeerSyncError)?.code == code && "\(error)".contains(words)
        }
    }

    @Test(.timeLimit(.minutes(5))) func threeMistakesAndANewCodeAreFine() async throws {
        let kitchen = try LoopbackMachine("kitchen")
        try await kitchen.listening { port in
            let first = try await kitchen.engine.pairing.show()
            for left in ["2 attempts are left", "1 attempt is left", "it is used up now"] {
                await expectFailure(left, .pairingFailed) { try await pair("study", port, wrong(first)) }
            }
            let second = try await kitchen.engine.pairing.show()
            await expectFailure("2 attempts are left", .pairingFailed) {
                try await pair("study", port, wrong(second))
            }
            try await pair("study", port, second)
        }
    }

    /// Whoever answers can try one code for each share that it hears, and breaks the connection then.
    @Test(.timeLimit(.minutes(5))) func aTypedCodeIsForOneAttempt() async throws {
        let kitchen = try LoopbackMachine("kitchen")
        let stranger = RawPeer()
        let calls = Atomic(0)
        let shares = Atomic(0)
        try await stranger.answering { line in
            calls.add(1, ordering: .relaxed)
            if case .pairingShare? = try await line.receive() { shares.add(1, ordering: .relaxed) }
            try await line.cut()
        } while: { port in
            let connector = SyncConnector(
                kitchen.engine, to: try #require(PeerAddress("127.0.0.1:\(port)")),
                code: try PairingCode("123-456"))
            await expectFailure("not paired", .notPaired) { try await connector.run() }
        }
        #expect(calls.load(ordering: .relaxed) == 2)
        #expect(shares.load(ordering: .relaxed) == 1)
    }

    /// A code whose attempt goes on for ever would be of no use to anybody.
    @Test(.timeLimit(.minutes(5))) func aListenerThatIsCancelledEndsTheAttempt() async throws {
        let kitchen = try LoopbackMachine("kitchen")
        let code = try await kitchen.engine.pairing.show()
        let listener = Task { try await SyncListener(kitchen.engine, host: "127.0.0.1", port: 0).run() }
        let port = try await kitchen.event { if case .listening(_, let port) = $0 { port } else { nil } }
        let stranger = RawPeer()
        var machine = PairingInitiator(
            code: code, handshakeHash: [], initiatorStatic: stranger.identity.publicKey,
            responderStatic: kitchen.engine.identity.publicKey)
        let share = try machine.start()
        try await stranger.dialing(port) { line in
            try await line.send(.pairingShare(share))
            guard case .pairingShare? = try await line.receive() else {
                Issue.record("no attempt has begun")
                return
            }
            listener.cancel()
            _ = await listener.result
            let next = try await kitchen.engine.pairing.beginAttempt()
            #expect(try await kitchen.engine.pairing.endAttempt(next, succeeded: false) == 1)
        }
    }

    #if os(Linux)
        /// All of 127.0.0.0/8 is this computer there.
        @Test(.timeLimit(.minutes(5))) func oneAddressCannotUseUpCodeAfterCode() async throws {
            let clock = SetClock(1_700_000_000_000)
            let kitchen = try LoopbackMachine("kitchen", now: { clock.milliseconds })
            try await kitchen.listening { port in
                let first = try await kitchen.engine.pairing.show()
                for _ in 1...3 {
                    await expectFailure("is wrong", .pairingFailed) {
                        try await pair("stranger", port, wrong(first))
                    }
                }
                let second = try await kitchen.engine.pairing.show()
                for _ in 1...2 {
                    await expectFailure("is wrong", .pairingFailed) {
                        try await pair("stranger", port, wrong(second))
                    }
                }
                // One attempt is left, but not to this address, however often it asks.
                for _ in 1...5 {
                    await expectFailure("too many attempts to pair from 127.0.0.1", .tooManyAttempts) {
                        try await pair("stranger", port, second)
                    }
                }
                // The listening machine's user is told.
                _ = try await kitchen.event { event -> Bool? in
                    guard case .refused("127.0.0.1", let error) = event else { return nil }
                    return error.message.contains("too many attempts to pair from 127.0.0.1") ? true : nil
                }
                try await pair("study", port, from: "127.0.0.2", second)

                // Nor does it find the code busy, as it would if its asking kept others from the code.
                let third = try await kitchen.engine.pairing.show()
                let attempt = try await kitchen.engine.pairing.beginAttempt()
                await expectFailure("too many attempts to pair from 127.0.0.1", .tooManyAttempts) {
                    try await pair("stranger", port, third)
                }
                try await kitchen.engine.pairing.endAttempt(attempt, succeeded: false)

                clock.milliseconds += 600_000
                try await pair("stranger", port, try await kitchen.engine.pairing.show())
            }
        }
    #endif
}
