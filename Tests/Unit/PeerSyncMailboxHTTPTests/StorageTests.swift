import Foundation
import PeerSyncMailbox
import PeerSyncMailboxHTTP
import TestSupport
import Testing

#if WebStorage
    /// Each storage does what a mailbox relies on: WebDAV and the S3 API of real servers, with every fault told in words.
    @Suite(.timeLimit(.minutes(10))) struct StorageTests {
        @Test(arguments: RealStorage.all, StorageCheck.allCases)
        func eachServerDoesWhatAMailboxReliesOn(_ server: RealStorage, _ check: StorageCheck) async throws {
            try await check.run(server.storage())
        }

        @Test(arguments: RealStorage.all) func aWrongSecretIsNamed(_ server: RealStorage) async throws {
            // moto looks at no signature.
            guard server.name != "moto" else { return }
            let error = try await Self.failure(server.storage(secret: "wrong"))
            #expect(error.code == .credentials)
            #expect(!error.message.contains("wrong"))
        }

        @Test(arguments: RealStorage.all.filter { $0.address.hasPrefix("https") })
        func aCertificateThatNobodyTrustsIsNamed(_ server: RealStorage) async throws {
            let error = try await Self.failure(server.storage(isTrusting: false))
            #expect(error.code == .notTrusted)
        }

        @Test(arguments: RealStorage.all.filter { $0.address.hasPrefix("https://localhost:") })
        func aCertificateForAnotherNameIsNamed(_ server: RealStorage) async throws {
            let other = server.address.replacing("localhost", with: "127.0.0.2")
            let error = try await Self.failure(server.storage(at: other))
            #expect([.notTrusted, .unreachable].contains(error.code), "\(error.message)")
        }

        @Test(arguments: RealStorage.all) func aPlaceThatIsNotThereIsNamed(_ server: RealStorage) async throws {
            let storage: any MailboxStorage =
                switch server.kind {
                case .webdav: try server.storage(at: server.address + "-elsewhere")
                case .s3: try server.storage(bucket: "elsewhere")
                }
            let folder = try StorageCheck.folder()
            for error in [
                await Self.failure { _ = try await storage.list(folder) },
                await Self.failure { try await storage.put(StorageCheck.name(folder, "a"), [1]) },
            ] {
                #expect(error?.code == .invalid)
                #expect(error?.message.hasPrefix("there is no ") == true, "\(error?.message ?? "no error")")
            }
        }

        /// A folder of a server has also what other programs put there.
        @Test(arguments: RealStorage.all(.webdav)) func aListLeavesOutWhatIsNoObject(_ server: RealStorage) async throws {
            let folder = try StorageCheck.folder()
            let storage = try server.storage()
            try await storage.put(StorageCheck.name(folder, "a"), [1])
            // A folder in the folder.
            let inner = try server.storage(at: "\(server.address)/\(folder)")
            try await inner.put(try StorageCheck.name(#require(MailboxFolder("inner")), "b"), [1])
            #expect(try await StorageCheck.sizes(storage, folder) == ["a": 1])
        }

        private static func failure(_ storage: any MailboxStorage) async throws -> MailboxError {
            try await #require(throws: MailboxError.self) { try await storage.list(StorageCheck.folder()) }
        }

        private static func failure(_ body: () async throws -> Void) async -> MailboxError? {
            do {
                try await body()
                return nil
            } catch {
                return error as? MailboxError
            }
        }
    }
#endif
