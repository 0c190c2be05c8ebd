import ArgumentParser
import Foundation
import GRDB
import RecordStore
import Scorebook
import SyncModel

struct RecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "List, show or delete records of any type by their names.",
        subcommands: [List.self, Show.self, Delete.self], defaultSubcommand: List.self)

    struct List: ZonedCommand {
        static let configuration = CommandConfiguration(abstract: "List record names (the default).")

        @Option(help: ArgumentHelp("Only records of this type, as SBGame.", valueName: "type"))
        var type: String?

        @Flag(
            help:
                "Only records that are kept aside because something they need is not here, and what that is.")
        var held = false

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let records = store.scorebook.records
            try await store.scorebook.foldForReading()
            if let type, records.schema.type(type) == nil, !held { throw unknown(type) }
            let type = type
            let held = held
            let zone = store.scorebook.zone
            let list = try await records.database.read { db in
                held
                    ? try records.heldRecords(db, type: type, zone: zone)
                    : try records.recordNames(db, type: type, zone: zone)
            }
            if output.json { return try Terminal.write(json: list.map(Line.init)) }
            let hasZones = try await store.hasSeveralZones()
            for entry in list {
                let zone = hasZones ? "  \(entry.zone)" : ""
                let waits = entry.waitsFor.map { " waits for \($0)" } ?? ""
                Terminal.write("\(entry.name)\(zone)\(waits)")
            }
        }

        private struct Line: Encodable {
            let recordName: String
            let waitsFor: String?
            let zone: String

            init(_ entry: RecordListEntry) {
                recordName = entry.name
                zone = entry.zone
                waitsFor = entry.waitsFor
            }

            enum CodingKeys: String, CodingKey { case recordName, waitsFor, zone }

            /// What is missing is null, so that every object has the same keys.
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(recordName, forKey: .recordName)
                try container.encode(waitsFor, forKey: .waitsFor)
                try container.encode(zone, forKey: .zone)
            }
        }
    }

    struct Show: StoreCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a record: its fields, and when and where each was last written.")

        @Argument(help: ArgumentHelp("The record's whole name.", valueName: "SBGame|~|uuid"))
        var name: String

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let records = store.scorebook.records
            let name = try checked(name, records.schema)
            try await store.scorebook.foldForReading()
            let found = try await records.database.read { db in
                try records.state(db, of: name).map { ($0, try ZoneNames(db).name(db, of: "\(name)")) }
            }
            guard let (state, zone) = found else {
                throw Failure(.dataError, "there is no record \(name)")
            }
            if output.json { return try Terminal.write(json: StateFigures(state, zone: zone)) }
            Terminal.write("\(state.name)\(state.isDeleted ? " (deleted)" : "")")
            if try await store.hasSeveralZones() { Terminal.write("  zone      \(zone)") }
            if let deletion = state.deletion { Terminal.write("  deletion  \(deletion)") }
            Terminal.write(
                aligned(state.fields.map { ["  \($0.name)", StateFigures.text($0.value), "\($0.stamp)"] }))
        }
    }

    struct Delete: StoreCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a record, and what goes with it.")

        @Argument(help: ArgumentHelp("The record's whole name.", valueName: "SBGame|~|uuid"))
        var name: String

        @OptionGroup var deletion: DeletionOptions
        @OptionGroup var storeOptions: StoreOptions

        func run(_ store: OpenStore) async throws {
            try await deletion.run(store, checked(name, store.scorebook.records.schema))
        }
    }
}

private func unknown(_ type: String) -> Failure {
    let known = RecordKind.allCases.map(\.recordType).joined(separator: ", ")
    return Failure(.dataError, "“\(type)” is no record type of the scorebook; there are \(known)")
}

/// A record name that is well formed and of a type that the scorebook has.
private func checked(_ text: String, _ schema: RecordSchema) throws -> RecordName {
    let name = try RecordName(text)
    guard schema.type(name.recordType) != nil else { throw unknown(name.recordType) }
    return name
}

/// A record's state for programs.
private struct StateFigures: Encodable {
    struct Field: Encodable {
        let value: Value
        let stamp: String
    }

    let recordName: String
    let zone: String
    let deleted: Bool
    let deletion: String?
    let fields: [String: Field]

    init(_ state: RecordState, zone: String) {
        self.zone = zone
        recordName = state.name.description
        deleted = state.isDeleted
        deletion = state.deletion?.description
        fields = Dictionary(
            uniqueKeysWithValues: state.fields.map {
                ($0.name, Field(value: Value($0.value), stamp: $0.stamp.description))
            })
    }

    enum CodingKeys: String, CodingKey { case recordName, zone, deleted, deletion, fields }

    /// What is missing is null, so that every object has the same keys.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(recordName, forKey: .recordName)
        try container.encode(zone, forKey: .zone)
        try container.encode(deleted, forKey: .deleted)
        try container.encode(deletion, forKey: .deletion)
        try container.encode(fields, forKey: .fields)
    }

    /// A value as people read it.
    static func text(_ value: FieldValue) -> String {
        switch value {
        case .null: "-"
        case .integer(let value): String(value)
        case .real(let value): String(value)
        case .text(let text): text
        case .blob(let bytes): "\(bytes.count) bytes"
        case .date(let milliseconds): ISO8601.text(milliseconds: milliseconds, fraction: .ifNeeded) ?? "-"
        case .reference(let name): name.description
        case .asset(let asset): asset.summary
        }
    }

    /// A value as JSON has it.
    struct Value: Encodable {
        let value: FieldValue

        init(_ value: FieldValue) {
            self.value = value
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch value {
            case .null: try container.encodeNil()
            case .integer(let value): try container.encode(value)
            case .real(let value): try container.encode(value)
            case .asset(let asset): try container.encode(asset)
            case .blob(let bytes): try container.encode(Data(bytes).base64EncodedString())
            case .text, .date, .reference: try container.encode(StateFigures.text(value))
            }
        }
    }
}
