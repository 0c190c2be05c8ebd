import SyncProtocol
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
            #expect(try await desk.beginAttempt() == code)
            #expect(await desk.endAttempt(succeeded: false) == left)
        }
        await expectUnavailable(desk)
    }

    @Test func oneAttemptAtATime() async throws {
        let desk = PairingDesk()
        _ = await desk.show()
        _ = try await desk.beginAttempt()
        await expectUnavailable(desk, .pairingBusy)
        await desk.endAttempt(succeeded: false)
        _ = try await desk.beginAttempt()
    }

    @Test func successUsesTheCodeUp() async throws {
        let desk = PairingDesk()
        _ = await desk.show()
        _ = try await desk.beginAttempt()
        await desk.endAttempt(succeeded: true)
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
        #expect(try await desk.beginAttempt() == second)
    }
}
