import GRDB
import PeerSyncProtocol
import PeerSyncStore
import Testing

@testable import PeerSync

/// What fails in a store is said in people's words on both machines, and passes where it may.
struct SessionFailureTests {
    private static let failures: [(DatabaseError, PeerSyncError.Code, ProtocolError.Code)] = [
        (.init(resultCode: .SQLITE_BUSY), .storeBusy, .storeBusy),
        (.init(resultCode: .SQLITE_FULL), .diskFailure, .storeFailure),
        (.init(resultCode: .SQLITE_IOERR), .diskFailure, .storeFailure),
        (.init(resultCode: .SQLITE_CORRUPT), .storeUnusable, .storeFailure),
        (.init(resultCode: .SQLITE_READONLY), .storeUnusable, .storeFailure),
        (.init(resultCode: .SQLITE_ERROR), .storeUnusable, .storeFailure),
    ]

    /// Otherwise a session that somebody ends would tell of a store that refuses something, or one whose work somebody interrupts would
    /// wait for ever.
    @Test(arguments: [true, false]) func anInterruptionIsACancellationOnlyInACancelledTask(isCancelled: Bool)
        async
    {
        let task = Task {
            if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
            return isCancellation(DatabaseError(resultCode: .SQLITE_INTERRUPT))
                && !isCancellation(DatabaseError(resultCode: .SQLITE_FULL))
        }
        #expect(await task.value == isCancelled)
    }

    @Test(arguments: failures)
    func aDatabaseThatFailsIsToldInWords(
        error: DatabaseError, here: PeerSyncError.Code, there: ProtocolError.Code
    ) throws {
        let raw = DatabaseError(
            resultCode: error.resultCode, message: "RAW", sql: "BEGIN IMMEDIATE TRANSACTION")
        let own = PeerSyncError(store: raw)
        let told = try #require(ProtocolError(toldToPeer: raw))
        #expect(own.code == here && told.code == there)
        for text in [own.message, told.message] {
            #expect(!text.contains("RAW") && !text.contains("BEGIN") && !text.contains("SQLite error"))
        }
    }

    @Test(
        arguments: [
            (.noSpace, .diskFailure, true), (.assetUnwritable, .diskFailure, true),
            (.invalidRecord, .protocolViolation, true), (.clockSkew, .clockSkew, true),
            (.notPermitted, .notPermitted, true), (.corrupt, .storeUnusable, false),
            (.noSuchPeer, .notPaired, false), (.changeTokenExpired, .changeTokenExpired, false),
            (.backupFailed, .storeUnusable, false), (.newerFormat, .storeUnusable, false),
            (.damagedRecord, .damagedRecord, false), (.tooManyAttempts, .tooManyAttempts, false),
        ] as [(RecordStoreError.Code, PeerSyncError.Code, Bool)])
    func whatTheStoreRefusesIsDecided(code: RecordStoreError.Code, here: PeerSyncError.Code, mayPass: Bool) {
        let error = PeerSyncError(store: RecordStoreError(code, "a sentence"))
        #expect(error.code == here && error.message == "a sentence" && error.isTransient == mayPass)
    }
}
