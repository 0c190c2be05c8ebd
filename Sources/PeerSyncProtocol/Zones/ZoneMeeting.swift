import PeerSyncModel

/// A zone that one side offers the other in its hello.
package struct ZoneOffer: Sendable, Equatable {
    package var id: ZoneID
    /// The zone's name at the side that offers it, for people.
    package var name: String
    /// Whether the zone is the default zone, which every store has.
    package var isDefault: Bool
    /// Whether any other machine has ever had the zone.
    package var isShared: Bool
    /// The rights of the receiver of the offer in the zone.
    package var rights: ZoneRights
    /// The number of live records in the zone.
    package var recordCount: UInt64
    /// 16 bytes; see ``ZoneDigest/fingerprint``.
    package var fingerprint: [UInt8]

    package static let fingerprintLength = 16

    /// Whether the zone is empty, and no other machine has it.
    fileprivate var isNew: Bool { recordCount == 0 && !isShared }

    package init(
        id: ZoneID, name: String, isDefault: Bool, isShared: Bool, rights: ZoneRights, recordCount: UInt64,
        fingerprint: [UInt8]
    ) {
        self.fingerprint = fingerprint
        self.id = id
        self.name = name
        self.isDefault = isDefault
        self.isShared = isShared
        self.rights = rights
        self.recordCount = recordCount
    }
}

/// The union of the default zones of two stores.
public enum ZoneUnion: UInt8, Sendable, Hashable {
    /// Both stay as they are: they are the same already, or each side keeps its own.
    case none = 0
    /// Both become one zone that has the records of both.
    case merge = 1
    /// The caller takes up the listener's zone beside its own, and does not share its own.
    case beside = 2
    /// The caller gives up its records and takes those of the listener.
    case replaceCaller = 3
    /// The listener gives up its records and takes those of the caller.
    case replaceListener = 4
}

/// The default zones of two stores that have greeted each other. Both sides compute the same from the two hellos.
package struct ZoneMeeting: Sendable, Equatable {
    /// The caller's zone.
    package let caller: ZoneOffer
    package let listener: ZoneOffer

    /// - Returns: nil when one of the two does not offer its default zone.
    package init?(caller: [ZoneOffer], listener: [ZoneOffer]) {
        guard let first = caller.first(where: \.isDefault), let second = listener.first(where: \.isDefault)
        else {
            return nil
        }
        self.caller = first
        self.listener = second
        let isKnown =
            caller.contains { $0.id == second.id } || listener.contains { $0.id == first.id }
        areTheSame = first.id == second.id
        isFirst = !isKnown
    }

    /// Whether the two are one zone already.
    package let areTheSame: Bool
    /// Whether the two are different zones and neither side has the other's as well.
    package let isFirst: Bool

    /// The union if nobody chooses another; nil if somebody has to choose, because a shared zone must not silently mix with
    /// another one.
    package var usual: ZoneUnion? {
        guard isFirst else { return ZoneUnion.none }
        return isPlain || !(caller.isShared || listener.isShared) ? .merge : nil
    }

    /// Whether a union mixes nothing, so that nobody has to choose: one side has both zones already, or the two hold
    /// the same records, or one of them is empty and no other machine has it.
    package var isPlain: Bool {
        let areEqual =
            caller.recordCount == listener.recordCount && caller.fingerprint == listener.fingerprint
        return !isFirst || areEqual || caller.isNew || listener.isNew
    }

    /// Whether the caller's zone is empty, and no other machine has it.
    package var isCallerNew: Bool { isFirst && caller.isNew }

    /// Returns whether a union is possible: each side that it gives records must take them.
    package func isPossible(_ union: ZoneUnion) -> Bool {
        // The rights in an offer are those of its receiver.
        let callerTakes = caller.rights == .write
        let listenerTakes = listener.rights == .write
        return switch union {
        case .none, .beside: true
        case .merge: callerTakes && listenerTakes
        case .replaceCaller: callerTakes
        case .replaceListener: listenerTakes
        }
    }

    /// Returns the zone that both sides have after a union. A merge keeps the zone that other machines have as well,
    /// otherwise the zone with the smaller id.
    package func id(after union: ZoneUnion) -> ZoneID? {
        switch union {
        case .none: areTheSame ? caller.id : nil
        case .beside, .replaceCaller: listener.id
        case .replaceListener: caller.id
        case .merge:
            if caller.isShared != listener.isShared {
                caller.isShared ? caller.id : listener.id
            } else {
                min(caller.id, listener.id)
            }
        }
    }
}
