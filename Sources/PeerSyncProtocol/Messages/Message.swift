import NIOCore
import PeerSyncModel

/// The messages of two peers after the handshake. Protocol/ "Messages" is normative.
package enum Message: Sendable, Hashable {
    case hello(Hello)
    case pairingShare([UInt8])
    case pairingTag(PairingTag)
    case open(Open)
    case begin(Begin)
    case batch(zone: Int, ChangeBatch)
    case acknowledge(zone: Int, ChangeToken)
    case refuse(Refuse)
    case digest(zone: Int, ZoneSummary)
    /// Tells the other side to check all its records and reconcile, as this side does; `round` counts this within the
    /// session.
    case resync(zone: Int, round: Int)
    case reconcile(Reconcile)
    case assetRequest(AssetRequest)
    case assetChunk(AssetChunk)
    /// Says that a requested file is not here, or not for the other side.
    case assetMissing(AssetHash)
    /// Says that files are here now that the other side has requested in vain.
    case assetsAvailable([AssetHash])
    case assetsWanted(AssetsWanted)
    /// The digest of the household's set that this side holds.
    case household([UInt8])
    case householdSet(HouseholdSet)
    case ping([UInt8])
    case pong([UInt8])
    case error(ProtocolError)
    case goodbye
    /// A message of a newer minor version, which the receiver skips.
    case unknown(type: UInt64)

    /// The number of the zone that the message belongs to; nil for a message about the whole session.
    package var zone: Int? {
        switch self {
        case .begin(let begin): begin.zone
        case .batch(let zone, _), .acknowledge(let zone, _), .digest(let zone, _), .resync(let zone, _): zone
        case .refuse(let refuse): refuse.zone
        case .reconcile(let step): step.zone
        case .hello, .pairingShare, .pairingTag, .open, .assetRequest, .assetChunk, .assetMissing,
            .assetsAvailable, .assetsWanted, .household, .householdSet, .ping, .pong, .error, .goodbye,
            .unknown:
            nil
        }
    }

    /// The first message of each side, about itself.
    package struct Hello: Sendable, Hashable {
        package var minorVersion: UInt64
        package var replica: ReplicaID
        /// A random number for the sender's run of its program. Between the same two runs, a second connection is
        /// superfluous.
        package var instance: UInt64
        /// The machine's own name for itself. It is for people, and never an identity.
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
    package struct PairingTag: Sendable, Hashable {
        package var tag: [UInt8]
        package var displayName: String

        package init(tag: [UInt8], displayName: String) {
            self.tag = tag
            self.displayName = displayName
        }
    }

    /// The zones that one side takes part in, once it knows the other side's offer.
    package struct Open: Sendable, Hashable {
        /// A zone, and the other side's token that this side holds in it.
        package struct Entry: Sendable, Hashable {
            package var id: ZoneID
            package var received: ChangeToken?

            package init(id: ZoneID, received: ChangeToken?) {
                self.id = id
                self.received = received
            }
        }

        /// The union of two different default zones. The caller's choice counts.
        package var union: ZoneUnion
        package var zones: [Entry]

        package init(union: ZoneUnion, zones: [Entry]) {
            self.union = union
            self.zones = zones
        }
    }

    /// Records of a batch that the receiver refused.
    package struct Refuse: Sendable, Hashable {
        package var zone: Int
        /// 1: the sender of the batch may only read. 2: the receiver has the records in another zone. 3: the records
        /// are too large.
        package var reason: Int
        package var names: [RecordName]

        package init(zone: Int, reason: Int, names: [RecordName]) {
            self.zone = zone
            self.reason = reason
            self.names = names
        }
    }

    /// The beginning of one side's sending in a zone.
    package struct Begin: Sendable, Hashable {
        package var zone: Int
        /// Whether this side never gave out its token that the receiver holds. Then its store was restored or
        /// replaced, and may have lost records that it had sent before.
        package var isHeldTokenVoid: Bool
        /// Whether this side would have to send all its records.
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
    package struct Reconcile: Sendable, Hashable {
        package var zone: Int
        /// Whether the asking side has found all differences. Then the other side sends no answer.
        package var isEnd: Bool
        /// Ids of records that the asking side wants the other to send.
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

    /// A request for a piece of a file.
    package struct AssetRequest: Sendable, Hashable {
        package var hash: AssetHash
        package var offset: UInt64
        package var length: UInt64

        package init(hash: AssetHash, offset: UInt64, length: UInt64) {
            self.hash = hash
            self.offset = offset
            self.length = length
        }
    }

    /// Bytes of a file that answer a request. One request may take several chunks, in order.
    package struct AssetChunk: Sendable, Hashable {
        package var hash: AssetHash
        package var offset: UInt64
        package var bytes: ByteBuffer

        package init(hash: AssetHash, offset: UInt64, bytes: ByteBuffer) {
            self.hash = hash
            self.offset = offset
            self.bytes = bytes
        }
    }

    /// The number of files, and of their bytes, that one side will still request from the other; 0 if it wants nothing
    /// for now.
    package struct AssetsWanted: Sendable, Hashable {
        package var files: UInt64
        package var bytes: UInt64

        package init(files: UInt64, bytes: UInt64) {
            self.files = files
            self.bytes = bytes
        }
    }

    /// The household's set, and where its machines may be.
    package struct HouseholdSet: Sendable, Hashable {
        /// An address of a machine, as a hint.
        package struct Address: Sendable, Hashable {
            package var key: [UInt8]
            package var address: String

            package init(key: [UInt8], address: String) {
                self.key = key
                self.address = address
            }
        }

        package var set: Household
        /// The port on which the sender listens; 0 for none.
        package var port: Int
        package var addresses: [Address]

        package init(set: Household, port: Int, addresses: [Address]) {
            self.set = set
            self.port = port
            self.addresses = addresses
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
        case household = 21
        case householdSet = 22
    }
}
