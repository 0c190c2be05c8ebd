import PeerSyncChannel
import PeerSyncProtocol
import PeerSyncStore

/// The meaning of errors for people on either machine. Texts of SQLite, the system and the cipher go only to the log.
extension PeerSyncError {
    /// Says what a protocol error, sent by the other side or found by this one, means to the user here.
    init(_ error: ProtocolError) {
        let code: Code =
            switch error.code {
            case .notPaired: .notPaired
            case .removed: .removed
            case .changeTokenExpired: .changeTokenExpired
            case .clockSkew: .clockSkew
            case .duplicateConnection: .duplicateConnection
            case .sameIdentity: .sameIdentity
            case .noCommonZone: .noCommonZone
            case .differentZones: .differentZones
            case .declined: .declined
            case .zonesChanged: .zonesChanged
            case .notPermitted: .notPermitted
            case .switchedOff: .peerSwitchedOff
            case .pairingUnavailable: .pairingUnavailable
            case .pairingFailed: .pairingFailed
            case .pairingBusy: .pairingBusy
            case .tooManyAttempts: .tooManyAttempts
            case .unsupportedVersion: .incompatible
            case .timeout, .tooBusy: .timeout
            case .storeBusy: .storeBusy
            case .storeFailure: .peerStoreFailure
            case .malformed, .unexpectedMessage, .digestMismatch: .protocolViolation
            // A peer of a later version may send others. Of this version's, ErrorCodeTests find none here.
            default: .protocolViolation
            }
        self.init(code, error.message)
    }

    /// Says what a failure of this machine's store means to the user here.
    init(store error: any Error) {
        switch error {
        case let error as PeerSyncError: self = error
        case let error as RecordStoreError: self.init(error)
        default: self.init(StoreFailure(error))
        }
    }

    private init(_ error: RecordStoreError) {
        if let code = error.protocolCode {
            self.init(ProtocolError(code, error.message))
            return
        }
        let code: Code =
            switch error.code {
            case .invalidRecord: .protocolViolation
            case .noSpace, .assetUnwritable: .diskFailure
            case .damagedRecord: .damagedRecord
            case .householdFull: .householdFull
            default: .storeUnusable
            }
        self.init(code, error.message)
    }

    private init(_ failure: StoreFailure?) {
        switch failure {
        case .busy:
            self.init(.storeBusy, "another program is writing to this store for a long time")
        case .full:
            self.init(.diskFailure, "the disk of this machine's store is full; make room there")
        case .ioFailure, .cannotOpen:
            self.init(.diskFailure, "this machine's store cannot be read or written; check its disk")
        case .damaged, .noDatabase:
            self.init(
                .storeUnusable, "the database of this machine's store is damaged; restore a backup of it")
        case .notWritable:
            self.init(
                .storeUnusable, "this machine's store may not be written; check who may write its files")
        case .other(let code):
            self.init(
                .storeUnusable, "this machine's store refuses what sync has to do (SQLite code \(code))")
        case nil:
            self.init(
                .storeUnusable, "this machine's store cannot go on, for a reason that only its log has")
        }
    }
}

extension RecordStoreError {
    /// The protocol's code for the error; nil when the error is this machine's own trouble.
    fileprivate var protocolCode: ProtocolError.Code? {
        switch code {
        case .clockSkew: .clockSkew
        case .noSuchPeer: .notPaired
        case .removed: .removed
        case .changeTokenExpired: .changeTokenExpired
        case .notPermitted: .notPermitted
        case .zonesChanged: .zonesChanged
        case .tooManyAttempts: .tooManyAttempts
        default: nil
        }
    }
}

extension ProtocolError {
    /// Says what an error found here means to the other machine's user; nil for an error that came from there.
    init?(toldToPeer error: any Error) {
        switch error {
        case let error as ProtocolError: self = error
        case let error as PeerSyncError where error.code == .switchedOff:
            self.init(.switchedOff, "sync is switched off on the other machine")
        case is PeerSyncError, is CancellationError, is SecureChannelError: return nil
        case let error as RecordStoreError: self.init(error)
        default: self.init(StoreFailure(error))
        }
    }

    private init(_ error: RecordStoreError) {
        guard let code = error.protocolCode else {
            self.init(.storeFailure, "the other machine's store cannot go on: \(error.message)")
            return
        }
        self.init(code, error.message)
    }

    private init(_ failure: StoreFailure?) {
        switch failure {
        case .busy:
            self.init(
                .storeBusy, "another program is writing to the other machine's store for a long time")
        case .full:
            self.init(.storeFailure, "the disk of the other machine's store is full; make room there")
        case .damaged, .noDatabase:
            self.init(.storeFailure, "the database of the other machine's store is damaged")
        case .ioFailure, .cannotOpen, .notWritable, .other:
            self.init(.storeFailure, "the other machine's store cannot be read or written at this moment")
        case nil:
            self.init(.storeFailure, "the other machine's store cannot go on at this moment")
        }
    }
}
