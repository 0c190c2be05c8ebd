import ArgumentParser
import Foundation
import GRDB
import NIOCore
import PeerSync
import PeerSyncModel
import PeerSyncStore
import Scorebook

/// The exit codes of sysexits.h that this program uses.
extension ExitCode {
    /// A value or a file has wrong content.
    static let dataError = ExitCode(65)
    /// A named file does not exist.
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

/// The message of a failed command, and its exit code.
struct Failure: Error {
    let code: ExitCode
    let message: String

    init(_ code: ExitCode, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Translates an error of any part of the program.
    init(_ error: any Error) {
        switch error {
        case let failure as Failure:
            self = failure
        case let error as PeerSyncError:
            self.init(Self.code(error.code), error.explanation)
        case let error as RecordStoreError:
            self.init(Self.code(error.code), error.explanation)
        case let error as ScorebookError:
            self.init(Self.code(error.code), error.message)
        case let error as RecordNameError:
            self.init(.dataError, error.explanation)
        case is CancellationError:
            self.init(.temporaryFailure, "stopped before it was done; run it again")
        default:
            if let failure = StoreFailure(error) { self.init(failure) } else { self.init(system: error) }
        }
    }

    private init(_ failure: StoreFailure) {
        switch failure {
        case .busy:
            self.init(.temporaryFailure, "another program is writing to the scorebook; try again in a moment")
        case .full, .ioFailure:
            self.init(
                .cannotCreate,
                "the scorebook cannot be written: its disk is full or fails; make room and try again")
        case .notWritable, .cannotOpen:
            self.init(
                .cannotCreate,
                "the scorebook cannot be written: check who may write its directory and its files")
        case .damaged, .noDatabase:
            self.init(.dataError, "the scorebook's database is damaged; restore a backup of it")
        case .other(let code):
            self.init(
                .softwareError,
                "the scorebook's database refuses this (SQLite code \(code)); "
                    + "`scorebook-peer status --check` finds what is wrong in it")
        }
    }

    /// Translates a system error by its number, whichever library reports it. The texts of libraries are for
    /// programmers.
    private init(system error: any Error) {
        let number =
            (error as? IOError)?.errnoCode
            ?? sequence(first: error as NSError) { $0.userInfo[NSUnderlyingErrorKey] as? NSError }
            .first { $0.domain == NSPOSIXErrorDomain }.map { Int32($0.code) }
        switch number {
        case ENOSPC, EDQUOT, EFBIG:
            self.init(.cannotCreate, "the disk is full; make room and try again")
        case EACCES, EPERM, EROFS:
            self.init(.cannotCreate, "a file cannot be read or written: its permissions do not allow it")
        case let number?:
            let reason = String(cString: strerror(number)).lowercased()
            self.init(.softwareError, "the system does not allow what is needed here (\(reason)); try again")
        case nil:
            self.init(
                .softwareError,
                "something went wrong that the program does not know (\(type(of: error))); please report it")
        }
    }

    private static func code(_ code: PeerSyncError.Code) -> ExitCode {
        switch code {
        case .unreachable, .cannotListen: .unavailable
        case .interrupted, .timeout, .duplicateConnection, .storeBusy, .zonesChanged, .peerSwitchedOff,
            .peerStoreFailure, .storeMended:
            .temporaryFailure
        case .switchedOff, .notPermitted, .notPaired, .changeTokenExpired, .clockSkew, .sameIdentity,
            .noCommonZone, .differentZones, .declined, .notAllowed, .pairingFailed, .pairingUnavailable,
            .pairingBusy, .tooManyAttempts:
            .refused
        case .unsafeIdentity, .foreignIdentity, .invalidIdentity: .configuration
        case .storeUnusable, .damagedRecord, .diskFailure: .cannotCreate
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
