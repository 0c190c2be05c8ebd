import PeerSync
import PeerSyncMailbox
import Scorebook
import ServiceLifecycle

/// Syncs with mailboxes once, and prints what came of it. A signal ends that.
struct MailboxPasses {
    let store: OpenStore
    let session: SessionOptions
    let isJSON: Bool

    /// Syncs with one after the other. The first that cannot be used ends it.
    ///
    /// - Returns: what was done, in the same order.
    func run(_ entries: [MailboxEntry]) async throws -> [MailboxPassFigures] {
        var done: [MailboxPassFigures] = []
        for entry in entries {
            let report = Latest<MailboxReport>()
            let live = LiveOutput(scorebook: store.scorebook, isJSON: isJSON, isVerbose: session.verbose)
            try await live.run { print in
                let engine = session.engine(store, onEvent: { if !isJSON { print(.event($0)) } })
                let mailbox = try store.mailbox(entry, engine) {
                    if !isJSON { print(.mailbox(entry.name, $0)) }
                }
                let sync = OneSync { try await cancelWhenGracefulShutdown { try await mailbox.syncOnce() } }
                try await session.run([sync])
                guard let result = sync.report.withLock({ $0 }) else { throw Failure.notYetEqual }
                report.set(result)
            }
            guard let report = report.value else { throw Failure.notYetEqual }
            let machines = try await store.scorebook.records.peers.all().count
            done.append(MailboxPassFigures(entry.name, report, machines: machines))
            if !isJSON { Terminal.write(try await line(entry, report, machines: machines)) }
        }
        return done
    }

    /// A mailbox of which something cannot be read is not in step.
    private func line(_ entry: MailboxEntry, _ report: MailboxReport, machines: Int) async throws -> String {
        let name = Display.printable(entry.name)
        guard machines > 0 else {
            return
                "nothing of this scorebook lies in “\(name)” yet: \(MailboxPassFigures.nobody); \(MailboxPassFigures.pairing)"
        }
        let now = try await store.scorebook.records.mailboxes.find(entry.name)
        let unread = now.machines.filter { $0.problem != nil }.map { Display.printable($0.name) }
        guard unread.isEmpty else {
            return
                "synced with “\(name)”, apart from what \(unread.joined(separator: " and ")) left there: `mailbox list` says why"
        }
        return "in step with “\(name)”\(Self.words(report))"
    }

    private static func words(_ report: MailboxReport) -> String {
        var parts: [String] = []
        if report.segmentsPut > 0 || report.filesPut > 0 { parts.append("left what is new here") }
        if parts.isEmpty, report.changes.count == 0, report.filesRead == 0 { parts.append("nothing was new") }
        return parts.isEmpty ? "" : ": \(parts.joined(separator: ", "))"
    }
}

/// What one sync with a mailbox did, for programs.
struct MailboxPassFigures: Encodable, Sendable {
    let mailbox: String
    /// How many batches of records were read, and left there.
    let batchesRead: Int
    let batchesLeft: Int
    let filesRead: Int
    let filesLeft: Int
    /// How many records other machines changed here.
    let changes: Int
    /// How many machines are paired with this one. Without any, nothing is left there.
    let machines: Int

    static let nobody = "no machine is paired with this one that may read there"
    static let pairing = "`scorebook-peer pair` pairs one, and the next sync leaves everything there"

    init(_ mailbox: String, _ report: MailboxReport, machines: Int) {
        self.machines = machines
        self.mailbox = mailbox
        batchesRead = report.segmentsRead
        batchesLeft = report.segmentsPut
        filesRead = report.filesRead
        filesLeft = report.filesPut
        changes = report.changes.count
    }
}
