import GRDB
import PeerSyncModel

/// The shared work of one transaction that applies several batches of one peer in one zone.
package final class ApplyingTransaction {
    /// The number of records in a batch from which it is worth switching the triggers off.
    package static let manyRecords = 1_000

    /// The connection of the open transaction.
    package let db: Database
    private let manyRecords: Int
    private var work: Work?
    /// What the batches so far changed in the tables.
    package internal(set) var arrived = ArrivedChanges()
    /// How many records of the batches so far wait for a person: ``StoreFuse``.
    package internal(set) var withheldCount = 0

    private struct Work {
        let peerZone: PeerZone
        let writer: RecordWriter
        /// Whether a batch of many records has come.
        var isLarge = false
        /// Whether it has switched the triggers off and must switch them on again.
        var isSilent = false
    }

    private init(_ db: Database, _ manyRecords: Int) {
        self.db = db
        self.manyRecords = manyRecords
    }

    /// Applies batches with ``PeerZone/apply(_:hashes:in:)``. `body` takes up the whole open transaction: nobody else
    /// may write in it, and nobody may roll back a part of it.
    ///
    /// - Parameter manyRecords: the number of records in a batch from which it switches the triggers off.
    package static func run<Value>(
        _ db: Database, manyRecords: Int = ApplyingTransaction.manyRecords,
        _ body: (ApplyingTransaction) throws -> Value
    ) throws -> Value {
        let transaction = ApplyingTransaction(db, manyRecords)
        defer { if transaction.work?.isSilent == true { CaptureTriggers.switchOn(db) } }
        let value = try body(transaction)
        try transaction.work?.writer.sound.end()
        return value
    }

    /// Returns the writer for a batch of `count` records.
    func writer(_ peerZone: PeerZone, for count: Int) throws -> RecordWriter {
        var work = try work ?? begin(peerZone)
        precondition(work.peerZone.zoneID == peerZone.zoneID && work.peerZone.peer.id == peerZone.peer.id)
        // A live session brings one or two records at a time, and needs no such preparation.
        if count >= manyRecords, !work.isLarge {
            work.isLarge = true
            try prepareForMany(&work)
        }
        self.work = work
        return work.writer
    }

    private func begin(_ peerZone: PeerZone) throws -> Work {
        let store = peerZone.store
        // Folds earlier writes while the triggers still fire.
        _ = try store.fold(db)
        // The observers of this process then know of a change, and SQLite need not ask them about each of many
        // statements.
        try Zones.touch(db, peerZone.zoneID)
        return Work(peerZone: peerZone, writer: RecordWriter(db, store.tables))
    }

    /// Works without triggers and look-ups from now on, unless other triggers have to fire: those must not be left out.
    /// They must also not see a row that this transaction takes back because its target is missing.
    private func prepareForMany(_ work: inout Work) throws {
        guard try work.writer.tablesOfOthers.get().isEmpty else { return }
        try work.writer.sound.rely(on: work.peerZone.store.soundness, in: work.peerZone.zoneID)
        // This comes last: an error between this line and the end of the work would leave the triggers off.
        work.isSilent = CaptureTriggers.switchOff(db)
    }
}
