import ArgumentParser
import PeerSync
import Scorebook

/// The options of a deletion.
struct DeletionOptions: ParsableArguments {
    @Flag(help: "Delete without asking.")
    var yes = false

    @Flag(help: "List what would be deleted, and delete nothing.")
    var dryRun = false

    @OptionGroup var output: OutputOptions

    /// Returns the help text of a command that deletes records.
    ///
    /// - Parameter restore: the command that brings them back.
    static func discussion(_ restore: String) -> String {
        "\(restoring(restore)) `record delete --forever` deletes what must not be kept."
    }

    /// Returns the part of the help text that tells how to bring records back.
    static func restoring(_ restore: String) -> String {
        """
        What is deleted, and what goes with it, can be restored for 180 days, on every machine: with `\(restore)`. \
        `record list --deleted` shows what there is.
        """
    }

    /// Finds a record of a kind, and deletes it.
    func run(_ store: OpenStore, _ kind: RecordKind, _ text: String) async throws {
        try await run(store, try await store.scorebook.find(kind, text))
    }

    /// Tells which records go with a record, asks on a terminal, and deletes them.
    func run(_ store: OpenStore, _ name: RecordName) async throws {
        let records = store.scorebook.records
        let steps = try await records.database.read { try records.deletionSteps($0, name) }
        if dryRun { return try await list(steps, store) }
        let summary = try await store.scorebook.deletionSummary(name)
        try await confirm(summary.question(name, store.scorebook.time), summary.deed)
        let done = try await store.scorebook.delete(name)
        let deleted = done.filter { $0.action == .delete }.map(\.name)
        try output.write(
            done.map(StepFigures.init), try await "deleted \(store.phrase(for: name, with: deleted))")
    }

    /// Tells which records go with a record, asks on a terminal, and deletes them for ever.
    func runForever(_ store: OpenStore, _ name: RecordName) async throws {
        let plan = try await store.scorebook.planForever(name)
        if plan.isEmpty, !output.json { return Terminal.write("\(name) was deleted for ever already") }
        // Afterwards nobody knows what it was.
        let what = try await store.phrase(for: plan.contains(name) ? name : plan.first ?? name, with: plan)
        if dryRun || plan.isEmpty {
            var lines: [String] = []
            for name in plan {
                lines.append("would delete \(try await store.scorebook.phrase(for: name)) for ever")
            }
            return try report(forever: plan, lines.joined(separator: "\n"))
        }
        try await confirm(
            "Delete \(what) for ever, on every machine? This cannot be undone.",
            "deleting \(what) for ever")
        try report(forever: try await store.scorebook.deleteForever(name), "deleted \(what) for ever")
    }

    /// - Parameter deed: the action to confirm, in the words of the error.
    private func confirm(_ question: String, _ deed: String) async throws {
        guard !yes else { return }
        guard let answer = await Terminal.confirm(question) else {
            throw Failure(ExitCode(64), "\(deed) needs --yes when nobody can be asked")
        }
        guard answer else { throw Failure(.temporaryFailure, "nothing was deleted") }
    }

    // MARK: Output

    private func list(_ steps: [DeletionStep], _ store: OpenStore) async throws {
        if output.json { return try Terminal.write(json: steps.map(StepFigures.init)) }
        for step in steps {
            let verb = step.action == .delete ? "would delete" : "would clear"
            Terminal.write("\(verb) \(try await store.scorebook.phrase(for: step.name))")
        }
    }

    private func report(forever names: [RecordName], _ sentence: String) throws {
        try output.write(
            names.map { StepFigures(recordName: $0.description, action: "erase", field: nil) }, sentence)
    }
}

extension OpenStore {
    /// Returns what a sentence calls a record and those that go or come with it: “the match Hearts, 2026-11-21 20:15, with 3
    /// players”.
    ///
    /// - Parameter names: may have the record itself.
    func phrase(for name: RecordName, with names: [RecordName]) async throws -> String {
        let list = Self.counted(
            names.filter { $0 != name }, ofPerson: name.recordType == RecordKind.person.recordType)
        return try await scorebook.phrase(for: name)
            + (list.isEmpty ? "" : ", with " + list.joined(separator: ", "))
    }

    /// Returns what a sentence calls several records: “the match Hearts, 2026-11-21 20:15, with 3 players”, “2 scores of the match …”,
    /// or “12 matches, 30 players” if they are of many.
    func phrase(ofAll names: [RecordName]) async throws -> String {
        let subjects = try await scorebook.subjects(of: names)
        let list = Self.counted(names).joined(separator: ", ")
        guard subjects.count == 1, let subject = subjects.first else { return list }
        if names.contains(subject) { return try await phrase(for: subject, with: names) }
        if names.count == 1 { return try await scorebook.phrase(for: names[0]) }
        return "\(list) of \(try await scorebook.phrase(for: subject))"
    }

    /// - Parameter ofPerson: whether they are what goes with a person, who does not take other players along.
    private static func counted(_ names: [RecordName], ofPerson: Bool = false) -> [String] {
        let counts = Dictionary(grouping: names, by: \.recordType).mapValues(\.count)
        let kinds: [RecordKind] = [.person, .game, .match, .player, .score, .matchLocation, .matchImage]
        let parts = kinds.compactMap { kind in
            counts[kind.recordType].map {
                ofPerson && kind == .player ? "the part in \(RecordKind.match.counted($0))" : kind.counted($0)
            }
        }
        let rest = names.count { RecordKind(rawValue: $0.recordType) == nil }
        return parts + (rest > 0 ? ["\(rest.counted("record")) of a newer version"] : [])
    }

    /// Says that an edit changed a record, or that it was as somebody wants it.
    func changed(_ name: RecordName) async throws -> String {
        let phrase = try await scorebook.phrase(for: name)
        return try await scorebook.hasCommandWritten()
            ? "changed \(phrase)" : "nothing changed: \(phrase) is so already"
    }
}

extension DeletionSummary {
    /// The action to confirm.
    fileprivate var deed: String { "deleting \(what)" }

    private var what: String {
        title + (companions.isEmpty ? "" : ", with " + companions.joined(separator: ", "))
    }

    /// As in “Delete Grace Hopper, with the part in 5 matches? `person restore` brings all back until 2027-05-22.”
    fileprivate func question(_ name: RecordName, _ time: LocalTime) -> String {
        let command = RecordKind(rawValue: name.recordType).flatMap(Self.restoring) ?? "record restore"
        let until = ISO8601.text(milliseconds: restorableUntil, fraction: .ifNeeded).map(time.dayText) ?? ""
        return
            "Delete \(what)? `\(command)` brings \(companions.isEmpty ? "it" : "all of it") back until \(until)."
    }

    private static func restoring(_ kind: RecordKind) -> String? {
        switch kind {
        case .person, .game, .match, .score: "\(kind.noun) restore"
        case .matchImage: "image restore"
        case .player, .matchLocation: nil
        }
    }
}

/// One record that a command deletes or restores, for programs.
struct StepFigures: Encodable {
    let recordName: String
    let action: String
    @OrNull var field: String?

    init(recordName: String, action: String, field: String?) {
        self.recordName = recordName
        self.action = action
        self.field = field
    }

    init(_ step: DeletionStep) {
        self.init(recordName: step.name.description, action: step.action.rawValue, field: step.field)
    }
}
