import Foundation
import PeerSyncMailbox
import TestSupport
import Testing

/// A folder does what a mailbox relies on, on the system's disk and on another file system.
@Suite(.timeLimit(.minutes(5))) struct FolderStorageCheckTests {
    /// On Linux a file system in memory, which has other ideas of directories and of durability.
    private static let otherFileSystem = "/dev/shm"

    @Test(arguments: StorageCheck.allCases) func aFolderDoesWhatAMailboxReliesOn(_ check: StorageCheck) async throws {
        try await withTemporaryDirectory { try await check.run(FolderStorage(at: $0)) }
    }

    #if os(Linux)
        @Test(arguments: StorageCheck.allCases)
        func aFolderOnAnotherFileSystemDoesToo(_ check: StorageCheck) async throws {
            let folder = URL(fileURLWithPath: Self.otherFileSystem).appendingPathComponent("mailbox-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(at: folder) }
            try await check.run(FolderStorage(at: folder))
        }
    #endif
}
