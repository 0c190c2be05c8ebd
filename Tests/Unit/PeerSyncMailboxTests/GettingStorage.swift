import MailboxSupport
import PeerSyncMailbox

/// A storage that calls somebody after each object that it gives.
struct GettingStorage: MailboxStorage {
    private let storage: MemoryStorage
    private let hasGot: @Sendable (MailboxObjectName) async throws -> Void

    init(_ storage: MemoryStorage, hasGot: @escaping @Sendable (MailboxObjectName) async throws -> Void) {
        self.storage = storage
        self.hasGot = hasGot
    }

    func put(_ name: MailboxObjectName, _ bytes: [UInt8]) async throws { try await storage.put(name, bytes) }
    func get(_ name: MailboxObjectName) async throws -> [UInt8]? {
        let object = try await storage.get(name)
        try await hasGot(name)
        return object
    }
    func list(_ folder: MailboxFolder) async throws -> [MailboxObject] { try await storage.list(folder) }
    func delete(_ name: MailboxObjectName) async throws { try await storage.delete(name) }
}
