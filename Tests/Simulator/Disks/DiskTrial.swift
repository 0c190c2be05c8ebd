import Foundation
import GRDB
import PeerSync
import PeerSyncModel
import PeerSyncStore
import TestSupport

/// A machine whose disk fails in the middle of some work, and another one that has what it needs.
///
/// After each fault the store opens, SQLite finds nothing wrong, what was committed is there (but after a cut of power, which may take the
/// last commits), and a sync makes both machines equal; nothing that the other one held is lost.
package struct DiskTrial {
    /// What the machine does.
    package enum Work: String, CaseIterable, Sendable {
        case writes, fold, firstSync, exchange, migration, repair, purge, backup
    }

    private let work: Work
    private let disk: FaultyDisk
    private let clock = SetClock(1_700_000_000_000)
    private let identity = Identity.generate()
    private let peer: DiskMachine
    /// The rows that the machine committed, as far as it was told so.
    private var committed: Set<String> = []

    private init(_ work: Work, in directory: URL) async throws {
        self.work = work
        disk = try FaultyDisk(at: directory)
        peer = try await DiskMachine(path: nil, .generate(), clock, version: 1)
    }

    /// Counts the calls of the disk in some work.
    package static func calls(of work: Work) async throws -> Int {
        try await withTemporaryDirectory { url in
            var trial = try await DiskTrial(work, in: url)
            let error = try await trial.work(nil, at: 0)
            if let error { throw error }
            return trial.disk.calls
        }
    }

    /// Lets a disk fail at one call.
    ///
    /// - Parameter seed: of what a cut of power keeps.
    /// - Throws: what does not hold.
    package static func run(_ work: Work, _ fault: DiskFault, at call: Int, seed: UInt32) async throws {
        try await withTemporaryDirectory { url in
            var trial = try await DiskTrial(work, in: url)
            do {
                _ = try await trial.work(fault, at: call)
                trial.disk.plan(nil)
                if fault == .powerCut { try trial.disk.settle(seed: seed) }
                try await trial.checkEnd(fault)
            } catch {
                throw BrokenInvariant(
                    description: "\(work.rawValue), \(fault.rawValue) at call \(call), seed \(seed): \(error)"
                )
            }
        }
    }

    private var path: String { disk.directory.appendingPathComponent("store.sqlite").path }

    private func open(version: Int = 1) async throws -> DiskMachine {
        try await DiskMachine(path: path, identity, clock, version: version)
    }

    // MARK: The work

    /// Prepares a machine, and does the work with a fault.
    ///
    /// - Returns: the error that ended the work.
    private mutating func work(_ fault: DiskFault?, at call: Int) async throws -> (any Error)? {
        var machine: DiskMachine? = try await open()
        try await DiskMachine.pair(machine!, peer)
        try await peer.write(Self.rows("peer", lists: 3, items: 20))
        if work != .firstSync {
            try await machine!.write(Self.rows("own", lists: 3, items: 20))
            _ = try await SyncConnector(machine!.engine, to: peer.engine).syncOnce()
        }
        try await prepare(machine!)
        // Until then a cut of power may take everything, and nobody may hold it against the work.
        try await machine!.database.writeWithoutTransaction { db in
            // As a statement: the end of the session before may have left an interruption, which only statements take back.
            _ = try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
        clock.milliseconds += 1000
        if work == .migration { machine = nil }
        disk.plan(fault, at: call)
        do {
            try await perform(machine)
            return nil
        } catch {
            return error
        }
    }

    private static func rows(_ name: String, lists: Int, items: Int) -> String {
        let lists = (0..<lists).map { "INSERT INTO List VALUES ('\(name)\($0)', 'List \($0) of \(name)');" }
        let items = (0..<items).map {
            "INSERT INTO Item (id, title, list) VALUES ('\(name)-\($0)', 'Item \($0)', '\(name)\($0 % lists.count)');"
        }
        return (lists + items).joined()
    }

    private func prepare(_ machine: DiskMachine) async throws {
        switch work {
        case .exchange:
            for (one, name) in [(machine, "own"), (peer, "peer")] {
                try await one.write(
                    """
                    UPDATE Item SET title = 'Changed by \(name)' WHERE id IN ('own-1', 'own-2', 'peer-1');
                    DELETE FROM List WHERE id = '\(name)2';
                    INSERT INTO Item (id, title, list) VALUES ('\(name)-new', 'New', 'own0');
                    """)
            }
        case .fold:
            try await machine.database.write { db in
                try db.execute(
                    sql: """
                        UPDATE Item SET title = 'Changed by a program';
                        DELETE FROM Item WHERE id = 'peer-3';
                        INSERT INTO Item (id, title, list) VALUES ('program', 'New', 'own0');
                        """)
            }
        case .repair:
            // A program that switched the triggers off.
            try await machine.store.foldPendingChanges()
            try await machine.database.write { db in
                let triggers = try Row.fetchAll(
                    db,
                    sql: "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'Item'")
                for row in triggers { try db.execute(sql: "DROP TRIGGER \"\(row[0] as String)\"") }
                try db.execute(sql: "UPDATE Item SET title = 'Unseen' WHERE id = 'own-4'")
                for row in triggers { try db.execute(sql: row[1]) }
            }
        case .purge:
            try await machine.write("DELETE FROM Item WHERE id LIKE 'own-1%'")
            _ = try await SyncConnector(machine.engine, to: peer.engine).syncOnce()
            clock.milliseconds += 400 * 24 * 3600 * 1000
        case .writes, .firstSync, .migration, .backup: break
        }
    }

    /// - Parameter machine: nil if the work begins with opening it.
    private mutating func perform(_ machine: DiskMachine?) async throws {
        guard let machine else {
            _ = try await open(version: 2)
            return
        }
        switch work {
        case .writes:
            for number in 0..<8 {
                try await machine.write(
                    "INSERT INTO Item (id, title, list) VALUES ('written-\(number)', 'W', 'own0')")
                committed.insert("written-\(number)")
            }
        case .fold: try await machine.store.foldPendingChanges()
        case .firstSync, .exchange: _ = try await SyncConnector(machine.engine, to: peer.engine).syncOnce()
        case .migration: break
        case .repair:
            _ = try await machine.database.write { [store = machine.store] in try store.upkeep.repair($0) }
        case .purge:
            _ = try await machine.database.write { [store = machine.store] in try store.upkeep.purge($0) }
        case .backup:
            _ = try await machine.store.databaseFile.backUp(
                to: disk.directory.appendingPathComponent("backup.sqlite"))
        }
    }

    // MARK: Afterwards

    private func checkEnd(_ fault: DiskFault) async throws {
        let held = try await peer.rows()
        let machine = try await open(version: work == .migration ? 2 : 1)
        try await machine.expectSound()
        if fault != .powerCut {
            let there = try await machine.database.read { db in
                Set(try String.fetchAll(db, sql: "SELECT id FROM Item"))
            }
            try expect(committed.isSubset(of: there), "lost \(committed.subtracting(there))")
        }
        if work == .repair {
            _ = try await machine.database.write { [store = machine.store] in try store.upkeep.repair($0) }
        }
        _ = try await SyncConnector(machine.engine, to: peer.engine).syncOnce()
        let (own, theirs) = (try await machine.rows(), try await peer.rows())
        try expect(own == theirs, "the machines show different rows")
        let digests = (
            try await machine.store.zones.all()[0].digest, try await peer.store.zones.all()[0].digest
        )
        try expect(digests.0 == digests.1, "the machines hold different records")
        // What the other machine held is there, but for what the work changes or deletes.
        let lost = held.subtracting(own).filter { row in !Self.changed.contains { row.contains($0) } }
        try expect(lost.isEmpty, "lost \(lost.prefix(3))")
        try await machine.expectSound()
        let check = try await machine.database.write { [store = machine.store] in try store.upkeep.check($0) }
        try expect(check.isSound, "the store is not sound: \(check)")
        try await expectGoodBackup()
    }

    /// What stands in rows that the work changes or deletes.
    private static let changed = ["own2", "peer2", "own-1", "own-2", "peer-1", "peer-3", "own-4", "title:"]

    /// A backup is whole, or is not there.
    private func expectGoodBackup() async throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: disk.directory.path)
        try expect(!names.contains { $0.hasSuffix(".new") }, "half a backup was left: \(names)")
        guard names.contains("backup.sqlite") else { return }
        let backup = try DatabaseQueue(path: disk.directory.appendingPathComponent("backup.sqlite").path)
        let count = try await backup.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM Item") }
        try expect(count == 40, "the backup has \(count ?? 0) items")
    }
}
