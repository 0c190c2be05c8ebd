import SyncModel

/// A zone that one side lets the other have, as its hello says it.
package struct ZoneOffer: Sendable, Equatable {
    package var id: ZoneID
    /// What it is called there; for people.
    package var name: String
    /// Whether it is the zone that every store has.
    package var isDefault: Bool
    /// Whether any other machine has ever had it.
    package var isShared: Bool
    /// What the receiver of the offer may do in it.
    package var rights: ZoneRights
    /// How many live records it has, and what they add up to.
    package var recordCount: UInt64
    /// 16 bytes; see ``ZoneDigest/fingerprint``.
    package var fingerprint: [UInt8]

    package static let fingerprintLength = 16

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

/// What becomes of the default zones of two stores.
public enum ZoneUnion: UInt8, Sendable, Hashable {
    /// They stay as they are: they are the same already, or each side keeps to its own.
    case none = 0
    /// Both become one zone that has the records of both.
    case merge = 1
    /// The caller takes up the listener's zone beside its own, and does not give its own.
    case beside = 2
    /// The caller gives up what it has and takes what the listener has.
    case replaceCaller = 3
    /// The listener gives up what it has and takes what the caller has.
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

    /// Whether it is one zone already.
    package let areTheSame: Bool
    /// Whether the two are different zones and neither side has the other's as well.
    package let isFirst: Bool

    /// Whether each of the two is shared with somebody already: they belong to different households, as it seems.
    package var areBothShared: Bool { caller.isShared && listener.isShared }

    /// What happens when nobody says otherwise; nil when somebody has to: a zone that is shared is not mixed with
    /// another one silently.
    package var usual: ZoneUnion? {
        guard isFirst else { return ZoneUnion.none }
        return isPlain || !(caller.isShared || listener.isShared) ? .merge : nil
    }

    /// Whether nothing is mixed, so that nobody needs to be asked: they are one already, or hold the same, or one of the
    /// two holds nothing and nobody else has it.
    package var isPlain: Bool {
        let isNew = { (offer: ZoneOffer) in offer.recordCount == 0 && !offer.isShared }
        let areEqual =
            caller.recordCount == listener.recordCount && caller.fingerprint == listener.fingerprint
        return !isFirst || areEqual || isNew(caller) || isNew(listener)
    }

    /// Whether a union needs that each side takes what the other writes, or one of them.
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

    /// Which zone both have in the end, if they are brought together: the one that others have as well, otherwise the one
    /// with the smaller id.
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
