import GRDB
import MailboxSimulator
import MailboxSupport
import PeerSync
import PeerSyncStore
import Synchronization
import TestSupport
import Testing

@testable import PeerSyncMailbox

/// A mailbox that runs for as long as the program does.
@Suite(.timeLimit(.minutes(10))) struct MailboxServiceTests {
    /// - Returns: a mailbox that looks often, and what it told.
    private func running(_ machine: MailboxMachine) async throws -> (Mailbox, Told) {
        let told = Told()
        let entry = try await machine.store.mailboxes.all()[0]
        let options = MailboxOptions(interval: .seconds(1), delay: .milliseconds(10))
        let mailbox = Mailbox(machine.engine, entry, in: machine.storage, options: options) { event in
            told.failures.withLock { failures in
                switch event {
                case .failed(let error): failures.append(error.code.description)
                case .recovered: failures.append("recovered")
                default: break
                }
            }
        }
        return (mailbox, told)
    }

    private final class Told: Sendable {
        let failures = Mutex<[String]>([])
    }

    @Test func runningMailboxesCarryChangesBothWays() async throws {
        let disk = MemoryDisk()
        let machines = [try await MailboxMachine("a", disk), try await MailboxMachine("b", disk)]
        try await MailboxMachine.pair(machines)
        let mailboxes = [try await running(machines[0]).0, try await running(machines[1]).0]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for mailbox in mailboxes { group.addTask { try await mailbox.run() } }
            for (from, to, id) in [(0, 1, 1), (1, 0, 2)] {
                try await machines[from].add(id...id)
                try await eventually("item \(id)", within: .seconds(300)) {
                    try await machines[to].titles().contains("Item number \(id)")
                }
            }
            group.cancelAll()
        }
    }

    /// Changes of another machine wait ten minutes for that one to put them, also where this one looks for news once in an hour.
    @Test func whatWaitsForItsAuthorGoesInTime() async throws {
        let disk = MemoryDisk()
        let machines = try await MailboxMachine.paired(["a", "b", "c"], disk)
        try await MailboxMachine.settle(machines)
        try await machines[0].add(1...1)
        _ = try await SyncConnector(machines[0].engine, to: machines[1].engine).syncOnce()
        let now = machines[1].store.now()
        let entry = try await machines[1].store.mailboxes.all()[0]
        let mailbox = Mailbox(
            machines[1].engine, entry, in: machines[1].storage,
            options: MailboxOptions(interval: .seconds(3600)))
        let report = try await mailbox.pass(mayWait: true)
        #expect(report.segmentsPut == 0)
        #expect(report.waitsUntil == now + 10 * 60 * 1000)
        let pause = mailbox.pause(after: 0, waitsUntil: report.waitsUntil, now: now + 3 * 60 * 1000)
        #expect(pause == .seconds(7 * 60))
        #expect(mailbox.pause(after: 0, waitsUntil: report.waitsUntil, now: now + 11 * 60 * 1000) == .zero)
        #expect(mailbox.pause(after: 0, waitsUntil: nil, now: now) >= .seconds(3600))
        // Its author has put it meanwhile.
        try await machines[0].sync()
        #expect(try await mailbox.pass(mayWait: true).waitsUntil == nil)
    }

    /// The time since when they wait lies in the future then.
    @Test func aClockThatIsSetBackKeepsNobodyWaiting() async throws {
        let disk = MemoryDisk()
        let clock = SetClock(1_700_000_000_000)
        let machines = try await MailboxMachine.paired(["a", "b", "c"], disk, clock: clock)
        try await MailboxMachine.settle(machines)
        try await machines[0].add(1...1)
        _ = try await SyncConnector(machines[0].engine, to: machines[1].engine).syncOnce()
        #expect(try await machines[1].mailbox.pass(mayWait: true).segmentsPut == 0)
        clock.milliseconds -= 24 * 3600 * 1000
        #expect(try await machines[1].mailbox.pass(mayWait: true).segmentsPut == 1)
    }

    @Test func aFailureIsToldOnceAndItsEndToo() async throws {
        let disk = MemoryDisk()
        let machine = try await MailboxMachine("a", disk)
        machine.storage.faults.error = .unreachable
        let (mailbox, told) = try await running(machine)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await mailbox.run() }
            try await eventually("two attempts", within: .seconds(300)) {
                try await machine.store.mailboxes.all()[0].lastErrorCode == "unreachable"
            }
            machine.storage.faults.error = nil
            try await eventually("the end", within: .seconds(300)) {
                told.failures.withLock { $0.count } == 2
            }
            group.cancelAll()
        }
        #expect(told.failures.withLock { $0 } == ["unreachable", "recovered"])
        #expect(try await machine.store.mailboxes.all()[0].lastErrorCode == nil)
    }

    /// Another program holds the database for longer than this one waits.
    @Test func aDatabaseThatIsHeldForLongEndsNothing() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("items.sqlite").path
            let machine = try await MailboxMachine("a", MemoryDisk(), path: path)
            let (mailbox, told) = try await running(machine)
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(path: path, configuration: configuration)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await mailbox.run() }
                try await eventually("a pass", within: .seconds(300)) {
                    try await machine.store.mailboxes.all()[0].lastSync != nil
                }
                try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
                try await eventually("a failure", within: .seconds(300)) {
                    told.failures.withLock { $0.count } == 1
                }
                try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
                try await eventually("the end", within: .seconds(300)) {
                    told.failures.withLock { $0.count } == 2
                }
                group.cancelAll()
            }
            #expect(told.failures.withLock { $0 } == ["other", "recovered"])
        }
    }

    /// A server that fails is spared; of a folder of this machine nobody else says that it is back.
    @Test(arguments: [1, 3, 50]) func aFolderThatIsAwayIsLookedForEveryMinute(failures: Int) {
        for interval in [Duration.seconds(60), .seconds(24 * 3600)] {
            let options = MailboxOptions(interval: interval)
            let longest = Mailbox.interval(options, failures: failures, isWatched: true)
            #expect(longest <= .seconds(60))
            #expect(Mailbox.interval(options, failures: failures, isWatched: false) > longest)
            #expect(Mailbox.interval(options, failures: 0, isWatched: true) == interval)
        }
    }

    @Test(arguments: [
        (Duration.seconds(Int64.max), 365 * 86_400), (Duration.zero, 1), (Duration.seconds(-5), 1),
    ])
    func everyIntervalEnds(interval: Duration, seconds: Int) {
        let options = MailboxOptions(interval: interval, delay: interval)
        #expect(options.interval == .seconds(seconds))
        #expect(options.delay == min(max(interval, .zero), .seconds(365 * 86_400)))
        for failures in [0, 50] {
            #expect(Mailbox.interval(options, failures: failures, isWatched: false) >= .seconds(seconds))
        }
    }

    /// As where somebody closes the window in which it waits.
    @Test func whoWaitsForAPassCanBeCancelled() async throws {
        let turns = MailboxTurns()
        let (begun, hasBegun) = AsyncStream<Void>.makeStream()
        let (end, mayEnd) = AsyncStream<Void>.makeStream()
        let first = Task {
            try await turns.take { _ in
                hasBegun.finish()
                for await _ in end {}
            }
        }
        for await _ in begun {}
        let second = Task { try await turns.take { _ in } }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        mayEnd.finish()
        try await first.value
        try await turns.take { _ in }
    }

    @Test func aMailboxThatIsForgottenEndsItsRun() async throws {
        let machine = try await MailboxMachine("a", MemoryDisk())
        let (mailbox, _) = try await running(machine)
        try await machine.store.mailboxes.remove("shelf")
        let error = await #expect(throws: MailboxError.self) { try await mailbox.run() }
        #expect(error?.code == .invalid)
    }

    /// Another mailbox has the name: somebody has removed this one and added it anew.
    @Test func aMailboxThatIsAddedAnewEndsTheRunOfTheFormerOne() async throws {
        let machine = try await MailboxMachine("a", MemoryDisk())
        let (mailbox, told) = try await running(machine)
        let running = Task { try await mailbox.run() }
        try await eventually("the first pass", within: .seconds(300)) {
            try await machine.store.mailboxes.all()[0].lastSync != nil
        }
        try await machine.store.mailboxes.remove("shelf")
        try await machine.store.mailboxes.add("shelf", location: "elsewhere")
        let error = await #expect(throws: MailboxError.self) { try await running.value }
        #expect(error?.code == .invalid)
        // That is no failure of a mailbox.
        #expect(told.failures.withLock { $0 } == [])
    }

    /// Each of the two would otherwise follow the other one for ever.
    @Test func thePassOfAnotherProgramIsNoNews() async throws {
        try await withTemporaryDirectory { folder in
            let (disk, identity) = (MemoryDisk(), Identity.generate())
            let path = folder.appendingPathComponent("items.sqlite").path
            let machine = try await MailboxMachine("a", disk, path: path, identity: identity)
            let other = try await MailboxMachine("a", disk, path: path, identity: identity)
            #expect(await machine.mailbox.hasNews())
            try await MailboxMachine.settle([machine])
            #expect(await !machine.mailbox.hasNews())
            try await other.sync()
            #expect(await !machine.mailbox.hasNews())
            try await other.add(1...1)
            #expect(await machine.mailbox.hasNews())
            try await MailboxMachine.settle([machine])
            #expect(await !machine.mailbox.hasNews())
            try await other.database.write {
                try $0.execute(sql: "INSERT INTO Item (id, title) VALUES ('2', 'nobody has taken this in')")
            }
            #expect(await machine.mailbox.hasNews())
            try await MailboxMachine.settle([machine])
            let study = Identity.generate().publicKey.bytes
            _ = try await other.store.peers.add(key: study, name: "study")
            #expect(await machine.mailbox.hasNews())
            try await MailboxMachine.settle([machine])
            try await other.store.assets.setPolicy(.none)
            #expect(await machine.mailbox.hasNews())
            try await MailboxMachine.settle([machine])
            let photo = try #require(AssetHash([UInt8](repeating: 1, count: 32)))
            try await other.store.assets.setWished([photo], true)
            #expect(await machine.mailbox.hasNews())
            try await MailboxMachine.settle([machine])
            #expect(await !machine.mailbox.hasNews())
            try await other.store.mailboxes.remove("shelf")
            #expect(await machine.mailbox.hasNews())
        }
    }

    /// What nobody has taken in was there when the pass began.
    @Test func aWriteAfterAPassThatFailedIsNews() async throws {
        let machine = try await MailboxMachine("a", MemoryDisk())
        func insert(_ id: Int) async throws {
            try await machine.database.write {
                try $0.execute(sql: "INSERT INTO Item (id, title) VALUES ('\(id)', 'a title')")
            }
        }
        try await insert(1)
        machine.storage.faults.error = .unreachable
        await #expect(throws: MailboxError.self) { try await machine.sync() }
        // A storage that fails is spared.
        #expect(await !machine.mailbox.hasNews())
        try await insert(2)
        #expect(await machine.mailbox.hasNews())
    }

    /// A program that uses the mailbox all the time must not put everything again.
    @Test func nobodyPutsAnythingWhileAMailboxIsErased() async throws {
        let disk = MemoryDisk()
        let machines = try await MailboxMachine.paired(["a", "b"], disk)
        try await machines[0].add(1...1)
        try await MailboxMachine.settle(machines)
        let kitchen = machines[0]
        let errors = Mutex<[MailboxError.Code]>([])
        let storage = HookedStorage(
            kitchen.storage,
            hasDeleted: { _ in
                do { try await kitchen.sync() } catch let error as MailboxError {
                    errors.withLock { $0.append(error.code) }
                }
            })
        let entry = try await kitchen.store.mailboxes.all()[0]
        try await Mailbox(kitchen.engine, entry, in: storage).removeWithOwnObjects()
        #expect(Set(errors.withLock { $0 }) == [.busy])
        // Nor does the one that runs put anything after that.
        await #expect(throws: MailboxError.self) { try await kitchen.sync() }
        #expect(disk.objects.keys.filter { $0.folder == kitchen.author.folder } == [])
        #expect(try await kitchen.store.mailboxes.all() == [])
    }

    @Test func aMailboxThatCannotBeErasedStays() async throws {
        let disk = MemoryDisk()
        let machines = try await MailboxMachine.paired(["a", "b"], disk)
        try await MailboxMachine.settle(machines)
        machines[0].storage.faults.error = .unreachable
        await #expect(throws: MailboxError.self) { try await machines[0].mailbox.removeWithOwnObjects() }
        machines[0].storage.faults.error = nil
        #expect(try await machines[0].store.mailboxes.all()[0].lastErrorCode == "unreachable")
        try await machines[0].sync()
    }

    @Test func namesOfMailboxesAreUnique() async throws {
        let machine = try await MailboxMachine("a", MemoryDisk())
        for (name, code) in [
            ("shelf", RecordStoreError.Code.ambiguous), ("", .invalidValue), ("a\u{7}", .invalidValue),
            ("a\nb", .invalidValue),
        ] {
            let error = await #expect(throws: RecordStoreError.self) {
                try await machine.store.mailboxes.add(name, location: "")
            }
            #expect(error?.code == code)
            #expect(error?.message.contains { $0.isNewline } == false)
        }
        #expect(try await machine.store.mailboxes.all().map(\.location) == ["nowhere"])
    }
}
