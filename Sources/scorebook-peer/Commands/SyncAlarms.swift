import ArgumentParser
import PeerSync
import Scorebook

extension SyncCommand {
    struct Alarms: StoreCommand {
        static let makesStore = false

        static let configuration = CommandConfiguration(
            commandName: "alarms",
            abstract: "Show the changes that wait until somebody allows or refuses them.")

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let alarms = try await store.alarms()
            if output.json { return try Terminal.write(json: alarms.map(AlarmFigures.init)) }
            guard !alarms.isEmpty else { return Terminal.write("nothing waits for a decision") }
            for alarm in alarms {
                Terminal.write("\(alarm.id)  \(alarm.words)")
                for record in alarm.records.prefix(Self.named) {
                    let phrase = try await store.scorebook.phrase(for: record.name)
                    Terminal.write("  \(record.isDeleted ? "deletes" : "overwrites") \(phrase)")
                }
                let left = alarm.deletedCount + alarm.overwrittenCount - min(alarm.records.count, Self.named)
                if left > 0 { Terminal.write("  and \(left.counted("more record"))") }
            }
            let id = alarms.count == 1 ? alarms[0].id : "NUMBER"
            Terminal.write(
                "`sync allow \(id)` lets it happen; `sync refuse \(id)` puts everything back, on all machines"
            )
        }

        private static let named = 10
    }

    struct Allow: StoreCommand {
        static let makesStore = false

        static let configuration = CommandConfiguration(
            commandName: "allow",
            abstract:
                "Let the changes happen that wait: show what a machine sent, or send what a program wrote here."
        )

        @Argument(help: numberHelp)
        var number: String

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let alarm = try await store.alarm(number)
            let records = store.scorebook.records
            try await records.write { try records.fuse.allow($0, alarm) }
            try output.write(AlarmFigures(alarm), "allowed: \(alarm.words)")
        }
    }

    struct Refuse: StoreCommand {
        static let makesStore = false

        static let configuration = CommandConfiguration(
            commandName: "refuse",
            abstract: "Put everything back that the changes that wait take away, on all machines.",
            discussion: """
                What a machine deleted or overwrote within the hour before comes back, too. What a program overwrote here becomes \
                what the other machines have, with the next sync.
                """)

        @Argument(help: numberHelp)
        var number: String

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let alarm = try await store.alarm(number)
            let records = store.scorebook.records
            let kept = try await records.write { try records.fuse.refuse($0, alarm) }
            try output.write(AlarmFigures(alarm), "refused: \(alarm.words)")
            if !kept.isEmpty {
                Terminal.writeError(
                    "warning: no other machine has what \(kept.count.counted("record")) held before, so these stay as "
                        + "the program wrote them")
            }
        }
    }

    private static let numberHelp = ArgumentHelp(
        "The number that `sync alarms` shows. When more waits than that showed, it is another.")
}

extension OpenStore {
    /// The changes that wait for somebody, the oldest first.
    func alarms() async throws -> [FuseAlarm] {
        try await scorebook.foldForReading()
        let records = scorebook.records
        return try await records.database.read { try records.fuse.alarms($0) }
    }

    /// The changes that wait under a number.
    fileprivate func alarm(_ number: String) async throws -> FuseAlarm {
        let alarms = try await alarms()
        guard !alarms.isEmpty else { throw Failure(.dataError, "nothing waits for a decision") }
        guard let alarm = alarms.first(where: { $0.id == number.lowercased() }) else {
            throw Failure(
                .dataError, "nothing waits under the number \(number): it is another, or more waits by now",
                hint: "`scorebook-peer sync alarms` shows what waits, and its number")
        }
        return alarm
    }
}

extension FuseAlarm {
    /// As in “kitchen would delete 400 records and overwrite 3 records”.
    var words: String {
        let parts = [
            deletedCount > 0 ? "delete \(deletedCount.counted("record"))" : nil,
            overwrittenCount > 0 ? "overwrite \(overwrittenCount.counted("record"))" : nil,
        ].compactMap(\.self)
        let what = parts.isEmpty ? "change nothing any more" : parts.joined(separator: " and ")
        return switch source {
        case .peer(let name): "\(name) would \(what)"
        case .programs: "a program here wants to \(what) on the other machines"
        }
    }
}

/// An alarm for programs.
struct AlarmFigures: Encodable {
    struct Record: Encodable {
        let recordName: String
        let action: String
    }

    /// What names it to `sync allow` and `sync refuse`.
    let number: String
    /// The name of the machine; null for programs on this one.
    @OrNull var machine: String?
    let zone: String
    let since: String
    let deleted: Int
    let overwritten: Int
    let records: [Record]

    init(_ alarm: FuseAlarm) {
        number = alarm.id
        machine = if case .peer(let name) = alarm.source { name } else { nil }
        zone = alarm.zone
        since = ISO8601.text(milliseconds: alarm.since, fraction: .ifNeeded) ?? ""
        deleted = alarm.deletedCount
        overwritten = alarm.overwrittenCount
        records = alarm.records.map {
            Record(recordName: $0.name.description, action: $0.isDeleted ? "delete" : "overwrite")
        }
    }
}
