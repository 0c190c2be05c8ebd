import PeerSyncProtocol
import Testing

@testable import PeerSync

/// A code lives for a time, allows three attempts, one at a time, and pairs one machine.
struct PairingDeskTests {
    private func expectUnavailable(_ desk: PairingDesk, _ code: ProtocolError.Code = .pairingUnavailable)
        async
    {
        await #expect { try await desk.beginAttempt() } throws: { ($0 as? ProtocolError)?.code == code }
    }

    @Test func nothingShownMeansNothingToTry() async {
        await expectUnavailable(PairingDesk())
    }

    @Test func threeAttemptsAndNoMore() async throws {
        let desk = PairingDesk()
        let code = await desk.show()
        for left in [2, 1, 0] {
            let attempt = try await desk.beginAttempt()
            #expect(attempt.code == code)
            #expect(await desk.endAttempt(attempt, succeeded: false) == left)
        }
        await expectUnavailable(desk)
    }

    /// Whoever comes meanwhile hears that the code is used up, and not that it is worth another try.
    @Test func theLastAttemptUsesTheCodeUpAsItBegins() async throws {
        let desk = PairingDesk()
        let code = await desk.show()
        for _ in 1..<PairingDesk.attempts {
            await desk.endAttempt(try await desk.beginAttempt(), succeeded: false)
        }
        let last = try await desk.beginAttempt()
        #expect(last.code == code)
        await expectUnavailable(desk)
        #expect(await desk.endAttempt(last, succeeded: false) == 0)
        await expectUnavailable(desk)
    }

    @Test func oneAttemptAtATime() async throws {
        let desk = PairingDesk()
        _ = await desk.show()
        let attempt = try await desk.beginAttempt()
        await expectUnavailable(desk, .pairingBusy)
        await desk.endAttempt(attempt, succeeded: false)
        _ = try await desk.beginAttempt()
    }

    @Test func successUsesTheCodeUp() async throws {
        let desk = PairingDesk()
        _ = await desk.show()
        await desk.endAttempt(try await desk.beginAttempt(), succeeded: true)
        await expectUnavailable(desk)
    }

    @Test func anExpiredCodeIsRefused() async {
        let desk = PairingDesk()
        _ = await desk.show(lifetime: .zero)
        await expectUnavailable(desk)
    }

    @Test func aNewCodeReplacesTheOld() async throws {
        let desk = PairingDesk()
        _ = await desk.show()
        let second = await desk.show()
        #expect(try await desk.beginAttempt().code == second)
    }

    @Test func anAttemptThatIsRefusedDoesNotCount() async throws {
        struct Refused: Error {}
        let desk = PairingDesk()
        _ = await desk.show()
        for _ in 1...10 {
            await #expect(throws: Refused.self) { try await desk.beginAttempt { throw Refused() } }
        }
        let attempt = try await desk.beginAttempt()
        #expect(await desk.endAttempt(attempt, succeeded: false) == PairingDesk.attempts - 1)
    }

    @Test func theEndOfAnAttemptDoesNotTouchALaterCode() async throws {
        let desk = PairingDesk()
        _ = await desk.show()
        let attempt = try await desk.beginAttempt()
        let second = await desk.show()
        #expect(await desk.endAttempt(attempt, succeeded: true) == 0)
        #expect(try await desk.beginAttempt().code == second)
    }

    @Test func aCodeThatIsShownWhileAnAttemptIsAdmittedIsNotTried() async throws {
        let desk = PairingDesk()
        _ = await desk.show()
        await #expect {
            try await desk.beginAttempt { _ = await desk.show() }
        } throws: {
            ($0 as? ProtocolError)?.code == .pairingUnavailable
        }
    }
}
