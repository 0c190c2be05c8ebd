import PeerSync
import PeerSyncMailbox
import Scorebook
import ServiceLifecycle

/// Syncs with mailboxes once, and prints what came of it. A signal ends that.
struct MailboxPasses {
    let store: OpenStore
    let options: EngineOptions
    let isJSON: Bool

    /// Syncs with one. That something there cannot be read is no error.
    func run(_ entry: MailboxEntry) async throws -> MailboxPassFigures {
        let report = Latest<MailboxReport>()
        let live = LiveOutput(scorebook: store.scorebook, isJSON: isJSON, isVerbose: options.verbose)
        try await live.run { print in
            let engine = options.engine(store, onEvent: { if !isJSON { print(.event($0)) } })
            let mailbox = try await store.mailbox(entry, engine) {
                if !isJSON { print(.mailbox(entry.name, $0)) }
            }
            let sync = OneSync { try await cancelWhenGracefulShutdown { try await mailbox.syncOnce() } }
            try await options.run([sync])
            guard let result = sync.report.withLock({ $0 }) else { throw Failure.notYetEqual }
            report.set(result)
        }
        guard let report = report.value else { throw Failure.notYetEqual }
        let figures = try await figures(entry, report)
        if !isJSON { Terminal.write(Self.line(figures, report)) }
        return figures
    }

    private func figures(_ entry: MailboxEntry, _ report: MailboxReport) async throws -> MailboxPassFigures {
        let records = store.scorebook.records
        return MailboxPassFigures(
            try await records.mailboxes.find(entry.name), report, paired: try await records.peers.all().count)
    }

    /// A mailbox of which something cannot be read is not in step.
    private static func line(_ figures: MailboxPassFigures, _ report: MailboxReport) -> String {
        let name = Display.printable(figures.mailbox)
        guard figures.paired > 0 else {
            return
                "nothing of this scorebook lies in “\(name)” yet: \(MailboxPassFigures.nobody); \(MailboxPassFigures.pairing)"
        }
        let unread = figures.unread.map { Display.printable($0.machine) }
        guard unread.isEmpty else {
            return "synced with “\(name)”, apart from what \(unread.joined(separator: " and ")) left there"
        }
        return "in step with “\(name)”\(words(report))"
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
    let paired: Int
    /// What machines have left and this one cannot read on.
    let unread: [Unread]

    /// What a machine has left and this one cannot read on.
    struct Unread: Encodable {
        let machine: String
        let code: String
        let reason: String
        /// The end of a command that should have read it.
        let failure: Failure

        enum CodingKeys: String, CodingKey { case machine, code, reason }
    }

    static let nobody = "no machine is paired with this one that may read there"
    static let pairing = "`scorebook-peer pair` pairs one, and the next sync leaves everything there"

    init(_ mailbox: MailboxEntry, _ report: MailboxReport, paired: Int) {
        self.mailbox = mailbox.name
        batchesRead = report.segmentsRead
        batchesLeft = report.segmentsPut
        filesRead = report.filesRead
        filesLeft = report.filesPut
        changes = report.changes.count
        self.paired = paired
        unread = mailbox.machines.compactMap { machine in
            machine.error.map { error in
                Unread(
                    machine: machine.name, code: error.code.description, reason: error.message,
                    failure: Failure(error, in: mailbox.name, of: machine.name))
            }
        }
    }
}

extension [MailboxPassFigures] {
    /// Why not everything is read; nil if it is. What comes by itself is named only where nothing else is.
    var failure: Failure? {
        let unread = flatMap { figures in figures.unread.map { (mailbox: figures.mailbox, what: $0) } }
        let waiting = MailboxError.Code.waiting.description
        guard let first = unread.first(where: { $0.what.code != waiting }) ?? unread.first else { return nil }
        let more =
            unread.count > 1 ? ", and \((unread.count - 1).counted("other thing")): see `mailbox list`" : ""
        return Failure(
            first.what.failure.code, "not all of “\(first.mailbox)” is read: \(first.what.reason)\(more)",
            hint: first.what.failure.hint)
    }
}
