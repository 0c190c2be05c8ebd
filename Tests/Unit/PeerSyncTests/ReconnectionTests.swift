import PeerSyncProtocol
import Testing

@testable import PeerSync

/// When a connection that ended is made again, and what the user hears of it.
struct ReconnectionTests {
    private func error(_ code: PeerSyncError.Code) -> PeerSyncError { PeerSyncError(code, "\(code)") }

    private func pause(_ decision: Reconnection.Decision) -> Duration? {
        if case .tryAgain(let pause, _) = decision { pause } else { nil }
    }

    private func reason(_ decision: Reconnection.Decision) -> String? {
        if case .tryAgain(_, let error) = decision { error?.message } else { nil }
    }

    /// Whoever was connected once goes on trying after these, whatever ends the next connections.
    @Test(
        arguments: [
            .unreachable, .noPeer, .otherApp, .interrupted, .timeout, .protocolViolation, .clockSkew,
            .duplicateConnection,
            .zonesChanged, .notPermitted, .peerSwitchedOff, .storeBusy, .diskFailure, .peerStoreFailure,
        ] as [PeerSyncError.Code])
    func whatMayPassIsTriedAgain(code: PeerSyncError.Code) {
        var reconnection = Reconnection(.untilItIsHopeless)
        _ = reconnection.ended(with: nil, wasInSync: true, after: .seconds(1))
        for _ in 0..<20 {
            let decision = reconnection.ended(with: error(code), wasInSync: false, after: .seconds(1))
            #expect(decision != .giveUp)
        }
    }

    @Test(
        arguments: [
            .notPaired, .changeTokenExpired, .sameIdentity, .noCommonZone, .differentZones, .declined,
            .notAllowed, .pairingFailed, .pairingUnavailable, .pairingBusy, .tooManyAttempts, .incompatible,
            .switchedOff, .unsafeIdentity, .foreignIdentity, .invalidIdentity, .missingIdentity,
            .storeUnusable, .damagedRecord,
        ] as [PeerSyncError.Code])
    func whatAPersonMustChangeEndsIt(code: PeerSyncError.Code) {
        var reconnection = Reconnection(.untilItIsHopeless)
        _ = reconnection.ended(with: nil, wasInSync: true, after: .seconds(1))
        #expect(reconnection.ended(with: error(code), wasInSync: false, after: .seconds(1)) == .giveUp)
    }

    @Test(arguments: [.unreachable, .noPeer, .otherApp] as [PeerSyncError.Code])
    func aFirstAttemptThatFindsNoPeerEndsIt(code: PeerSyncError.Code) {
        var reconnection = Reconnection(.untilItIsHopeless)
        #expect(reconnection.ended(with: error(code), wasInSync: false, after: .zero) == .giveUp)
        reconnection = Reconnection(.untilItIsHopeless)
        _ = reconnection.ended(with: error(.interrupted), wasInSync: false, after: .zero)
        #expect(reconnection.ended(with: error(code), wasInSync: false, after: .zero) != .giveUp)
    }

    @Test func pausesGrowToAMinute() {
        var reconnection = Reconnection(.untilItIsHopeless)
        let pauses = (0..<9).map { _ in
            pause(reconnection.ended(with: error(.timeout), wasInSync: false, after: .seconds(1)))
        }
        #expect(pauses == [0.5, 1, 2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
    }

    @Test func aLineThatWasCutBeginsThePausesAnew() {
        var reconnection = Reconnection(.untilItIsHopeless)
        for _ in 0..<5 {
            _ = reconnection.ended(with: error(.unreachable), wasInSync: true, after: .seconds(1))
        }
        let decision = reconnection.ended(with: error(.interrupted), wasInSync: true, after: .seconds(1))
        #expect(pause(decision) == Reconnection.firstPause)
    }

    /// A peer that breaks the protocol after each sync, or whose disk is full, is not called twice a second.
    @Test(
        arguments: [.protocolViolation, .peerStoreFailure, .diskFailure, .storeBusy] as [PeerSyncError.Code])
    func pausesGrowAlsoWhenShortSessionsAreInSyncBeforeTheyFail(code: PeerSyncError.Code) {
        var reconnection = Reconnection(.untilItIsHopeless)
        let pauses = (0..<3).map { _ in
            pause(reconnection.ended(with: error(code), wasInSync: true, after: .seconds(1)))
        }
        #expect(pauses == [0.5, 1, 2].map { .seconds($0) })
        let late = reconnection.ended(with: error(code), wasInSync: true, after: .seconds(3600))
        #expect(pause(late) == Reconnection.firstPause)
    }

    @Test func eachReasonIsToldOnce() {
        var reconnection = Reconnection(.untilItIsHopeless)
        let ends: [PeerSyncError.Code?] = [.interrupted, .unreachable, .unreachable, .interrupted, nil, nil]
        let told = ends.map { code in
            reason(reconnection.ended(with: code.map(error), wasInSync: false, after: .zero))
        }
        #expect(told == ["interrupted", "unreachable", nil, nil, "the other side ended the connection", nil])
        // The same kind of trouble on the other machine is news.
        let there = PeerSyncError(.interrupted, "interrupted there")
        #expect(reason(reconnection.ended(with: there, wasInSync: false, after: .zero)) == there.message)
        // When both hold the same again, the next failure is news.
        let next = reconnection.ended(with: error(.interrupted), wasInSync: true, after: .seconds(1))
        #expect(reason(next) == "interrupted")
    }

    @Test func anAddressThatIsOnlyRememberedMakesNoNoise() {
        var reconnection = Reconnection(.quietly)
        #expect(reason(reconnection.ended(with: error(.noPeer), wasInSync: false, after: .zero)) == nil)
        let refused = reconnection.ended(with: error(.storeUnusable), wasInSync: false, after: .zero)
        #expect(refused == .tryAgain(after: Reconnection.longestPause, telling: nil))
        #expect(reconnection.ended(with: error(.notPaired), wasInSync: false, after: .zero) == .giveUp)
    }

    /// What the other side says may pass, too, unless a person must do something.
    @Test(
        arguments: [
            (.malformed, true), (.unexpectedMessage, true), (.unsupportedVersion, false), (.notPaired, false),
            (.pairingUnavailable, false), (.pairingFailed, false), (.pairingBusy, false), (.clockSkew, true),
            (.noCommonZone, false), (.digestMismatch, true), (.storeFailure, true), (.timeout, true),
            (.tooBusy, true), (.sameIdentity, false), (.changeTokenExpired, false),
            (.duplicateConnection, true),
            (.storeBusy, true), (.differentZones, false), (.notPermitted, true), (.declined, false),
            (.zonesChanged, true), (.switchedOff, true), (.tooManyAttempts, false),
            (ProtocolError.Code(rawValue: 4711), true),
        ] as [(ProtocolError.Code, Bool)])
    func eachErrorOfThePeerIsDecided(code: ProtocolError.Code, mayPass: Bool) {
        #expect(PeerSyncError(ProtocolError(code, "")).isTransient == mayPass)
    }

    @Test func theTimeMakesNoNewsOfAWrongClock() {
        var reconnection = Reconnection(.untilItIsHopeless)
        let told = (1...3).map { minute in
            let error = PeerSyncError(.clockSkew, "12:0\(minute)")
            return reason(reconnection.ended(with: error, wasInSync: false, after: .zero))
        }
        #expect(told == ["12:01", nil, nil])
    }
}
