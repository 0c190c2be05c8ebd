import ArgumentParser
import Foundation
import RecordStore
import Scorebook
import SyncModel

extension OutputOptions {
    /// Writes a value as JSON, or a sentence.
    func write(_ value: some Encodable, _ sentence: String) throws {
        if json {
            try Terminal.write(json: value)
        } else {
            Terminal.write(sentence)
        }
    }

    /// Writes a list of records as JSON, or as a table whose last column is the record name. The zone stands before it,
    /// where there are several.
    func write<Element: RecordListing>(
        _ list: [Element], of store: OpenStore, header: [String], none: String, row: (Element) -> [String]
    ) async throws {
        if json { return try Terminal.write(json: list) }
        guard !list.isEmpty else { return Terminal.write(none) }
        guard try await store.hasSeveralZones() else {
            return Terminal.write(aligned([header] + list.map(row)))
        }
        func with(_ zone: String, _ row: [String]) -> [String] { row.dropLast() + [zone] + row.suffix(1) }
        Terminal.write(aligned([with("ZONE", header)] + list.map { with($0.zone, row($0)) }))
    }

    /// Writes one record as JSON, or its fields one a line, with its zone where there are several.
    func write(_ value: some RecordListing, of store: OpenStore, fields: [(String, String?)]) async throws {
        let zone = try await store.hasSeveralZones() ? value.zone : nil
        try write(value, fields: fields + [("zone", zone)])
    }

    /// Writes one record as JSON, or its fields one a line.
    func write(_ value: some Encodable, fields: [(String, String?)]) throws {
        if json { return try Terminal.write(json: value) }
        Terminal.write(aligned(fields.compactMap { name, text in text.map { [name, $0] } }))
    }
}

/// What an option's text does to a value: nothing when it is not given, away with it when it is empty.
func change(_ text: String?) -> Change<String> {
    guard let text else { return .keep }
    return text.isEmpty ? .clear : .set(text)
}

/// The file that an option names; none when its text is empty.
func file(_ path: String?) -> URL? {
    path.flatMap { $0.isEmpty ? nil : URL(fileURLWithPath: $0) }
}

/// As ``change(_:)``, for options that name a file.
func fileChange(_ path: String?) -> Change<URL> {
    guard let path else { return .keep }
    return file(path).map(Change.set) ?? .clear
}

/// How a deletion is asked for.
struct DeletionOptions: ParsableArguments {
    @Flag(help: "Delete without asking.")
    var yes = false

    @Flag(help: "List what would be deleted, and delete nothing.")
    var dryRun = false

    @OptionGroup var output: OutputOptions

    /// Deletes a record of a kind.
    func run(_ store: OpenStore, _ kind: RecordKind, _ text: String) async throws {
        try await run(store, try await store.scorebook.find(kind, text))
    }

    /// Says what goes with a record, asks on a terminal, and deletes it.
    func run(_ store: OpenStore, _ name: RecordName) async throws {
        let records = store.scorebook.records
        let steps = try await records.database.read { try records.deletionSteps($0, name) }
        if dryRun { return try report(steps, "would delete") }
        if !yes {
            let question = "Delete \(name)\(Self.companions(steps))?"
            guard let answer = await Terminal.confirm(question) else {
                throw Failure(
                    ExitCode(64),
                    "deleting \(name)\(Self.companions(steps)) needs --yes when nobody can be asked")
            }
            guard answer else { throw Failure(.temporaryFailure, "nothing was deleted") }
        }
        try report(try await records.write { try records.delete($0, name) }, "deleted")
    }

    private func report(_ steps: [DeletionStep], _ verb: String) throws {
        if output.json { return try Terminal.write(json: steps.map(StepFigures.init)) }
        guard dryRun else { return Terminal.write("\(verb) \(steps.last!.name)\(Self.companions(steps))") }
        for step in steps { Terminal.write("\(step.action == .delete ? verb : "would clear") \(step.name)") }
    }

    /// “ and 12 records that go with it (3 SBMatch, 9 SBPlayer)”, or nothing.
    private static func companions(_ steps: [DeletionStep]) -> String {
        let others = steps.dropLast().filter { $0.action == .delete }
        guard !others.isEmpty else { return "" }
        let counts = Dictionary(grouping: others, by: \.name.recordType).mapValues(\.count)
        let list = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        return " and \(others.count.counted("record")) that go with it (\(list))"
    }

    private struct StepFigures: Encodable {
        let recordName: String
        let action: String
        let field: String?

        init(_ step: DeletionStep) {
            recordName = step.name.description
            action = step.action.rawValue
            field = step.field
        }

        enum CodingKeys: String, CodingKey { case recordName, action, field }

        /// What is missing is null, so that every object has the same keys.
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(recordName, forKey: .recordName)
            try container.encode(action, forKey: .action)
            try container.encode(field, forKey: .field)
        }
    }
}
