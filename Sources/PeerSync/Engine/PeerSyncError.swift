/// Why a connection, a pairing or a sync did not come about or ended.
///
/// The message says what is wrong, in the terms of the engine. What people can do about it in an app, the app knows by
/// the code.
public struct PeerSyncError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A stable name of the kind of error; more may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        public let description: String

        /// The address cannot be reached, or nobody listens there.
        public static let unreachable = Code(description: "unreachable")
        /// The address or port cannot be listened on.
        public static let cannotListen = Code(description: "cannotListen")
        /// The two machines are not paired, or one of them has ended the pairing.
        public static let notPaired = Code(description: "notPaired")
        /// One of the machines was away for so long that it has to start over.
        public static let changeTokenExpired = Code(description: "changeTokenExpired")
        /// The two machines have another connection already, which stays.
        public static let duplicateConnection = Code(description: "duplicateConnection")
        /// The clock of one of the machines is wrong.
        public static let clockSkew = Code(description: "clockSkew")
        /// Both sides have one identity key: a store is a copy of the other, or a machine connected to itself.
        public static let sameIdentity = Code(description: "sameIdentity")
        /// The two machines share no zone.
        public static let noCommonZone = Code(description: "noCommonZone")
        /// The default zones of the two are different ones, and nobody has said what is to become of them.
        public static let differentZones = Code(description: "differentZones")
        /// The user of the machine that called was asked what becomes of two zones, and said no.
        public static let declined = Code(description: "declined")
        /// The machine that was called did not allow what was to become of two zones: its user said no, or nobody was there
        /// to be asked.
        public static let notAllowed = Code(description: "notAllowed")
        /// The pairing code was wrong, or the other side could not prove that it knows it.
        public static let pairingFailed = Code(description: "pairingFailed")
        /// The machine that was called shows no pairing code, or its code has expired or is used up.
        public static let pairingUnavailable = Code(description: "pairingUnavailable")
        /// Another machine is trying the pairing code at this moment.
        public static let pairingBusy = Code(description: "pairingBusy")
        /// Too many attempts to pair did not succeed; the next one may come later.
        public static let tooManyAttempts = Code(description: "tooManyAttempts")
        /// What answered does not speak this version of the protocol.
        public static let incompatible = Code(description: "incompatible")
        /// What answered does not speak this protocol.
        public static let noPeer = Code(description: "noPeer")
        /// Another app listens there, or something that does not speak this protocol.
        public static let otherApp = Code(description: "otherApp")
        /// The connection was cut before both sides had said goodbye.
        public static let interrupted = Code(description: "interrupted")
        /// The other side did not answer in time.
        public static let timeout = Code(description: "timeout")
        /// What came over the connection breaks the protocol, or the other side says so of what went there.
        public static let protocolViolation = Code(description: "protocolViolation")
        /// Sync is switched off here.
        public static let switchedOff = Code(description: "switchedOff")
        /// Sync is switched off on the other machine.
        public static let peerSwitchedOff = Code(description: "peerSwitchedOff")
        /// The other machine has no rights in a zone, or not these.
        public static let notPermitted = Code(description: "notPermitted")
        /// Who may have what has changed; the next connection goes by what holds now.
        public static let zonesChanged = Code(description: "zonesChanged")
        /// Others than its owner may read the file of the identity key.
        public static let unsafeIdentity = Code(description: "unsafeIdentity")
        /// The file of the identity key belongs to another user of this machine.
        public static let foreignIdentity = Code(description: "foreignIdentity")
        /// What is in the place of the identity key is no key.
        public static let invalidIdentity = Code(description: "invalidIdentity")
        /// Another program holds one of the stores.
        public static let storeBusy = Code(description: "storeBusy")
        /// The disk of this machine's store is full, or fails.
        public static let diskFailure = Code(description: "diskFailure")
        /// What sync knew in this machine's store was damaged in places, and is mended now.
        public static let storeMended = Code(description: "storeMended")
        /// The other machine's store cannot be read or written at this moment.
        public static let peerStoreFailure = Code(description: "peerStoreFailure")
        /// This machine's store cannot be used until somebody does something about it.
        public static let storeUnusable = Code(description: "storeUnusable")
        /// What sync knows of a record in this machine's store cannot be read, and could not be mended.
        public static let damagedRecord = Code(description: "damagedRecord")
    }

    public let code: Code
    /// One sentence for people.
    public let message: String
    /// The file that somebody has to do something about, if it is one.
    public let path: String?
    /// Whether both sides had been found equal before in the session that ended with this.
    var cameAfterSync = false

    static let switchedOff = PeerSyncError(.switchedOff, "sync is switched off here")

    public init(_ code: Code, _ message: String, path: String? = nil) {
        self.code = code
        self.message = message
        self.path = path
    }

    public var description: String { message }

    /// Whether trying again later may help without anybody doing anything on this machine.
    ///
    /// What only a person can change is not: who is paired, what becomes of two stores, versions, keys, a damaged store.
    public var isTransient: Bool {
        [
            .unreachable, .noPeer, .otherApp, .interrupted, .timeout, .protocolViolation, .clockSkew,
            .duplicateConnection, .zonesChanged, .notPermitted, .peerSwitchedOff, .storeBusy, .diskFailure,
            .peerStoreFailure, .storeMended,
        ].contains(code)
    }
}
