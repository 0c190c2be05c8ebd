import MailboxSupport
import PeerSyncMailbox

/// A storage that calls somebody after each put, and after each removal.
struct HookedStorage: MailboxStorage {
    typealias Hook = @Sendable (MailboxObjectName) async throws -> Void

    private let storage: MemoryStorage
    private let hasPut: Hook
    private let hasDeleted: Hook

    init(_ storage: MemoryStorage, hasPut: @escaping Hook = { _ in }, hasDeleted: @escaping Hook = { _ in }) {
        self.storage = storage
        self.hasPut = hasPut
        self.hasDeleted = hasDeleted
    }

    func put(_ name: MailboxObjectName, _ bytes: [UInt8]) async throws {
        try await storage.put(name, bytes)
        try await hasPut(name)
    }

    func get(_ name: MailboxObjectName) async throws -> [UInt8]? { try await storage.get(name) }
    func list(_ folder: MailboxFolder) async throws -> [MailboxObject] { try await storage.list(folder) }
    func delete(_ name: MailboxObjectName) async throws {
        try await storage.delete(name)
        try await hasDeleted(name)
    }
}
