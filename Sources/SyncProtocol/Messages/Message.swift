import NIOCore
import SyncModel

/// Everything that two peers say to each other once the handshake is done. Protocol/ "Messages" is normative.
package enum Message: Sendable, Equatable {
    case hello(Hello)
    case pairingShare([UInt8])
    case pairingTag(PairingTag)
    case open(Open)
    case begin(Begin)
    case batch(zone: Int, ChangeBatch)
    case acknowledge(zone: Int, ChangeToken)
    case refuse(Refuse)
    case digest(zone: Int, ZoneSummary)
    /// Both sides look at all they hold, and reconcile; `round` counts how often within the session.
    case resync(zone: Int, round: Int)
    case reconcile(Reconcile)
    case assetRequest(AssetRequest)
    case assetChunk(AssetChunk)
    /// A file that was asked for is not here, or not for the other side.
    case assetMissing(AssetHash)
    /// Files that were asked for in vain are here now.
    case assetsAvailable([AssetHash])
    case assetsWanted(AssetsWanted)
    case ping([UInt8])
    case pong([UInt8])
    case error(ProtocolError)
    case goodbye
    /// A message of a newer minor version, to be skipped.
    case unknown(type: UInt64)

    /// The number of the zone whose exchange the message is a part of; nil for what concerns the session as a whole.
    package var zone: Int? {
        switch self {
        case .begin(let begin): begin.zone
        case .batch(let zone, _), .acknowledge(let zone, _), .digest(let zone, _), .resync(let zone, _): zone
        case .refuse(let refuse): refuse.zone
        case .reconcile(let step): step.zone
        case .hello, .pairingShare, .pairingTag, .open, .assetRequest, .assetChunk, .assetMissing,
            .assetsAvailable, .assetsWanted, .ping, .pong, .error, .goodbye, .unknown:
            nil
        }
    }

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
        package var zones: [ZoneOffer]

        package init(
            minorVersion: UInt64, replica: ReplicaID, instance: UInt64, displayName: String, clock: Int64,
            zones: [ZoneOffer]
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

    /// Which zones one side takes part in, once it knows what the other offers.
    package struct Open: Sendable, Equatable {
        /// A zone, and the token that this side holds of the other in it.
        package struct Entry: Sendable, Equatable {
            package var id: ZoneID
            package var received: ChangeToken?

            package init(id: ZoneID, received: ChangeToken?) {
                self.id = id
                self.received = received
            }
        }

        /// What becomes of two default zones that are not the same; what the caller says counts.
        package var union: ZoneUnion
        package var zones: [Entry]

        package init(union: ZoneUnion, zones: [Entry]) {
            self.union = union
            self.zones = zones
        }
    }

    /// Records of a batch that were not taken.
    package struct Refuse: Sendable, Equatable {
        package var zone: Int
        /// 1 the sender of the batch may only read, 2 the records are in another zone at the receiver.
        package var reason: Int
        package var names: [RecordName]

        package init(zone: Int, reason: Int, names: [RecordName]) {
            self.zone = zone
            self.reason = reason
            self.names = names
        }
    }

    /// How one side is going to send a zone.
    package struct Begin: Sendable, Equatable {
        package var zone: Int
        /// The receiver's token of this side is one that this side never gave out: its store was restored or
        /// replaced, so it may also have lost what it had sent before.
        package var isHeldTokenVoid: Bool
        /// This side would have to send all that it holds.
        package var isWholeCopy: Bool
        /// How many live records this side holds.
        package var recordCount: UInt64

        package init(zone: Int, isHeldTokenVoid: Bool, isWholeCopy: Bool, recordCount: UInt64) {
            self.zone = zone
            self.isHeldTokenVoid = isHeldTokenVoid
            self.isWholeCopy = isWholeCopy
            self.recordCount = recordCount
        }
    }

    /// One step of a reconciliation: Negentropy Protocol V1 between the two sides' live records.
    package struct Reconcile: Sendable, Equatable {
        package var zone: Int
        /// The asking side has found all differences; nothing more is to be answered.
        package var isEnd: Bool
        /// Ids of records that the asking side wants to be sent.
        package var wanted: [NegentropyID]
        /// A message of Negentropy; empty at the end.
        package var payload: [UInt8]

        package init(zone: Int, isEnd: Bool = false, wanted: [NegentropyID] = [], payload: [UInt8]) {
            self.zone = zone
            self.isEnd = isEnd
            self.wanted = wanted
            self.payload = payload
        }
    }

    /// Asks for a piece of a file.
    package struct AssetRequest: Sendable, Equatable {
        package var hash: AssetHash
        package var offset: UInt64
        package var length: UInt64

        package init(hash: AssetHash, offset: UInt64, length: UInt64) {
            self.hash = hash
            self.offset = offset
            self.length = length
        }
    }

    /// Bytes of a file, in answer to a request; a piece takes several, in order.
    package struct AssetChunk: Sendable, Equatable {
        package var hash: AssetHash
        package var offset: UInt64
        package var bytes: ByteBuffer

        package init(hash: AssetHash, offset: UInt64, bytes: ByteBuffer) {
            self.hash = hash
            self.offset = offset
            self.bytes = bytes
        }
    }

    /// How many files one side is still going to ask the other for; none when it is content for now.
    package struct AssetsWanted: Sendable, Equatable {
        package var files: UInt64
        package var bytes: UInt64

        package init(files: UInt64, bytes: UInt64) {
            self.files = files
            self.bytes = bytes
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
        case reconcile = 13
        case assetRequest = 14
        case assetChunk = 15
        case assetMissing = 16
        case assetsAvailable = 17
        case assetsWanted = 18
        case open = 19
        case refuse = 20
    }
}
