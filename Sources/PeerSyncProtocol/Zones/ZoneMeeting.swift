import PeerSyncModel

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

    /// The error if somebody has to choose, and nobody does.
    var difference: ProtocolError {
        func text(_ offer: ZoneOffer) -> String {
            "“\(offer.id)”, with \(offer.recordCount) record\(offer.recordCount == 1 ? "" : "s")"
        }
        return ProtocolError(
            .differentZones,
            "\(text(caller)) on the machine that connected, and \(text(listener)) on the other, are different zones, "
                + "and at least one is shared with other machines already")
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
