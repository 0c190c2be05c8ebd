import PeerSyncChannel
import PeerSyncModel
import Testing

@testable import PeerSyncProtocol

/// When a session tells of the household, and when it listens.
struct HouseholdSessionTests {
    private static let own = KeyPair.generate().publicKey
    private static let other = KeyPair.generate().publicKey
    private static let zone = ZoneID(name: ZoneName("club")!, owner: ReplicaID(rawValue: 1))
    private static let digest = [UInt8](repeating: 7, count: Household.digestLength)
    private static let otherDigest = [UInt8](repeating: 8, count: Household.digestLength)

    /// A listener whose store answers at once.
    private struct Side {
        var machine = Session(
            Session.Identity(
                key: HouseholdSessionTests.own, replica: ReplicaID(rawValue: 1), instance: 1,
                displayName: "kitchen"), .answer)
        var said: [Message] = []
        var asked: [Session.Action] = []
        /// What the store gives; nil when the other side may not have the household.
        var digest: [UInt8]?

        mutating func hand(_ event: (inout Session) -> [Session.Action]) {
            for action in event(&machine) { perform(action) }
        }

        private mutating func perform(_ action: Session.Action) {
            let offer = ZoneOffer(
                id: HouseholdSessionTests.zone, name: "club", isDefault: true, isShared: true, rights: .write,
                recordCount: 0, fingerprint: [UInt8](repeating: 0, count: 16))
            switch action {
            case .send(let message): said.append(message)
            case .findPeer: hand { $0.peerFound("study") }
            case .readOffers: hand { $0.offersRead([offer], held: [offer.id], clock: 0) }
            case .readTokens: hand { $0.tokensRead([:]) }
            case .share: hand { $0.shared() }
            case .readGrants: hand { $0.grantsRead(SessionGrants(zones: [], rights: [], erasures: 0)) }
            case .begin(let zone, _, _):
                hand { $0.began(zone: zone, at: .start, isHeldTokenVoid: false, recordCount: 0) }
            case .readHousehold: hand { [digest] in $0.householdRead(digest) }
            default: asked.append(action)
            }
        }

        /// The digests of the household that were told.
        var told: [[UInt8]] {
            said.compactMap { if case .household(let digest) = $0 { digest } else { nil } }
        }

        var error: ProtocolError.Code? {
            guard case .failed(let error)? = machine.end else { return nil }
            return (error as? ProtocolError)?.code
        }
    }

    /// A session that exchanges.
    ///
    /// - Parameter hasBegun: whether the other side's begin has come.
    private func exchanging(_ digest: [UInt8]?, hasBegun: Bool = true) -> Side {
        var side = Side(digest: digest)
        side.hand {
            $0.secured(SecuredChannel(remoteKey: Self.other, handshakeHash: [UInt8](repeating: 3, count: 32)))
        }
        let offer = ZoneOffer(
            id: Self.zone, name: "club", isDefault: true, isShared: true, rights: .write, recordCount: 0,
            fingerprint: [UInt8](repeating: 0, count: 16))
        side.hand {
            $0.received(
                .hello(
                    Message.Hello(
                        minorVersion: 0, replica: ReplicaID(rawValue: 2), instance: 2, displayName: "study",
                        clock: 0, zones: [offer])))
        }
        let entry = Message.Open.Entry(id: Self.zone, received: nil)
        side.hand { $0.received(.open(Message.Open(union: .none, zones: [entry]))) }
        if hasBegun {
            let begin = Message.Begin(zone: 0, isHeldTokenVoid: false, isWholeCopy: true, recordCount: 0)
            side.hand { $0.received(.begin(begin)) }
        }
        return side
    }

    /// A session for one sync may end as soon as the zones are in sync, so the household has to come before.
    @Test func theHouseholdIsToldBeforeTheZonesSayAnything() throws {
        let side = exchanging(Self.digest, hasBegun: false)
        guard case .begin = side.said[side.said.count - 2], case .exchange? = side.asked.last else {
            Issue.record("\(side.said) \(side.asked)")
            return
        }
        #expect(side.said.last == .household(Self.digest))
    }

    @Test func whoMayNotHaveItIsToldNothing() {
        var side = exchanging(nil)
        #expect(side.told.isEmpty)
        side.hand { $0.settingsChanged() }
        #expect(side.told.isEmpty)
    }

    @Test func aChangeIsToldOnce() {
        var side = exchanging(Self.digest)
        side.hand { $0.settingsChanged() }
        #expect(side.told == [Self.digest])
        side.digest = Self.otherDigest
        for _ in 0..<2 { side.hand { $0.settingsChanged() } }
        #expect(side.told == [Self.digest, Self.otherDigest])
    }

    @Test func whatIsHeardGoesToTheStore() {
        var side = exchanging(Self.digest)
        let set = Message.HouseholdSet(set: Household(), port: 0, addresses: [])
        // The first time, the addresses may be news although the set is none.
        side.hand { $0.received(.household(Self.digest)) }
        guard case .tellHousehold(unless: nil)? = side.asked.last else {
            Issue.record("\(side.asked)")
            return
        }
        side.hand { $0.received(.household(Self.otherDigest)) }
        side.hand { $0.received(.householdSet(set)) }
        guard case .tellHousehold(let digest) = side.asked[side.asked.count - 2], digest == Self.otherDigest,
            case .takeHousehold(set)? = side.asked.last
        else {
            Issue.record("\(side.asked)")
            return
        }
        side.hand { $0.householdTold(set) }
        #expect(side.said.last == .householdSet(set))
        // After its goodbye a side still takes what the other one has sent before, and says nothing more.
        side.hand { $0.stop() }
        let (said, asked) = (side.said.count, side.asked.count)
        side.hand { $0.received(.household(Self.otherDigest)) }
        side.hand { $0.householdTold(set) }
        #expect(side.said.count == said && side.asked.count == asked)
        side.hand { $0.received(.householdSet(set)) }
        #expect(side.asked.count == asked + 1)
    }

    @Test(arguments: [
        Message.household(digest),
        .householdSet(Message.HouseholdSet(set: Household(), port: 0, addresses: [])),
    ])
    func itIsOutOfTurnBeforeTheBegin(message: Message) {
        var side = exchanging(Self.digest, hasBegun: false)
        side.hand { $0.received(message) }
        #expect(side.error == .unexpectedMessage)
    }

    @Test func aMachineThatWasRemovedIsToldSo() {
        var side = Side()
        var machine = side.machine
        _ = machine.secured(
            SecuredChannel(remoteKey: Self.other, handshakeHash: [UInt8](repeating: 3, count: 32)))
        _ = machine.received(
            .hello(
                Message.Hello(
                    minorVersion: 0, replica: ReplicaID(rawValue: 2), instance: 2, displayName: "study",
                    clock: 0,
                    zones: [])))
        let error = ProtocolError(.removed, "study was removed from the household by attic")
        side.machine = machine
        side.hand { $0.peerFound(nil, orElse: error) }
        #expect(side.said == [.error(error)])
        #expect(side.error == .removed)
    }
}
