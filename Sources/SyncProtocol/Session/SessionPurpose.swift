import SecureChannel

/// What one side makes a connection for.
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

/// What the side that connects wants.
package struct SessionCall: Sendable {
    /// What a caller does about pairing.
    package enum Pairing: Sendable {
        case no
        /// Pairs when this side does not know the other.
        case ifUnknown(PairingCode)
        /// Pairs also with a machine that this side knows: that machine has forgotten this one.
        case again(PairingCode)

        func code(isKnown: Bool) -> PairingCode? {
            switch self {
            case .no: nil
            case .ifUnknown(let code): isKnown ? nil : code
            case .again(let code): code
            }
        }
    }

    package var pairing: Pairing
    /// Ends the session when both sides hold the same.
    package var isOnce: Bool
    /// Compares everything that both sides hold.
    package var comparesEverything: Bool
    /// Forgets what the other side has, and takes it over anew.
    package var startsOver: Bool
    /// What becomes of the two default zones; nil if the user has not said.
    package var union: ZoneUnion?

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
