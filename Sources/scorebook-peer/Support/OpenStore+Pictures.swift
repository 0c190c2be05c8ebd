import Foundation
import NIOPosix
import PeerSync
import PeerSyncMailbox
import Scorebook

extension OpenStore {
    /// Returns the file of a picture. Fetches a damaged or missing file from a machine that can be reached. Files are
    /// often missing because of the policy.
    ///
    /// - Throws: ``Failure``: `unavailable` when no machine that can be reached has it; `dataError` when it is damaged
    ///   and no machine is paired.
    func fileOrFetch(_ image: Asset) async throws -> URL {
        let records = scorebook.records
        let peers = try await records.peers.all()
        if let assets = records.assetDirectory, let file = records.assets.file(image) {
            if try await NIOThreadPool.singleton.runIfActive({ try !assets.isDamaged(image.hash) }) {
                return file
            }
            guard !peers.isEmpty else {
                throw Failure(
                    .dataError,
                    "the file of the picture \(Display.printable(image.summary)) is damaged, and no machine is "
                        + "paired with this one that may have it")
            }
            try await NIOThreadPool.singleton.runIfActive { try assets.setAside(image.hash) }
            return try await fetch(image, from: peers, state: "was damaged, and is put aside")
        }
        return try await fetch(image, from: peers)
    }

    private func fetch(_ image: Asset, from peers: [Peer], state: String = "is not here") async throws -> URL
    {
        let records = scorebook.records
        let name = Display.printable(image.summary)
        guard !peers.isEmpty else {
            throw Failure(
                .unavailable,
                "the file of the picture \(name) is not here, and no machine is paired with this one")
        }
        // Any session of this store fetches the file: one of this process, or one that another process already runs.
        try await records.assets.setWished([image.hash], true)
        let found = await Result {
            try await ProgressLine.shared.during("fetching \(name)") {
                try await file(image, from: peers)
            }
        }
        if case .success(nil) = found, try await !records.mailboxes.all().isEmpty {
            // Through a mailbox it comes later, if it stays wished for.
            throw Failure(
                .unavailable,
                "the file of the picture \(name) \(state), and no machine that has it can be reached; it is asked for "
                    + "through the mailbox",
                hint: "save it when both machines have synced with the mailbox")
        }
        try await records.assets.setWished([image.hash], false)
        guard let file = try found.get() else {
            throw Failure(
                .unavailable,
                "the file of the picture \(name) \(state), and no machine that has it can be reached "
                    + "(\(peers.map(\.name).joined(separator: ", ")))")
        }
        return file
    }

    private func file(_ image: Asset, from peers: [Peer]) async throws -> URL? {
        if peers.contains(where: \.isConnected), let file = try await awaitFile(image) { return file }
        for peer in peers {
            guard let address = peer.address.flatMap({ PeerAddress($0) }) else { continue }
            let engine = SyncEngine(
                app: .scorebook, store: scorebook.records, identity: identity,
                displayName: SyncEngine.hostName, discovery: .off, words: .scorebook)
            if let file = await file(image, during: SyncConnector(engine, to: address)) { return file }
        }
        return nil
    }

    /// Syncs until a file is here. Does not wait for other missing files.
    private func file(_ image: Asset, during connector: SyncConnector) async -> URL? {
        let records = scorebook.records
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = try? await connector.syncOnce() }
            group.addTask {
                while records.assets.file(image) == nil {
                    guard (try? await Task.sleep(for: .milliseconds(50))) != nil else { return }
                }
            }
            await group.next()
            group.cancelAll()
        }
        return records.assets.file(image)
    }

    /// Waits for another process to fetch a file, as long as bytes of it arrive.
    private func awaitFile(_ image: Asset) async throws -> URL? {
        let patience: Duration = .seconds(3)
        var last: Int64 = -1
        var deadline = ContinuousClock.now + patience
        while ContinuousClock.now < deadline {
            if let file = scorebook.records.assets.file(image) { return file }
            let count = scorebook.records.assetDirectory?.receivedCount(image.hash) ?? 0
            if count != last { deadline = .now + patience }
            last = count
            try await Task.sleep(for: .milliseconds(50))
        }
        return nil
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
