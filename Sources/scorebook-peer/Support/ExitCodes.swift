import ArgumentParser
import Foundation
import GRDB
import NIOCore
import PeerSync
import PeerSyncMailbox
import Scorebook
import ScorebookWeb

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
    /// The identity key is not safe, or is missing.
    static let configuration = ExitCode(78)
}

/// The message of a failed command, and its exit code.
struct Failure: Error {
    let code: ExitCode
    /// One sentence that says what is wrong.
    let message: String
    /// What helps; nil if the message says all.
    let hint: String?

    init(_ code: ExitCode, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }

    /// Translates an error of a session.
    ///
    /// - Parameter machine: the name or address of the other machine; nil if it is not known.
    init(_ error: PeerSyncError, with machine: String?) {
        self.init(Self.code(error.code), error.words, hint: error.hint(with: machine))
    }

    /// Translates an error of a mailbox.
    ///
    /// - Parameters:
    ///   - mailbox: what this machine calls it; nil if that is not known.
    ///   - machine: the machine that has left what the error is about; nil if it is about the mailbox.
    init(_ error: MailboxError, in mailbox: String?, of machine: String? = nil) {
        if let failure = error.underlying as? Failure {
            self = failure
            return
        }
        self.init(Self.code(error.code), error.message, hint: error.hint(in: mailbox, of: machine))
    }

    /// Translates an error of any part of the program.
    init(_ error: any Error) {
        switch error {
        case let failure as Failure:
            self = failure
        case let error as PeerSyncError:
            self.init(error, with: nil)
        case let error as RecordStoreError:
            self.init(Self.code(error.code), error.message, hint: error.hint)
        case let error as ScorebookError:
            self.init(Self.code(error.code), error.message, hint: error.hint)
        case let error as MailboxError:
            self.init(error, in: nil)
        case let error as RecordNameError:
            self.init(.dataError, error.explanation)
        case let error as WebServerError:
            switch error.code {
            case .cannotListen(let port):
                self.init(
                    .unavailable, "the page cannot be served on port \(port)",
                    hint: "another program may have it; choose another port, or 0 for a free one")
            case .noTLS:
                self.init(
                    .unavailable, "\(error)",
                    hint: "use the Debian package, or build it with: swift build --traits LAN")
            case .invalidCertificate:
                self.init(
                    .dataError, "\(error)", hint: "both files have to be PEM, and the key without a password")
            }
        case is CancellationError:
            self.init(.temporaryFailure, "stopped before it was done", hint: "run it again")
        default:
            if let failure = StoreFailure(error) { self.init(failure) } else { self.init(system: error) }
        }
    }

    private init(_ failure: StoreFailure) {
        switch failure {
        case .busy:
            self.init(
                .temporaryFailure, "another program is writing to the scorebook",
                hint: "try again in a moment")
        case .full, .ioFailure:
            self.init(
                .cannotCreate,
                "the scorebook cannot be written: its disk is full or fails", hint: "make room and try again")
        case .notWritable, .cannotOpen:
            self.init(
                .cannotCreate,
                "the scorebook cannot be written",
                hint: "check who may write its directory and its files")
        case .damaged, .noDatabase:
            self.init(
                .dataError, "the scorebook's database is damaged",
                hint: "move it away together with its -wal and -shm, and copy a backup to its place")
        case .other(let code):
            self.init(
                .softwareError,
                "the scorebook's database refuses this (SQLite code \(code))",
                hint: "`scorebook-peer status --check` finds what is wrong in it")
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
            self.init(.cannotCreate, "the disk is full", hint: "make room and try again")
        case EACCES, EPERM, EROFS:
            self.init(.cannotCreate, "a file cannot be read or written: its permissions do not allow it")
        case let number?:
            let reason = String(cString: strerror(number)).lowercased()
            self.init(
                .softwareError, "the system does not allow what is needed here (\(reason))", hint: "try again"
            )
        case nil:
            self.init(
                .softwareError,
                "something went wrong that the program does not know (\(type(of: error)))",
                hint: "please report it")
        }
    }

    // A code is no enum, because a library may add more. So the compiler does not see what the following leave out;
    // ErrorCodeTests do.

    private static func code(_ code: PeerSyncError.Code) -> ExitCode {
        switch code {
        case .unreachable, .cannotListen, .otherMachine, .noDiscovery, .noMachineFound: .unavailable
        case .interrupted, .timeout, .duplicateConnection, .storeBusy, .zonesChanged, .peerSwitchedOff,
            .peerStoreFailure, .storeMended:
            .temporaryFailure
        case .switchedOff, .notPermitted, .notPaired, .removed, .householdFull, .changeTokenExpired,
            .clockSkew,
            .sameIdentity,
            .noCommonZone, .differentZones, .declined, .notAllowed, .pairingFailed, .pairingUnavailable,
            .pairingBusy, .tooManyAttempts, .severalMachinesFound:
            .refused
        case .unsafeIdentity, .foreignIdentity, .invalidIdentity, .missingIdentity: .configuration
        case .storeUnusable, .diskFailure: .cannotCreate
        case .invalidInput, .incompatible, .noPeer, .otherApp, .protocolViolation, .damagedRecord: .dataError
        default: .softwareError
        }
    }

    private static func code(_ code: RecordStoreError.Code) -> ExitCode {
        switch code {
        case .deletionDenied, .removed, .householdFull, .clockSkew, .changeTokenExpired, .tooManyAttempts:
            .refused
        case .unreadableFile: .noInput
        case .noSpace, .assetUnwritable: .cannotCreate
        case .invalidSchema, .tableMismatch, .newerFormat, .corrupt, .damagedRecord, .noSuchRecord,
            .invalidRecord, .noSuchZone, .otherZone, .notPermitted, .sharedZone, .zonesChanged, .backupFailed,
            .noSuchPeer, .invalidValue, .notDeleted, .ambiguous, .heldRecords:
            .dataError
        default: .softwareError
        }
    }

    private static func code(_ code: MailboxError.Code) -> ExitCode {
        switch code {
        case .unreachable, .emptied: .unavailable
        case .credentials, .noAccess, .notTrusted, .clockSkew, .sameIdentity, .notShared, .away: .refused
        case .full, .readOnly: .cannotCreate
        case .invalid, .unreadable: .dataError
        case .busy, .waiting, .wentBack: .temporaryFailure
        case .other: .softwareError
        default: .softwareError
        }
    }

    private static func code(_ code: ScorebookError.Code) -> ExitCode {
        switch code {
        case .unreadableFile: .noInput
        case .notWritable: .cannotCreate
        case .readOnly: .refused
        case .notFound, .ambiguous, .notDeleted, .otherZone, .invalidValue, .invalidFile, .noAssetDirectory:
            .dataError
        default: .softwareError
        }
    }
}
