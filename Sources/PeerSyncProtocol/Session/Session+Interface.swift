import PeerSyncChannel
import PeerSyncModel

/// The types that a session and its driver exchange.
extension Session {
    /// A task for the driver.
    package enum Action: Sendable {
        case send(Message)
        /// Find out whether this side is paired with the holder of a key. Then ``peerFound(_:)``.
        case findPeer(PublicKey)
        /// Begin an attempt with the pairing code that this side shows. Then ``pairingAttemptBegan(_:)``.
        case beginPairingAttempt
        /// End the attempt. The driver also does so if the session ends before. After a failure:
        /// ``pairingAttemptFailed(attemptsLeft:)``.
        case endPairingAttempt(succeeded: Bool)
        /// Keep the holder of a key as a peer, with the name that it gives itself. Then ``peerKept(_:)``.
        case keepPeer(PublicKey, displayName: String)
        /// The other side has proved to be paired.
        case authenticated(didPair: Bool)
        /// Read the zones that the other side may have. Then ``offersRead(_:held:declined:clock:)``.
        case readOffers
        /// Add the connection to those with this peer, unless another one is there already and stays.
        case enter(instance: UInt64)
        /// Ask the user. Then ``decided(_:)``.
        case ask(ZoneQuestion)
        /// Check that the pairing still stands. It may have ended while the user thought.
        case checkPairing
        /// Read the other side's tokens that this side holds. Then ``tokensRead(_:)``.
        case readTokens([ZoneID])
        /// Make the agreed changes in the store. Then ``shared()``.
        case share(ZonePlan)
        /// Forget the records of these zones that the other side has.
        case startOver([ZoneAgreement.Entry])
        /// Read the grants of the session. Then ``grantsRead(_:)``.
        case readGrants
        /// Begin the exchange of these zones: find them in the store, and apply what comes from now on.
        case open([ZoneAgreement.Entry])
        /// Find out where to begin a zone with a peer that holds this token of ours, and gives this side these rights. Then
        /// ``began(zone:at:isHeldTokenVoid:recordCount:)``.
        case begin(zone: Int, heldByPeer: ChangeToken?, rights: ZoneRights)
        /// Begin to ask for ``nextRequest(zone:)`` and to exchange files.
        case exchange
        /// Note that the other side has begun, and holds the changes that the token covers.
        case noteBegun(zone: Int, at: ChangeToken?)
        /// Perform an action of a zone's exchange; never ``ZoneExchange/Action/send(_:)``. After
        /// ``ZoneExchange/Action/compare(_:)``: ``compared(_:with:zone:)``.
        case zone(Int, ZoneExchange.Action)
        /// Store that the other side refuses these records of the batch with a token.
        case noteRefused(zone: Int, reason: Int, [RecordName], in: ChangeToken)
        /// Store that both sides hold the same records. Then ``inSyncNoted(zone:)``.
        case noteInSync(zone: Int, ZoneDigest)
        /// Handle a message about files.
        case file(Message)
        /// Read what this side tells the other of the household. Then ``householdRead(_:)``.
        case readHousehold
        /// Tell the other side, whose set has this digest, this side's set, if it is another one and the other side may have
        /// it. Then ``householdTold(_:)``.
        /// The first time in a session there is no digest, because the addresses may be news although the set is none.
        case tellHousehold(unless: [UInt8]?)
        /// Take in the set of the other side, if it is heard.
        case takeHousehold(Message.HouseholdSet)
        /// Send no further messages. Messages that wait still go out.
        case leave
    }

    /// The limit on the time until the next step: the other side's, unless a case says whose.
    package enum Timeout: Sendable, Equatable {
        /// The handshake.
        case handshake
        /// Pairing and greeting, all together.
        case greeting
        /// A decision of people about two zones, on either side.
        case decision
        /// What this side does with its own store, once both sides have sent their opens.
        case work
        /// The next message.
        case silence
        /// The messages that still come after this side's last message.
        case farewell
    }

    /// The work that the driver must do before it hands a message in.
    package enum Readiness: Sendable, Equatable {
        /// Nothing.
        case ready
        /// The driver applies the arrived batches of a zone.
        case afterBatches(ofZone: Int)
        /// The driver applies all arrived batches.
        case afterAllBatches
        /// The driver answers the last requests of the session.
        case afterAnswers
    }

    /// The way a session ended.
    package enum End: Sendable {
        /// A user or program ended it, here or at the other side, or it has done its task.
        case asked
        case failed(any Error)
    }

    /// This side's description of itself.
    package struct Identity: Sendable, Hashable {
        package var key: PublicKey
        package var replica: ReplicaID
        /// The number of this run of the program.
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

/// An error that the other side reports.
package struct ErrorOfPeer: Error {
    package let error: ProtocolError
}

/// The error for a connection that the other side ended before the exchange.
package struct EarlyGoodbye: Error {}
