import PeerSyncChannel

/// The purpose for which one side makes a connection.
package enum SessionPurpose: Sendable {
    /// The other side has connected to this one.
    case answer
    /// This side has connected to the other.
    case call(SessionCall)

    package var role: NoiseHandshake.Role { call == nil ? .responder : .initiator }

    package var call: SessionCall? {
        if case .call(let call) = self { call } else { nil }
    }
}

/// The options of the side that connects.
package struct SessionCall: Sendable {
    /// The options of a caller for pairing.
    package enum Pairing: Sendable {
        case no
        /// Pairs when this side does not know the other.
        case ifUnknown(PairingCode)
        /// Pairs even with a machine that this side knows, because that machine has forgotten this one.
        case again(PairingCode)

        /// Whether a caller that is refused as one that is not paired pairs next, with a code that it has kept.
        package var isTriedNext: Bool {
            if case .ifUnknown = self { true } else { false }
        }

        func code(isKnown: Bool) -> PairingCode? {
            switch self {
            case .no: nil
            case .ifUnknown(let code): isKnown ? nil : code
            case .again(let code): code
            }
        }
    }

    package var pairing: Pairing
    /// Whether the session ends when both sides hold the same records.
    package var isOnce: Bool
    /// Whether the two sides compare everything that they hold.
    package var comparesEverything: Bool
    /// Whether this side forgets the records that the other side has, and takes them over anew.
    package var startsOver: Bool
    /// The union of the two default zones; nil if the user has not chosen.
    package var union: ZoneUnion?
    /// Whether two default zones that are one already stay as they are, whatever the union.
    package var sparesOneZone = false
    /// The machine that has to answer.
    package var expected = ExpectedMachine.anyone

    package init(
        pairing: Pairing = .no, isOnce: Bool = false, comparesEverything: Bool = false,
        startsOver: Bool = false, union: ZoneUnion? = nil
    ) {
        self.pairing = pairing
        self.isOnce = isOnce
        self.comparesEverything = comparesEverything
        self.startsOver = startsOver
        self.union = union
    }
}
