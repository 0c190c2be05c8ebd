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
        if dryRun { return try report(steps, "would delete") }
        let summary = try await store.scorebook.deletionSummary(name)
        try await confirm(summary.question(name, store.scorebook.time), summary.deed)
        try report(try await store.scorebook.delete(name), "deleted")
    }

    /// Tells which records go with a record, asks on a terminal, and deletes them for ever.
    func runForever(_ store: OpenStore, _ name: RecordName) async throws {
        let plan = try await store.scorebook.planForever(name)
        if plan.isEmpty, !output.json { return Terminal.write("\(name) was deleted for ever already") }
        if dryRun || plan.isEmpty { return try report(forever: plan, name, "would delete") }
        let what = Self.text(plan, name)
        try await confirm(
            "Delete \(what) for ever, on every machine? This cannot be undone.",
            "deleting \(what) for ever")
        try report(forever: try await store.scorebook.deleteForever(name), name, "deleted")
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

    private func report(_ steps: [DeletionStep], _ verb: String) throws {
        if output.json { return try Terminal.write(json: steps.map(StepFigures.init)) }
        guard dryRun else { return Terminal.write("\(verb) \(Self.text(steps))") }
        for step in steps { Terminal.write("\(step.action == .delete ? verb : "would clear") \(step.name)") }
    }

    private func report(forever names: [RecordName], _ name: RecordName, _ verb: String) throws {
        if output.json {
            return try Terminal.write(
                json: names.map { StepFigures(recordName: $0.description, action: "erase", field: nil) })
        }
        guard dryRun else { return Terminal.write("\(verb) \(Self.text(names, name)) for ever") }
        for name in names { Terminal.write("\(verb) \(name) for ever") }
    }

    /// Describes the record, and the records that go with it.
    private static func text(_ steps: [DeletionStep]) -> String {
        text(steps.filter { $0.action == .delete }.map(\.name), steps.last!.name)
    }

    /// - Parameter name: comes first, unless it is deleted already.
    private static func text(_ names: [RecordName], _ name: RecordName) -> String {
        let name = names.contains(name) ? name : names.first ?? name
        return "\(name)\(companions(names.filter { $0 != name }, .goWithIt))"
    }

    /// The behaviour of other records when one is deleted or restored.
    enum Company {
        case goWithIt, comeBackWithIt

        func text(_ count: Int) -> String {
            let ending = count == 1 ? ("goes", "comes") : ("go", "come")
            return switch self {
            case .goWithIt: "\(ending.0) with it"
            case .comeBackWithIt: "\(ending.1) back with it"
            }
        }
    }

    /// Returns “ and 12 records that go with it (3 SBMatch, 9 SBPlayer)”; empty if there are no such records.
    static func companions(_ names: [RecordName], _ company: Company) -> String {
        guard !names.isEmpty else { return "" }
        let counts = Dictionary(grouping: names, by: \.recordType).mapValues(\.count)
        let list = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        return " and \(names.count.counted("record")) that \(company.text(names.count)) (\(list))"
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
    let field: String?

    init(recordName: String, action: String, field: String?) {
        self.recordName = recordName
        self.action = action
        self.field = field
    }

    init(_ step: DeletionStep) {
        self.init(recordName: step.name.description, action: step.action.rawValue, field: step.field)
    }

    enum CodingKeys: String, CodingKey { case recordName, action, field }

    /// Writes null for missing values, so that every object has the same keys.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(recordName, forKey: .recordName)
        try container.encode(action, forKey: .action)
        try container.encode(field, forKey: .field)
    }
}
