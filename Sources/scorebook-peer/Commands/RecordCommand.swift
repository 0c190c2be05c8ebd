import ArgumentParser
import Foundation
import GRDB
import PeerSync
import Scorebook

struct RecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "List, show, delete or restore records of any type by their names.",
        subcommands: [List.self, Show.self, History.self, Delete.self, Restore.self],
        defaultSubcommand: List.self)

    struct List: ZonedCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List record names (the default).")

        @Option(help: ArgumentHelp("Only records of this type, as SBGame.", valueName: "type"))
        var type: String?

        @Flag(
            help:
                "Only records that are kept aside because something they need is not here, and what that is.")
        var held = false

        @Flag(
            help: """
                Only deleted records that can be restored: who deleted them and when, how many records come back with \
                each, and until when at least.
                """)
        var deleted = false

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: ListOptions

        func validate() throws {
            guard !held || !deleted else { throw ValidationError("say one of --held and --deleted") }
            guard !output.csv || deleted else { throw ValidationError("--csv goes with --deleted") }
        }

        func run(_ store: OpenStore) async throws {
            let records = store.scorebook.records
            try await store.scorebook.foldForReading()
            if deleted { return try await listDeleted(store) }
            let type = type
            let held = held
            let scope = store.scorebook.scope
            let list = try await records.database.read { db in
                held
                    ? try records.listing.held(db, type: type, in: scope)
                    : try records.listing.names(db, type: type, in: scope)
            }
            if !held { try check(type, records.schema, hasAny: !list.isEmpty) }
            if output.json { return try Terminal.write(json: list.map(Line.init)) }
            guard !list.isEmpty else { return Terminal.write(none) }
            let hasZones = try await store.hasSeveralZones()
            for entry in list {
                let zone = hasZones ? "  \(entry.zone)" : ""
                let waits = entry.waitsFor.map { " waits for \($0.text)" } ?? ""
                Terminal.write("\(entry.name)\(zone)\(waits)")
            }
        }

        /// What stands in place of an empty list.
        private var none: String {
            if held { return "no record waits for another" }
            return type.map { "there are no records of the type \($0) yet" } ?? "there are no records yet"
        }

        /// Refuses a type that nobody has. Machines with a newer version may send records of types that are unknown here; these
        /// are kept aside, or deleted.
        private func check(_ type: String?, _ schema: RecordSchema, hasAny: Bool) throws {
            if let type, schema.type(type) == nil, !hasAny { throw unknown(type) }
        }

        private func listDeleted(_ store: OpenStore) async throws {
            let list = try await store.scorebook.deletedRecords(type: type)
            try check(type, store.scorebook.records.schema, hasAny: !list.isEmpty)
            try await output.write(deleted: list, of: store)
        }

        private struct Line: Encodable {
            let recordName: String
            @OrNull var waitsFor: String?
            let zone: String

            init(_ entry: RecordListEntry) {
                recordName = entry.name
                zone = entry.zone
                waitsFor = entry.waitsFor?.text
            }
        }
    }

    struct Show: StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show a record: its fields, and when and where each was last written.")

        @Argument(help: ArgumentHelp("The record's whole name.", valueName: "SBGame|~|uuid"))
        var name: String

        @Flag(name: .shortAndLong, help: "Show the stamps of sync in place of times and machines.")
        var verbose = false

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let records = store.scorebook.records
            let name = try checked(name, records.schema)
            try await store.scorebook.foldForReading()
            let found = try await records.database.read { db in
                try records.state(db, of: name).map {
                    ($0, try records.listing.isHidden(db, name), try ZoneNames(db).name(db, of: "\(name)"))
                }
            }
            guard let (state, isHidden, zone) = found else {
                throw Failure(.dataError, "there is no record \(name)")
            }
            if output.json {
                return try Terminal.write(json: StateFigures(state, isHidden: isHidden, zone: zone))
            }
            let isErased = state.erasure != nil && state.fields.isEmpty
            Terminal.write(
                "\(state.name)"
                    + (isErased ? " (deleted for ever)" : state.isDeleted ? " (deleted)" : "")
                    + (isHidden ? " (gone with a deleted record)" : ""))
            if try await store.hasSeveralZones() { Terminal.write("  zone      \(zone)") }
            let machines = try await store.scorebook.writingMachines()
            func written(_ stamp: Stamp) -> String {
                guard !verbose else { return stamp.description }
                let time = ISO8601.text(milliseconds: stamp.time.milliseconds, fraction: .ifNeeded) ?? ""
                return "\(store.scorebook.time.text(time)) by \((machines[stamp.replica] ?? .unknown).words)"
            }
            if let deletion = state.deletion { Terminal.write("  deletion  \(written(deletion))") }
            Terminal.write(
                aligned(
                    state.fields.map { ["  \($0.name)", StateFigures.text($0.value), written($0.stamp)] }))
        }
    }

    struct Delete: StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete a record, and what goes with it.",
            discussion: """
                \(DeletionOptions.restoring("record restore"))

                --forever is for what must not be kept. This machine and every other one that hears of it forget at \
                once what the records held, and this cannot be undone. The bytes may stay in free pages of the \
                database file until SQLite uses these again; the files of pictures stay for 180 days. Backups and \
                exports keep what they have.
                """)

        @Argument(help: ArgumentHelp("The record's whole name.", valueName: "SBGame|~|uuid"))
        var name: String

        @Flag(help: "Delete it for ever, so that nobody can restore it. It may be deleted already.")
        var forever = false

        @OptionGroup var deletion: DeletionOptions
        @OptionGroup var storeOptions: StoreOptions

        func run(_ store: OpenStore) async throws {
            let name = try checked(name, store.scorebook.records.schema)
            if forever { return try await deletion.runForever(store, name) }
            try await deletion.run(store, name)
        }
    }

    /// Parses a record name. Refuses one that is malformed or of an unknown type.
    static func checked(_ text: String, _ schema: RecordSchema) throws -> RecordName {
        let name = try RecordName(text)
        guard schema.type(name.recordType) != nil else { throw unknown(name.recordType) }
        return name
    }

    struct Restore: StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore",
            abstract:
                "Bring back a deleted record, with what went with it and what it needs; or the values of a time.",
            discussion: """
                `record list --deleted` shows what can be restored, and until when. With --at the record gets the values that it \
                had at that time, as far as `record history` knows them; the fields of which it does not know any stay as they \
                are. `undo` takes it back.
                """)

        @Argument(help: ArgumentHelp("The record's whole name.", valueName: "SBGame|~|uuid"))
        var name: String

        @Option(
            help: ArgumentHelp(
                "Write the values of that time: a time of today, or a day and a time.", valueName: "time"))
        var at: String?

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let name = try checked(name, store.scorebook.records.schema)
            if let at {
                // What was written in that second counts, because the history shows no shorter times.
                let moment = try store.scorebook.time.moment(at) + 999
                let fields = try await store.scorebook.restore(name, at: moment)
                let what = fields.isEmpty ? "as it was" : fields.joined(separator: ", ")
                return try output.write(
                    fields.map { StepFigures(recordName: name.description, action: "restore", field: $0) },
                    "restored \(try await store.scorebook.phrase(for: name)): \(what)")
            }
            try await output.write(try await store.scorebook.restore(name), in: store)
        }
    }
}

private func unknown(_ type: String) -> Failure {
    let known = RecordKind.allCases.map(\.recordType).joined(separator: ", ")
    return Failure(.dataError, "“\(type)” is no record type of the scorebook; there are \(known)")
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
    let hidden: Bool
    @OrNull var deletion: String?
    let fields: [String: Field]

    init(_ state: RecordState, isHidden: Bool, zone: String) {
        self.zone = zone
        hidden = isHidden
        recordName = state.name.description
        deleted = state.isDeleted
        deletion = state.deletion?.description
        fields = Dictionary(
            uniqueKeysWithValues: state.fields.map {
                ($0.name, Field(value: Value($0.value), stamp: $0.stamp.description))
            })
    }

    /// Returns a value as people read it.
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

    /// A value in JSON.
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
