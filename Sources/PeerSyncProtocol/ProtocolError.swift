/// The reason for the end of a session without a goodbye. Protocol/ "Errors" is the registry of the codes.
public struct ProtocolError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A stable number; a peer of another version may send others.
    public struct Code: Sendable, Hashable, RawRepresentable {
        public let rawValue: UInt64

        public init(rawValue: UInt64) {
            self.rawValue = rawValue
        }

        /// Bytes that are no message of this protocol, or break a bound.
        public static let malformed = Code(rawValue: 1)
        /// A message out of turn.
        public static let unexpectedMessage = Code(rawValue: 2)
        /// The two sides have no major version in common.
        public static let unsupportedVersion = Code(rawValue: 3)
        /// The machines are not paired.
        public static let notPaired = Code(rawValue: 4)
        /// Nobody shows a pairing code here, or it has expired or is used up.
        public static let pairingUnavailable = Code(rawValue: 5)
        /// The pairing code was wrong.
        public static let pairingFailed = Code(rawValue: 6)
        /// Another machine is trying the pairing code at this moment.
        public static let pairingBusy = Code(rawValue: 7)
        /// A clock is wrong: stamps lie further in the future than allowed.
        public static let clockSkew = Code(rawValue: 8)
        /// The two sides have no zone in common.
        public static let noCommonZone = Code(rawValue: 9)
        /// The digests still differ after the two sides have compared everything.
        public static let digestMismatch = Code(rawValue: 10)
        /// The store could not take or give a record.
        public static let storeFailure = Code(rawValue: 11)
        /// The other side was silent for too long.
        public static let timeout = Code(rawValue: 12)
        /// Too many connections are open.
        public static let tooBusy = Code(rawValue: 13)
        /// A machine connected to itself, or to a copy of itself.
        public static let sameIdentity = Code(rawValue: 14)
        /// The receiver has missed deletions that the sender has forgotten, and has to start over.
        public static let changeTokenExpired = Code(rawValue: 15)
        /// The same two programs have another connection, which stays.
        public static let duplicateConnection = Code(rawValue: 16)
        /// The default zones of the two machines are different, and nobody has chosen what to do with them.
        public static let differentZones = Code(rawValue: 18)
        /// The two sides do not share a zone any more.
        public static let notPermitted = Code(rawValue: 19)
        /// A user was asked, and declined.
        public static let declined = Code(rawValue: 20)
        /// The machines have changed what they share; a new connection helps.
        public static let zonesChanged = Code(rawValue: 21)
        /// Sync is switched off.
        public static let switchedOff = Code(rawValue: 22)
        /// Another program holds the store; trying again helps.
        public static let storeBusy = Code(rawValue: 17)
        /// Too many attempts to pair have failed; a later one may succeed.
        public static let tooManyAttempts = Code(rawValue: 23)
        /// Somebody removed the other side from the household.
        public static let removed = Code(rawValue: 24)
    }

    /// The kind of error.
    public let code: Code
    /// One sentence for people.
    public let message: String

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: the kind of error.
    ///   - message: one sentence for people.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }

    /// Makes the error for an action of the other side out of turn.
    static func unexpected(_ what: String) -> ProtocolError {
        ProtocolError(.unexpectedMessage, "the other side \(what)")
    }

    package static func malformed(_ what: String) -> ProtocolError {
        ProtocolError(.malformed, "the other side sent \(what), which this protocol does not allow")
    }
}
