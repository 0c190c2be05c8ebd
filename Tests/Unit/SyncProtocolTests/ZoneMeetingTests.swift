import PeerSyncModel
import PeerSyncProtocol
import Testing

/// What becomes of the default zones of two stores that meet, as a table of what the two offer.
struct ZoneMeetingTests {
    /// A zone of somebody's; records that are counted alike and have another fingerprint are others.
    private static func offer(
        _ owner: UInt64, records: UInt64 = 1, isShared: Bool = false, isDefault: Bool = true,
        rights: ZoneRights = .write, fingerprint: UInt8? = nil
    ) -> ZoneOffer {
        ZoneOffer(
            id: id(owner), name: "zone", isDefault: isDefault, isShared: isShared, rights: rights,
            recordCount: records,
            fingerprint: [UInt8](repeating: fingerprint ?? UInt8(owner), count: ZoneOffer.fingerprintLength))
    }

    private static func id(_ owner: UInt64) -> ZoneID {
        ZoneID(name: .standard, owner: ReplicaID(rawValue: owner))
    }

    private func meeting(_ caller: [ZoneOffer], _ listener: [ZoneOffer]) throws -> ZoneMeeting {
        try #require(ZoneMeeting(caller: caller, listener: listener))
    }

    @Test func whoOffersNoDefaultZoneMeetsNobody() {
        let beside = Self.offer(2, isDefault: false)
        #expect(ZoneMeeting(caller: [Self.offer(1)], listener: [beside]) == nil)
        #expect(ZoneMeeting(caller: [beside], listener: [Self.offer(1)]) == nil)
        #expect(ZoneMeeting(caller: [], listener: []) == nil)
    }

    // MARK: Whether they meet for the first time

    @Test func twoThatAreOneStayAsTheyAre() throws {
        let meeting = try meeting(
            [Self.offer(1, isShared: true)], [Self.offer(1, isShared: true, fingerprint: 9)])
        #expect(meeting.areTheSame && !meeting.isFirst && meeting.isPlain)
        #expect(meeting.usual == ZoneUnion.none)
        #expect(meeting.id(after: .none) == Self.id(1))
    }

    /// Whichever of the two has taken the other's zone up beside its own.
    @Test(arguments: [true, false]) func whoHasTheOthersZoneBesideItsOwnHasDecided(isCaller: Bool) throws {
        let both = [Self.offer(1), Self.offer(2, isDefault: false)]
        let one = [Self.offer(2)]
        let meeting = try isCaller ? meeting(both, one) : meeting(one, both)
        #expect(!meeting.areTheSame && !meeting.isFirst)
        #expect(meeting.usual == ZoneUnion.none)
        #expect(meeting.id(after: .none) == nil)
    }

    // MARK: What is usual

    struct Usual: Sendable {
        let why: String
        let caller: ZoneOffer
        let listener: ZoneOffer
        let isPlain: Bool
        let usual: ZoneUnion?
    }

    @Test(arguments: [
        Usual(
            why: "nobody has shared anything", caller: offer(1), listener: offer(2), isPlain: false,
            usual: .merge),
        Usual(
            why: "the caller's is shared", caller: offer(1, isShared: true), listener: offer(2),
            isPlain: false, usual: nil),
        Usual(
            why: "the listener's is shared", caller: offer(1), listener: offer(2, isShared: true),
            isPlain: false, usual: nil),
        Usual(
            why: "a new machine calls", caller: offer(1, records: 0), listener: offer(2, isShared: true),
            isPlain: true, usual: .merge),
        Usual(
            why: "a new machine is called", caller: offer(1, isShared: true), listener: offer(2, records: 0),
            isPlain: true, usual: .merge),
        Usual(
            why: "an empty one that others have is not new", caller: offer(1, records: 0, isShared: true),
            listener: offer(2, isShared: true), isPlain: false, usual: nil),
        Usual(
            why: "both hold the same", caller: offer(1, isShared: true, fingerprint: 9),
            listener: offer(2, isShared: true, fingerprint: 9), isPlain: true, usual: .merge),
        Usual(
            why: "both hold as many records, and others", caller: offer(1, isShared: true, fingerprint: 8),
            listener: offer(2, isShared: true, fingerprint: 9), isPlain: false, usual: nil),
        Usual(
            why: "one holds more", caller: offer(1, records: 2, isShared: true, fingerprint: 9),
            listener: offer(2, records: 1, isShared: true, fingerprint: 9), isPlain: false, usual: nil),
    ])
    func aScorebookThatIsSharedIsNotMixedSilently(entry: Usual) throws {
        let meeting = try meeting([entry.caller], [entry.listener])
        #expect(meeting.isFirst && !meeting.areTheSame, "\(entry.why)")
        #expect(meeting.isPlain == entry.isPlain, "\(entry.why)")
        #expect(meeting.usual == entry.usual, "\(entry.why)")
    }

    // MARK: What may be

    /// The rights in an offer are those of its receiver.
    @Test(
        arguments: [
            (.write, .write, [.none, .merge, .beside, .replaceCaller, .replaceListener]),
            (.write, .read, [.none, .beside, .replaceCaller]),
            (.read, .write, [.none, .beside, .replaceListener]),
            (.read, .read, [.none, .beside]),
        ] as [(ZoneRights, ZoneRights, Set<ZoneUnion>)])
    func whoGetsSomethingHasToTakeIt(caller: ZoneRights, listener: ZoneRights, possible: Set<ZoneUnion>)
        throws
    {
        let meeting = try meeting([Self.offer(1, rights: caller)], [Self.offer(2, rights: listener)])
        let unions: [ZoneUnion] = [.none, .merge, .beside, .replaceCaller, .replaceListener]
        #expect(Set(unions.filter(meeting.isPossible)) == possible)
    }

    // MARK: Where they end

    @Test(
        arguments: [
            // (the caller's is shared, the listener's is shared, whose id the two have after a merge)
            (false, false, 1), (true, true, 1), (true, false, 2), (false, true, 1),
        ] as [(Bool, Bool, UInt64)])
    func bothEndInOneZone(isCallerShared: Bool, isListenerShared: Bool, merged: UInt64) throws {
        let meeting = try meeting(
            [Self.offer(2, isShared: isCallerShared)], [Self.offer(1, isShared: isListenerShared)])
        #expect(meeting.id(after: .merge) == Self.id(merged))
        #expect(meeting.id(after: .beside) == Self.id(1))
        #expect(meeting.id(after: .replaceCaller) == Self.id(1))
        #expect(meeting.id(after: .replaceListener) == Self.id(2))
        #expect(meeting.id(after: .none) == nil)
    }
}
