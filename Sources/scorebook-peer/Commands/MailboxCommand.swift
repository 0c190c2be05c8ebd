import ArgumentParser
import Foundation
import Logging
import PeerSync
import PeerSyncMailbox
import Scorebook

struct MailboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mailbox",
        abstract:
            "Sync machines that are never on together: through a folder, a WebDAV server, or a bucket of the S3 API.",
        discussion: """
            The machines have to be paired. Each leaves sealed messages for the others in storage that you have; its owner learns nothing \
            but sizes and times.

              scorebook-peer mailbox add folder /mnt/nas/scorebook
              scorebook-peer mailbox sync

            `listen` uses the mailboxes by itself.
            """,
        subcommands: [List.self, Add.self, Remove.self, Sync.self, Check.self],
        defaultSubcommand: List.self)

    struct List: StoreCommand {
        static let makesStore = false
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the mailboxes, and how it stands with them (the default).")

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let entries = try await store.scorebook.records.mailboxes.all()
            if output.json { return try Terminal.write(json: entries.map(MailboxFigures.init)) }
            guard !entries.isEmpty else {
                return Terminal.write("there is no mailbox; `scorebook-peer mailbox add` adds one")
            }
            let time = store.scorebook.time
            let header = ["NAME", "KIND", "PLACE", "LAST IN STEP"]
            Terminal.write(
                aligned(
                    [header]
                        + entries.map { [$0.name, $0.kind, $0.place, $0.lastSync.map(time.text) ?? "never"] })
            )
            let obstacles = try await Self.obstacles(store)
            for line in entries.flatMap({ Self.lines($0, time, obstacles) }) {
                Terminal.write(Display.printable(await store.scorebook.told(line)))
            }
        }

        /// What keeps zones from machines, by their names.
        private static func obstacles(_ store: OpenStore) async throws -> [String: [String]] {
            let records = store.scorebook.records
            let zones = try await records.database.read { db in
                try records.peers.all(db).flatMap { try records.peers.zones(db, of: $0) }
            }
            let hasZones = Set(zones.map(\.zone)).count > 1
            return Dictionary(grouping: zones, by: \.peer).mapValues {
                $0.compactMap { $0.obstacleText(hasZones: hasZones) }
            }
        }

        /// What is to be said of a mailbox: its trouble, who was heard of when, and what keeps zones from them.
        private static func lines(
            _ entry: MailboxEntry, _ time: LocalTime, _ obstacles: [String: [String]]
        ) -> [String] {
            let heard = entry.machines.flatMap { machine in
                let heard = "\(machine.name) was last heard of on \(time.text(machine.lastHeard))"
                let trouble = entry.trouble(of: machine).map { [$0] } ?? []
                // Who lets this machine read nothing there shares no zone with it either.
                guard machine.error?.code != .notShared else { return [heard] + trouble }
                return [heard] + trouble + (obstacles[machine.name] ?? [])
            }
            return ((entry.trouble.map { [$0] } ?? []) + heard).map { "\(entry.name): \($0)" }
        }
    }

    struct Remove: StoreCommand {
        static let makesStore = false
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Use a mailbox no more; the records stay.",
            discussion: """
                What this machine has left there stays for the others, unless --erase removes it. Other machines go on using the mailbox.
                """)

        @Argument(help: "The mailbox's name here.")
        var name: String

        @Flag(help: "Also remove from the mailbox what this machine has left there.")
        var erase = false

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let entry = try await store.mailbox(named: name)
            if erase {
                try await entry.naming { try await store.eraseMailbox(entry) }
            } else {
                try await store.removeMailbox(entry.name)
            }
            try output.write(
                ["removed": entry.name], "removed the mailbox “\(Display.printable(entry.name))”")
        }
    }

    struct Sync: SyncingCommand {
        static let makesStore = false
        static let configuration = CommandConfiguration(
            commandName: "sync",
            abstract: "Sync once with the mailboxes, or with one of them.",
            discussion: """
                The exit code is 0 if everything there is read. Otherwise everything else is synced, and it says why something is not: \
                65 for what is damaged, 75 for what has not come yet or is gone, 77 for a machine that lets this one read nothing any more \
                or was away for too long.
                """)

        @Argument(help: "The mailbox's name here; nothing for all.")
        var name: String?

        @OptionGroup var options: EngineOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        var logger: Logger { options.logger }
        var stopped: Failure? { .notYetEqual }

        func run(_ store: OpenStore) async throws {
            let passes = MailboxPasses(store: store, options: options, isJSON: output.json)
            var figures: [MailboxPassFigures] = []
            let unused = try await store.mailboxes(named: name).each { entry in
                figures.append(try await passes.run(entry))
            }
            if output.json { try Terminal.write(json: figures) }
            if let failure = unused ?? figures.failure { throw failure }
        }
    }

    struct Check: SyncingCommand {
        static let makesStore = false
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Read everything in a mailbox, and prove that a new machine could be made from it.",
            discussion:
                """
                Syncs first. The exit code is 65 if something is missing or damaged, and 77 if no paired machine may read there, \
                or another one lets this one read nothing any more.
                """
        )

        @Argument(help: "The mailbox's name here; nothing for all.")
        var name: String?

        @OptionGroup var options: EngineOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        var logger: Logger { options.logger }
        var stopped: Failure? { .notYetEqual }

        func run(_ store: OpenStore) async throws {
            var figures: [MailboxCheckFigures] = []
            let unused = try await store.mailboxes(named: name).each { entry in
                let mailbox = try await store.mailbox(entry, options.engine(store, onEvent: { _ in }))
                let check = OneSync {
                    try await ProgressLine.shared.during("reading “\(Display.printable(entry.name))”") {
                        try await mailbox.check()
                    }
                }
                try await options.run([check])
                guard let found = check.report.withLock({ $0 }) else { throw Failure.notYetEqual }
                figures.append(MailboxCheckFigures(entry.name, found))
            }
            if output.json {
                try Terminal.write(json: figures)
            } else {
                for figure in figures { figure.write() }
            }
            if let unused { throw unused }
            if let (mailbox, fault) = figures.lazy.compactMap({ found in
                found.fault.map { (found.mailbox, $0) }
            }).first {
                throw fault.failure(Display.printable(mailbox))
            }
        }
    }
}

extension OpenStore {
    /// The mailboxes, or the one of a name.
    ///
    /// - Throws: ``Failure`` if there is none.
    fileprivate func mailboxes(named name: String?) async throws -> [MailboxEntry] {
        if let name { return [try await mailbox(named: name)] }
        let entries = try await scorebook.records.mailboxes.all()
        guard !entries.isEmpty else {
            throw Failure(.noInput, "there is no mailbox", hint: "`scorebook-peer mailbox add` adds one")
        }
        return entries
    }
}
