import ArgumentParser
import PeerSync

struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Switch sync off or on, or say which it is; decide about changes that wait for somebody.",
        discussion: """
            Switched off, this machine has no connections: `listen` and `connect` end, also those that are running. \
            What is written goes on being tracked, and everything catches up after `sync on`. The switch stays as it \
            is until it is switched again.

            Once `sync fuse --share 0.1 --records 50` has switched that on, changes that would take away much of the scorebook \
            at once wait until somebody decides: `sync alarms` shows \
            them, `sync allow` lets them happen, and `sync refuse` puts everything back, on all machines.
            """,
        subcommands: [Switch.self, Alarms.self, Allow.self, Refuse.self, FuseCommand.self],
        defaultSubcommand: Switch.self)

    struct Switch: StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "switch",
            abstract: "Switch sync off or on, or say which it is (the default).")

        enum Position: String, ExpressibleByArgument, CaseIterable {
            case on, off
        }

        @Argument(help: ArgumentHelp("on or off; nothing to be told which it is.", valueName: "on|off"))
        var position: Position?

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let records = store.scorebook.records
            if let position { try await records.settings.setSyncOn(position == .on) }
            let isOn = try await records.settings.isSyncOn()
            try output.write(Figures(sync: isOn), "sync is \(isOn ? "on" : "off")")
        }

        private struct Figures: Encodable {
            let sync: Bool
        }
    }
}
