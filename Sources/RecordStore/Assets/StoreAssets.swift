import Foundation
import GRDB
import SyncModel

/// The files of a store's records: ``RecordStore/assets``.
public struct StoreAssets: Sendable {
    /// How long a file that no record refers to is kept, in milliseconds: 180 days, as long as the record can be restored that did.
    public static let defaultRetention: Int64 = StoreUpkeep.defaultRetention

    let store: RecordStore
    private var directory: AssetDirectory? { store.assetDirectory }

    /// How many files live records refer to, and how many of them are here. Looks at the directory.
    public func status() async throws -> AssetStatus {
        let (references, policy) = try await store.database.read { db in
            (try AssetTable.references(db).list, try Self.policy(db))
        }
        let present = try await blocking { [directory] in try directory?.present() ?? [:] }
        var status = AssetStatus()
        status.policy = policy
        let here = try await inOtherSize(
            references.compactMap { reference in
                present[reference.hash].flatMap { $0 == reference.size ? nil : (reference, $0) }
            })
        for reference in references {
            status.referred.add(reference.size)
            guard present[reference.hash] != reference.size, !here.contains(reference.hash) else { continue }
            if policy.includes(reference.size) {
                status.missing.add(reference.size)
            } else {
                status.excluded.add(reference.size)
            }
        }
        return status
    }

    /// The files that are not here in the size of the reference, but in one that another record names. The hash decides
    /// which of them is right, and it is the same file.
    private func inOtherSize(_ files: [(AssetReference, size: Int64)]) async throws -> Set<AssetHash> {
        guard !files.isEmpty else { return [] }
        return try await store.database.read { db in
            Set(
                try files.filter { try AssetTable.isReferred(db, $0.0.hash, size: $0.size) }.map(\.0.hash))
        }
    }

    /// Which files are fetched from peers.
    public func policy() async throws -> AssetPolicy {
        try await store.database.read(Self.policy)
    }

    static func policy(_ db: Database) throws -> AssetPolicy {
        try SyncState.text(db, .assetPolicy).flatMap(AssetPolicy.init) ?? .all
    }

    /// Chooses which files are fetched from peers, from now on.
    public func setPolicy(_ policy: AssetPolicy) async throws {
        try await store.database.write { try SyncState.set($0, .assetPolicy, policy.description) }
    }

    /// Reads every file, and puts aside those that are damaged, so that they are fetched again.
    ///
    /// - Parameter onProgress: called after each file, with what has been looked at so far.
    /// - Throws: ``RecordStoreError`` `unreadableFile` when files could not be opened, and none of the others is damaged.
    public func check(
        onProgress: @Sendable (AssetStatus.Count) -> Void = { _ in }
    ) async throws -> AssetCheck {
        var check = AssetCheck()
        var unreadable: (any Error)?
        guard let directory else { return check }
        for (hash, size) in try await blocking({ try directory.present() }).sorted(by: { $0.key < $1.key }) {
            try Task.checkCancellation()
            do {
                let isDamaged = try await blocking {
                    guard try directory.isDamaged(hash) else { return false }
                    try directory.setAside(hash)
                    return true
                }
                if isDamaged { check.damaged.append(hash) }
            } catch let error as RecordStoreError where error.code == .unreadableFile {
                // The others are looked at all the same.
                unreadable = error
                continue
            }
            check.checked.add(size)
            onProgress(check.checked)
        }
        if let unreadable, check.damaged.isEmpty { throw unreadable }
        return check
    }

    /// The file of an asset, if it is here.
    public func file(_ asset: Asset) -> URL? {
        guard let directory, directory.contains(asset.hash, size: asset.size) else { return nil }
        return directory.file(asset.hash)
    }

    /// Asks for files that the policy would not fetch, or ends asking; whoever syncs this store fetches them.
    public func setWished(_ hashes: [AssetHash], _ isWished: Bool) async throws {
        try await store.database.write { db in
            for hash in hashes { try AssetTable.setWish(db, hash, isWished) }
        }
    }

    // MARK: For the exchange with peers

    /// The files that records refer to since `id`, and that are not here but should be. Those are not among them whose bytes the
    /// store keeps until it can write a file.
    ///
    /// - Parameter zones: those of the records, which are all that a peer may be asked for: whoever hears of a file's hash
    ///   can claim it. nil for all zones.
    package func wanted(after id: Int64, in zones: [Zone]? = nil) async throws -> WantedAssets {
        guard let directory else { return WantedAssets() }
        let (references, unstored, policy, wishes, lastLeftover) = try await store.database.read { db in
            (
                try AssetTable.references(db, after: id, in: zones), try UnstoredAssets.hashes(db),
                try Self.policy(db), try AssetTable.wishes(db), try AssetTable.lastLeftover(db)
            )
        }
        let candidates = references.list.filter {
            (policy.includes($0.size) || wishes.contains($0.hash)) && !unstored.contains($0.hash)
        }
        var wanted = WantedAssets()
        if !candidates.isEmpty {
            let sizes = try await blocking { candidates.map { directory.size($0.hash) } }
            let missing = zip(candidates, sizes).filter { $0.size != $1 }
            let here = try await inOtherSize(missing.compactMap { file, size in size.map { (file, $0) } })
            wanted.list = missing.map(\.0).filter { !here.contains($0.hash) }
        }
        wanted.last = references.last
        wanted.policy = policy
        wanted.wishes = wishes
        wanted.lastLeftover = lastLeftover
        return wanted
    }

    /// Whether a file may be given to a peer that may read these zones.
    package func isReferred(_ hash: AssetHash, in zones: [Zone]) async throws -> Bool {
        try await store.database.read { try AssetTable.isReferred($0, hash, in: zones) }
    }

    // MARK: Files that nobody needs

    /// Removes the files that no live record refers to, once every paired machine knows that, and the retention time has
    /// passed.
    ///
    /// - Parameter retention: in milliseconds.
    /// - Returns: how many were removed.
    @discardableResult
    public func removeUnreferred(retention: Int64 = Self.defaultRetention) async throws -> Int {
        guard let directory else { return 0 }
        let limit = store.now() - retention
        let present = try await blocking { try directory.present().keys }
        let (unneeded, referred) = try await store.database.write { [self] db in
            let referred = Set(try AssetTable.references(db).list.map(\.hash))
            try noteLeftovers(db, present.filter { !referred.contains($0) })
            let hashes = try Data.fetchAll(
                db,
                sql: """
                    SELECT hash FROM assetLeftover GROUP BY hash
                    HAVING MAX(since) <= ? AND COUNT(since) = COUNT(*) AND MAX(changeSequence) <= ?
                    """, arguments: [limit, Self.acknowledgedByAll(db)])
            return (hashes.compactMap { AssetHash(Array($0)) }.filter { !referred.contains($0) }, referred)
        }
        // A file whose record comes just now from a peer is fetched again; whoever adds one here touches it.
        let date = Date(timeIntervalSince1970: Double(limit) / 1000)
        let removed = try await blocking {
            directory.removeLeftIncoming(untouchedSince: date, wanted: referred)
            return try unneeded.filter { try directory.remove($0, untouchedSince: date) }
        }
        guard !removed.isEmpty else { return 0 }
        try await store.database.write { db in
            for hash in removed {
                try db.execute(
                    sql: "DELETE FROM assetLeftover WHERE hash = ?", arguments: [Data(hash.bytes)])
            }
        }
        return removed.count
    }

    /// Notes since when files are not referred to: those that records let go of, and those that never were, as after a
    /// crash or in a store that was restored.
    ///
    /// - Parameter hashes: the files that are here and that no record refers to.
    private func noteLeftovers(_ db: Database, _ hashes: [AssetHash]) throws {
        try db.execute(
            sql: "UPDATE assetLeftover SET since = ? WHERE since IS NULL", arguments: [store.now()])
        let sequence = try SyncState.integer(db, .lastSequence) ?? 0
        for hash in hashes {
            try db.execute(
                sql: """
                    INSERT INTO assetLeftover (hash, zone, changeSequence, since) SELECT ?1, 0, ?2, ?3
                    WHERE NOT EXISTS (SELECT 1 FROM assetLeftover WHERE hash = ?1)
                    """, arguments: [Data(hash.bytes), sequence, store.now()])
        }
    }

    /// The number up to which every paired machine has acknowledged the changes of every zone.
    private static func acknowledgedByAll(_ db: Database) throws -> Int64 {
        try Int64.fetchAll(db, sql: "SELECT id FROM recordZone")
            .map { try StoreUpkeep.acknowledgedByAll(db, zone: $0) }.min() ?? 0
    }

    // MARK: Bytes that programs wrote into columns

    /// Puts the bytes that programs wrote into columns into files, outside of any transaction.
    ///
    /// - Throws: ``RecordStoreError``: `noSpace`, `assetUnwritable`. They then wait in the database.
    package func storeFiles() async throws {
        guard let directory else { return }
        while let (hash, bytes) = try await store.database.read(UnstoredAssets.first) {
            try await blocking { _ = try directory.add([UInt8](bytes)) }
            try await store.database.write { try UnstoredAssets.remove($0, hash) }
        }
    }

    /// The same where a write has succeeded already: an asset without a file is counted as missing in the status, and the
    /// engine tells its user why it has none.
    func storeFilesIfPossible() async throws {
        do {
            try await storeFiles()
        } catch let error as RecordStoreError where error.code.isAboutAssetFiles {
            return
        }
    }
}
