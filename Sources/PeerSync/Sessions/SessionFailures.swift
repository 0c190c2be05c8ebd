import PeerSyncChannel
import PeerSyncProtocol
import PeerSyncStore

/// Whether an error only says that this task was cancelled. GRDB interrupts what a cancelled task has SQLite do, and the statements that
/// the store executes itself then fail with SQLite's own code. Where nobody has cancelled the task, somebody else has interrupted
/// SQLite, and that is a failure.
func isCancellation(_ error: any Error) -> Bool {
    error is CancellationError || Task.isCancelled && StoreFailure(error) == .other(9)
}

/// Runs what an app has asked for once. If that is interrupted because the task was cancelled, this throws a `CancellationError`.
func tellingCancellation<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
        return try await body()
    } catch let error as PeerSyncError where error.code == .interrupted {
        try Task.checkCancellation()
        throw error
    }
}

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
    package init(store error: any Error) {
        switch error {
        case let error as PeerSyncError: self = error
        case let error as RecordStoreError: self.init(error)
        default: self.init(StoreFailure(error))
        }
    }

    private init(_ error: RecordStoreError) {
        switch error.meaning {
        case .ofBoth(let code): self.init(ProtocolError(code, error.message))
        case .ofThisMachine(let code): self.init(code, error.message)
        }
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
                .storeUnusable,
                "the database of this machine's store is damaged; move it away together with its -wal and -shm, and copy a "
                    + "backup to its place")
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
    fileprivate enum Meaning {
        /// The protocol has a code for it.
        case ofBoth(ProtocolError.Code)
        /// It is this machine's own trouble.
        case ofThisMachine(PeerSyncError.Code)
    }

    fileprivate var meaning: Meaning {
        switch code {
        case .clockSkew: .ofBoth(.clockSkew)
        case .noSuchPeer: .ofBoth(.notPaired)
        case .removed: .ofBoth(.removed)
        case .changeTokenExpired: .ofBoth(.changeTokenExpired)
        case .notPermitted: .ofBoth(.notPermitted)
        case .zonesChanged: .ofBoth(.zonesChanged)
        case .tooManyAttempts: .ofBoth(.tooManyAttempts)
        case .invalidRecord: .ofThisMachine(.protocolViolation)
        case .noSpace, .assetUnwritable: .ofThisMachine(.diskFailure)
        case .damagedRecord: .ofThisMachine(.damagedRecord)
        case .householdFull: .ofThisMachine(.householdFull)
        case .invalidSchema, .tableMismatch, .newerFormat, .corrupt, .noSuchRecord, .deletionDenied,
            .noSuchZone, .otherZone, .sharedZone, .backupFailed, .unreadableFile, .invalidValue, .notDeleted,
            .ambiguous, .heldRecords:
            .ofThisMachine(.storeUnusable)
        // ErrorCodeTests find no other.
        default: .ofThisMachine(.storeUnusable)
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
        switch error.meaning {
        case .ofBoth(let code): self.init(code, error.message)
        case .ofThisMachine:
            self.init(.storeFailure, "the other machine's store cannot go on: \(error.message)")
        }
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
