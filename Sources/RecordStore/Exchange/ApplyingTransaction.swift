import GRDB
import SyncModel

/// What the batches that one peer sends of one zone, and that are applied in one transaction, have in common.
package final class ApplyingTransaction {
    /// Batches of so many records are worth switching the triggers off.
    package static let manyRecords = 1_000

    let db: Database
    private let manyRecords: Int
    private var work: Work?

    private struct Work {
        let peerZone: PeerZone
        let writer: NewRecords
        /// Whether many records have come.
        var isLarge = false
        /// Whether the triggers are to be switched on again.
        var isSilent = false
    }

    private init(_ db: Database, _ manyRecords: Int) {
        self.db = db
        self.manyRecords = manyRecords
    }

    /// Applies batches by ``PeerZone/apply(_:hashes:in:)``, within the transaction that is open, from its beginning to its
    /// end: nobody else may write meanwhile, nor a part of the transaction be rolled back without the rest.
    ///
    /// - Parameter manyRecords: a batch of so many records makes it worth switching the triggers off.
    package static func run<Value>(
        _ db: Database, manyRecords: Int = ApplyingTransaction.manyRecords,
        _ body: (ApplyingTransaction) throws -> Value
    ) throws -> Value {
        let transaction = ApplyingTransaction(db, manyRecords)
        defer { if transaction.work?.isSilent == true { CaptureTriggers.switchOn(db) } }
        let value = try body(transaction)
        try transaction.end()
        return value
    }

    /// What writes the simply new records of a batch of so many records.
    func writer(_ peerZone: PeerZone, for count: Int) throws -> NewRecords {
        var work = try work ?? begin(peerZone)
        precondition(work.peerZone.zoneID == peerZone.zoneID && work.peerZone.peer.id == peerZone.peer.id)
        // Who is live gets a record or two at a time, and is spared these looks.
        if count >= manyRecords, !work.isLarge {
            work.isLarge = true
            try prepareForMany(&work)
        }
        self.work = work
        return work.writer
    }

    private func begin(_ peerZone: PeerZone) throws -> Work {
        let store = peerZone.store
        // What was written before is taken in while triggers fire.
        _ = try store.fold(db)
        // The observers of this process then know, and need not be asked about each of many statements.
        try Zones.touch(db, peerZone.zoneID)
        let writer = try NewRecords(db, store.tables, zone: peerZone.zoneID, peer: peerZone.peer.id)
        return Work(peerZone: peerZone, writer: writer)
    }

    /// Does without triggers and look-ups, where nobody else's triggers have to fire: they also must not see a row that turns
    /// out to refer to nothing, and is taken back.
    private func prepareForMany(_ work: inout Work) throws {
        let store = work.peerZone.store
        guard try CaptureTriggers.areAlone(db, store.schema) else { return }
        try work.writer.sound.rely(on: store.soundness)
        // Last: an error between this and the end of the work would leave them off.
        work.isSilent = CaptureTriggers.switchOff(db)
    }

    private func end() throws {
        try work?.writer.sound.end()
    }
}
