/// The reason why a connection, a pairing or a sync failed or ended.
///
/// The message says what is wrong, in the terms of the engine. The app knows by the code what people can do about it.
public struct PeerSyncError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A stable name of the kind of error; more may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        public let description: String

        /// The address cannot be reached, or nothing listens there.
        public static let unreachable = Code(description: "unreachable")
        /// Another machine answers at the address than the one that was wanted: the address is an old one, or somebody
        /// announces what that machine has announced.
        public static let otherMachine = Code(description: "otherMachine")
        /// Machines on this network cannot be found at this moment: the system's service for that does not run.
        public static let noDiscovery = Code(description: "noDiscovery")
        /// No machine on this network shows a pairing code.
        public static let noMachineFound = Code(description: "noMachineFound")
        /// Several machines on this network show a pairing code, and nobody has said which one is meant.
        public static let severalMachinesFound = Code(description: "severalMachinesFound")
        /// This machine cannot listen on the address or port.
        public static let cannotListen = Code(description: "cannotListen")
        /// The two machines are not paired, or one of them has ended the pairing.
        public static let notPaired = Code(description: "notPaired")
        /// Somebody removed one of the two machines from the household. What it holds stays with it.
        public static let removed = Code(description: "removed")
        /// The household has no room for another introduction.
        public static let householdFull = Code(description: "householdFull")
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
        /// The two machines have different default zones, and nobody has said what becomes of them.
        public static let differentZones = Code(description: "differentZones")
        /// The user of the calling machine was asked what becomes of two zones, and said no.
        public static let declined = Code(description: "declined")
        /// The called machine did not allow what the caller wanted to do with two zones: its user said no, or nobody
        /// was there to be asked.
        public static let notAllowed = Code(description: "notAllowed")
        /// The pairing code was wrong, or the other side could not prove that it knows it.
        public static let pairingFailed = Code(description: "pairingFailed")
        /// The called machine shows no pairing code, or its code has expired or is used up.
        public static let pairingUnavailable = Code(description: "pairingUnavailable")
        /// Another machine is trying the pairing code at this moment.
        public static let pairingBusy = Code(description: "pairingBusy")
        /// Too many attempts to pair have failed; the next one has to wait.
        public static let tooManyAttempts = Code(description: "tooManyAttempts")
        /// What somebody has typed is no address, or no pairing code.
        public static let invalidInput = Code(description: "invalidInput")
        /// The other side does not speak this version of the protocol.
        public static let incompatible = Code(description: "incompatible")
        /// The other side does not speak this protocol.
        public static let noPeer = Code(description: "noPeer")
        /// Another app listens there, or something that does not speak this protocol.
        public static let otherApp = Code(description: "otherApp")
        /// The connection was cut before both sides had said goodbye.
        public static let interrupted = Code(description: "interrupted")
        /// The other side did not answer in time.
        public static let timeout = Code(description: "timeout")
        /// One side sent something that breaks the protocol.
        public static let protocolViolation = Code(description: "protocolViolation")
        /// Sync is switched off here.
        public static let switchedOff = Code(description: "switchedOff")
        /// Sync is switched off on the other machine.
        public static let peerSwitchedOff = Code(description: "peerSwitchedOff")
        /// The other machine has no rights in a zone, or not these.
        public static let notPermitted = Code(description: "notPermitted")
        /// The rights or the zones that the machines share have changed; the next connection uses the new ones.
        public static let zonesChanged = Code(description: "zonesChanged")
        /// Other users may read the file of the identity key.
        public static let unsafeIdentity = Code(description: "unsafeIdentity")
        /// The file of the identity key belongs to another user of this machine.
        public static let foreignIdentity = Code(description: "foreignIdentity")
        /// The file of the identity key holds no key.
        public static let invalidIdentity = Code(description: "invalidIdentity")
        /// The file of the identity key is missing, and the store beside it is paired with machines that know it by that key.
        public static let missingIdentity = Code(description: "missingIdentity")
        /// Another program holds one of the stores.
        public static let storeBusy = Code(description: "storeBusy")
        /// The disk of this machine's store is full, or fails.
        public static let diskFailure = Code(description: "diskFailure")
        /// Sync's own data in this machine's store was damaged in places, and is mended now.
        public static let storeMended = Code(description: "storeMended")
        /// The other machine's store cannot be read or written at this moment.
        public static let peerStoreFailure = Code(description: "peerStoreFailure")
        /// This machine's store cannot be used until somebody repairs the cause.
        public static let storeUnusable = Code(description: "storeUnusable")
        /// Sync's own data about a record in this machine's store cannot be read, and could not be mended.
        public static let damagedRecord = Code(description: "damagedRecord")
    }

    /// The kind of error. An app decides by it what to tell people.
    public let code: Code
    /// One sentence for people.
    public let message: String
    /// The file that somebody has to see to, if the error is about a file.
    public let path: String?
    /// Whether both sides were in sync before, in the session that ended with this error.
    var cameAfterSync = false
    /// Whether the other side had not proved who it is when the connection failed.
    var cameBeforeProof = false

    static let switchedOff = PeerSyncError(.switchedOff, "sync is switched off here")
    static let discoveryFails = PeerSyncError(
        .noDiscovery, "machines on this network cannot be found, nor find this one, at this moment")

    /// Makes an error, as for an app's own tests.
    ///
    /// - Parameters:
    ///   - code: the kind of error.
    ///   - message: one sentence for people.
    ///   - path: the file that somebody has to see to, if there is one.
    public init(_ code: Code, _ message: String, path: String? = nil) {
        self.code = code
        self.message = message
        self.path = path
    }

    public var description: String { message }

    /// Whether trying again later may help without anybody doing anything on this machine.
    ///
    /// It does not help where only a person can change the cause: pairing, the union of two stores, versions, keys, a
    /// damaged store.
    public var isTransient: Bool {
        switch code {
        case .unreachable, .otherMachine, .noDiscovery, .cannotListen, .noPeer, .otherApp, .interrupted,
            .timeout, .protocolViolation, .clockSkew, .duplicateConnection, .zonesChanged, .notPermitted,
            .peerSwitchedOff, .storeBusy, .diskFailure, .peerStoreFailure, .storeMended:
            true
        case .noMachineFound, .severalMachinesFound, .notPaired, .removed, .householdFull,
            .changeTokenExpired, .sameIdentity, .noCommonZone, .differentZones, .declined, .notAllowed,
            .pairingFailed, .pairingUnavailable, .pairingBusy, .tooManyAttempts, .invalidInput, .incompatible,
            .switchedOff, .unsafeIdentity, .foreignIdentity, .invalidIdentity, .missingIdentity,
            .storeUnusable, .damagedRecord:
            false
        // ErrorCodeTests find no other.
        default: false
        }
    }
}
