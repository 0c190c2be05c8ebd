import SyncProtocol

/// Why a connection, a pairing or a sync did not come about or ended.
public struct PeerSyncError: Error, Sendable, CustomStringConvertible {
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
        /// The other side, or this one, refused for a reason that the message gives.
        public static let refused = Code(description: "refused")
        /// The pairing did not succeed.
        public static let pairingFailed = Code(description: "pairingFailed")
        /// What answered does not speak this protocol, or not this version of it.
        public static let incompatible = Code(description: "incompatible")
        /// The connection was cut before both sides had said goodbye.
        public static let interrupted = Code(description: "interrupted")
        /// The other side did not answer in time.
        public static let timeout = Code(description: "timeout")
        /// The other side broke the protocol, or says that this side did.
        public static let protocolViolation = Code(description: "protocolViolation")
        /// Sync is switched off here.
        public static let switchedOff = Code(description: "switchedOff")
        /// Sync is switched off on the other machine.
        public static let peerSwitchedOff = Code(description: "peerSwitchedOff")
        /// The other machine has no rights in a zone, or not these.
        public static let notPermitted = Code(description: "notPermitted")
        /// Who may have what has changed; the next connection goes by what holds now.
        public static let zonesChanged = Code(description: "zonesChanged")
        /// The identity key is readable by others, or is none.
        public static let unsafeIdentity = Code(description: "unsafeIdentity")
        /// Another program holds one of the stores.
        public static let storeBusy = Code(description: "storeBusy")
        /// The store cannot be read or written.
        public static let storeUnusable = Code(description: "storeUnusable")
    }

    public let code: Code
    /// One sentence for people.
    public let message: String
    /// Whether both sides had been found equal before in the session that ended with this.
    var cameAfterSync = false

    static let switchedOff = PeerSyncError(
        .switchedOff, "sync is switched off here; `scorebook-peer sync on` switches it on")

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }

    /// Whether trying again later may help without anybody doing anything.
    public var isTransient: Bool {
        [
            .unreachable, .interrupted, .timeout, .clockSkew, .duplicateConnection, .storeBusy, .zonesChanged,
            .notPermitted, .peerSwitchedOff,
        ].contains(code)
    }

    /// What an error that the other side sent, or that this side found, means to the user here.
    init(_ error: ProtocolError) {
        let code: Code =
            switch error.code {
            case .notPaired: .notPaired
            case .changeTokenExpired: .changeTokenExpired
            case .clockSkew: .clockSkew
            case .duplicateConnection: .duplicateConnection
            case .sameIdentity, .noCommonZone, .differentScorebook, .declined: .refused
            case .zonesChanged: .zonesChanged
            case .notPermitted: .notPermitted
            case .switchedOff: .peerSwitchedOff
            case .pairingUnavailable, .pairingFailed, .pairingBusy, .tooManyAttempts: .pairingFailed
            case .unsupportedVersion: .incompatible
            case .timeout, .tooBusy: .timeout
            case .storeBusy: .storeBusy
            case .storeFailure: .storeUnusable
            default: .protocolViolation
            }
        self.init(code, error.message)
    }
}
