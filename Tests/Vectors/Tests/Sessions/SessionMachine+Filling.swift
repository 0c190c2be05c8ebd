import Foundation
import GRDB
import PeerSyncModel
import PeerSyncStore
import ProtocolVectors
import Testing

extension SessionMachine {
    /// Makes the store of this machine what a vector says that it is, and starts the program again.
    ///
    /// - Parameter other: the machine that the vector calls the other one.
    func fill(_ content: SessionFile.Store, with other: SessionMachine) throws {
        let peer = try peer(other)
        try write { db in
            for zone in content.zones { try fill(db, zone, peer) }
            // The records were merged under numbers of this store's own.
            try db.execute(sql: "DELETE FROM grdb_sync_storeGeneration")
            for generation in content.generations {
                try db.execute(
                    sql: "INSERT INTO grdb_sync_storeGeneration (id, firstSequence) VALUES (?, ?)",
                    arguments: [Data(generation.generation.bytes), generation.firstNumber.number])
            }
            for (name, value) in [
                ("lastSequence", content.lastNumber.number),
                ("clock", Int64(bitPattern: content.greatestTime.number)),
            ] {
                try db.execute(
                    sql: "INSERT OR REPLACE INTO grdb_sync_syncState (name, value) VALUES (?, ?)",
                    arguments: [name, value])
            }
        }
        try restart()
    }

    private func fill(_ db: Database, _ content: SessionFile.Zone, _ peer: Peer) throws {
        let id = try #require(content.id)
        if content.default {
            try store.zones.adopt(db, id)
        } else {
            _ = try store.zones.takeUp(db, id, called: content.calledHere, from: peer)
        }
        let zone = try #require(try store.zones.find(db, id))
        for record in content.records { try merge(db, record.state.state, zone) }
        let row = try #require(
            try Int64.fetchOne(
                db, sql: "SELECT id FROM grdb_sync_recordZone WHERE zoneName = ? AND owner = ?",
                arguments: [id.name.description, id.owner.description]))
        for record in content.records {
            try db.execute(
                sql: """
                    UPDATE grdb_sync_remoteRecord SET changeSequence = ?, changeGroup = ?, sourcePeer = ?
                    WHERE remoteRecordID = ?
                    """,
                arguments: [
                    record.number.number, record.group.number, record.fromPeer ? peer.id : nil,
                    record.state.name,
                ])
        }
        try db.execute(
            sql: "UPDATE grdb_sync_recordZone SET name = ?, isShared = ?, purgedSequence = ? WHERE id = ?",
            arguments: [content.calledHere, content.shared, content.forgotten.number, row])
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO grdb_sync_peerZone (peer, zone, acknowledgedSequence, receivedGeneration,
                    receivedSequence, receivedHorizon, rights) VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                peer.id, row, content.acknowledged.number,
                content.received.map { Data($0.generation.bytes) },
                content.received?.sequence.number ?? 0, content.received?.horizon.number ?? 0, content.rights,
            ])
        for refusal in content.refused {
            try db.execute(
                sql:
                    "INSERT INTO grdb_sync_refusedRecord (peer, zone, recordName, reason) VALUES (?, ?, ?, ?)",
                arguments: [peer.id, row, refusal.name, refusal.reason])
        }
    }

    /// Merges a record; one that has become too large to be sent field by field, because nobody may send it at once.
    private func merge(_ db: Database, _ state: RecordState, _ zone: Zone) throws {
        guard state.isTooLarge else {
            _ = try store.merge(db, [state], zone: .one(zone))
            return
        }
        for field in state.fields {
            _ = try store.merge(db, [RecordState(name: state.name, fields: [field])], zone: .one(zone))
        }
    }
}
