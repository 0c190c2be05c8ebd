import SecureChannel
import SyncModel

/// What a session and whoever drives it say to each other.
extension Session {
    /// Something to do.
    package enum Action: Sendable {
        case send(Message)
        /// Find out whether this side is paired with the holder of a key. Then ``peerFound(_:)``.
        case findPeer(PublicKey)
        /// Begin an attempt with the pairing code that this side shows. Then ``pairingAttemptBegan(_:)``.
        case beginPairingAttempt
        /// End it, which is also to be done if the session ends before. If it has failed:
        /// ``pairingAttemptFailed(attemptsLeft:)``.
        case endPairingAttempt(succeeded: Bool)
        /// Keep the holder of a key as a peer, which calls itself so. Then ``peerKept(_:)``.
        case keepPeer(PublicKey, displayName: String)
        /// The other side has proved to be paired.
        case authenticated(didPair: Bool)
        /// Read what the other side may have. Then ``offersRead(_:held:clock:)``.
        case readOffers
        /// Take the connection in among those with this peer, unless one is there already that stays.
        case enter(instance: UInt64)
        /// Ask the user. Then ``decided(_:)``.
        case ask(ZoneQuestion)
        /// Make sure that the pairing still stands, which may have changed while the user thought.
        case checkPairing
        /// Read the tokens that this side holds of the other. Then ``tokensRead(_:)``.
        case readTokens([ZoneID])
        /// Do in the store what the two have agreed on. Then ``shared()``.
        case share(ZonePlan)
        /// Forget what the other side has in these zones.
        case startOver([ZoneAgreement.Entry])
        /// Read what the session goes by. Then ``grantsRead(_:)``.
        case readGrants
        /// Begin the exchange of these zones: find them in the store.
        case open([ZoneAgreement.Entry])
        /// Find out where to begin a zone with a peer that holds this token of ours. Then
        /// ``began(zone:at:isHeldTokenVoid:recordCount:)``.
        case begin(zone: Int, heldByPeer: ChangeToken?, peerTakesWrites: Bool)
        /// From now on ``nextRequest(zone:)`` may have something to do, and files may be exchanged.
        case exchange
        /// The other side has begun, and holds what the token covers.
        case noteBegun(zone: Int, at: ChangeToken?)
        /// What the exchange of a zone asks for; never ``ZoneExchange/Action/send(_:)``. For a summary that is to be compared:
        /// ``compared(_:with:zone:)``.
        case zone(Int, ZoneExchange.Action)
        /// Keep that the other side does not take these records.
        case noteRefused(zone: Int, reason: Int, [RecordName])
        /// Keep that both sides hold the same. Then ``inSyncNoted(zone:)``.
        case noteInSync(zone: Int, ZoneDigest)
        /// A message about files.
        case file(Message)
        /// Nothing more is sent. What waits to be sent still goes out.
        case leave
    }

    /// How long the other side may take for what it does next.
    package enum Timeout: Sendable, Equatable {
        /// The handshake.
        case handshake
        /// Pairing and greeting, all together.
        case greeting
        /// People who say what becomes of two scorebooks, on either side.
        case decision
        /// The next message.
        case silence
        /// What still comes when the last word is said.
        case farewell
    }

    /// What has to be done first before a message is handed in.
    package enum Readiness: Sendable, Equatable {
        /// Nothing.
        case ready
        /// The batches of a zone that have come are to be applied.
        case afterBatches(ofZone: Int)
        /// All batches that have come are to be applied.
        case afterAllBatches
        /// The answers to what the session has asked for last are to be given.
        case afterAnswers
    }

    /// How a session came to its end.
    package enum End: Sendable {
        /// Somebody told it to end, here or at the other side, or it has done what it was made for.
        case asked
        case failed(any Error)
    }

    /// What this side says of itself.
    package struct Identity: Sendable {
        package var key: PublicKey
        package var replica: ReplicaID
        /// The run of the program.
        package var instance: UInt64
        package var displayName: String

        package init(key: PublicKey, replica: ReplicaID, instance: UInt64, displayName: String) {
            self.key = key
            self.replica = replica
            self.instance = instance
            self.displayName = displayName
        }
    }
}

/// What the other side says has gone wrong.
package struct ErrorOfPeer: Error {
    package let error: ProtocolError
}

/// The other side has ended the connection before anything was exchanged.
package struct EarlyGoodbye: Error {}
