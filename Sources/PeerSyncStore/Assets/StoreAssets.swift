import Foundation
import GRDB
import PeerSyncModel

/// The files of a store's records: ``RecordStore/assets``.
public struct StoreAssets: Sendable {
    /// The retention of a file without references, in milliseconds: 180 days, the same as for deleted records, which
    /// may need it after a restore.
    public static let defaultRetention: Int64 = StoreUpkeep.defaultRetention

    let store: RecordStore
    private var directory: AssetDirectory? { store.assetDirectory }

    /// Counts the files that live records refer to, and those of them that are here. Reads the directory.
    public func status() async throws -> AssetStatus {
        let (references, unstored, policy) = try await store.database.read { db in
            (try AssetTable.references(db).list, try UnstoredAssets.hashes(db), try Self.policy(db))
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
            if unstored.contains(reference.hash) {
                status.unstored.add(reference.size)
            } else if policy.includes(reference.size) {
                status.missing.add(reference.size)
            } else {
                status.excluded.add(reference.size)
            }
        }
        return status
    }

    /// Finds the files that are here in another size than that of the reference, but in a size that another record
    /// names. The hash decides which size is right, and it is the same file.
    private func inOtherSize(_ files: [(AssetReference, size: Int64)]) async throws -> Set<AssetHash> {
        guard !files.isEmpty else { return [] }
        return try await store.database.read { db in
            Set(try files.filter { try AssetTable.isReferred(db, $0.0.hash, size: $0.size) }.map(\.0.hash))
        }
    }

    /// The files to fetch from peers.
    public func policy() async throws -> AssetPolicy {
        try await store.database.read(Self.policy)
    }

    static func policy(_ db: Database) throws -> AssetPolicy {
        guard let text = try SyncState.text(db, .assetPolicy) else { return .all }
        // Whoever limits what they fetch wants fewer files, not all of them.
        return AssetPolicy(stored: text) ?? AssetPolicy.none
    }

    /// Sets the files to fetch from peers, from now on. A size that no file is below counts as ``AssetPolicy/none``, one that every file is below
    /// as ``AssetPolicy/all``.
    public func setPolicy(_ policy: AssetPolicy) async throws {
        try await store.database.write { db in
            try SyncState.set(db, .assetPolicy, policy.bounded.description)
            try SyncSettings.notify(db)
        }
    }

    /// Reads every file, and puts damaged ones aside, so that the store fetches them again.
    ///
    /// - Parameter onProgress: called after each file, with the count of the files read so far.
    /// - Throws: ``RecordStoreError`` `unreadableFile` when it could not open some file, and found no damage in the
    ///   others.
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
                // Goes on with the other files.
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

    /// Asks for files that the policy excludes, or stops asking. The sessions of this store fetch them.
    public func setWished(_ hashes: [AssetHash], _ isWished: Bool) async throws {
        try await store.database.write { db in
            for hash in hashes { try AssetTable.setWish(db, hash, isWished) }
            try SyncSettings.notify(db)
        }
    }

    // MARK: For the exchange with peers

    /// Finds the files that should be here but are missing, among those that records refer to since `id`. It leaves out
    /// files whose bytes wait in the database until the store can write them.
    ///
    /// - Parameter zones: the zones of the records; nil for all zones. Ask a peer only for files of the zones that it
    ///   may see: whoever learns a file's hash can claim the file.
    package func wanted(after id: Int64, in zones: [Zone]? = nil) async throws -> WantedAssets {
        guard let directory else { return WantedAssets() }
        var wanted = try await store.database.read { try candidates($0, after: id, in: zones) }
        guard !wanted.list.isEmpty else { return wanted }
        let list = wanted.list
        let sizes = try await blocking { list.map { directory.size($0.hash) } }
        let missing = zip(list, sizes).filter { $0.size != $1 }
        let here = try await inOtherSize(missing.compactMap { file, size in size.map { (file, $0) } })
        wanted.list = missing.map(\.0).filter { !here.contains($0.hash) }
        return wanted
    }

    /// Finds what ``wanted(after:in:)`` finds, with the files that are here.
    package func candidates(_ db: Database, after id: Int64, in zones: [Zone]? = nil) throws -> WantedAssets {
        let references = try AssetTable.references(db, after: id, in: zones)
        let unstored = try UnstoredAssets.hashes(db)
        var wanted = WantedAssets()
        wanted.last = references.last
        wanted.policy = try Self.policy(db)
        wanted.wishes = try AssetTable.wishes(db)
        wanted.lastLeftover = try AssetTable.lastLeftover(db)
        wanted.list = references.list.filter { [wanted] in
            (wanted.policy.includes($0.size) || wanted.wishes.contains($0.hash))
                && !unstored.contains($0.hash)
        }
        return wanted
    }

    /// Whether the store may give a file to a peer that may read these zones.
    package func isReferred(_ hash: AssetHash, in zones: [Zone]) async throws -> Bool {
        try await store.database.read { try isReferred($0, hash, in: zones) }
    }

    package func isReferred(_ db: Database, _ hash: AssetHash, in zones: [Zone]) throws -> Bool {
        try AssetTable.isReferred(db, hash, in: zones)
    }

    // MARK: Files that nobody needs

    /// Removes the files that no live record refers to, once every paired machine knows that, and the retention time
    /// has passed.
    ///
    /// - Parameter retention: the retention time in milliseconds.
    /// - Returns: the number of removed files.
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
                    SELECT hash FROM grdb_sync_assetLeftover GROUP BY hash
                    HAVING MAX(since) <= ? AND COUNT(since) = COUNT(*) AND MAX(changeSequence) <= ?
                    """, arguments: [limit, Self.acknowledgedByAll(db)])
            return (hashes.compactMap { AssetHash(Array($0)) }.filter { !referred.contains($0) }, referred)
        }
        // A peer may send a record of such a file just now: the store then fetches the file again. A program that adds
        // the file here touches it.
        let date = Date(timeIntervalSince1970: Double(limit) / 1000)
        let removed = try await blocking {
            directory.removeLeftovers(untouchedSince: date, wanted: referred)
            return try unneeded.filter { try directory.remove($0, untouchedSince: date) }
        }
        guard !removed.isEmpty else { return 0 }
        try await store.database.write { db in
            for hash in removed {
                try db.execute(
                    sql: "DELETE FROM grdb_sync_assetLeftover WHERE hash = ?", arguments: [Data(hash.bytes)])
            }
        }
        return removed.count
    }

    /// Notes the time since which files have no reference: those that records have dropped, and those that never had
    /// one, such as after a crash or in a restored store.
    ///
    /// - Parameter hashes: the files that are here without a reference.
    private func noteLeftovers(_ db: Database, _ hashes: [AssetHash]) throws {
        try db.execute(
            sql: "UPDATE grdb_sync_assetLeftover SET since = ? WHERE since IS NULL", arguments: [store.now()])
        let sequence = try SyncState.integer(db, .lastSequence) ?? 0
        for hash in hashes {
            try db.execute(
                sql: """
                    INSERT INTO grdb_sync_assetLeftover (hash, zone, changeSequence, since) SELECT ?1, 0, ?2, ?3
                    WHERE NOT EXISTS (SELECT 1 FROM grdb_sync_assetLeftover WHERE hash = ?1)
                    """, arguments: [Data(hash.bytes), sequence, store.now()])
        }
    }

    /// The number up to which every paired machine has acknowledged the changes of every zone.
    private static func acknowledgedByAll(_ db: Database) throws -> Int64 {
        try Int64.fetchAll(db, sql: "SELECT id FROM grdb_sync_recordZone")
            .map { try StoreUpkeep.acknowledgedByAll(db, zone: $0) }.min() ?? 0
    }

    // MARK: Bytes that programs wrote into columns

    /// Writes the bytes that programs put into columns to files, outside of any transaction.
    ///
    /// - Throws: ``RecordStoreError``: `noSpace`, `assetUnwritable`. The bytes then wait in the database.
    package func storeFiles() async throws {
        guard let directory else { return }
        while let (hash, bytes) = try await store.database.read(UnstoredAssets.first) {
            try await blocking { _ = try directory.add([UInt8](bytes)) }
            try await store.database.write { try UnstoredAssets.remove($0, hash) }
        }
    }

    /// Does the same after a write that has already succeeded, so it ignores errors of files. The status counts such
    /// an asset as unstored, and the engine tells its user why there is no file.
    package func storeFilesIfPossible() async throws {
        do {
            try await storeFiles()
        } catch let error as RecordStoreError where error.code.isAboutAssetFiles {
            return
        }
    }
}
