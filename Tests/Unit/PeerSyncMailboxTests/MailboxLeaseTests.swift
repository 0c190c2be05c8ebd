import GRDB
import MailboxSimulator
import MailboxSupport
import PeerSync
import PeerSyncStore
import Testing

@testable import PeerSyncMailbox

/// One use of a mailbox at a time, and whoever ends gives it back.
@Suite(.timeLimit(.minutes(5))) struct MailboxLeaseTests {
    /// Otherwise one pass would remove what the other has put and not noted yet.
    @Test func twoPassesOfOneProgramDoNotMeetInAMailbox() async throws {
        let kitchen = try await MailboxMachine("kitchen", MemoryDisk())
        let (store, mailbox) = (kitchen.engine.store, kitchen.mailbox.context.mailbox)
        try await MailboxLease.hold(store, mailbox) {
            let error = await #expect(throws: MailboxError.self) {
                try await MailboxLease.hold(store, mailbox) {}
            }
            #expect(error?.code == .busy)
        }
        try await MailboxLease.hold(store, mailbox) {}
    }

    /// No other program would have it for as long as this one runs.
    @Test func aPassThatIsCancelledGivesTheMailboxBack() async throws {
        let machines = try await MailboxMachine.paired(["kitchen", "study"], MemoryDisk())
        try await machines[0].add(1...1)
        try await cancel(machines[0]) { _ = try await $0.syncOnce() }
        #expect(try await machines[0].store.mailboxes.all()[0].lastSync == nil)
    }

    @Test func aRemovalThatIsCancelledGivesTheMailboxBack() async throws {
        let machines = try await MailboxMachine.paired(["kitchen", "study"], MemoryDisk())
        try await machines[0].add(1...1)
        try await machines[0].sync()
        try await cancel(machines[0]) { try await $0.removeWithOwnObjects() }
    }

    /// Cancels what is done with a mailbox at its first write, and checks that nobody has it then, and that nothing is noted.
    private func cancel(
        _ machine: MailboxMachine, _ body: @escaping @Sendable (Mailbox) async throws -> Void
    ) async throws {
        let (hasWritten, mayGoOn) = (Signal(), AsyncSemaphore(0))
        let hook: HookedStorage.Hook = { _ in
            hasWritten.raise()
            try await mayGoOn.wait()
        }
        let storage = HookedStorage(machine.storage, hasPut: hook, hasDeleted: hook)
        let mailbox = Mailbox(machine.engine, try await machine.store.mailboxes.all()[0], in: storage)
        let use = Task { try await body(mailbox) }
        for await _ in hasWritten { break }
        use.cancel()
        await #expect(throws: CancellationError.self) { try await use.value }
        let user = try await machine.store.database.read {
            try Int32.fetchOne($0, sql: "SELECT process FROM grdb_sync_mailbox")
        }
        #expect(user == nil)
        #expect(try await machine.store.mailboxes.all()[0].lastError == nil)
    }
}
