import ArgumentParser
import Logging
import PeerSync
import Scorebook

struct Verify: SyncingCommand {
    static let makesStore = false

    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Compare everything with a paired machine, mend what differs, and say what it was.",
        discussion: """
            Syncs; then each of the two machines looks at every record that it holds, as status --check --repair \
            does, and they compare, whatever they believe to have exchanged already.
            """)

    @Argument(
        help: ArgumentHelp(
            "The paired machine's name, or its address, with its port if that is not 7431.",
            valueName: "name|host[:port]"))
    var machine: MachineArgument

    @Flag(help: "Also read every picture here, and fetch those that are damaged again.")
    var assets = false

    @OptionGroup var session: SessionOptions
    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup var output: OutputOptions

    var logger: Logger { session.logger }
    var stopped: Failure? { .notYetCompared }

    func run(_ store: OpenStore) async throws {
        let damaged = assets ? try await damagedAssets(store) : []
        let arrivals = Arrivals()
        let named = try await machine.machine(in: store)
        let result = try await ProgressLine.shared.measuring("comparing with \(named)") {
            [session] progress in
            let engine = session.engine(store) { event in
                arrivals.take(event)
                event.report(to: progress)
            }
            let connector = named.connector(engine)
            let sync = OneSync { try await connector.verify() }
            try await session.run([sync])
            return sync.report.withLock { $0 }
        }
        guard let report = result else { throw Failure.notYetCompared }
        let differences = report.differences ?? SyncDifferences()
        let missing = try await stillMissing(damaged, store.scorebook)
        if output.json {
            try Terminal.write(json: Figures(differences, report, damaged: damaged, missing: missing))
        } else {
            try await write(differences, report, damaged: damaged, missing: missing, arrivals.all, store)
        }
        guard missing.isEmpty else {
            throw Failure(
                .dataError,
                "\(missing.count.counted("damaged picture")) did not come from \(named); what is left of "
                    + (missing.count == 1 ? "it" : "them") + " is put aside",
                hint: "another machine or an export may have \(missing.count == 1 ? "it" : "them")")
        }
    }

    private func write(
        _ differences: SyncDifferences, _ report: SyncReport, damaged: [AssetHash], missing: [AssetHash],
        _ arrivals: ArrivedChanges, _ store: OpenStore
    ) async throws {
        for hash in damaged {
            let state = missing.contains(hash) ? "missing now" : "here again"
            Terminal.write("damaged here: the picture \(hash), \(state)")
        }
        for finding in report.mended?.findings ?? [] {
            Terminal.write("mended here: \(try await title(finding.name, store)), which \(finding.kind.text)")
        }
        if report.mended?.findings.isEmpty == true { Terminal.write("mended here: the check sum") }
        let names = Set(differences.sent + differences.received).sorted()
        for name in names { Terminal.write("differed: \(try await title(name.description, store))") }
        let count = names.count
        Terminal.write(
            count == 0 ? "no record differed" : "\(count.counted("record")) differed, and are equal now")
        await LiveOutput(scorebook: store.scorebook, isJSON: false, isVerbose: session.verbose).write(
            report, arrivals)
    }

    /// What people call a record; with --verbose its name.
    private func title(_ name: String, _ store: OpenStore) async throws -> String {
        guard !session.verbose, let known = try? RecordName(name) else { return name }
        return try await store.scorebook.phrase(for: known)
    }

    private func damagedAssets(_ store: OpenStore) async throws -> [AssetHash] {
        let check = try await ProgressLine.shared.during("reading every picture") {
            try await store.scorebook.records.assets.check()
        }
        return check.damaged
    }

    /// Those of damaged files that records still need, and the other machine did not give.
    private func stillMissing(_ damaged: [AssetHash], _ scorebook: ScorebookStore) async throws -> [AssetHash]
    {
        guard !damaged.isEmpty else { return [] }
        let missing = try await scorebook.pictureUses().map(\.image).filter {
            scorebook.records.assets.file($0) == nil
        }
        let hashes = Set(missing.map(\.hash))
        return damaged.filter(hashes.contains)
    }

    private struct Figures: Encodable {
        struct Finding: Encodable {
            let recordName: String
            let kind: StoreCheck.Finding.Kind
        }

        let mended: [Finding]
        let sent: [String]
        let received: [String]
        let damagedAssets: [String]
        /// Those of them that the other machine did not give again.
        let missingAssets: [String]
        let sync: SyncFigures

        init(
            _ differences: SyncDifferences, _ report: SyncReport, damaged: [AssetHash], missing: [AssetHash]
        ) {
            damagedAssets = damaged.map(\.description)
            missingAssets = missing.map(\.description)
            mended = (report.mended?.findings ?? []).map { Finding(recordName: $0.name, kind: $0.kind) }
            sent = differences.sent.map(\.description)
            received = differences.received.map(\.description)
            sync = SyncFigures(report.statistics, report.digest)
        }
    }
}

extension Failure {
    fileprivate static let notYetCompared = Failure(
        .temporaryFailure, "stopped before everything was compared; run it again")
}
