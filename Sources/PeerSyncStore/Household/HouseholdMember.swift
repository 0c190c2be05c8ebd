import PeerSyncModel

/// A machine of the household, as this machine knows it: somebody who is in it has introduced it, and nobody has removed it.
public struct HouseholdMember: Sendable, Hashable {
    /// How this machine stands to a member.
    public enum Relation: String, Sendable {
        /// It is this machine itself.
        case own
        /// This machine accepts it.
        case peer
        /// A user of this machine has forgotten it, here only.
        case forgotten
    }

    /// What it is called here, or called itself.
    public let name: String
    /// Its static key, 32 bytes.
    public let publicKey: [UInt8]
    /// The static key of the machine that is said to have introduced it first, since it was removed last.
    public let introducedBy: [UInt8]
    /// What that machine is called; the beginning of its key if nobody here knows it.
    public let introducer: String
    /// When, ISO 8601; nil for a time that no calendar has.
    public let introducedAt: String?
    /// Whether it may only read.
    public let mayOnlyRead: Bool
    /// How this machine stands to it.
    public let relation: Relation

    /// The key in 64 hexadecimal digits.
    public var key: String { publicKey.hexadecimal }
}

/// What a merge of the household's set has changed here.
package struct HouseholdChange: Sendable, Equatable {
    /// A machine, and the one that is said to have introduced or removed it; nil if nobody here knows that one.
    package struct Machine: Sendable, Equatable {
        package let name: String
        package let by: String?
    }

    /// The machines that are peers of this one from now on.
    package var introduced: [Machine] = []
    /// The machines that are peers no more.
    package var removed: [Machine] = []
}

/// What this machine and a peer tell each other of the household.
package enum HouseholdShare: Sendable, Equatable {
    /// Nothing: the peer is in no household with this machine, or only has a zone.
    case nothing
    /// This machine tells. The peer may only read, so it is not heard.
    case tells
    /// Each tells, and each is heard.
    case all
}
