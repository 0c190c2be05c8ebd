#if WebStorage
    import Foundation
    import PeerSyncMailbox
    import TestSupport
    import Testing

    @testable import PeerSyncMailboxHTTP

    /// A connection that breaks at any byte of an upload leaves the old object or the new one, never a part.
    @Suite(.timeLimit(.minutes(5))) struct CutUploadTests {
        @Test(arguments: RealStorage.all.filter { $0.address.hasPrefix("http://") })
        func aCutUploadLeavesNoPart(_ server: RealStorage) async throws {
            let port = try #require(URL(string: server.address)?.port)
            let storage = try server.storage()
            let folder = try StorageCheck.folder()
            let name = try StorageCheck.name(folder, "a")
            let old = [UInt8](repeating: 1, count: 300_000)
            let new = [UInt8](repeating: 2, count: 400_000)
            try await storage.put(name, old)
            var outcomes: Set<Int> = []
            for cut in [
                0, 100, 500, 1_000, 65_000, 200_000, 399_000, 400_200, 400_500, 400_800, 401_500, 1_000_000,
            ] {
                try await CuttingProxy.with(port: port, after: cut) { proxy in
                    let address = server.address.replacing(":\(port)", with: ":\(proxy)")
                    try? await server.storage(at: address, patience: .init(pauses: [])).put(name, new)
                }
                let read = try #require(try await storage.get(name))
                #expect(read == old || read == new, "cut after \(cut) bytes")
                #expect(try await storage.list(folder).count == 1)
                outcomes.insert(read.count)
                try await storage.put(name, old)
            }
            // Otherwise nothing was cut, or everything.
            #expect(outcomes == [old.count, new.count])
        }
    }
#endif
