import ArgumentParser
import Foundation
import GRDB
import PeerSync
import RecordStore
import Scorebook
import SyncModel

/// The exit codes of sysexits.h that this program uses.
extension ExitCode {
    /// A value or a file has wrong content.
    static let dataError = ExitCode(65)
    /// A file that was named is not there.
    static let noInput = ExitCode(66)
    /// An address cannot be reached or listened on.
    static let unavailable = ExitCode(69)
    /// The program itself is at fault.
    static let softwareError = ExitCode(70)
    /// The store's directory or files cannot be written.
    static let cannotCreate = ExitCode(73)
    /// The output cannot be written.
    static let outputError = ExitCode(74)
    /// Trying again later may help.
    static let temporaryFailure = ExitCode(75)
    /// Not paired, or refused.
    static let refused = ExitCode(77)
    /// The identity key is not safe.
    static let configuration = ExitCode(78)
}

/// What a failed command says, and the code it exits with.
struct Failure: Error {
    let code: ExitCode
    let message: String

    init(_ code: ExitCode, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Understands an error of any part of the program.
    init(_ error: any Error) {
        switch error {
        case let failure as Failure:
            self = failure
        case let error as PeerSyncError:
            self.init(Self.code(error.code), error.message)
        case let error as RecordStoreError:
            self.init(Self.code(error.code), error.message)
        case let error as ScorebookError:
            self.init(
                Self.code(error.code), error.place.map { "\(error.message) (at \($0))" } ?? error.message)
        case let error as RecordNameError:
            self.init(.dataError, error.description)
        case let error as DatabaseError:
            self.init(error)
        default:
            self.init(.softwareError, (error as NSError).localizedDescription)
        }
    }

    private init(_ error: DatabaseError) {
        switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self.init(.temporaryFailure, "another program is writing to the scorebook; try again in a moment")
        case .SQLITE_FULL:
            self.init(.cannotCreate, "the disk is full; nothing was changed")
        case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_IOERR:
            self.init(.cannotCreate, "the scorebook cannot be written: \(error.message ?? error.description)")
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            self.init(
                .dataError, "the scorebook's database is damaged: \(error.message ?? error.description)")
        default:
            self.init(.softwareError, "the database said: \(error.message ?? error.description)")
        }
    }

    private static func code(_ code: PeerSyncError.Code) -> ExitCode {
        switch code {
        case .unreachable, .cannotListen: .unavailable
        case .interrupted, .timeout, .duplicateConnection, .storeBusy, .zonesChanged, .peerSwitchedOff,
            .peerStoreFailure, .storeMended:
            .temporaryFailure
        case .switchedOff, .notPermitted, .notPaired, .changeTokenExpired, .clockSkew, .refused,
            .pairingFailed:
            .refused
        case .unsafeIdentity: .configuration
        case .storeUnusable, .diskFailure: .cannotCreate
        default: .dataError
        }
    }

    private static func code(_ code: RecordStoreError.Code) -> ExitCode {
        switch code {
        case .deletionDenied: .refused
        case .unreadableFile: .noInput
        case .noSpace, .assetUnwritable: .cannotCreate
        default: .dataError
        }
    }

    private static func code(_ code: ScorebookError.Code) -> ExitCode {
        switch code {
        case .unreadableFile: .noInput
        case .notWritable: .cannotCreate
        default: .dataError
        }
    }
}
