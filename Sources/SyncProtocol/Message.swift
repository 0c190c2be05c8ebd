import SyncModel

/// Everything that two peers say to each other once the handshake is done. Protocol/ "Messages" is normative.
package enum Message: Sendable, Equatable {
    case hello(Hello)
    case pairingShare([UInt8])
    case pairingTag(PairingTag)
    case begin(Begin)
    case batch(zone: Int, ChangeBatch)
    case acknowledge(zone: Int, ChangeToken)
    case digest(zone: Int, ZoneSummary)
    /// Both sides start over with whole copies; `round` counts these within the session.
    case resync(zone: Int, round: Int)
    case ping([UInt8])
    case pong([UInt8])
    case error(ProtocolError)
    case goodbye
    /// A message of a newer minor version, to be skipped.
    case unknown(type: UInt64)

    /// What each side says of itself first.
    package struct Hello: Sendable, Equatable {
        package var minorVersion: UInt64
        package var replica: ReplicaID
        /// The run of the program that speaks: a random number. Two connections between the same two runs are one too
        /// many.
        package var instance: UInt64
        /// What the machine calls itself. Words for people, never an identity.
        package var displayName: String
        /// The wall clock, milliseconds since 1970.
        package var clock: Int64
        package var zones: [ZoneName: ChangeToken?]

        package init(
            minorVersion: UInt64, replica: ReplicaID, instance: UInt64, displayName: String, clock: Int64,
            zones: [ZoneName: ChangeToken?]
        ) {
            self.minorVersion = minorVersion
            self.replica = replica
            self.instance = instance
            self.displayName = displayName
            self.clock = clock
            self.zones = zones
        }
    }

    /// The proof that a machine knows the pairing code.
    package struct PairingTag: Sendable, Equatable {
        package var tag: [UInt8]
        package var displayName: String

        package init(tag: [UInt8], displayName: String) {
            self.tag = tag
            self.displayName = displayName
        }
    }

    /// How one side is going to send a zone.
    package struct Begin: Sendable, Equatable {
        package var zone: Int
        /// The receiver's token of this side is one that this side never gave out: its store was restored or
        /// replaced, so it may also have lost what it had sent before.
        package var isHeldTokenVoid: Bool

        package init(zone: Int, isHeldTokenVoid: Bool) {
            self.zone = zone
            self.isHeldTokenVoid = isHeldTokenVoid
        }
    }

    /// The numbers of the message types.
    enum TypeNumber: UInt64 {
        case hello = 1
        case pairingShare = 2
        case pairingTag = 3
        case begin = 4
        case batch = 5
        case acknowledge = 6
        case digest = 7
        case resync = 8
        case ping = 9
        case pong = 10
        case error = 11
        case goodbye = 12
    }
}
