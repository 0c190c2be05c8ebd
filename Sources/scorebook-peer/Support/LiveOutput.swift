import PeerSync
import PeerSyncMailbox
import Scorebook

/// The output of a command that syncs: prints the events in their order, and says in words what they changed here.
struct LiveOutput: Sendable {
    let scorebook: ScorebookStore
    let isJSON: Bool
    /// Whether to print the totals of the session and the names of records as well.
    var isVerbose = false

    private var printer: EventPrinter { EventPrinter(json: isJSON) }

    /// What is printed in its order.
    enum Item: Sendable {
        case event(SyncEvent)
        /// A code that pairs one machine.
        case code(PairingCode)
        /// What happened in the mailbox of a name.
        case mailbox(String, MailboxEvent)
        case line(String)
    }

    /// Prints what `body` hands over until it ends. Printing looks at the scorebook, and waits for whoever reads; the engine must
    /// wait for neither.
    func run(_ body: (@escaping @Sendable (Item) -> Void) async throws -> Void) async throws {
        let waiting = WaitingOutput()
        let printing = Task(executorPreference: OutputThread.shared) {
            var news = SyncNews()
            var mailboxNews = MailboxNews()
            await waiting.drain { item in
                switch item {
                case .event(let event): await print(event, &news)
                case .code(let code): printer.print(code)
                case .mailbox(_, .withheld(let machine, let zone, let count)) where !isJSON:
                    await print(.withheld(name: machine, zone: zone, count: count), &news)
                case .mailbox(let name, let event): await print(event, of: name, &mailboxNews)
                case .line(let line): Terminal.write(line)
                }
            }
        }
        do {
            try await body { waiting.add($0) }
        } catch {
            waiting.finish()
            await printing.value
            throw error
        }
        waiting.finish()
        await printing.value
    }

    private func print(_ event: SyncEvent, _ news: inout SyncNews) async {
        guard !isJSON else { return printer.print(event) }
        let event = await scorebook.told(event)
        switch event {
        case .connected(let name, _):
            news.begin(name)
            printer.print(event)
        case .changed(let name, let zone, let changes):
            news.note(changes, of: name, in: zone)
        case .inSync(let name, let zone, let digest, let statistics):
            let words = await words(news.take(name, zone))
            for line in news.lines(words, name, zone, statistics) { Terminal.write(line) }
            if isVerbose { Terminal.write(EventPrinter.totals(name, zone: zone, digest, statistics)) }
        case .disconnected(let name, _):
            // The line broke before the two were in sync, or a machine may only read and never will be.
            for (zone, changes) in news.takeAll(name) {
                let words = await words(changes)
                if !words.isEmpty { Terminal.write(SyncNews.line(words, name, zone)) }
            }
            printer.print(event)
        case .withheld(let name, _, _):
            guard let alarms = await alarms(of: name) else { return printer.print(event) }
            for alarm in alarms where news.isUntold(alarm) {
                Terminal.write(
                    "\(alarm.id)  \(alarm.words); `scorebook-peer sync alarms` shows what, and how to decide")
            }
        default:
            printer.print(event, naming: await names(event))
        }
    }

    private func print(_ event: MailboxEvent, of mailbox: String, _ news: inout MailboxNews) async {
        guard !isJSON else {
            try? Terminal.write(json: MailboxEventLine(event, in: mailbox), compact: true)
            return
        }
        switch event {
        case .changed(let machine, let zone, let changes): news.note(changes, of: machine, in: zone)
        case .inStep, .failed:
            for (machine, zone, changes) in news.take() {
                let words = await words(changes)
                if !words.isEmpty { write(SyncNews.line(words, machine, zone)) }
            }
            if let line = event.line(in: mailbox) { write(await scorebook.told(line)) }
        default:
            if let line = event.line(in: mailbox) { write(await scorebook.told(line)) }
        }
    }

    /// Paths of folders may have any character.
    private func write(_ line: String) { Terminal.write(Display.printable(line)) }

    private func words(_ changes: ArrivedChanges?) async -> [String] {
        guard let changes else { return [] }
        return (try? await scorebook.words(for: changes)) ?? []
    }

    /// What waits for a decision: of what a machine has sent, or, without a name, of what programs wrote here. Nil if that cannot be read.
    private func alarms(of name: String?) async -> [FuseAlarm]? {
        let source = name.map(FuseAlarm.Source.peer) ?? .programs
        let records = scorebook.records
        return try? await records.database.read { try records.fuse.alarms($0) }.filter { $0.source == source }
    }

    /// Returns what the line of an event calls its records.
    private func names(_ event: SyncEvent) async -> [String] {
        let names = EventPrinter.records(event)
        guard !isVerbose else { return names }
        var phrases: [String] = []
        for name in names.prefix(EventPrinter.namedRecords) {
            let phrase = try? await scorebook.phrase(for: RecordName(name))
            phrases.append(phrase ?? name)
        }
        return phrases + names.dropFirst(EventPrinter.namedRecords)
    }

    /// Prints the result of a sync that was asked for once.
    ///
    /// - Parameter changes: what it changed here.
    func write(_ report: SyncReport, _ changes: ArrivedChanges) async {
        var parts = await words(changes)
        let sent = report.statistics.recordsSent
        if sent > 0 { parts.append("sent \(sent.counted("record"))") }
        if report.statistics.assetsReceived > 0 {
            parts.append("received \(report.statistics.assetsReceived.counted("picture"))")
        }
        let what = parts.isEmpty ? "nothing was new" : parts.joined(separator: ", ")
        Terminal.write(
            isVerbose
                ? EventPrinter.totals(report.peer, report.digest, report.statistics)
                : "in sync with \(report.peer): \(what)")
    }
}
