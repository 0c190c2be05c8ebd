import Foundation
import GRDB
import MailboxSupport
import PeerSync
import PeerSyncMailbox
import PeerSyncModel
import PeerSyncStore
import TestSupport

/// Machines that share a mailbox, in whatever may happen to them and to the storage. A seed determines a run.
///
/// Objects are late, get lost, come back after they were removed, and the whole storage goes back; passes end at any write; programs
/// begin anew; machines meet on the network, are removed, and one is set back to a backup. In the end, when everything has come that is
/// not lost, all that are members hold the same; what was inserted and never deleted is there; a newcomer could be made from the
/// mailbox; and it holds nothing that nobody needs.
package struct MailboxSimulation {
    private enum Step: CaseIterable {
        case add, update, delete, pass, cutPass, session, deliver, lose, comeBack, goBack, restart, remove,
            backUp, restore, wait
    }

    private static let weights: [(Step, Int)] = [
        (.add, 14), (.update, 8), (.delete, 6), (.pass, 30), (.cutPass, 10), (.session, 6), (.deliver, 12),
        (.lose, 2),
        (.comeBack, 3), (.goBack, 1), (.restart, 5), (.remove, 1), (.backUp, 3), (.restore, 3), (.wait, 3),
    ]

    private let directory: URL
    private let clock = SetClock(1_700_000_000_000)
    private let disk = MemoryDisk()
    private var random: SeededGenerator
    private var machines: [MailboxMachine] = []
    /// Who is in the household.
    private var members: Set<Int> = []
    private var steps: [String] = []
    private var number = 0
    /// What was inserted for good, by the machine that inserted it.
    private var added: [Int: Int] = [:]
    /// What a machine had inserted when it was backed up; it may forget what it inserted later.
    private var backup: (machine: Int, added: Set<Int>)?
    /// What the storage held then: one snapshot may hold both.
    private var backedUp: [MailboxObjectName: [UInt8]] = [:]
    private var hasRestored = false
    /// Everything that ever lay there.
    private var archive: [MailboxObjectName: [UInt8]] = [:]
    private var snapshot: [MailboxObjectName: [UInt8]] = [:]

    private init(seed: UInt64, in directory: URL) {
        random = SeededGenerator(seed: seed)
        self.directory = directory
    }

    /// - Throws: what does not hold, with the steps that led to it.
    package static func run(seed: UInt64) async throws {
        try await withTemporaryDirectory { url in
            var simulation = MailboxSimulation(seed: seed, in: url)
            do {
                try await simulation.run()
            } catch {
                throw BrokenInvariant(
                    description: "seed \(seed): \(error), after: \(simulation.steps.joined(separator: ", "))")
            }
        }
    }

    private mutating func run() async throws {
        let count = [2, 3, 3, 4].randomElement(using: &random)!
        disk.isLate = random.oneIn(2)
        for index in 0..<count {
            machines.append(try await MailboxMachine("m\(index)", disk, path: path(index), clock: clock))
            members.insert(index)
        }
        try await MailboxMachine.pair(machines, by: machines[0])
        for _ in 0..<Int.random(in: 10...60, using: &random) {
            let roll = Int.random(in: 0..<Self.weights.reduce(0) { $0 + $1.1 }, using: &random)
            var sum = 0
            let step = Self.weights.first { weight in
                sum += weight.1
                return roll < sum
            }!.0
            let machine = Int.random(in: 0..<count, using: &random)
            steps.append("\(step) \(machine)")
            clock.milliseconds += 10
            try await perform(step, machine)
            archive.merge(disk.objects) { $1 }
        }
        try await checkEnd()
    }

    private func path(_ index: Int) -> String { directory.appendingPathComponent("\(index).sqlite").path }

    // MARK: Steps

    private mutating func perform(_ step: Step, _ index: Int) async throws {
        let machine = machines[index]
        switch step {
        case .add:
            let count = random.oneIn(4) ? 30 : 1
            try await machine.add(number..<number + count)
            for id in number..<number + count { added[id] = index }
            number += count
        case .update:
            try await machine.write(
                "UPDATE Item SET title = 'At \(number).\(steps.count)' WHERE id % 3 = \(index)")
        case .delete:
            let ids = try await machine.database.read { try String.fetchAll($0, sql: "SELECT id FROM Item") }
            guard let id = ids.randomElement(using: &random) else { return }
            try await machine.write("DELETE FROM Item WHERE id = '\(id)'")
            added[Int(id)!] = nil
        case .pass: try await pass(machine)
        case .cutPass:
            machine.storage.faults.writesLeft = Int.random(in: 0..<5, using: &random)
            machine.storage.faults.doesLastWrite = random.oneIn(2)
            try await pass(machine)
            machine.storage.faults = MemoryStorage.Faults()
        case .session:
            let other = machines[(index + 1) % machines.count]
            guard members.contains(index), members.contains((index + 1) % machines.count) else { return }
            // One of the two may have heard of a removal of the other.
            _ = try? await SyncConnector(machine.engine, to: other.engine).syncOnce()
        case .deliver: disk.deliver(&random)
        case .lose:
            if let name = disk.objects.keys.sorted().randomElement(using: &random) {
                disk.objects[name] = nil
            }
        case .comeBack:
            let gone = archive.keys.filter { disk.objects[$0] == nil }.sorted()
            if let name = gone.randomElement(using: &random) { disk.objects[name] = archive[name] }
        case .goBack:
            if snapshot.isEmpty || random.oneIn(2) {
                snapshot = disk.objects
            } else {
                disk.objects = snapshot
            }
        case .restart: try await reopen(index)
        case .remove: try await remove(index)
        case .backUp, .restore: try await setBack(step, index)
        case .wait: clock.milliseconds += Int64.random(in: 1...9, using: &random) * 24 * 3600 * 1000
        }
    }

    private func pass(_ machine: MailboxMachine) async throws {
        do { try await machine.sync() } catch let error as MailboxError {
            // The storage was cut off, or it was emptied by a step.
            guard [.unreachable, .emptied].contains(error.code) else { throw error }
        }
    }

    private mutating func reopen(_ index: Int) async throws {
        let former = machines[index]
        try former.database.close()
        machines[index] = try await MailboxMachine(
            former.name, disk, path: path(index), identity: former.identity, clock: clock)
    }

    private mutating func remove(_ index: Int) async throws {
        guard members.count > 2, members.contains(index),
            let by = members.sorted().first(where: { $0 != index })
        else { return }
        _ = try await machines[by].store.household.remove(machines[index].name, by: machines[by].key)
        members.remove(index)
    }

    private mutating func setBack(_ step: Step, _ index: Int) async throws {
        guard !hasRestored else { return }
        let copy = directory.appendingPathComponent("backup.sqlite").path
        if step == .backUp, backup == nil {
            try machines[index].database.backup(to: DatabaseQueue(path: copy))
            backup = (index, Set(added.keys))
            backedUp = disk.objects
        } else if step == .restore, let backup {
            let restored = backup.machine
            hasRestored = true
            if random.oneIn(2) { disk.objects = backedUp }
            for (id, machine) in added where machine == restored && !backup.added.contains(id) {
                added[id] = nil
            }
            try machines[restored].database.close()
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: path(restored) + suffix)
            }
            try FileManager.default.copyItem(atPath: copy, toPath: path(restored))
            let former = machines[restored]
            machines[restored] = try await MailboxMachine(
                former.name, disk, path: path(restored), identity: former.identity, clock: clock)
        }
    }

    // MARK: The end

    private mutating func checkEnd() async throws {
        disk.deliverAll()
        disk.isLate = false
        steps.append("end")
        // Each program begins to run, so that it misses what is lost; the head of one may be missing, which takes three passes.
        // Where every head is lost, people add the mailbox anew.
        let isEmptied = !disk.objects.keys.contains { AuthorID.parse($0) != nil }
        for index in members {
            if isEmptied { try await machines[index].store.mailboxes.remove("shelf") }
            try await reopen(index)
        }
        let present = members.sorted().map { machines[$0] }
        for _ in 0..<4 { for machine in present { try await pass(machine) } }
        try await MailboxMachine.settle(present, rounds: 30)
        do { try await MailboxMachine.expectEqual(present) } catch {
            throw BrokenInvariant(description: "\(error): \(try await described(present))")
        }
        let there = Set(
            try await present[0].database.read { try String.fetchAll($0, sql: "SELECT id FROM Item") })
        let lost = added.filter { members.contains($0.value) && !there.contains("\($0.key)") }.keys.sorted()
        try expect(lost.isEmpty, "nobody has \(lost), which nobody has deleted")
        for machine in present {
            let check = try await machine.mailbox.check()
            try expect(check.isSound, "\(machine.name): \(check.zones) \(check.problems)")
        }
        for index in members.sorted() { try await expectNothingLeft(index) }
    }

    /// What each machine holds, and what it says of the others.
    private func described(_ present: [MailboxMachine]) async throws -> String {
        var lines: [String] = []
        for machine in present {
            let titles = try await machine.titles().joined(separator: "; ")
            let entry = try await machine.store.mailboxes.all()[0]
            let problems = entry.machines.compactMap { other in other.problem.map { "\(other.name): \($0)" } }
            let records = try await machine.database.read { db in
                try String.fetchAll(
                    db,
                    sql: """
                        SELECT remoteRecordID || '/' || status || '/' || changeSequence || '/' || COALESCE(sourcePeer, 0)
                        FROM grdb_sync_remoteRecord
                        """)
            }
            lines.append("\(machine.name) has \(titles) \(problems) \(records)")
        }
        return lines.joined(separator: "\n")
    }

    /// Checks that a program that begins to run, after the time for which logs stay, leaves only what its head names.
    private mutating func expectNothingLeft(_ index: Int) async throws {
        clock.milliseconds += 7 * 24 * 3600 * 1000
        try await reopen(index)
        let machine = machines[index]
        try await machine.sync()
        let segments = try await machine.database.read {
            try Int.fetchAll($0, sql: "SELECT segments FROM grdb_sync_mailboxLog")
        }
        let objects = disk.objects.keys.filter { $0.folder == machine.author.folder }.count
        try expect(segments.count == 1, "\(machine.name) has \(segments.count) logs")
        try expect(
            objects == segments[0], "\(machine.name) has \(objects) objects, and \(segments[0]) segments")
        let heads = disk.objects.keys.filter { AuthorID.parse($0)?.author == machine.author }.count
        try expect(heads == 1, "\(machine.name) has \(heads) heads")
    }
}
